package governance

import (
	"context"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/ledger"
)

// Confirm says whether a human has answered a request of this requester, and redeems a code that a human has for it. An
// agent's own word is no answer: without a code, a request that nobody has answered is refused, and the attempt is recorded
// as APPROVAL_REFUSED and alerted (MCP-AQL 8.7.3). The error is an *interlock.Error then.
func (a *Governance) Confirm(ctx context.Context, r interlock.Requester, request, code string) (interlock.ApprovalRequest,
	error) {
	ground, err := a.GroundOf(ctx, a.Config.Store.Load, r, core.Key(ledger.Request, request))
	standing := ground.Standing
	if err != nil {
		return interlock.ApprovalRequest{}, err
	}
	now := a.Config.Now()
	if err := core.InOffice(r, standing, now); err != nil {
		return interlock.ApprovalRequest{}, err
	}
	r = core.Owned(r, standing)
	asked, found, err := a.Request(ctx, request)
	if err != nil {
		return interlock.ApprovalRequest{}, err
	}
	if !found || asked.Requester.Agent != r.Agent || asked.Requester.Principal != r.Principal {
		return interlock.ApprovalRequest{},
			a.unconfirmed(ctx, r, "", interlock.Errorf(interlock.CodeNotFound, "request",
				"there is no such request of this agent"))
	}
	if code != "" {
		return a.redeem(ctx, r, asked, standing, code)
	}
	switch {
	case asked.Status == interlock.RequestPending && now.Before(asked.Expires):
		return asked, a.unconfirmed(ctx, r, request, interlock.Errorf(interlock.CodeUnauthorized, "request",
			"no human has answered this request, and the agent that asks can't; an operator answers it with `interlock approve`, in the console or by a code"))
	case asked.Status == interlock.RequestApproved && now.Before(asked.Expires):
		if err := a.Recheck(ctx, asked, standing, now); err != nil {
			return asked, a.unconfirmed(ctx, r, request, err)
		}
	case asked.Status == interlock.RequestPending, asked.Status == interlock.RequestApproved:
		asked.Status = interlock.RequestExpired
	}
	return asked, nil
}

// redeem answers the challenge that waits for the request with a code. A request that waits for no code has none.
func (a *Governance) redeem(ctx context.Context, r interlock.Requester, asked interlock.ApprovalRequest,
	standing ledger.Standing, code string) (interlock.ApprovalRequest, error) {
	id := ""
	for _, c := range standing.Challenges {
		if c.Request == asked.ID && c.Ended.IsZero() && (id == "" || c.ID < id) {
			id = c.ID
		}
	}
	v, err := a.Verify(ctx, r, id, code)
	if err != nil {
		return asked, err
	}
	switch v.Result {
	case core.Passed:
	case core.Limited:
		return asked, interlock.Errorf(interlock.CodeLimited, "code", "%s", v.Reason)
	case core.Expired:
		return asked, interlock.Errorf(interlock.CodeExpired, "code", "%s", v.Reason)
	default:
		return asked, interlock.Errorf(interlock.CodeUnauthorized, "code", "%s", v.Reason)
	}
	answered, found, err := a.Request(ctx, asked.ID)
	if err != nil || !found {
		return asked, err
	}
	return answered, nil
}

// unconfirmed records an attempt to confirm without a human's answer. The request is left out where there is none: what an
// agent gives in its place could be a code.
func (a *Governance) unconfirmed(ctx context.Context, r interlock.Requester, request string, cause error) error {
	if _, err := a.RefuseApproval(ctx, "agent", r.Agent, request, cause); err != nil {
		return err
	}
	return cause
}
