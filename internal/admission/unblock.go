package admission

import (
	"context"
	"errors"
	"fmt"
	"time"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/quorum"
)

// NewCode gives a challenge a fresh code, in place of the one it had, on an operator's signed order. The code is for whoever
// gave the order and for nobody else; it goes to no channel. The order must be younger than the code it replaces, and another
// than the one that had that issued, so that it counts once.
func (a *Admission) NewCode(ctx context.Context, order interlock.Order) (code string, expires time.Time, err error) {
	_, err = a.carryOut(ctx, interlock.VerbNewCode, order,
		func(change *interlock.Change, c interlock.Challenge, now time.Time) error {
			if c.Kind == interlock.ChallengeVerify && !now.Before(c.Expires) {
				return interlock.Errorf(interlock.CodeExpired, "subject",
					"this pause has ended by itself; the step is evaluated afresh when it is reported again")
			}
			if order.ID == c.Order || order.At.Before(c.Issued.Truncate(time.Second)) {
				return interlock.Errorf(interlock.CodeConflict, "at",
					"a code was issued since this order was given; give it again")
			}
			if code, err = a.recode(&c, now); err != nil {
				return err
			}
			c.Order, c.Channels, expires = order.ID, []string{"operator " + order.Operator}, c.Expires
			change.Writes = ledger.Rows(c)
			return a.append(change, interlock.EventChallenge, c.Requester, "operator",
				auditlog.ChallengeRecord{Challenge: c, Order: &order})
		})
	if err != nil {
		return "", time.Time{}, err
	}
	return code, expires, nil
}

// Unblock ends a hard block without a code, on an admin's signed order.
func (a *Admission) Unblock(ctx context.Context, order interlock.Order) (interlock.Receipt, error) {
	return a.carryOut(ctx, interlock.VerbUnblock, order,
		func(change *interlock.Change, c interlock.Challenge, now time.Time) error {
			if c.Kind != interlock.ChallengeBlock {
				return interlock.Errorf(interlock.CodeInvalid, "subject",
					"this challenge blocks nobody; it ends with its code or by itself")
			}
			c.Ended, c.Outcome, c.By, c.CodeHash = now, "lifted", order.Operator, ""
			change.Writes = ledger.Rows(c)
			return a.append(change, interlock.EventUnblocked, c.Requester, "operator",
				auditlog.ChallengeRecord{Challenge: c, Order: &order})
		})
}

// carryOut checks an order about a challenge and commits what it does. One that does not count changes nothing, is recorded
// as APPROVAL_REFUSED and alerted.
func (a *Admission) carryOut(ctx context.Context, verb interlock.Verb, order interlock.Order,
	do func(change *interlock.Change, c interlock.Challenge, now time.Time) error) (interlock.Receipt, error) {
	receipt, err := a.commit(ctx, func(standing interlock.Standing) (interlock.Change, error) {
		now := a.config.Now().UTC().Truncate(time.Microsecond)
		c, stands := standing.Challenges[order.Subject]
		switch {
		case order.Verb != verb:
			return interlock.Change{}, interlock.Errorf(interlock.CodeInvalid, "verb", "this order is for something else")
		case !stands || !c.Ended.IsZero():
			return interlock.Change{}, interlock.Errorf(interlock.CodeNotFound, "subject",
				"no challenge with this id stands; `interlock block list` lists them")
		}
		if err := quorum.CheckOrder(order, c.Requester, standing.Operators, standing.Agents, a.config.Verify, now); err != nil {
			return interlock.Change{}, err
		}
		change := interlock.Change{Version: standing.Version}
		if err := do(&change, c, now); err != nil {
			return interlock.Change{}, err
		}
		for i := range change.Events {
			change.Events[i].Actor = order.Operator
		}
		return change, nil
	})
	return receipt, a.refusedOrder(ctx, order.Operator, order.Subject, err)
}

// refusedOrder records that an operator's order did not count.
func (a *Admission) refusedOrder(ctx context.Context, operator, subject string, err error) error {
	var refusal *interlock.Error
	if errors.As(err, &refusal) {
		if _, recordErr := a.RefuseApproval(ctx, "operator", operator, subject, refusal); recordErr != nil {
			return fmt.Errorf("%w (and the attempt could not be recorded)", err)
		}
	}
	return err
}
