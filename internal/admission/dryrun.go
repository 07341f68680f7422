package admission

import (
	"context"

	"interlock"
	"interlock/internal/auditlog"
)

// Tried records what an action did in a throw-away copy. It must name the decision on that action, and belong to whoever
// proposed it: what an approver is shown of a request was seen by the door that ran it, and by no one else's.
func (a *Admission) Tried(ctx context.Context, r interlock.Requester, run interlock.DryRun) error {
	entry, found, err := a.config.Store.Entry(ctx, run.Event)
	if err != nil {
		return err
	}
	if !found {
		return interlock.Errorf(interlock.CodeNotFound, "/event_id", "no decision has this id")
	}
	decision, agent, err := auditlog.DecisionOf(entry)
	if err != nil || agent != r.Agent || decision.Action != run.Action {
		return interlock.Errorf(interlock.CodeInvalid, "/event_id", "is no decision on this action of this agent")
	}
	effects := make([]interlock.Effect, len(run.Effects))
	for i, e := range run.Effects {
		e.Path, e.Diff = a.redact(e.Path), a.redact(e.Diff)
		effects[i] = e
	}
	run.Effects = effects
	_, err = a.event(ctx, interlock.EventDryRun, r, "agent", auditlog.DryRunRecord{Run: run})
	return err
}

// shown reports whether the dry run that an answer names is one of the request's action, made for this request by its agent.
func (a *Admission) shown(ctx context.Context, request interlock.ApprovalRequest, approval interlock.Approval) error {
	if approval.DryRun == "" {
		return nil // whether there had to be one is for package quorum to say
	}
	entry, found, err := a.config.Store.Entry(ctx, approval.DryRun)
	if err != nil {
		return err
	}
	if found {
		run, runErr := auditlog.DryRunOf(entry)
		event, eventErr := auditlog.ParseEvent(entry.Body)
		if runErr == nil && eventErr == nil && run.Request == request.ID && run.Action == request.Action &&
			event.Actor == request.Requester.Agent {
			return nil
		}
	}
	return interlock.Errorf(interlock.CodeInvalid, "dry_run", "is no dry run of this request")
}
