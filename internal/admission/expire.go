package admission

import (
	"context"
	"errors"
	"time"

	"interlock/internal/admission/core"
	"interlock/internal/ledger"
)

// Expire records of every request whose time has passed that nobody answered it, or that nobody used the answer. It changes
// no decision, because a request's time is looked at wherever the request is used; without it the log would not say how a
// request ended, and the store would carry it along for ever. It does the same for challenges that paused an agent, for
// phases that have become stricter because nobody resolved them, and for messages that nobody has received, for agents that
// were lost, and for what has healed. It returns how
// many it recorded.
func (a *Admission) Expire(ctx context.Context) (int, error) {
	now, recorded := a.Config.Now().UTC(), 0
	late, err := a.Overdue(ctx, now, core.MaxAtOnce)
	if err != nil {
		return 0, err
	}
	core.SortRequests(late)
	for _, request := range late {
		change := ledger.Change{}
		if err := a.ExpireRequest(&change, request, now); err != nil {
			return recorded, err
		}
		_, err := a.Config.Store.Commit(ctx, change)
		if errors.Is(err, ledger.ErrConflict) {
			continue // another process was first
		}
		if err != nil {
			return recorded, err
		}
		recorded++
	}
	lapsed, err := a.Lapse(ctx, now)
	if err != nil {
		return recorded + lapsed, err
	}
	recorded += lapsed
	for _, look := range []func(context.Context, time.Time) (int, error){a.ProposalDue, a.LoseSilent, a.MoveDue,
		a.PauseDue, a.HealDue, a.CountDue, a.ExpireMessages, a.Remind,
		func(ctx context.Context, _ time.Time) (int, error) { return a.Oversee(ctx) }} {
		moved, err := look(ctx, now)
		if recorded += moved; err != nil {
			return recorded, err
		}
	}
	return recorded, nil
}
