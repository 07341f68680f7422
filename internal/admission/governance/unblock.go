package governance

import (
	"context"
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
)

func readChallenge(o interlock.Order) []ledger.Ref {
	return []ledger.Ref{core.Key(ledger.Challenge, o.Subject)}
}

// findChallenge finds the challenge that an order is about. The order is about the freedom of whom it binds.
func findChallenge(c *core.PendingOrder) error {
	challenge, stands := c.Standing.Challenges[c.Subject]
	if !stands || !challenge.Ended.IsZero() {
		return interlock.Errorf(interlock.CodeNotFound, "subject",
			"no challenge with this id stands; `interlock block list` lists them")
	}
	c.About, c.Now = challenge.Requester, c.Now.Truncate(time.Microsecond)
	return nil
}

// newCode gives a challenge a fresh code, in place of the one it had, on an operator's signed order. The code is for the one who
// gave the order and for nobody else; it goes to no channel. The order must be younger than the code it replaces, and another
// than the one that had that issued.
func (a *Governance) newCode(_ context.Context, c *core.PendingOrder) (err error) {
	challenge := c.Standing.Challenges[c.Subject]
	if challenge.Kind == interlock.ChallengeVerify && !c.Now.Before(challenge.Expires) {
		return interlock.Errorf(interlock.CodeExpired, "subject",
			"this pause has ended by itself; the step is evaluated afresh when it is reported again")
	}
	if c.ID == challenge.Order || c.At.Before(challenge.Issued.Truncate(time.Second)) {
		return interlock.Errorf(interlock.CodeConflict, "at", "a code was issued since this order was given; give it again")
	}
	if c.Done.Code, err = a.Recode(&challenge, c.Now); err != nil {
		return err
	}
	challenge.Order, challenge.Channels, c.Done.Expires = c.ID, []string{"operator " + c.Operator}, challenge.Expires
	return a.ordered(c, interlock.EventChallenge, challenge)
}

// unblock ends a hard block without a code, on an admin's signed order.
func (a *Governance) unblock(_ context.Context, c *core.PendingOrder) error {
	challenge := c.Standing.Challenges[c.Subject]
	if challenge.Kind != interlock.ChallengeBlock {
		return interlock.Errorf(interlock.CodeInvalid, "subject",
			"this challenge blocks nobody; it ends with its code or by itself")
	}
	challenge.Ended, challenge.Outcome, challenge.By, challenge.CodeHash = c.Now, "lifted", c.Operator, ""
	return a.ordered(c, interlock.EventUnblocked, challenge)
}

// ordered adds to the change what became of a challenge by an order. The event is of the agent's run, and its actor who ordered.
func (a *Governance) ordered(c *core.PendingOrder, kind interlock.EventType, challenge interlock.Challenge) error {
	c.Change.Writes = ledger.Rows(challenge)
	err := a.Append(&c.Change, kind, challenge.Requester, "operator",
		auditlog.ChallengeRecord{Challenge: challenge, Order: &c.Order})
	for i := range c.Change.Events {
		c.Change.Events[i].Actor = c.Operator
	}
	return err
}
