package place

import (
	"path"
	"strings"

	"interlock/internal/impact/know"
)

// A Mounted is a directory or file of the host as a container sees it.
type Mounted struct{ Inside, Outside string }

// InContainer runs f where the host's directories are seen through mounts, beside those of the containers around.
func (w *World) InContainer(mounts []Mounted, f func()) {
	if len(mounts) == 0 {
		f()
		return
	}
	outer := w.mounts
	w.mounts = append(outer[:len(outer):len(outer)], mounts...)
	w.Forget()
	f()
	w.mounts = outer
	w.Forget()
}

// onHost gives a path in a container its name on the host, where it is mounted from there.
func (w *World) onHost(clean string) string {
	best, under := -1, ""
	for i, m := range w.mounts {
		if rest, ok := belowPattern(clean, m.Inside); ok && (best < 0 || len(m.Inside) >= len(w.mounts[best].Inside)) {
			best, under = i, rest
		}
	}
	if best < 0 {
		return clean
	}
	return path.Join(w.mounts[best].Outside, under)
}

// belowPattern returns what a path, whose parts may be patterns, says below a directory, and whether it is there or can be.
func belowPattern(clean, dir string) (rest string, ok bool) {
	if Below(clean, dir) {
		return clean[len(dir):], true
	}
	if !know.IsGlob(clean) || clean[0] != '/' {
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
		if part != want && !know.MatchGlob(part, want) {
			return "", false
		}
		rest = rest[1+len(part):]
	}
	return rest, true
}
