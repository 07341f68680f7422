package place

import (
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/know"
	"interlock/internal/lex"
)

// Paths as Windows writes them: backslashes, drives, shares, device prefixes, short names, streams, and the registry.

// windowsName writes a path of Windows with slashes and without what does not change its meaning: the prefixes \\?\ and
// \\.\, dots and blanks at the end of a name. It reports whether the path names a stream beside a file's content.
func (w *World) windowsName(name string) (clean string, stream bool) {
	drive := lex.IsDrive(name) || strings.HasPrefix(name, `\\`)
	if !w.Windows && !drive {
		return name, false
	}
	name = strings.ReplaceAll(name, `\`, "/")
	if i := strings.LastIndex(name, "::"); i > 0 && strings.HasSuffix(strings.ToLower(name[:i]), "filesystem") {
		name = name[i+2:]
	}
	for _, prefix := range [...]string{"//?/", "//./", "/??/"} {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			if low := strings.ToLower(rest); strings.HasPrefix(low, "unc/") {
				name = "//" + rest[len("unc/"):]
			} else if len(rest) == 2 && lex.IsDrive(rest) {
				return "/dev/disk/" + low, false // the volume itself
			} else if lex.IsDrive(rest) {
				name = rest
			} else if strings.HasPrefix(low, "physicaldrive") || strings.HasPrefix(low, "harddisk") ||
				strings.HasPrefix(low, "volume") {
				return "/dev/disk/" + low, false
			} else if strings.HasPrefix(low, "globalroot/device/harddiskvolumeshadowcopy") {
				if _, inside, ok := strings.Cut(rest[len("globalroot/device/"):], "/"); ok {
					name = "C:/" + inside
				}
			}
		}
	}
	if rest, host := adminShare(name); host {
		name = rest
	}
	if len(name) > 2 && name[1] == ':' && !lex.IsDrive(name) && (name[0]|0x20) >= 'a' && (name[0]|0x20) <= 'z' &&
		!strings.Contains(name[2:], ":") {
		name = name[2:] // relative to the current directory of that drive
	}
	if i := strings.LastIndexByte(name, ':'); i > 2 && !strings.Contains(name[i:], "/") && !strings.Contains(name, "://") {
		name, stream = name[:i], i+1 < len(name)
	}
	return trimComponents(name), stream
}

// adminShare is the local path a share of whole drives means: //host/c$/x.
func adminShare(name string) (string, bool) {
	rest, ok := strings.CutPrefix(name, "//")
	if !ok {
		return name, false
	}
	_, rest, ok = strings.Cut(rest, "/")
	if ok && len(rest) > 1 && rest[1] == '$' && (len(rest) == 2 || rest[2] == '/') {
		return rest[:1] + ":/" + strings.TrimPrefix(rest[2:], "/"), true
	}
	if low := strings.ToLower(rest); ok && (low == "admin$" || strings.HasPrefix(low, "admin$/")) {
		return "C:/Windows" + rest[len("admin$"):], true
	}
	return name, false
}

// trimComponents drops what Windows drops at the end of each name, and reads short names as the long ones they begin.
func trimComponents(name string) string {
	if !strings.ContainsAny(name, " .~") {
		return name
	}
	parts := strings.Split(name, "/")
	for i, part := range parts {
		if strings.Trim(part, ".") == "" {
			continue
		}
		part = strings.TrimRight(part, ". ")
		if at := strings.LastIndexByte(part, '~'); at > 1 && at+1 < len(part) && part[at+1] >= '1' &&
			part[at+1] <= '9' && at <= 6 {
			part = shortName(strings.ToLower(part[:at]), part[at+2:])
		}
		parts[i] = part
	}
	return strings.Join(parts, "/")
}

// shortName is what a name of eight characters and three means: one of the directories every system has, or a
// pattern.
func shortName(stem, rest string) string {
	for _, long := range [...]string{"Program Files", "ProgramData", "Documents and Settings", "Administrator", "Windows",
		"Application Data", "Start Menu", "Startup"} {
		if low := strings.ToLower(strings.ReplaceAll(long, " ", "")); strings.HasPrefix(low, stem) && len(stem) > 4 {
			return long
		}
	}
	if ext, ok := strings.CutPrefix(rest, "."); ok {
		return stem + "*." + strings.ToLower(ext) + "*"
	}
	return stem + "*"
}

// registryKey reads a path into the registry, in any of its spellings: HKLM\x, HKLM:\x, HKEY_LOCAL_MACHINE\x,
// Registry::HKLM\x, \\host\HKLM\x.
func registryKey(name string) (string, bool) {
	name = strings.ReplaceAll(name, `\`, "/")
	if i := strings.LastIndex(name, "::"); i > 0 && strings.HasSuffix(strings.ToLower(name[:i]), "registry") {
		name = name[i+2:]
	}
	if rest, ok := strings.CutPrefix(name, "//"); ok {
		_, name, _ = strings.Cut(rest, "/")
	}
	first, rest, _ := strings.Cut(name, "/")
	first = strings.ToUpper(strings.TrimSuffix(first, ":"))
	switch first {
	case "HKLM", "HKEY_LOCAL_MACHINE":
		first = "HKLM"
	case "HKCU", "HKEY_CURRENT_USER":
		first = "HKCU"
	case "HKCR", "HKEY_CLASSES_ROOT":
		first = "HKCR"
	case "HKU", "HKEY_USERS":
		first = "HKU"
	case "HKCC", "HKEY_CURRENT_CONFIG":
		first = "HKCC"
	default:
		return "", false
	}
	for strings.Contains(rest, "//") {
		rest = strings.ReplaceAll(rest, "//", "/")
	}
	return first + ":/" + strings.Trim(rest, "/"), true
}

// registry judges a place in the registry: the machine's, or the user's own.
func (w *World) registry(key string) know.Place {
	p := know.Place{Path: key, Reach: interlock.ReachSystem, Confidence: interlock.Parsed}
	hive, rest, _ := strings.Cut(strings.ToLower(key), ":/")
	if hive == "hkcu" {
		p.Reach = interlock.ReachHome
	}
	if hive == "hkcr" {
		rest = "software/classes/" + rest
	}
	if hive == "hku" {
		_, rest, _ = strings.Cut(rest, "/")
	}
	rest = strings.Replace(rest, "software/wow6432node/", "software/", 1)
	if after, ok := strings.CutPrefix(rest, "system/controlset00"); ok && len(after) > 1 {
		rest = "system/currentcontrolset" + after[1:]
	}
	glob := know.IsGlob(rest)
	for i := range w.Know.FoldedPaths().Registry {
		m := &w.Know.FoldedPaths().Registry[i]
		covers := m.Covers(rest)
		if !covers && glob && !m.Negate {
			covers = m.MayCover(rest, false).Covers
		}
		if covers {
			if m.Negate {
				p.Traits = lex.Without(p.Traits, m.Trait)
				continue
			}
			p.Traits = append(p.Traits, m.Trait)
		}
	}
	if rest == "" || rest == "software" || rest == "system" || strings.Trim(rest, "*/") == "" {
		p.Traits = append(p.Traits, fact.TraitRoot)
	}
	return p
}

// caseless reports whether the case of a path's letters means nothing.
func (w *World) caseless(clean string) bool {
	return w.Windows || lex.IsDrive(clean) || strings.HasPrefix(clean, "//") || lex.IsDrive(w.View.Home) ||
		strings.HasPrefix(w.View.Home, "/Users/")
}

// locateShared is locate for a path that may be a share's: what lies on another machine is outside of this one.
func (w *World) locateShared(p *know.Place, table *know.PathTable) {
	w.locate(p, table)
	if strings.HasPrefix(p.Path, "//") && p.Reach != interlock.ReachSelf && w.sharedElsewhere(p.Path) {
		p.Reach = interlock.ReachExternal
	}
}

// sharedElsewhere reports whether //host/share/… lies on another machine: no device, no share of this machine itself and
// none of the Linux that runs inside it.
func (w *World) sharedElsewhere(clean string) bool {
	host, _, ok := strings.Cut(clean[2:], "/")
	if !ok || !w.Windows {
		return false
	}
	switch host, _, _ = strings.Cut(strings.ToLower(host), "@"); host {
	case "", ".", "?", "localhost", "127.0.0.1", "wsl$", "wsl.localhost", "tsclient":
		return false
	}
	return true
}
