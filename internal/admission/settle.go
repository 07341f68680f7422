package admission

import (
	"interlock"
	"interlock/internal/admission/core"
)

// Where a harness asks its own user, the question is over when the call has run or when its run has gone on to something else, and
// nobody is to be asked about it any more. Harnesses report no refusals, so that going on is all that shows one.

// asksItsUser reports whether the door puts the question of a decision to the user who sits before it: a hook whose harness asks,
// unless the question wants more than that user's yes.
func asksItsUser(p *Case, d interlock.Decision) bool {
	return p.Door == "hook" && p.CanAsk && d.Answer == interlock.Ask && !p.Handover.Hands(d) && !d.BeyondPrompt()
}

// closeRequests adds to a change the end of the requests that are over: one that is overdue where another is opened, so that they don't pile
// up where no server does it, and those that the action has gone past.
func (d *pendingDecision) closeRequests() error {
	if d.opened != nil && len(d.overdueAsks) > 0 {
		if err := d.a.ExpireRequest(&d.change, d.overdueAsks[0], d.now); err != nil {
			return err
		}
	}
	return d.a.WentOn(&d.change, core.Besides(core.PassedBy(d.Requester, false, d.standing, d.now), d.answer.Request), d.now)
}
