package core

import (
	"context"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
)

// Requests returns up to limit requests that still wait for a human or to be spent, those that expire first, ordered by id;
// without a limit all of them.
func (a *Core) Requests(ctx context.Context, limit int) (List[interlock.ApprovalRequest], error) {
	live, err := Listed[interlock.ApprovalRequest](ctx, a, ledger.Request, ledger.From(a.Config.Now().UnixNano()+1, limit))
	SortRequests(live.Rows)
	return live, err
}

// Ground returns what refs name of what is recorded, as it is now, and the version of the ledger.
func (a *Core) Ground(ctx context.Context, refs ...ledger.Ref) (ledger.Standing, error) {
	g, err := a.Rows(refs...)(ctx, a.Config.Store.Load)
	return g.Standing, err
}

// Known is Ground as this process last saw it: what it has committed itself at once, what others have a few milliseconds
// late; see [Store].
func (a *Core) Known(ctx context.Context, refs ...ledger.Ref) (ledger.Standing, error) {
	g, err := a.Rows(refs...)(ctx, a.Config.Store.Recall)
	return g.Standing, err
}

// RefuseApproval records an attempt to answer a request that did not count, or that came from somebody who may never
// answer, such as an agent's credential on an approval endpoint.
func (a *Core) RefuseApproval(ctx context.Context, role, actor, request string, cause error) (ledger.Receipt, error) {
	if actor == "" {
		actor = interlock.NoName
	}
	if a.Config.Alert != nil {
		a.Config.Alert("approval-refused", actor+": "+Reason(cause))
	}
	record := auditlog.RefusalRecord{Door: "approval", Code: Code(cause), Reason: Reason(cause), Request: request}
	return a.Event(ctx, interlock.EventApprovalRefused, interlock.Requester{Agent: actor}, role, record)
}
