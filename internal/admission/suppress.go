package admission

import (
	"cmp"
	"context"
	"time"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
)

// maxSuppressions bounds how many orders stand at once: each is looked at in every decision.
const maxSuppressions = 64

func (a *Admission) findSuppressed(c *carrying) error {
	s := c.Terms.(interlock.Suppression)
	denies, err := a.force.Load().Rules.Suppressible(s.Rule)
	if err == nil && denies && !s.Denials {
		err = interlock.Errorf(interlock.CodeInvalid, "denials", "the rule denies; the order must say that it silences denials")
	}
	return err
}

// suppress records an operator's signed order to keep a rule silent, in the same transaction as it takes effect.
func (a *Admission) suppress(_ context.Context, c *carrying) error {
	s := c.Terms.(interlock.Suppression)
	if c.taken() || live(c.standing, c.now) >= maxSuppressions {
		return interlock.Errorf(interlock.CodeConflict, "id",
			"the id is taken, or %d suppressions stand already; lift one first", maxSuppressions)
	}
	c.change.Writes = ledger.Rows(s)
	return a.append(&c.change, interlock.EventSuppression, interlock.Requester{Agent: c.Operator}, "operator",
		auditlog.SuppressionRecord{Suppression: s})
}

func findSuppression(c *carrying) error {
	if _, known := c.standing.Suppressions[c.Subject]; !known {
		return interlock.Errorf(interlock.CodeNotFound, "id",
			"no suppression has this id; `interlock rules suppressions` lists them")
	}
	return nil
}

// lift ends a suppression.
func (a *Admission) lift(_ context.Context, c *carrying) error {
	c.change.Writes = []ledger.Row{ledger.Ended(ledger.Order, c.Subject)}
	return a.append(&c.change, interlock.EventSuppression, interlock.Requester{Agent: c.Operator}, "operator",
		auditlog.SuppressionRecord{Suppression: c.standing.Suppressions[c.Subject], Lifted: cmp.Or(c.Reason, "lifted")})
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
