package place

import (
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/know"
)

// Host judges a host name, address or URL.
func (w *World) Host(nameOrURL string) (reach interlock.Reach, traits []string) {
	table := w.Know.PathTable()
	name := HostOf(nameOrURL)
	bare := name
	if end := strings.IndexByte(name, ']'); end > 0 && name[0] == '[' {
		bare = name[:end]
	} else if h, port, ok := strings.Cut(name, ":"); ok && !strings.Contains(port, ":") {
		bare = h
	}
	bare = strings.Trim(bare, "[]")
	for _, e := range w.View.Endpoints {
		if e == name || table.Loopback[bare] && portOf(e) != "" && portOf(e) == portOf(name) {
			return interlock.ReachSelf, []string{fact.TraitSelf}
		}
	}
	switch {
	case table.Metadata[bare]:
		return interlock.ReachExternal, []string{fact.TraitMetadata}
	case everyAddress(nameOrURL):
		return interlock.ReachExternal, nil
	case table.Loopback[bare] || strings.HasPrefix(bare, "127.") || strings.HasSuffix(bare, ".localhost"):
		return interlock.ReachWorkspace, nil
	case w.Production(bare):
		return interlock.ReachProduction, nil
	case w.Staging(bare):
		if singleLabel(bare) && nearby(nameOrURL) {
			return interlock.ReachExternal, []string{fact.TraitInside, fact.TraitStaging}
		}
		return interlock.ReachExternal, []string{fact.TraitStaging}
	case singleLabel(bare) && nearby(nameOrURL):
		return interlock.ReachExternal, []string{fact.TraitInside}
	}
	return interlock.ReachExternal, nil
}

// everyAddress reports whether a name is all addresses there are, as a scanner is given them: 0.0.0.0/0, and not this machine.
func everyAddress(name string) bool {
	length, ok := strings.CutPrefix(name, "0.0.0.0/")
	return ok && len(length) > 0 && len(length) < 3 && strings.Trim(length, "0123456789") == ""
}

// Production reports whether a name (host, context, database, bucket) is production.
func (w *World) Production(name string) bool {
	name = strings.ToLower(name)
	for _, pattern := range w.View.Production {
		if know.MatchGlob(strings.ToLower(pattern), name) {
			return true
		}
	}
	for _, pattern := range w.Know.PathTable().Production {
		if know.MatchGlob(pattern, name) {
			return true
		}
	}
	return false
}

// Staging reports whether a name is staging: it meets what the rules say is, and nothing that says it is production.
func (w *World) Staging(name string) bool {
	if len(w.View.Staging) == 0 || w.Production(name) { // nearly always
		return false
	}
	name = strings.ToLower(name)
	for _, pattern := range w.View.Staging {
		if know.MatchGlob(strings.ToLower(pattern), name) {
			return true
		}
	}
	return false
}

// LocalContext reports whether a context has the name that tools give to clusters they set up on this machine.
func (w *World) LocalContext(name string) bool {
	for _, pattern := range w.Know.PathTable().Local {
		if know.MatchGlob(pattern, name) {
			return true
		}
	}
	return false
}

// HostOf returns host[:port] of a URL, of user@host:path, or of a name that is just that; it never returns credentials.
func HostOf(name string) string {
	scheme, rest, isURL := strings.Cut(name, "://")
	if isURL && !strings.ContainsAny(scheme, "/@ ") {
		name = rest
	}
	if i := strings.IndexAny(name, "/?#"); i >= 0 {
		name = name[:i]
	}
	if i := strings.LastIndexByte(name, '@'); i >= 0 {
		name = name[i+1:]
	}
	if host, after, ok := strings.Cut(name, ":"); ok && !isURL && after != "" && strings.Trim(after, "0123456789") != "" &&
		!strings.Contains(after, ":") {
		name = host // scp's host:path
	}
	return strings.ToLower(name)
}

func portOf(hostPort string) string {
	if i := strings.LastIndexByte(hostPort, ':'); i >= 0 {
		return hostPort[i+1:]
	}
	return ""
}
