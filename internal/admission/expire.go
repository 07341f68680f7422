package admission

import (
	"context"
	"errors"
	"fmt"
	"time"

	"interlock"
	"interlock/internal/auditlog"
)

// Expire records of every request whose time has passed that nobody answered it, or that nobody used the answer. It changes
// no decision, because a request's time is looked at wherever the request is used; without it the log would not say how a
// request ended, and the store would carry it along for ever. It does the same for challenges that paused an agent. It returns
// how many it recorded.
func (a *Admission) Expire(ctx context.Context) (int, error) {
	standing, err := a.config.Store.Standing(ctx)
	if err != nil {
		return 0, err
	}
	now, recorded := a.config.Now().UTC(), 0
	for _, request := range overdue(standing, now) {
		change := interlock.Change{}
		if err := a.expire(&change, request, now); err != nil {
			return recorded, err
		}
		_, err := a.config.Store.Commit(ctx, change)
		if errors.Is(err, interlock.ErrConflict) {
			continue // another process was first
		}
		if err != nil {
			return recorded, err
		}
		recorded++
	}
	lapsed, err := a.lapse(ctx, standing, now)
	return recorded + lapsed, err
}

// overdue returns the requests whose time has passed, ordered by id.
func overdue(standing interlock.Standing, now time.Time) []interlock.ApprovalRequest {
	var requests []interlock.ApprovalRequest
	for _, r := range standing.Requests {
		if !now.Before(r.Expires) {
			requests = append(requests, r)
		}
	}
	sortRequests(requests)
	return requests
}

// expire adds to a change that a request has expired, and the event that says so.
func (a *Admission) expire(change *interlock.Change, request interlock.ApprovalRequest, now time.Time) error {
	payload, err := auditlog.ExpiryRecord{Request: request}.Payload()
	if err != nil {
		return fmt.Errorf("encoding the expiry: %w", err)
	}
	draft, err := a.draft(interlock.EventApprovalExpired, request.Requester, "system", payload)
	if err != nil {
		return err
	}
	draft.Recorded = now
	change.Expire = request.ID
	change.Events = append(change.Events, draft)
	return nil
}
