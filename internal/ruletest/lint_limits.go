package ruletest

import (
	"slices"

	"interlock"
	"interlock/internal/ruleset"
)

// lintLimits points at limits that no action can meet, and at shares of them that can never be told apart.
func lintLimits(rules *ruleset.Ruleset) []Problem {
	var out []Problem
	for _, l := range rules.AllLimits() {
		say := func(what string) { out = append(out, Problem{l.ID, "", what}) }
		for _, name := range l.Profiles {
			if _, known := rules.Profile(name); !known {
				say("it never counts: there is no profile " + name)
			}
		}
		only := func(kind interlock.ImpactKind) bool {
			return len(l.Match.Kind) == 0 || slices.Contains(l.Match.Kind, kind)
		}
		switch l.Measure {
		case ruleset.MeasureMoney:
			if !only(interlock.ImpactSpend) {
				say("it never counts: nothing that it looks for commits money; spend does")
			}
		case ruleset.MeasureRecipients:
			if !only(interlock.ImpactMessage) {
				say("it never counts: nothing that it looks for has recipients; message does")
			}
		case ruleset.MeasureCalls:
			if len(l.Match.Reach) > 0 && !slices.Contains(l.Match.Reach, interlock.ReachExternal) &&
				!slices.Contains(l.Match.Reach, interlock.ReachProduction) {
				say("it never counts: nothing that it looks for reaches outside; external and production do")
			}
		}
		switch {
		case l.Most == 0:
			say("it lets nothing through: a rule that denies says that better")
		case l.Unknown > l.Most:
			say("what does not say how much it is never fits: unknown is more than most")
		case l.EscalateAt > 0 && l.EscalateAt.Of(l.Most) == 0:
			say("everything is asked about: the share it is escalated at is less than one")
		}
	}
	return out
}
