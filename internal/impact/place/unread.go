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

// UnreadKinds are the kinds of code of which nothing is read.
var UnreadKinds = lex.Set([]string{"other", "applescript"})

// Unread marks a place whose text is not known where the agent itself wrote it lately: nobody has seen what it does, and it is
// no old part of the project either.
func (w *World) Unread(p know.Place) know.Place {
	if slices.Contains(w.View.Written, p.Path) {
		p.Traits = append(p.Traits[:len(p.Traits):len(p.Traits)], fact.TraitUnread)
	}
	return p
}
