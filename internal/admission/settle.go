package admission

import (
	"context"
	"errors"
	"slices"
	"time"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
)

// Where a harness asks its own user, the question is over when the call has run or when its run has gone on to something else, and
// nobody is to be asked about it any more. Harnesses report no refusals, so that going on is all that shows one.

// sameBreath is how long after a question other calls of its run may belong to the same step of it, where the harness names no calls:
// a patch to three files is three.
const sameBreath = 2 * time.Second

// asksItsUser reports whether the door puts the question of a decision to the user who sits before it: a hook whose harness asks,
// unless the question wants more than that user's yes.
func asksItsUser(p *Case, d interlock.Decision) bool {
	return p.Door == "hook" && p.CanAsk && d.Answer == interlock.Ask && !p.Handover.Hands(d) && !d.BeyondPrompt()
}

// settle adds to a change that a question is over, and the event that says so.
func (a *Admission) settle(change *ledger.Change, request interlock.ApprovalRequest, how interlock.SettledBy, now time.Time) error {
	request.Status, request.Settled = interlock.RequestSettled, &interlock.Settlement{How: how, At: now}
	payload, err := auditlog.SettledRecord{Request: request}.Payload()
	if err != nil {
		return err
	}
	draft, err := a.draft(interlock.EventSettled, request.Requester, "system", payload)
	if err != nil {
		return err
	}
	draft.Recorded = now
	change.Writes = append(append(change.Writes, ledger.Rows(request)...), usesSettled(request, now)...)
	change.Events = append(change.Events, draft)
	return nil
}

// passedBy are the questions of a run that are over because another call of it has come, or its user said something else.
func passedBy(r interlock.Requester, spoke bool, standing ledger.Standing, now time.Time) []interlock.ApprovalRequest {
	var over []interlock.ApprovalRequest
	for _, asked := range standing.Requests { // in any order: sorted below
		who := asked.Requester
		if !asked.Harness || asked.Status != interlock.RequestPending || r.Run == "" || who.Run != r.Run || who.Agent != r.Agent ||
			who.Principal != r.Principal || !now.Before(asked.Expires) {
			continue
		}
		named := who.Call != "" && r.Call != ""
		if !spoke && (named && who.Call == r.Call || !named && now.Sub(asked.Created) < sameBreath) {
			continue // the same call, or it may be
		}
		over = append(over, asked)
	}
	sortRequests(over)
	return over
}

// besides leaves out the request that is asked now.
func besides(over []interlock.ApprovalRequest, own string) []interlock.ApprovalRequest {
	return slices.DeleteFunc(over, func(r interlock.ApprovalRequest) bool { return r.ID == own })
}

// wentOn adds to a change that questions are over.
func (a *Admission) wentOn(change *ledger.Change, over []interlock.ApprovalRequest, now time.Time) error {
	for _, asked := range over {
		if err := a.settle(change, asked, interlock.SettledWentOn, now); err != nil {
			return err
		}
	}
	return nil
}

// Spoke ends what a run's user was asked before they said something else.
func (a *Admission) Spoke(ctx context.Context, r interlock.Requester) error {
	if r.Run == "" || r.Agent == "" {
		return nil
	}
	on := func(ctx context.Context, load loader) (ground, error) { return a.groundOf(ctx, load, r) }
	_, err := a.commitOn(ctx, false, on, func(standing ledger.Standing) (ledger.Change, error) {
		change := ledger.Change{Version: standing.Version}
		now := a.config.Now().UTC()
		if err := a.wentOn(&change, passedBy(owned(r, standing), true, standing, now), now); err != nil {
			return change, err
		}
		if len(change.Events) == 0 {
			return change, errNothingOver
		}
		return change, nil
	})
	if errors.Is(err, errNothingOver) {
		return nil
	}
	return err
}

// errNothingOver keeps an empty change from being committed.
var errNothingOver = errors.New("no question is over")

// settleOutcome adds to the change of an outcome what it says of the question that the call had left: it is settled, or the approval
// that an operator gave meanwhile is used up, because what it was for has run.
func (a *Admission) settleOutcome(ctx context.Context, change *ledger.Change, call ledger.CallBody, outcome interlock.OutcomeStatus) error {
	if call.Request == "" || call.Decision.Answer != interlock.Ask {
		return nil
	}
	asked, found, err := a.Request(ctx, call.Request)
	switch {
	case err != nil || !found || !asked.Harness:
		return err
	case asked.Status == interlock.RequestApproved:
		if outcome != interlock.OutcomeSkipped {
			change.Spends = append(change.Spends, ledger.One(ledger.Request, asked.ID)...)
		}
		return nil
	case asked.Status == interlock.RequestPending,
		asked.Status == interlock.RequestSettled && asked.Settled != nil && asked.Settled.How == interlock.SettledWentOn:
		return a.settle(change, asked, interlock.SettledAfter(outcome), a.config.Now().UTC())
	}
	return nil
}
