package shell

import (
	"slices"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/flow"
	"interlock/internal/impact/know"
	"interlock/internal/lex"
)

// lineVia is what a line given to another user's shell is said to be done with; rules know it by this name.
const lineVia = "another user's shell"

// givesLine runs what a wrapper runs. Where that is a shell of another user which is given a line of its own, and the
// line does more than look, that it was given one is said: a list of the commands somebody may run as another user
// can't hold back what is in it. A line that only looks is judged as each of its commands would be.
func (r *shellRun) givesLine(adds know.Words, rest []flow.Field, run func()) {
	if !slices.Contains(adds.Traits, fact.TraitElevated) || !r.isShellLine(rest) {
		run()
		return
	}
	looks, found := true, r.S.Capture(run)
	for _, i := range found {
		looks = looks && i.Kind == interlock.ImpactRead && i.Reversibility == interlock.Readonly &&
			i.Confidence != interlock.Unknown && i.Reach != interlock.ReachSelf
		r.S.Add(i)
	}
	if !looks || len(found) == 0 {
		r.S.Add(interlock.Impact{Kind: interlock.ImpactExecute, Target: flow.SpelledOut(rest), Reach: interlock.ReachSystem,
			Reversibility: interlock.Reversible, Confidence: interlock.Inferred, Via: lineVia,
			Traits: []string{fact.TraitElevated, fact.TraitInline}})
	}
}

// isShellLine reports whether a command line is a shell with a line of its own: sh -c '…', bash -lc '…'.
func (r *shellRun) isShellLine(args []flow.Field) bool {
	if len(args) < 2 {
		return false
	}
	name, _ := lex.BaseName(args[0].Text)
	spec := r.S.Know.Lookup(name)
	if spec == nil || spec.Stdin != "shell" || spec.Wraps != "" {
		return false
	}
	for _, a := range args[1:] {
		if len(a.Text) > 1 && a.Text[0] == '-' && a.Text[1] != '-' && a.Text[len(a.Text)-1] == 'c' {
			return true
		}
	}
	return false
}
