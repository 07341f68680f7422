package admission

import (
	"context"
	"maps"
	"time"

	"interlock"
	"interlock/internal/ledger"
)

// continued lets an approval count that was spent on a call which is not over: its server has asked the client for input instead
// of answering, and is sent the same call again with the answers (MCP 2026-07-28). The door says which approval that was, and
// says so once for each time the server has asked. Here it is held to all that one is held to which was not spent: it is for
// this very action and requester under these rules, its time is not over, and its signature holds. It answers an Ask and
// nothing else, so whatever else objects by now does.
//
// over says that the approval is spent already. One that is not is spent by whoever names it, like any other.
func (a *Admission) continued(ctx context.Context, p Case, standing ledger.Standing,
	now time.Time) (_ ledger.Standing, over bool, err error) {
	if p.Continues == "" {
		return standing, false, nil
	}
	r, found, err := a.Request(ctx, p.Continues)
	if err != nil || !found || r.Status != interlock.RequestSpent || !now.Before(r.Expires) {
		return standing, false, err
	}
	r.Status = interlock.RequestApproved
	requests := make(map[string]interlock.ApprovalRequest, len(standing.Requests)+1)
	maps.Copy(requests, standing.Requests)
	requests[r.ID] = r
	standing.Requests = requests
	return standing, true, nil
}
