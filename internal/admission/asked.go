package admission

import (
	"context"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
)

// Asked returns a request of this requester as it stands now, whatever has become of it: for the side that asked, which may
// look as often as it likes. It changes and records nothing. A request whose time has passed is expired, recorded or not.
// One of another requester is not found.
func (a *Admission) Asked(ctx context.Context, r interlock.Requester, id string) (interlock.ApprovalRequest, error) {
	ground, err := a.groundOf(ctx, a.config.Store.Load, r, key(ledger.Request, id))
	standing := ground.Standing
	if err != nil {
		return interlock.ApprovalRequest{}, err
	}
	asked, found, err := a.Request(ctx, id)
	if err != nil {
		return interlock.ApprovalRequest{}, err
	}
	r = owned(r, standing)
	if !found || asked.Requester.Agent != r.Agent || asked.Requester.Principal != r.Principal {
		return interlock.ApprovalRequest{},
			interlock.Errorf(interlock.CodeNotFound, "request", "there is no such request of this agent")
	}
	if open := asked.Status == interlock.RequestPending || asked.Status == interlock.RequestApproved; open &&
		!a.config.Now().Before(asked.Expires) {
		asked.Status = interlock.RequestExpired
	}
	return asked, nil
}

// Request is a request, whatever has become of it.
func (a *Admission) Request(ctx context.Context, id string) (interlock.ApprovalRequest, bool, error) {
	rows, _, err := a.config.Store.Load(ctx, key(ledger.Request, id))
	if err != nil || len(rows) == 0 {
		return interlock.ApprovalRequest{}, false, err
	}
	r, ok := rows[0].Value.(interlock.ApprovalRequest)
	return r, ok, nil
}

// Forgo takes a request back for the side that asked: its user said no, or its client gave up. It is a no, so nobody needs to prove
// it; the log holds it as a refusal and not as an operator's answer. An approval that nobody has used ends as if its time had passed,
// so that it can't be spent on what everybody believes to be cancelled; who gave it stays in the log. What is over already, or was
// used, stays as it is, and the error says conflict then.
func (a *Admission) Forgo(ctx context.Context, r interlock.Requester, id, why string) error {
	if _, err := a.Asked(ctx, r, id); err != nil {
		return err
	}
	why = bounded(a.redact(why), maxDetail)
	_, err := a.commitOn(ctx, false, a.rows(key(ledger.Request, id)),
		func(standing ledger.Standing) (ledger.Change, error) {
			request := standing.Requests[id]
			if request.Status != interlock.RequestPending && request.Status != interlock.RequestApproved {
				return ledger.Change{}, interlock.Errorf(interlock.CodeConflict, "request", "this request is answered already")
			}
			if pauses(request) { // or an agent could end what holds it
				return ledger.Change{}, interlock.Errorf(interlock.CodeUnauthorized, "request",
					"this request pauses its agent, which ends by its answer or its time and by nothing that the agent's side does")
			}
			payload, err := auditlog.RefusalRecord{Door: "requester", Code: "withdrawn", Reason: why, Request: id}.Payload()
			if err != nil {
				return ledger.Change{}, err
			}
			draft, err := a.draft(interlock.EventRefusal, r, "agent", payload)
			if err != nil {
				return ledger.Change{}, err
			}
			if request.Status == interlock.RequestApproved {
				request.Status = interlock.RequestExpired
			} else {
				request = request.Answered(interlock.Approval{Request: id, Verdict: interlock.Deny,
					Method: interlock.MethodRequester, Reason: why, At: a.config.Now().UTC()})
			}
			return ledger.Change{Version: standing.Version, Events: []ledger.Draft{draft}, Writes: ledger.Rows(request)}, nil
		})
	return err
}
