package impact

import (
	"path"
	"strings"

	"interlock"
)

// A mounted is a directory or file of the host as a container sees it.
type mounted struct{ inside, outside string }

// mount judges host-path:container-path, or the same as key=value pairs: what runs inside may write what is mounted, and
// the paths it names there are paths here.
func (r *shellRun) mount(u *use, value field) {
	host, rest, _ := strings.Cut(value.text, ":")
	inside, options, _ := strings.Cut(rest, ":")
	readonly := false
	for _, option := range strings.Split(options, ",") {
		readonly = readonly || option == "ro" || option == "readonly"
	}
	if strings.Contains(value.text, "=") && strings.Contains(value.text, ",") {
		for _, part := range strings.Split(value.text, ",") {
			switch key, name, _ := strings.Cut(part, "="); key {
			case "source", "src":
				host = name
			case "target", "dst", "destination":
				inside = name
			case "readonly", "ro":
				readonly = name != "false"
			}
		}
	}
	if value.lead || host == "" || host[0] != '/' && host[0] != '.' && host[0] != '~' {
		return // a named volume, or a path that is not known
	}
	kind := interlock.ImpactWrite
	if readonly {
		kind = interlock.ImpactRead
	}
	value.text = host
	p := r.placeOf(value, true)
	r.s.touchPlace(p, interlock.Impact{Kind: kind, Via: u.via, Traits: []string{TraitRemote}})
	if inside = path.Clean("/" + inside); inside != "/" && p.Path != "" && !value.dynamic {
		u.mounts = append(u.mounts, mounted{inside: inside, outside: p.Path})
	}
}

// inContainer runs f where the host's directories are seen through mounts, beside those of the containers around.
func (w *world) inContainer(mounts []mounted, f func()) {
	if len(mounts) == 0 {
		f()
		return
	}
	outer := w.mounts
	w.mounts = append(outer[:len(outer):len(outer)], mounts...)
	w.places = [len(w.places)]judgedPlace{}
	f()
	w.mounts = outer
	w.places = [len(w.places)]judgedPlace{}
}

// onHost gives a path in a container its name on the host, where it is mounted from there.
func (w *world) onHost(clean string) string {
	best, under := -1, ""
	for i, m := range w.mounts {
		if rest, ok := belowPattern(clean, m.inside); ok && (best < 0 || len(m.inside) >= len(w.mounts[best].inside)) {
			best, under = i, rest
		}
	}
	if best < 0 {
		return clean
	}
	return path.Join(w.mounts[best].outside, under)
}

// belowPattern returns what a path, whose parts may be patterns, says below a directory, and whether it is there or can be.
func belowPattern(clean, dir string) (rest string, ok bool) {
	if below(clean, dir) {
		return clean[len(dir):], true
	}
	if !isGlob(clean) || clean[0] != '/' {
		return "", false
	}
	rest = clean
	for want := range strings.SplitSeq(dir[1:], "/") {
		if rest == "" {
			return "", false
		}
		part := rest[1:]
		if end := strings.IndexByte(part, '/'); end >= 0 {
			part = part[:end]
		}
		if part != want && !matchGlob(part, want) {
			return "", false
		}
		rest = rest[1+len(part):]
	}
	return rest, true
}
