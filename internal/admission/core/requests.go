package core

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
)

// Asked returns a request of this requester as it is now, whatever has become of it: for the side that asked, which may
// look as often as it likes. It changes and records nothing. A request whose time has passed is expired, recorded or not.
// One of another requester is not found.
func (a *Core) Asked(ctx context.Context, r interlock.Requester, id string) (interlock.ApprovalRequest, error) {
	ground, err := a.GroundOf(ctx, a.Config.Store.Load, r, Key(ledger.Request, id))
	standing := ground.Standing
	if err != nil {
		return interlock.ApprovalRequest{}, err
	}
	asked, found, err := a.Request(ctx, id)
	if err != nil {
		return interlock.ApprovalRequest{}, err
	}
	r = Owned(r, standing)
	if !found || asked.Requester.Agent != r.Agent || asked.Requester.Principal != r.Principal {
		return interlock.ApprovalRequest{},
			interlock.Errorf(interlock.CodeNotFound, "request", "there is no such request of this agent")
	}
	if open := asked.Status == interlock.RequestPending || asked.Status == interlock.RequestApproved; open &&
		!a.Config.Now().Before(asked.Expires) {
		asked.Status = interlock.RequestExpired
	}
	return asked, nil
}

// Request is a request, whatever has become of it.
func (a *Core) Request(ctx context.Context, id string) (interlock.ApprovalRequest, bool, error) {
	rows, _, err := a.Config.Store.Load(ctx, Key(ledger.Request, id))
	if err != nil || len(rows) == 0 {
		return interlock.ApprovalRequest{}, false, err
	}
	r, ok := rows[0].Value.(interlock.ApprovalRequest)
	return r, ok, nil
}

// Forgo takes a request back for the side that asked: its user said no, or its client gave up. It is a no, so nobody needs to
// prove it; the log holds it as a refusal and not as an operator's answer. An approval that nobody has used ends as if its time
// had passed, so that it can't be spent on what everybody believes to be cancelled; who gave it stays in the log. What is over
// already, or was used, stays as it is, and the error says conflict then.
func (a *Core) Forgo(ctx context.Context, r interlock.Requester, id, why string) error {
	if _, err := a.Asked(ctx, r, id); err != nil {
		return err
	}
	why = Bounded(a.Redact(why), MaxDetail)
	_, err := a.CommitOn(ctx, false, a.Rows(Key(ledger.Request, id)),
		func(standing ledger.Standing) (ledger.Change, error) {
			request := standing.Requests[id]
			if request.Status != interlock.RequestPending && request.Status != interlock.RequestApproved {
				return ledger.Change{}, interlock.Errorf(interlock.CodeConflict, "request", "this request is answered already")
			}
			if Pauses(request) { // or an agent could end what holds it
				return ledger.Change{}, interlock.Errorf(interlock.CodeUnauthorized, "request",
					"this request pauses its agent, which ends by its answer or its time and by nothing that the agent's side does")
			}
			payload, err := auditlog.RefusalRecord{Door: "requester", Code: "withdrawn", Reason: why, Request: id}.Payload()
			if err != nil {
				return ledger.Change{}, err
			}
			draft, err := a.Draft(interlock.EventRefusal, r, "agent", payload)
			if err != nil {
				return ledger.Change{}, err
			}
			if request.Status == interlock.RequestApproved {
				request.Status = interlock.RequestExpired
			} else {
				request = request.Answered(interlock.Approval{Request: id, Verdict: interlock.Deny,
					Method: interlock.MethodRequester, Reason: why, At: a.Config.Now().UTC()})
			}
			return ledger.Change{Version: standing.Version, Events: []ledger.Draft{draft}, Writes: ledger.Rows(request)}, nil
		})
	return err
}

// Display is the text an approver is shown and signs over by digest: the whole action, nothing cut, with every control,
// bidirectional and invisible character spelled out so that what is read is what would run (AISVS 9.2.2).
func Display(a interlock.Action) string {
	var b strings.Builder
	line := func(name, value string) {
		if value != "" {
			b.WriteString(name + ": " + Visible(value) + "\n")
		}
	}
	line("kind", string(a.Kind))
	line("tool", a.Tool)
	line("dir", a.Dir)
	line("stated purpose", a.Hint)
	b.WriteString("\n")
	if len(a.Arguments) > 0 {
		b.WriteString(Visible(string(a.Arguments)) + "\n")
	}
	if a.Input != "" {
		for _, l := range strings.Split(a.Input, "\n") {
			b.WriteString(Visible(l) + "\n")
		}
	}
	return b.String()
}

// Visible spells out every character that does not show as itself, as ⟦U+202E⟧. The opening bracket is spelled out as
// well, so that no text can pass for a spelling.
func Visible(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r == unicode.ReplacementChar || r == '⟦' || !Shows(r) {
			fmt.Fprintf(&b, "⟦%U⟧", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// Shows reports whether a character is seen as itself. What Unicode calls printable is not enough: some letters and marks
// are drawn as nothing at all, such as the Hangul filler, variation selectors and the Braille blank.
func Shows(r rune) bool {
	return unicode.IsPrint(r) && r != '\u2800' &&
		!unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// MaxAtOnce bounds how much of what is overdue is ended at once; the rest is when it is next looked for.
const MaxAtOnce = 4096

// Overdue returns up to limit requests that stand although their time has passed, the longest overdue first.
func (a *Core) Overdue(ctx context.Context, now time.Time, limit int) ([]interlock.ApprovalRequest, error) {
	rows, _, err := a.Config.Store.Scan(ctx, Under(ledger.Request, ledger.All), ledger.UpTo(now.UnixNano(), limit))
	requests := make([]interlock.ApprovalRequest, 0, len(rows))
	for _, row := range rows {
		if r, ok := row.Value.(interlock.ApprovalRequest); ok {
			requests = append(requests, r)
		}
	}
	return requests, err
}

// ExpireRequest adds to a change that a request has expired, and the event that says so.
func (a *Core) ExpireRequest(change *ledger.Change, request interlock.ApprovalRequest, now time.Time) error {
	payload, err := auditlog.ExpiryRecord{Request: request}.Payload()
	if err != nil {
		return fmt.Errorf("encoding the expiry: %w", err)
	}
	draft, err := a.Draft(interlock.EventApprovalExpired, request.Requester, "system", payload)
	if err != nil {
		return err
	}
	draft.Recorded = now
	request.Status = interlock.RequestExpired
	change.Writes = append(change.Writes, ledger.Rows(request)...)
	change.Events = append(change.Events, draft)
	return nil
}

// UsesAnswered is what an answer to a request says of what was asked: it is known from now on, or may be asked again.
func UsesAnswered(request interlock.ApprovalRequest) []ledger.Row {
	switch request.Status {
	case interlock.RequestApproved:
		return append(usesFree(&request), UsesOf(&request, ledger.FirstUseBody{Request: request.ID, Agent: request.Requester.Agent,
			By: request.Approval.Operator, Yes: request.Approval.At})...)
	case interlock.RequestDenied:
		return usesFree(&request)
	}
	return nil
}

// usesSettled is the same where a harness had asked its own user.
func usesSettled(request interlock.ApprovalRequest, now time.Time) []ledger.Row {
	rows := usesFree(&request)
	if how := request.Settled.How; how == interlock.SettledRan || how == interlock.SettledFailed {
		rows = append(rows, UsesOf(&request, ledger.FirstUseBody{Request: request.ID, Agent: request.Requester.Agent, Yes: now})...)
	}
	return rows
}

// usesFree has others ask about what was asked about.
func usesFree(request *interlock.ApprovalRequest) (rows []ledger.Row) {
	if request.FirstUse == nil {
		return nil
	}
	for _, use := range request.FirstUse.Uses {
		rows = append(rows, ledger.Ended(ledger.FirstUse, ledger.AskedKey(request.FirstUse.Type, use)))
	}
	return rows
}

func UsesOf(request *interlock.ApprovalRequest, body ledger.FirstUseBody) []ledger.Row {
	if request.FirstUse == nil {
		return nil
	}
	rows := make([]ledger.Row, 0, len(request.FirstUse.Uses))
	for _, use := range request.FirstUse.Uses {
		body.Type, body.Use = request.FirstUse.Type, use
		rows = append(rows, ledger.Rows(body)...)
	}
	return rows
}

// Pauses reports whether a request was opened for a step: those are stated intentions of a run.
func Pauses(r interlock.ApprovalRequest) bool {
	return r.Kind() == interlock.KindHint && r.Requester.Run != ""
}

// sameBreath is how long after a question other calls of its run may belong to the same step of it, where the harness names no
// calls: a patch to three files is three.
const sameBreath = 2 * time.Second

// settle adds to a change that a question is over, and the event that says so.
func (a *Core) settle(change *ledger.Change, request interlock.ApprovalRequest, how interlock.SettledBy, now time.Time) error {
	request.Status, request.Settled = interlock.RequestSettled, &interlock.Settlement{How: how, At: now}
	payload, err := auditlog.SettledRecord{Request: request}.Payload()
	if err != nil {
		return err
	}
	draft, err := a.Draft(interlock.EventSettled, request.Requester, "system", payload)
	if err != nil {
		return err
	}
	draft.Recorded = now
	change.Writes = append(append(change.Writes, ledger.Rows(request)...), usesSettled(request, now)...)
	change.Events = append(change.Events, draft)
	return nil
}

// PassedBy are the questions of a run that are over because another call of it has come, or its user said something else.
func PassedBy(r interlock.Requester, spoke bool, standing ledger.Standing, now time.Time) []interlock.ApprovalRequest {
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
	SortRequests(over)
	return over
}

// Besides leaves out the request that is asked now.
func Besides(over []interlock.ApprovalRequest, own string) []interlock.ApprovalRequest {
	return slices.DeleteFunc(over, func(r interlock.ApprovalRequest) bool { return r.ID == own })
}

// WentOn adds to a change that questions are over.
func (a *Core) WentOn(change *ledger.Change, over []interlock.ApprovalRequest, now time.Time) error {
	for _, asked := range over {
		if err := a.settle(change, asked, interlock.SettledWentOn, now); err != nil {
			return err
		}
	}
	return nil
}

// Spoke ends what a run's user was asked before they said something else.
func (a *Core) Spoke(ctx context.Context, r interlock.Requester) error {
	if r.Run == "" || r.Agent == "" {
		return nil
	}
	on := func(ctx context.Context, load LoadRows) (DecisionRows, error) { return a.GroundOf(ctx, load, r) }
	_, err := a.CommitOn(ctx, false, on, func(standing ledger.Standing) (ledger.Change, error) {
		change := ledger.Change{Version: standing.Version}
		now := a.Config.Now().UTC()
		if err := a.WentOn(&change, PassedBy(Owned(r, standing), true, standing, now), now); err != nil {
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

// SettleOutcome adds to the change of an outcome what it says of the question that the call had left: it is settled, or the
// approval that an operator gave meanwhile is used up, because what it was for has run.
func (a *Core) SettleOutcome(ctx context.Context, change *ledger.Change, call ledger.CallBody,
	outcome interlock.OutcomeStatus) error {
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
		return a.settle(change, asked, interlock.SettledAfter(outcome), a.Config.Now().UTC())
	}
	return nil
}
