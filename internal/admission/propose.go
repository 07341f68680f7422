package admission

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"interlock"
	"interlock/internal/admission/containment"
	"interlock/internal/admission/core"
	"interlock/internal/admission/pinning"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
)

// proposalLooks are of approvals that don't hold.
var proposalLooks = []look{
	{writes: (*pendingDecision).writeInvalid, late: true},
}

// Propose decides one action and records the decision before it answers. What can't be decided or recorded is a Deny that
// says why; a panic in any part of the way is one too.
func (a *Admission) Propose(ctx context.Context, p interlock.Proposal) interlock.Answer {
	return a.ProposeBy(ctx, Way{}, p)
}

// ProposeBy is [Admission.Propose] for a door, which says beside the proposal what it can do and what only it knows.
func (a *Admission) ProposeBy(ctx context.Context, way Way, proposed interlock.Proposal) (answer interlock.Answer) {
	return a.propose(ctx, &Case{Proposal: proposed, Way: way})
}

func (a *Admission) propose(ctx context.Context, p *Case) (answer interlock.Answer) {
	began := a.Config.Now()
	defer a.Observed(&p.Proposal, &answer)()
	defer func() { a.Pulse.Beat(a.Config.Now().Sub(began)) }()
	defer func() {
		if r := recover(); r != nil {
			a.Pulse.Failed.Add(1)
			answer = a.failed(p.Proposal, "internal", "the decision failed on a defect", fmt.Errorf("panic: %v", r))
		}
	}()
	if err := validate(p); err != nil {
		return a.Refused(ctx, p.Proposal, err)
	}
	var err error
	if p.under, err = a.InForce(ctx); err != nil {
		return a.failed(p.Proposal, core.Code(err), core.Reason(err), err)
	}
	if earlier, found := a.repeated(ctx, p); found {
		return earlier
	}
	answer, fresh, err := a.decide(ctx, p)
	if errors.Is(err, core.ErrManyCostly) {
		return a.Refused(ctx, p.Proposal, err)
	}
	if err != nil {
		a.Pulse.Fails(ctx, err)
		return a.failed(p.Proposal, core.Code(err), core.Reason(err), err)
	}
	if fresh != nil { // only now is there a challenge to answer
		answer.Channels = a.Tell(ctx, *fresh)
	}
	return answer
}

// validate refuses proposals that are not actions before anything is analysed.
func validate(p *Case) error {
	switch {
	case !p.Action.Kind.Valid():
		return interlock.Errorf(interlock.CodeInvalid, "/action/kind", "is not known; name one of %v", interlock.Kinds())
	case p.Action.Kind.TakesObject() && len(p.Action.Arguments) == 0:
		return interlock.Errorf(interlock.CodeInvalid, "/action/arguments", "is missing for kind %s", p.Action.Kind)
	case !p.Action.Kind.TakesObject() && len(p.Action.Arguments) > 0: // which nothing would look at
		return interlock.Errorf(interlock.CodeInvalid, "/action/arguments", "kind %s takes input, a string", p.Action.Kind)
	case core.CheckAgent(p.Requester, "every action has an agent") != nil:
		return core.CheckAgent(p.Requester, "every action has an agent")
	case interlock.CheckUses(p.Uses) != nil:
		return interlock.CheckUses(p.Uses)
	case p.post == nil && (p.Action.Tool == interlock.ToolMessageSend || p.Action.Tool == interlock.ToolMessageReceive):
		return interlock.Errorf(interlock.CodeInvalid, "/action/tool", "is Interlock's own; send and receive messages by POST /v1/messages")
	case !p.Handover.Valid():
		return interlock.Errorf(interlock.CodeInvalid, "/handover", "is not known; name offered, certain, gateway or unsure")
	}
	return nil
}

// errUnsure keeps a decision from being recorded until its door knows where the action goes.
var errUnsure = errors.New("the door has to make sure first where this goes")

// decide makes a decision and commits it with what follows from it, again if what it was made from moved meanwhile. fresh is the
// challenge it has opened, if any.
func (a *Admission) decide(ctx context.Context, p *Case) (answer interlock.Answer, fresh *core.Issued, err error) {
	d := a.pending(p)
	d.ctx, d.also = ctx, slices.Concat(alsoRead(p), recentOf(p), p.post.Refs())
	defer d.end()
	if d.said != nil {
		execution := executionOf(d.by)
		d.also = append(d.also, execution)
		steps := a.executions.of(execution.Key)
		steps.Lock()
		defer steps.Unlock()
	}
	p.bases, p.View.Written, p.View.Fetched = &a.bases, nil, nil // what a door says of it counts for nothing
	if d.read, err = a.analysedInTurn(ctx, p); err != nil {
		return interlock.Answer{}, nil, err
	}
	d.shown.Action = a.RedactedAction(p.Action)
	var heard []ledger.Ref
	d.question, heard = a.remembered(p, d.read)
	d.also = append(d.also, heard...)
	receipt, err := a.CommitOn(ctx, true, d.load, d.collect)
	for moved := false; ; {
		if moved = p.objects(err) || a.healed(ctx, p, err); !moved && !a.Consult(ctx, p.Requester, &p.judging, err) {
			break
		}
		receipt, err = a.CommitOn(ctx, !moved, d.load, d.collect) // after asking a judge mostly nothing has
	}
	if errors.Is(err, errUnsure) {
		return d.answer, nil, nil
	}
	if err != nil {
		return interlock.Answer{}, nil, err
	}
	if err := a.capped(ctx, p, d.answer.Decision); err != nil {
		return interlock.Answer{}, nil, err
	}
	answer = d.answer
	answer.Event, answer.Index, answer.Checkpoint = receipt.Events[0], receipt.First, receipt.Checkpoint
	if err := a.answerText(ctx, p, &answer); err != nil {
		return interlock.Answer{}, nil, err
	}
	a.warn(ctx, p, receipt.Left, d.now)
	a.Owing.Look(&p.judging)
	a.pauseOver(ctx, p, d.now)
	a.overseeSoon(ctx, p, d.now)
	answer.Always = inAdvance(answer.Request, answer.Decision, p.Action)
	if a.shadow != nil {
		a.shadow.beside(shadowed{proposal: p.Proposal, under: p.under, made: d.made, at: d.now, event: answer.Event, index: answer.Index})
	}
	return answer, d.fresh, nil
}

// writeInvalid adds to a change the event that says an approval in the store does not hold.
func (d *pendingDecision) writeInvalid() error {
	invalid := d.invalid
	if invalid == nil {
		return nil
	}
	code, message := "approval-invalid", "an approval in the store does not count: "+core.Reason(invalid)
	if order := (core.Unproved{}); errors.As(invalid, &order) {
		code, message = "suppression-invalid", "a suppression in the store does not count: "
		if order.Verb == interlock.VerbGrant {
			code, message = "grant-invalid", "a standing grant in the store does not count: "
		}
		message += core.Reason(invalid)
	}
	return d.a.Raise(&d.change, d.Requester, code, message)
}

func without(requests map[string]interlock.ApprovalRequest, id string) map[string]interlock.ApprovalRequest {
	rest := make(map[string]interlock.ApprovalRequest, len(requests))
	for k, r := range requests {
		if k != id {
			rest[k] = r
		}
	}
	return rest
}

// collect is what a decision does to the store: its event, the call it answers, the request it opens or the approval it spends,
// and what the looks write. It fills in the answer.
func (d *pendingDecision) collect(ledger.Standing) (ledger.Change, error) {
	a, p, made := d.a, d.Case, d.made.Decision
	d.opened, d.fresh, d.answer = nil, nil, interlock.Answer{Decision: made}
	action := d.shown.Action
	d.shown = p.Proposal
	d.shown.Action = action
	d.change = ledger.Change{Version: d.standing.Version}
	if left := a.left(p, d.standing, made, d.now); left || len(p.takes()) > 0 && p.Handover == interlock.HandoverUnsure {
		if d.answer.Unsure = p.Handover == interlock.HandoverUnsure; d.answer.Unsure {
			return ledger.Change{}, errUnsure
		}
		d.answer.Gateway = true
	}
	d.answer.Uses, d.answer.Decided = p.takes(), d.now
	if m := d.agent.Module; m != nil {
		d.answer.Within = time.Duration(m.Timeout) * time.Millisecond
	}
	handed := made.Answer.Allowed() && p.Handover.Hands(made)
	if !handed { // else the same question is put again by what runs it, and that is the one the yes was for
		if made.Approval != "" {
			d.change.Spends = ledger.One(ledger.Request, made.Approval)
		}
		if made.Grant != "" && !d.standing.Grants[made.Grant].Unlimited() {
			d.change.Spends = append(d.change.Spends, ledger.One(ledger.Order, made.Grant)...)
		}
	}
	if asks(made) && !d.answer.Gateway {
		id, opened, err := a.request(p, d.shown, d.standing, made, d.now)
		if err != nil {
			return d.change, err
		}
		if d.answer.Request, d.opened = id, opened; opened != nil {
			if err := d.seatCouncil(opened); err != nil {
				return d.change, err
			}
			d.change.Writes = ledger.Rows(*opened)
		}
	}
	if err := d.recordInto(handed); err != nil {
		return d.change, err
	}
	for _, late := range []bool{false, true} {
		for n := range looks {
			if l := &looks[n]; l.writes != nil && l.late == late {
				if err := l.writes(d); err != nil {
					return d.change, err
				}
			}
		}
	}
	return d.change, nil
}

// recordInto adds the event of the decision to its change, with what it was made from.
func (d *pendingDecision) recordInto(handed bool) error {
	a, p, made := d.a, d.Case, d.made.Decision
	d.record = a.RedactedDecision(made)
	record := auditlog.DecisionRecord{Proposal: d.shown, Decision: d.record, Request: d.answer.Request, Recent: p.Recent, At: d.now,
		Handed: handed, Gateway: d.answer.Gateway, Uses: p.takes(), Canary: interlock.Canary(p.Proposal, made),
		Loop: p.Loop, Upstream: p.Upstream, Failed: p.Failed, Origin: p.Origin,
		Trust: p.under.TrustOf(p.Requester, d.standing, d.now), Pin: pinning.PinOf(d.standing, p.Upstream),
		Judgments: d.made.snapshot.Judgments, Commits: p.committed, Plan: p.planStep(), Basis: d.made.snapshot.Run,
		Accountable: p.under.Accountable(p.Requester, d.standing), Block: d.made.snapshot.Block, Classified: p.textRecord()}
	for _, order := range d.made.snapshot.Suppressions {
		record.Orders = append(record.Orders, order.ID)
	}
	for _, grant := range d.made.snapshot.Grants {
		record.Grants = append(record.Grants, grant.ID)
	}
	payload, err := record.Payload()
	if err != nil {
		return fmt.Errorf("encoding the decision: %w", err)
	}
	draft, err := a.Draft(eventType(made), p.Requester, "agent", payload)
	if err != nil {
		return err
	}
	draft.Recorded = d.now
	draft.Snapshots["ruleset"] = string(made.Ruleset)
	draft.Snapshots["snapshot"] = string(made.Snapshot)
	d.made.limited = d.asRead()
	err = a.keepInputs(&d.change, &draft, d.declared(), p.Action, d.shown.Action, &d.made, d.record)
	d.change.Events = []ledger.Draft{draft}
	return err
}

// eventType names the event after what the verdict does, as MACE does: blocks and reviews have names of their own.
func eventType(d interlock.Decision) interlock.EventType {
	switch d.Verdict {
	case interlock.Allow:
		return interlock.EventDecision
	case interlock.Ask:
		return interlock.EventReviewRequest
	default:
		return interlock.EventBlock
	}
}

func events(p interlock.Proposal) []string {
	if p.Event == "" {
		return nil
	}
	return []string{p.Event}
}

// request finds the pending request for exactly this question or makes a new one.
func (a *Admission) request(p *Case, shown interlock.Proposal, standing ledger.Standing, d interlock.Decision,
	now time.Time) (string, *interlock.ApprovalRequest, error) {
	if id := joined(p.Requester, standing, d, now); id != "" || p.Loop != nil && p.Loop.Verifying != "" {
		return id, nil, nil // a paused agent opens no further questions
	}
	id, err := a.Random(6)
	if err != nil {
		return "", nil, err
	}
	nonce, err := a.Random(16)
	if err != nil {
		return "", nil, err
	}
	request := interlock.ApprovalRequest{ID: "apr_" + id, Action: d.Action, Ruleset: d.Ruleset, Requester: p.Requester,
		Nonce: nonce, Created: now, Expires: now.Add(a.Config.ApprovalTTL), Display: core.Display(shown.Action),
		Obligations: d.Obligations, Status: interlock.RequestPending, Harness: asksItsUser(p, d), FirstUse: p.first.of,
		Judged: p.judging.Said}
	if within, level, timed := containment.ReviewOf(p.under, d); timed {
		request.Expires, request.Review = now.Add(within), level
	}
	for _, o := range d.Obligations {
		if within, err := time.ParseDuration(o.Note); o.Type == interlock.ObligationWithin && err == nil &&
			now.Add(within).Before(request.Expires) {
			request.Expires = now.Add(within)
		}
	}
	if f := d.Decisive(); f != nil {
		request.Reason, request.Rule = f.Reason, f.Rule
	}
	return request.ID, &request, nil
}

// failed is the one exit for errors on the way to a decision. It tries to leave an event; where the store itself is what
// failed, the answer is all there is.
func (a *Admission) failed(p interlock.Proposal, code, reason string, cause error) interlock.Answer {
	answer := interlock.Refusal(code, reason)
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	receipt, err := a.Event(ctx, interlock.EventRefusal, p.Requester, "system",
		auditlog.RefusalRecord{Door: p.Door, Code: code, Reason: reason})
	if err == nil {
		answer.Event, answer.Index, answer.Checkpoint = receipt.Events[0], receipt.First, receipt.Checkpoint
	}
	if a.Config.Alert != nil {
		a.Config.Alert("decision-failed", cause.Error())
	}
	return answer
}
