package ruletest

import (
	"fmt"

	"interlock/internal/ruleset"
)

// lintBudgets points at budgets that hold for nobody, and at ladders whose steps can't be told apart: an agent reached by
// several at once is never told, or slowed down, before it is stopped.
func lintBudgets(rules *ruleset.Ruleset) []Problem {
	var out []Problem
	for _, b := range rules.AllBudgets() {
		say := func(what string) { out = append(out, Problem{b.ID, "", what}) }
		for _, name := range b.Profiles {
			if _, known := rules.Profile(name); !known {
				say("it never counts: there is no profile " + name)
			}
		}
		steps := ruleset.Steps()
		for n := range steps[1:] {
			if lower, higher := steps[n], steps[n+1]; reachedAt(b, lower) == reachedAt(b, higher) {
				say(fmt.Sprintf("its step %s never comes: of %d it is reached together with %s; count in smaller units, or give more", lower.Name,
					b.Most, higher.Name))
				break
			}
		}
	}
	return out
}

// reachedAt is the use at which a step of a budget is reached.
func reachedAt(b *ruleset.Budget, s ruleset.Step) int64 { return max(s.At.Of(b.Most), 1) }
