package place

import (
	"slices"
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/know"
	"interlock/internal/lex"
)

// NamesFile reports whether an impact's target is one file under its whole name, by which it is known again.
func NamesFile(i *interlock.Impact) bool {
	if len(i.Target) < 2 || i.Target[0] != '/' && !lex.IsDrive(i.Target) || strings.ContainsAny(i.Target, "*?$\n") {
		return false
	}
	return !i.Has(fact.TraitDryRun) && !i.Has(fact.TraitGlob) && !i.Has(fact.TraitDynamic)
}

// maxRan bounds the places an action is known to run something in.
const maxRan = 8

// RanIn notes a place in which something runs, or which says what does.
func (w *World) RanIn(path string) {
	if path != "" && len(w.Ran) < maxRan && !slices.Contains(w.Ran, path) {
		w.Ran = append(w.Ran, path)
	}
}

// FetchedBefore reports whether an earlier action fetched a place, or a tree it lies in.
func (w *World) FetchedBefore(path string) bool {
	for _, name := range w.View.Fetched {
		whole, all := strings.CutSuffix(name, "/*")
		rest, in := strings.CutPrefix(path, whole)
		if whole == "." {
			rest, in = "/"+path, path != "" && path[0] != '/' && path[0] != '.'
		}
		if in && (rest == "" && !all || strings.HasPrefix(rest, "/") && (!all || strings.Contains(rest[1:], "/"))) {
			return true
		}
	}
	return false
}

// UnreadKinds are the kinds of code that are not read at all.
var UnreadKinds = lex.Set([]string{"other", "applescript"})

// Unread marks a place whose text is not known where the agent itself wrote it lately: nobody has seen what it does, and it is
// no old part of the project either.
func (w *World) Unread(p know.Place) know.Place {
	if slices.Contains(w.View.Written, p.Path) {
		p.Traits = append(p.Traits[:len(p.Traits):len(p.Traits)], fact.TraitUnread)
	}
	return p
}
