package impact

import (
	"slices"
	"sort"
	"strings"
)

// maxWanted bounds the files one analysis asks for. What is over it stays unread.
const maxWanted = 16

// scriptAt is the text of a file that would be run, as the door has read it. Where the view doesn't hold it, the file is noted
// as wanted: the door reads it if it may, and the action is analysed again. So nobody has to guess from the words of a
// command which file it will come to run; the analysis, which follows directories, copies and variables, says so.
func (w *world) scriptAt(p place) (string, bool) {
	if text, ok := w.view.Scripts[p.Path]; ok {
		return text, true
	}
	if hasTrait(p.Traits, TraitGlob) && isGlob(p.Path) {
		if text, ok := w.scriptsLike(p.Path); ok {
			return text, true
		}
	}
	w.want(unreadOf(p))
	return "", false
}

// scriptsLike is the text of the first file that was read of those a pattern names, by name.
func (w *world) scriptsLike(pattern string) (string, bool) {
	w.spend(len(w.view.Scripts))
	var names []string
	for name := range w.view.Scripts {
		if matchGlob(pattern, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return "", false
	}
	sort.Strings(names)
	return w.view.Scripts[names[0]], true
}

// want notes that the text of a file would tell what the action does.
func (w *world) want(path string) {
	if path == "" || len(w.wanted) >= maxWanted || slices.Contains(w.wanted, path) {
		return
	}
	w.wanted = append(w.wanted, path)
}

// readable reports whether a path is known well enough to be read, and may hold a script of somebody's own rather than a
// device or a program that came with the system.
func readable(path string) bool {
	if path == "" || len(path) > 4096 || strings.ContainsAny(path, "$`\x00\n") || path[0] != '/' && !isDrive(path) {
		return false
	}
	for _, dir := range [...]string{"/dev/", "/proc/", "/sys/"} {
		if strings.HasPrefix(path, dir) && !strings.HasPrefix(path, "/dev/shm/") {
			return false
		}
	}
	return isDrive(path) || !systemProgram(path)
}

// wants notes the files whose bytes are what is about to be run, where they would be known if those were.
func (r *shellRun) wants(f flow) { r.s.wantAll(f.unread) }

func (w *world) wantAll(names string) {
	if names == "" {
		return
	}
	for name := range strings.SplitSeq(names, "\x00") {
		w.want(name)
	}
}

// unreadOf is a file as a flow names it whose bytes it would carry, had they been read.
func unreadOf(p place) string {
	if hasTrait(p.Traits, TraitSecret) || hasTrait(p.Traits, TraitEnvironment) || hasTrait(p.Traits, TraitSelf) || !readable(p.Path) {
		return ""
	}
	return p.Path
}

// maxUnread bounds the names a flow carries, in bytes.
const maxUnread = 1 << 10

// unreadBoth is what two flows that become one would hold.
func unreadBoth(a, b string) string {
	switch {
	case b == "" || a == b || len(a)+len(b) > maxUnread:
		return a
	case a == "":
		return b
	}
	return a + "\x00" + b
}

// readOf is what reading a file gives that this action did not write: its text, if the door has read it, or the name of what
// would have to be.
func (r *shellRun) readOf(p place) flow {
	if text, ok := r.s.view.Scripts[p.Path]; ok {
		return flow{text: text, known: text != ""}
	}
	return flow{unread: unreadOf(p)}
}

// holds is what a file holds: what this action wrote, or what reading it gives.
func (r *shellRun) holds(p place) flow {
	if held, made := r.files[p.Path]; made {
		return held
	}
	return r.readOf(p)
}

// madeHere is what this action wrote to a place that is to be run. Whatever stood there before is gone, so where what was
// written is not known, what it was made of is wanted and not the place.
func (r *shellRun) madeHere(p place) (flow, bool) {
	held, ok := r.heldBy(p)
	if !ok || !held.written {
		return flow{}, false
	}
	r.wants(held)
	return held, true
}

// appended notes what stands already in a file that is added to, as far as it is known.
func (r *shellRun) appended(p place) {
	if _, made := r.files[p.Path]; made {
		return
	}
	if stood := r.readOf(p); stood.known || stood.unread != "" {
		stood.written = stood.known
		r.files[p.Path] = stood
	}
}
