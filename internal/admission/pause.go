package admission

import (
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/ledger"
	"interlock/internal/quorum"
	"interlock/internal/strictjson"
)

// A monitored agent that was asked about pauses (MCP-AQL 8.6.4). What it pauses for stands in the ledger, as the request itself:
// so it binds the agent and not one of its executions, holds in every process and at every endpoint, and ends by the answer to that
// request or with its time, whatever the agent reports meanwhile.

// paused returns the request that pauses the requester of a step, if that asks about another action, and the one that asks about
// this action or was approved and not used. An action that a human has approved passes a pause for another: it has its answer.
//
// A request that wants a code pauses by its challenge, which ends with its code's few minutes; waiting is that challenge, where
// there is one.
func (a *Admission) paused(p Case, standing ledger.Standing, waiting interlock.Challenge,
	now time.Time) (other, own string, err error) {
	if p.Loop.Execution == "" {
		return "", "", nil // beginning and ending executions is no step
	}
	action, err := strictjson.ActionDigest(p.Action)
	if err != nil {
		return "", "", err
	}
	if waiting.ID != "" && waiting.Action != action {
		other = waiting.ID
	}
	approved := false
	for id, r := range standing.Requests {
		if !core.Pauses(r) || r.Requester.Agent != p.Requester.Agent || r.Requester.Principal != p.Requester.Principal ||
			!now.Before(r.Expires) {
			continue
		}
		// An approval that does not hold is no answer, whoever wrote the row.
		answered := r.Status == interlock.RequestApproved &&
			quorum.Recheck(r, standing.Operators, standing.Agents, a.Config.Verify, now) == nil
		pending := !answered && (r.Status == interlock.RequestPending || r.Status == interlock.RequestApproved)
		switch {
		case r.Action == action && answered:
			own, approved = smaller(own, id, approved), true
		case r.Action == action && pending && !approved:
			own = smaller(own, id, true)
		case r.Action != action && pending && !r.Owes(interlock.ObligationVerify):
			other = smaller(other, id, true)
		}
	}
	if approved {
		other = ""
	}
	return other, own, nil
}

// smaller is the one of two ids that comes first, so that the same one is named each time; the second if the first is none or does
// not count.
func smaller(first, second string, counts bool) string {
	if first == "" || !counts || second < first {
		return second
	}
	return first
}
