package gate

import (
	"strconv"
	"time"

	"interlock"
	"interlock/internal/ruleset"
)

// NameBudget is the gate of what is left of money and tokens. It is no part of what breakers count, and nothing but the budget itself
// brings it: what an agent costs and what it does wrong are held apart.
const NameBudget = "budget"

// OverBudget is what a budget objects to an action at a use of it: nothing up to the third step, then more with each, so that a
// higher use never lets more through. For how long that is so is said where time brings room back.
func OverBudget(b *ruleset.Budget, used int64, changes bool, wait time.Duration) (f interlock.Finding, objects bool) {
	step := b.Step(used)
	f = interlock.Finding{Gate: NameBudget, Rule: "budget." + b.ID, Layer: 3, Verdict: interlock.Deny,
		Suggestion: "an operator can say more about it: interlock budgets"}
	share := "the budget " + b.ID + " is used to " + strconv.FormatInt(b.Used(used), 10) + "%"
	switch {
	case step.Name == ruleset.StepStop:
		f.Reason = share + ": nothing more is done on it"
		if wait > 0 {
			f.Suggestion = "wait until there is room again"
			f.Obligations = waiting(wait)
		}
	case step.Name == ruleset.StepDegrade && changes:
		f.Reason = share + ": only what reads is done"
	case step.Name == ruleset.StepThrottle && changes:
		f.Verdict, f.Reason = interlock.Ask, share+": what changes something is asked about"
	default:
		return f, false
	}
	return f, true
}
