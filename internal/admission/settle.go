package admission

import "interlock"

// Where a harness asks its own user, the question is over when the call has run or when its run has gone on to something else, and
// nobody is to be asked about it any more. Harnesses report no refusals, so that going on is all that shows one.

// asksItsUser reports whether the door puts the question of a decision to the user who sits before it: a hook whose harness asks,
// unless the question wants more than that user's yes.
func asksItsUser(p *Case, d interlock.Decision) bool {
	return p.Door == "hook" && p.CanAsk && d.Answer == interlock.Ask && !p.Handover.Hands(d) && !d.BeyondPrompt()
}
