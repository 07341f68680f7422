package admission

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/admission/runs"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
)

// Report records what executing an action did. A call that ran although nobody judged it, or although the answer was no,
// is recorded as an alert: the door around it leaks.
func (a *Admission) Report(ctx context.Context, r interlock.Requester, o interlock.Outcome) error {
	return a.report(ctx, r, o, nil)
}

// report records an outcome. m is what was measured, where who says so carried the action out himself.
func (a *Admission) report(ctx context.Context, r interlock.Requester, o interlock.Outcome, m *interlock.Measured) error {
	switch o.Status {
	case interlock.OutcomeSuccess, interlock.OutcomeFailure, interlock.OutcomeSkipped, interlock.OutcomeUnknown:
	default:
		return interlock.Errorf(interlock.CodeInvalid, "/outcome", "is not known; name success, failure, skipped or unknown")
	}
	if err := core.CheckAgent(r, ""); err != nil {
		return err
	}
	if err := interlock.CheckUses(o.Uses); err != nil {
		return err
	}
	call, found, err := a.call(ctx, r, o)
	if errors.Is(err, errAnothers) {
		return a.forged(ctx, r)
	}
	if err != nil {
		return err
	}
	event := eventOf(call, found)
	err = a.Retold(ctx, func() (*runs.Attesting, error) { return a.Attesting(ctx, r, event, o.Status, m != nil) },
		func(at *runs.Attesting) error { return a.reportOf(ctx, r, o, m, call, found, at) })
	if err != nil {
		return err
	}
	return a.triedAs(ctx, r, call.Decision, event, o, m != nil)
}

// errAnothers is that an outcome names another agent's decision.
var errAnothers = interlock.Errorf(interlock.CodeUnauthorized, "/event_id", "is another agent's decision: what became of it is for that agent, "+
	"and for what carries it out, to tell; name one of your own")

// forged refuses the outcome of what another agent did. It is not recorded as one: a person who reads the log to find out what
// has to be undone would believe that it ran, or did not.
func (a *Admission) forged(ctx context.Context, r interlock.Requester) error {
	var change ledger.Change
	if err := a.Raise(&change, r, "outcome-forged",
		"it tells of what became of another agent's action; that was refused"); err != nil {
		return err
	}
	if _, err := a.Config.Store.Commit(ctx, change); err != nil {
		return err
	}
	return errAnothers
}

// eventOf is the event of the decision that an outcome belongs to; empty where none was found.
func eventOf(call ledger.CallBody, found bool) string {
	if !found {
		return ""
	}
	return call.EventID
}

// reportOf records an outcome whose call was looked for.
func (a *Admission) reportOf(ctx context.Context, r interlock.Requester, o interlock.Outcome, m *interlock.Measured, call ledger.CallBody,
	found bool, at *runs.Attesting) error {
	draft, alert, err := a.outcome(r, o, call, found, m != nil, at.Tools()...)
	if err != nil {
		return err
	}
	plain := ledger.Change{Events: []ledger.Draft{draft}}
	if m != nil {
		if err := a.keepSaid(ctx, &plain, r, m.Said); err != nil {
			return err
		}
	}
	if found && call.At.Unix() > 0 {
		call.Outcome = o.Status
		plain.Writes = ledger.Rows(call)
	}
	a.endings.of(&plain, r, call.Decision.Action, o.Status)
	learned, err := a.learned(ctx, r, call.Decision, eventOf(call, found), o.Status, m != nil)
	if err != nil {
		return err
	}
	var took reserved
	if m != nil && found {
		if took, err = a.took(ctx, call.EventID); err != nil {
			return err
		}
	}
	for range core.MaxTellings { // what it ends may be spent, run out or be told otherwise at this moment
		change := ledger.Change{Events: slices.Clone(plain.Events), Writes: slices.Clone(plain.Writes)}
		change.Writes = append(change.Writes, learned...)
		at.Into(&change)
		if alert == ranOutside {
			change.Spends = a.unspent(ctx, call.Decision.Approval)
		}
		if err := a.SettleOutcome(ctx, &change, call, o.Status); err != nil {
			return err
		}
		settled := copied(change)
		if m != nil {
			if err := a.settlement(&settled, r, took, o.Status, *m); err != nil {
				return err
			}
		}
		if err = a.commitSettled(ctx, change, settled, alert); !errors.Is(err, ledger.ErrConflict) {
			return errors.Join(err, a.tellEnd(ctx, r, call.Decision, o, m != nil))
		}
		if at != nil {
			return err // the run may be what has moved
		}
	}
	// how it ended is recorded in any case
	return errors.Join(a.commitOutcome(ctx, plain, alert), a.tellEnd(ctx, r, call.Decision, o, m != nil))
}

// tellEnd tells what counts how actions end: a half-open breaker, and the health of a module.
func (a *Admission) tellEnd(ctx context.Context, r interlock.Requester, d interlock.Decision, o interlock.Outcome, carried bool) error {
	return errors.Join(a.Probed(ctx, r, d, o.Status), a.ModuleDid(ctx, r, d, o, carried))
}

// ranOutside is the alert about an action that was to be handed over to `interlock exec`, and was run by itself.
const ranOutside = "ran outside the sandbox that it needed"

// unspent is an approval that was left for `interlock exec` and that nobody has spent: what it was for has run.
func (a *Admission) unspent(ctx context.Context, approval string) []ledger.Spend {
	if approval == "" {
		return nil
	}
	request, found, err := a.Request(ctx, approval)
	if err != nil || !found || request.Status != interlock.RequestApproved {
		return nil
	}
	return ledger.One(ledger.Request, approval)
}

// A Concluded is one action that was decided, and how it ended.
type Concluded struct {
	Requester interlock.Requester
	Answer    interlock.Answer
	Outcome   interlock.Outcome
	Measured  interlock.Measured
}

// Conclude records how actions ended, like [Admission.Report], for a door that has the answers it acted on at hand: nothing
// is looked up, and all that is no alert and puts nothing right is one commit, in the order in which it ended. An error says that
// at least one was not recorded; the others are.
func (a *Admission) Conclude(ctx context.Context, ended ...Concluded) error {
	var plain ledger.Change
	var failed error
	alerted := make(chan error, len(ended)) // one for each that is committed by itself, all at once: the store takes them together
	alone := 0
	var told []Concluded // here, and not by [Admission.Carried]
	for _, c := range ended {
		c.Outcome.Event = c.Answer.Event
		call := ledger.CallBody{Decision: c.Answer.Decision, EventID: c.Answer.Event}
		at, err := a.Attesting(ctx, c.Requester, c.Answer.Event, c.Outcome.Status, true)
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		if at != nil || a.looksBack(c.Answer.Decision) {
			failed = errors.Join(failed, a.Carried(ctx, c.Requester, c.Outcome, c.Measured))
			continue
		}
		told = append(told, c)
		draft, alert, err := a.outcome(c.Requester, c.Outcome, call, c.Answer.Event != "", true)
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		change := ledger.Change{Events: []ledger.Draft{draft}}
		failed = errors.Join(failed, a.keepSaid(ctx, &change, c.Requester, c.Measured.Said)) // how it ended is recorded all the same
		settled := copied(change)
		err = a.settlement(&settled, c.Requester, reserved{c.Answer.Event, c.Answer.Uses, c.Answer.Decided}, c.Outcome.Status, c.Measured)
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		if alert == "" && len(settled.Writes) == 0 {
			plain.Events, plain.Blobs = append(plain.Events, change.Events...), append(plain.Blobs, change.Blobs...)
			a.endings.of(&plain, c.Requester, c.Answer.Action, c.Outcome.Status)
			continue
		}
		a.endings.of(&change, c.Requester, c.Answer.Action, c.Outcome.Status)
		a.endings.of(&settled, c.Requester, c.Answer.Action, c.Outcome.Status)
		alone++
		go func() { alerted <- a.commitSettled(ctx, change, settled, alert) }()
	}
	if len(plain.Events) > 0 {
		failed = errors.Join(failed, a.commitOutcome(ctx, plain, ""))
	}
	for range alone {
		failed = errors.Join(failed, <-alerted)
	}
	for _, c := range told {
		failed = errors.Join(failed, a.tellEnd(ctx, c.Requester, c.Answer.Decision, c.Outcome, true))
	}
	return failed
}

// outcome is the event of an outcome, and why it is an alert if it is one.
func (a *Admission) outcome(r interlock.Requester, o interlock.Outcome, call ledger.CallBody,
	found, carried bool, attests ...string) (ledger.Draft, string, error) {
	record := auditlog.OutcomeRecord{Outcome: o, Attests: attests, Carried: carried}
	record.Outcome.Anywhere = ""
	record.Outcome.Detail = core.Bounded(a.Redact(core.Bounded(o.Detail, 4*core.MaxDetail)), core.MaxDetail)
	record.Outcome.Effects = slices.Clone(o.Effects)
	for i := range record.Outcome.Effects {
		record.Outcome.Effects[i].Path = a.Redact(record.Outcome.Effects[i].Path)
	}
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
		case !o.Sandboxed && call.Decision.Mode == interlock.Enforcing && call.Decision.Owes(interlock.ObligationSandbox):
			kind, record.Alert = interlock.EventAlert, ranOutside
		}
	}
	payload, err := record.Payload()
	if err != nil {
		return ledger.Draft{}, "", fmt.Errorf("encoding the outcome: %w", err)
	}
	draft, err := a.Draft(kind, r, "agent", payload)
	return draft, record.Alert, err
}

func (a *Admission) commitOutcome(ctx context.Context, change ledger.Change, alert string) error {
	if _, err := a.Config.Store.Commit(ctx, change); err != nil {
		return err
	}
	a.endings.recorded(&change)
	if alert != "" && a.Config.Alert != nil {
		a.Config.Alert("outcome", "an action "+alert)
	}
	return nil
}

// call finds the decision an outcome belongs to: by call id, by the event id it names, or by run and action.
func (a *Admission) call(ctx context.Context, r interlock.Requester,
	o interlock.Outcome) (call ledger.CallBody, found bool, err error) {
	if o.Action != "" || r.Call != "" {
		call, found, err = a.FindCall(ctx, r, o.Action)
		if err == nil && !found && r.Call != "" && o.Anywhere != "" {
			call, found, err = a.FindCall(ctx, r, "")
			found = found && call.Anywhere == o.Anywhere
		}
		if err != nil || found && (o.Event == "" || o.Event == call.EventID || r.Call != "" && r.Call == call.Requester.Call) {
			return call, found, err
		}
	}
	if o.Event == "" {
		return ledger.CallBody{}, false, nil
	}
	// What was found by run and action may be another attempt at the same: the one that the harness will yet report.
	entry, known, err := a.Config.Store.Entry(ctx, o.Event)
	if err != nil || !known {
		return call, found, err
	}
	decision, agent, err := auditlog.DecisionOf(entry)
	switch {
	case err != nil:
		return call, found, nil // no decision at all: not this call's
	case agent != r.Agent:
		return call, found, errAnothers
	}
	return ledger.CallBody{EventID: o.Event, Decision: decision}, true, nil
}
