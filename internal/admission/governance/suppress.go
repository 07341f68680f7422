package governance

import (
	"cmp"
	"context"
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
)

func (a *Governance) findSuppressed(c *core.PendingOrder) error {
	s := c.Terms.(interlock.Suppression)
	denies, err := a.Active.Load().Rules.Suppressible(s.Rule)
	if err == nil && denies && !s.Denials {
		err = interlock.Errorf(interlock.CodeInvalid, "denials", "the rule denies; the order must say that it silences denials")
	}
	return err
}

// suppress records an operator's signed order to keep a rule silent, in the same transaction as it takes effect.
func (a *Governance) suppress(_ context.Context, c *core.PendingOrder) error {
	s := c.Terms.(interlock.Suppression)
	if c.Taken() || live(c.Standing, c.Now) >= core.MaxSuppressions {
		return interlock.Errorf(interlock.CodeConflict, "id",
			"the id is taken, or %d suppressions stand already; lift one first", core.MaxSuppressions)
	}
	c.Change.Writes = ledger.Rows(s)
	return a.Append(&c.Change, interlock.EventSuppression, interlock.Requester{Agent: c.Operator}, "operator",
		auditlog.SuppressionRecord{Suppression: s})
}

func findSuppression(c *core.PendingOrder) error {
	if _, known := c.Standing.Suppressions[c.Subject]; !known {
		return interlock.Errorf(interlock.CodeNotFound, "id",
			"no suppression has this id; `interlock rules suppressions` lists them")
	}
	return nil
}

// lift ends a suppression.
func (a *Governance) lift(_ context.Context, c *core.PendingOrder) error {
	c.Change.Writes = []ledger.Row{ledger.Ended(ledger.Order, c.Subject)}
	return a.Append(&c.Change, interlock.EventSuppression, interlock.Requester{Agent: c.Operator}, "operator",
		auditlog.SuppressionRecord{Suppression: c.Standing.Suppressions[c.Subject], Lifted: cmp.Or(c.Reason, "lifted")})
}

func live(standing ledger.Standing, now time.Time) int {
	n := 0
	for _, s := range standing.Suppressions {
		if s.InForce(now) {
			n++
		}
	}
	return n
}
