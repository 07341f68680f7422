package admission

import (
	"context"
	"errors"
	"fmt"
	"time"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
)

// Expire records of every request whose time has passed that nobody answered it, or that nobody used the answer. It changes
// no decision, because a request's time is looked at wherever the request is used; without it the log would not say how a
// request ended, and the store would carry it along for ever. It does the same for challenges that paused an agent, for
// phases that have become stricter because nobody resolved them, and for messages that nobody has received, for agents that
// were lost, and for what has healed. It returns how
// many it recorded.
func (a *Admission) Expire(ctx context.Context) (int, error) {
	now, recorded := a.config.Now().UTC(), 0
	late, err := a.overdue(ctx, now, maxAtOnce)
	if err != nil {
		return 0, err
	}
	sortRequests(late)
	for _, request := range late {
		change := ledger.Change{}
		if err := a.expire(&change, request, now); err != nil {
			return recorded, err
		}
		_, err := a.config.Store.Commit(ctx, change)
		if errors.Is(err, ledger.ErrConflict) {
			continue // another process was first
		}
		if err != nil {
			return recorded, err
		}
		recorded++
	}
	lapsed, err := a.lapse(ctx, now)
	if err != nil {
		return recorded + lapsed, err
	}
	recorded += lapsed
	for _, look := range []func(context.Context, time.Time) (int, error){a.proposalDue, a.loseSilent, a.moveDue,
		a.pauseDue, a.healDue, a.countDue, a.expireMessages, a.remind,
		func(ctx context.Context, _ time.Time) (int, error) { return a.Oversee(ctx) }} {
		moved, err := look(ctx, now)
		if recorded += moved; err != nil {
			return recorded, err
		}
	}
	return recorded, nil
}

// maxAtOnce bounds how much of what is overdue is ended at once; the rest is when it is next looked for.
const maxAtOnce = 4096

// overdue returns up to limit requests that stand although their time has passed, the longest overdue first.
func (a *Admission) overdue(ctx context.Context, now time.Time, limit int) ([]interlock.ApprovalRequest, error) {
	rows, _, err := a.config.Store.Scan(ctx, under(ledger.Request, ledger.All), ledger.UpTo(now.UnixNano(), limit))
	requests := make([]interlock.ApprovalRequest, 0, len(rows))
	for _, row := range rows {
		if r, ok := row.Value.(interlock.ApprovalRequest); ok {
			requests = append(requests, r)
		}
	}
	return requests, err
}

// clearAway adds to a change that opens a request the end of one that is overdue: so they don't pile up where no server does it.
func (a *Admission) clearAway(ctx context.Context, change *ledger.Change, now time.Time) error {
	late, err := a.overdue(ctx, now, 1)
	if err != nil || len(late) == 0 {
		return err
	}
	return a.expire(change, late[0], now)
}

// expire adds to a change that a request has expired, and the event that says so.
func (a *Admission) expire(change *ledger.Change, request interlock.ApprovalRequest, now time.Time) error {
	payload, err := auditlog.ExpiryRecord{Request: request}.Payload()
	if err != nil {
		return fmt.Errorf("encoding the expiry: %w", err)
	}
	draft, err := a.draft(interlock.EventApprovalExpired, request.Requester, "system", payload)
	if err != nil {
		return err
	}
	draft.Recorded = now
	request.Status = interlock.RequestExpired
	change.Writes = append(change.Writes, ledger.Rows(request)...)
	change.Events = append(change.Events, draft)
	return nil
}
