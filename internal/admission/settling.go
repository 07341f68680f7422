package admission

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/ruleset"
)

// What an action takes from limits is reserved when it is decided, and put right once by what carried it out: the gateway, or
// `interlock exec`. What they measured is charged, what they did not carry out is given back, and that there was an action never is. An
// agent's own report gives nothing back; neither does silence, or that nobody knows how it ended.

// Carried is [Admission.Report] for what carried an action out itself, so that its word counts for what limits charge.
func (a *Admission) Carried(ctx context.Context, r interlock.Requester, o interlock.Outcome, m interlock.Measured) error {
	return a.report(ctx, r, o, &m)
}

// A reserved is what the action of one decision took from limits.
type reserved struct {
	event string // of the decision
	uses  []interlock.Taken
	at    time.Time
}

// took is what the action of a decision took from limits, by its event.
func (a *Admission) took(ctx context.Context, event string) (reserved, error) {
	of := reserved{event: event}
	if event == "" {
		return of, nil
	}
	entry, found, err := a.Config.Store.Entry(ctx, event)
	if err != nil || !found {
		return of, err
	}
	of.uses, of.at, err = auditlog.UsesOf(entry)
	return of, err
}

// settlement adds to the change of an outcome what it makes of what the action took. Nothing is added where nothing is put right.
func (a *Admission) settlement(change *ledger.Change, r interlock.Requester, of reserved,
	status interlock.OutcomeStatus, m interlock.Measured) error {
	now := a.Config.Now().UTC()
	settled := false
	for _, u := range of.uses {
		charged, known := charged(u, status, m)
		if !known || now.Sub(of.at) > ledger.SettleWithin {
			continue
		}
		settled = true
		a.Meters().Set(change, nil, ledger.Settling{Key: ledger.TakenFrom(u), Window: u.Window, Decided: of.at, At: now, Taken: u.Take,
			Charged: charged})
		if charged <= u.Take {
			continue
		}
		if err := a.Raise(change, r, "limit-exceeded", fmt.Sprintf("an action used %d of what the limit %s counts, and was let "+
			"through for %d",
			charged, u.Limit, u.Take)); err != nil {
			return err
		}
	}
	if settled {
		change.Writes = append(change.Writes, ledger.Rows(ledger.SettledBody{Event: of.event, At: of.at})...)
	}
	return nil
}

// charged is what of a limit an action has used after all, if that is known.
func charged(u interlock.Taken, status interlock.OutcomeStatus, m interlock.Measured) (n int64, known bool) {
	var measured *int64
	switch ruleset.Measure(u.Measure) {
	case ruleset.MeasureRecords:
		measured = m.Records
	case ruleset.MeasureBytes:
		measured = m.Bytes
	case ruleset.MeasureRecipients:
		measured = m.Recipients
	case ruleset.MeasureCalls:
		measured = m.Calls
	case ruleset.MeasureTokens:
		measured = m.Tokens
	case ruleset.MeasureMoney:
		if sum, is := m.Money[u.Currency]; is {
			measured = &sum
		}
	default:
		return 0, false // there was an action, whatever became of it
	}
	switch {
	case status == interlock.OutcomeSkipped:
		return 0, true
	case status == interlock.OutcomeUnknown || measured == nil || *measured < 0:
		return 0, false
	}
	return *measured, true
}

// commitSettled commits an outcome with what it puts right or, if that was put right before, without.
func (a *Admission) commitSettled(ctx context.Context, plain, settled ledger.Change, alert string) error {
	err := a.commitOutcome(ctx, settled, alert)
	if errors.Is(err, ledger.ErrSettled) {
		return a.commitOutcome(ctx, plain, alert)
	}
	return err
}

// copied is a change that may be added to.
func copied(c ledger.Change) ledger.Change {
	c.Events, c.Writes, c.Spends = slices.Clone(c.Events), slices.Clone(c.Writes), slices.Clone(c.Spends)
	return c
}
