package admission

import (
	"maps"
	"slices"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/ledger"
)

// continuedLooks are of approvals that go on counting.
var continuedLooks = []look{
	{before: (*pendingDecision).continuedRefs, writes: (*pendingDecision).keepUnspent, late: true},
}

// continued lets an approval count that was spent on a call which is not over: its server has asked the client for input instead
// of answering, and is sent the same call again with the answers (MCP 2026-07-28). The door says which approval that was, and
// says so once for each time the server has asked. Here it is held to all that one is held to which was not spent: it is for
// this very action and requester under these rules, its time is not over, and its signature holds. It answers an Ask and
// nothing else, so whatever else objects by now does.
//
// over says that the approval is spent already. One that is not is spent by the decision that names it, like any other.
func (d *pendingDecision) continued() (_ ledger.Standing, over bool) {
	r := core.Found[interlock.ApprovalRequest](&d.ground, core.Key(ledger.Request, d.Continues))
	if d.Continues == "" || r.Status != interlock.RequestSpent || !d.now.Before(r.Expires) {
		return d.standing, false
	}
	r.Status = interlock.RequestApproved
	requests := make(map[string]interlock.ApprovalRequest, len(d.standing.Requests)+1)
	maps.Copy(requests, d.standing.Requests)
	requests[r.ID] = r
	standing := d.standing
	standing.Requests = requests
	return standing, true
}

func (d *pendingDecision) continuedRefs() []ledger.Ref {
	if d.Continues == "" {
		return nil
	}
	return []ledger.Ref{core.Key(ledger.Request, d.Continues)}
}

// keepUnspent keeps an approval from being spent again.
func (d *pendingDecision) keepUnspent() error {
	if d.goesOn {
		d.change.Spends = slices.DeleteFunc(d.change.Spends, func(s ledger.Spend) bool { return s.Key == d.Continues })
	}
	return nil
}
