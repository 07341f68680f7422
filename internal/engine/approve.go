package engine

import (
	"time"

	"interlock"
)

// approved returns the id of the approval request that answers the Ask with yes. It must be approved and not spent,
// unexpired at now, and bound to this action, this ruleset and this requester. Where several qualify, the one that
// expires first is used, so that none is kept longer than it must.
//
// One operator's signature answers a question and nothing more: what layer 1 asks, and obligations that want a fresh
// challenge, a dry run, a delay or several people, are not answered by it. One that wants an admin is answered by a request
// that carried it, because package quorum then took the answer from nobody else.
func approved(d interlock.Decision, agent interlock.AgentRecord, approvals []interlock.ApprovalRequest, now time.Time) (string, bool) {
	for _, f := range d.Findings {
		if f.Layer == 1 {
			return "", false
		}
	}
	admin := false
	for _, o := range d.Obligations {
		switch o.Type {
		case interlock.ObligationConfirm, interlock.ObligationRedact, interlock.ObligationSandbox:
		case interlock.ObligationAdmin:
			admin = true
		default:
			return "", false
		}
	}
	var chosen *interlock.ApprovalRequest
	for n := range approvals {
		r := &approvals[n]
		if !answers(r, d, agent, now) || admin && !carries(r, interlock.ObligationAdmin) {
			continue
		}
		if chosen == nil || r.Expires.Before(chosen.Expires) || r.Expires.Equal(chosen.Expires) && r.ID < chosen.ID {
			chosen = r
		}
	}
	if chosen == nil {
		return "", false
	}
	return chosen.ID, true
}

func answers(r *interlock.ApprovalRequest, d interlock.Decision, agent interlock.AgentRecord, now time.Time) bool {
	return r.ID != "" && r.Status == interlock.RequestApproved &&
		r.Approval != nil && r.Approval.Request == r.ID && r.Approval.Verdict == interlock.Allow &&
		d.Action != "" && r.Action == d.Action && r.Ruleset == d.Ruleset &&
		agent.ID != "" && r.Requester.Agent == agent.ID && r.Requester.Principal == agent.Principal &&
		!now.Before(r.Created) && now.Before(r.Expires)
}

func carries(r *interlock.ApprovalRequest, obligation string) bool {
	for _, o := range r.Obligations {
		if o.Type == obligation {
			return true
		}
	}
	return false
}
