package impact

import (
	"slices"
	"strings"

	"interlock"
)

// NamesFile reports whether an impact's target is one file under its whole name, by which it is known again.
func NamesFile(i *interlock.Impact) bool {
	if len(i.Target) < 2 || i.Target[0] != '/' && !isDrive(i.Target) || strings.ContainsAny(i.Target, "*?$\n") {
		return false
	}
	return !i.Has(TraitDryRun) && !i.Has(TraitGlob) && !i.Has(TraitDynamic)
}

// unreadKinds are the kinds of code of which nothing is read.
var unreadKinds = set([]string{"other", "applescript"})

// unread marks a place whose text is not known where the agent itself wrote it lately: nobody has seen what it does, and it is
// no old part of the project either.
func (w *world) unread(p place) place {
	if slices.Contains(w.view.Written, p.Path) {
		p.Traits = append(p.Traits[:len(p.Traits):len(p.Traits)], TraitUnread)
	}
	return p
}

// readAs is [world.unread] of a place whose text is known, where it is in a language that nobody reads.
func (r *shellRun) readAs(p place, kind string) place {
	if unreadKinds[kind] {
		return r.s.unread(p)
	}
	return p
}
