package admission

import (
	"context"
	"fmt"

	"interlock"
	"interlock/internal/auditlog"
)

// maxDetail bounds what of a tool's own account of itself is recorded, in bytes.
const maxDetail = 2048

// Report records what executing an action did. A call that ran although nobody judged it, or although the answer was no,
// is recorded as an alert: the door around it leaks.
func (a *Admission) Report(ctx context.Context, r interlock.Requester, o interlock.Outcome) error {
	switch o.Status {
	case interlock.OutcomeSuccess, interlock.OutcomeFailure, interlock.OutcomeSkipped, interlock.OutcomeUnknown:
	default:
		return interlock.Errorf(interlock.CodeInvalid, "/outcome", "is not known; name success, failure, skipped or unknown")
	}
	if r.Agent == "" {
		return interlock.Errorf(interlock.CodeInvalid, "/requester/agent", "is missing")
	}
	call, found, err := a.call(ctx, r, o)
	if err != nil {
		return err
	}
	return a.outcome(ctx, r, o, call, found, found && call.At.Unix() > 0)
}

// Conclude records how an action ended, like [Admission.Report], for a door that has the answer it acted on at hand: nothing
// is looked up. Only what did not end well is remembered beside the log, because the next attempt is judged by it.
func (a *Admission) Conclude(ctx context.Context, r interlock.Requester, answer interlock.Answer, o interlock.Outcome) error {
	o.Event = answer.Event
	call := interlock.Call{Decision: answer.Decision, EventID: answer.Event}
	remember := o.Status == interlock.OutcomeFailure || o.Status == interlock.OutcomeUnknown
	if remember {
		call.Requester, call.Action, call.Decision, call.At = r, answer.Action, a.redactedDecision(answer.Decision), a.config.Now().UTC()
	}
	return a.outcome(ctx, r, o, call, answer.Event != "", remember)
}

// outcome commits the event of an outcome, and with it the call it is about if that is to be remembered.
func (a *Admission) outcome(ctx context.Context, r interlock.Requester, o interlock.Outcome, call interlock.Call, found, remember bool) error {
	record := auditlog.OutcomeRecord{Outcome: o}
	record.Outcome.Detail = bounded(a.redact(bounded(o.Detail, 4*maxDetail)), maxDetail)
	kind := interlock.EventOutcome
	if found {
		record.Outcome.Event = call.EventID
	}
	if o.Status != interlock.OutcomeSkipped {
		switch {
		case !found:
			kind, record.Alert = interlock.EventAlert, "ran but was never judged"
		case call.Decision.Answer == interlock.Deny || call.Decision.Answer == interlock.Halt:
			kind, record.Alert = interlock.EventAlert, "ran although it was refused"
		}
	}
	payload, err := record.Payload()
	if err != nil {
		return fmt.Errorf("encoding the outcome: %w", err)
	}
	draft, err := a.draft(kind, r, "agent", payload)
	if err != nil {
		return err
	}
	change := interlock.Change{Events: []interlock.Draft{draft}}
	if remember {
		call.Outcome = o.Status
		change.Call = &call
	}
	if _, err := a.config.Store.Commit(ctx, change); err != nil {
		return err
	}
	if record.Alert != "" && a.config.Alert != nil {
		a.config.Alert("outcome", "an action "+record.Alert)
	}
	return nil
}

// call finds the decision an outcome belongs to: by call id or by run and action, else by the event id it names.
func (a *Admission) call(ctx context.Context, r interlock.Requester, o interlock.Outcome) (interlock.Call, bool, error) {
	if o.Action != "" || r.Call != "" {
		call, found, err := a.config.Store.FindCall(ctx, r, o.Action)
		if err != nil || found {
			return call, found, err
		}
	}
	if o.Event == "" {
		return interlock.Call{}, false, nil
	}
	entry, found, err := a.config.Store.EntryByID(ctx, o.Event)
	if err != nil || !found {
		return interlock.Call{}, false, err
	}
	decision, agent, err := auditlog.DecisionOf(entry)
	if err != nil || agent != r.Agent {
		return interlock.Call{}, false, nil // another agent's event, or no decision at all: not this call's
	}
	return interlock.Call{EventID: o.Event, Decision: decision}, true, nil
}

// bounded cuts a text at n bytes, at a character boundary.
func bounded(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n] + " [cut]"
}
