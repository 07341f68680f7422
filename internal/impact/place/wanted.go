package place

import (
	"slices"
	"sort"
	"strings"

	"interlock/internal/impact/fact"
	"interlock/internal/impact/know"
	"interlock/internal/lex"
)

// maxWanted bounds the files one analysis asks for. What is over it stays unread.
const maxWanted = 16

// ScriptAt is the text of a file that would be run, as the door has read it. Where the view doesn't hold it, the file is noted
// as wanted: the door reads it if it may, and the action is analysed again. So nobody has to guess from the words of a
// command which file it will come to run; the analysis, which follows directories, copies and variables, says so.
func (w *World) ScriptAt(p know.Place) (string, bool) {
	if text, ok := w.View.Scripts[p.Path]; ok {
		return text, true
	}
	if fact.HasTrait(p.Traits, fact.TraitGlob) && know.IsGlob(p.Path) {
		if text, ok := w.scriptsLike(p.Path); ok {
			return text, true
		}
	}
	w.Want(UnreadOf(p))
	return "", false
}

// scriptsLike is the text of the first file that was read of those a pattern names, by name.
func (w *World) scriptsLike(pattern string) (string, bool) {
	w.Spend(len(w.View.Scripts))
	var names []string
	for name := range w.View.Scripts {
		if know.MatchGlob(pattern, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return "", false
	}
	sort.Strings(names)
	return w.View.Scripts[names[0]], true
}

// Want notes that the text of a file would tell what the action does.
func (w *World) Want(path string) {
	if path == "" || len(w.Wanted) >= maxWanted || slices.Contains(w.Wanted, path) {
		return
	}
	w.Wanted = append(w.Wanted, path)
}

// readable reports whether a path is known well enough to be read, and may hold a script of somebody's own rather than a
// device or a program that came with the system.
func readable(path string) bool {
	if path == "" || len(path) > 4096 || strings.ContainsAny(path, "$`\x00\n") || path[0] != '/' && !lex.IsDrive(path) {
		return false
	}
	for _, dir := range [...]string{"/dev/", "/proc/", "/sys/"} {
		if strings.HasPrefix(path, dir) && !strings.HasPrefix(path, "/dev/shm/") {
			return false
		}
	}
	return lex.IsDrive(path) || !lex.SystemProgram(path)
}

func (w *World) WantAll(names string) {
	if names == "" {
		return
	}
	for name := range strings.SplitSeq(names, "\x00") {
		w.Want(name)
	}
}

// UnreadOf is a file as a flow names it whose bytes it would carry, had they been read.
func UnreadOf(p know.Place) string {
	if fact.HasTrait(p.Traits, fact.TraitSecret) || fact.HasTrait(p.Traits, fact.TraitEnvironment) ||
		fact.HasTrait(p.Traits, fact.TraitSelf) || !readable(p.Path) {
		return ""
	}
	return p.Path
}

// maxUnread bounds the names a flow carries, in bytes.
const maxUnread = 1 << 10

// UnreadBoth is what two flows that become one would hold.
func UnreadBoth(a, b string) string {
	switch {
	case b == "" || a == b || len(a)+len(b) > maxUnread:
		return a
	case a == "":
		return b
	}
	return a + "\x00" + b
}
