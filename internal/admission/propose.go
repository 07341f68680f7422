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
	"interlock/internal/admission/governance"
	"interlock/internal/admission/pinning"
	"interlock/internal/auditlog"
	"interlock/internal/impact"
	"interlock/internal/ledger"
)

// Propose decides one action and records the decision before it answers. What can't be decided or recorded is a Deny that
// says why; a panic in any part of the way is one too.
func (a *Admission) Propose(ctx context.Context, p interlock.Proposal) interlock.Answer {
	return a.ProposeBy(ctx, Way{}, p)
}

// ProposeBy is [Admission.Propose] for a door, which says beside the proposal what it can do and what only it knows.
func (a *Admission) ProposeBy(ctx context.Context, way Way, proposed interlock.Proposal) (answer interlock.Answer) {
	return a.propose(ctx, Case{Proposal: proposed, Way: way})
}

func (a *Admission) propose(ctx context.Context, p Case) (answer interlock.Answer) {
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
func validate(p Case) error {
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

// decide evaluates, opens or spends what the verdict needs and commits it, again if the standing moved meanwhile. fresh is
// the challenge it has opened, if any.
func (a *Admission) decide(ctx context.Context, p Case) (answer interlock.Answer, fresh *core.Issued, err error) {
	said, also := p.Loop, slices.Concat(alsoRead(p), recentOf(p), p.post.Refs())
	var g core.DecisionRows
	var last shadowed
	who := p.Requester // as the door names it
	if said != nil {
		also = append(also, executionOf(who))
		steps := a.executions.of(also[len(also)-1].Key)
		steps.Lock()
		defer steps.Unlock()
	}
	p.View.Written, p.View.Fetched = nil, nil // what a door says of it counts for nothing
	read := analysed(&p.under.Evaluator, &p)
	asked, heard := a.remembered(&p, read)
	also = append(also, heard...)
	on := func(ctx context.Context, load core.LoadRows) (_ core.DecisionRows, err error) {
		if g, err = a.groundBeside(ctx, load, &p, who, read, also...); err == nil {
			err = a.extendUses(ctx, load, &g, &p, read.Impacts)
		}
		return g, err
	}
	build := func(standing ledger.Standing) (ledger.Change, error) {
		now := a.Config.Now().UTC().Truncate(time.Microsecond) // as the event tells it
		if err := a.know(&p, who, said, &g, standing, now); err != nil {
			return ledger.Change{}, err
		}
		p.judging.Recall(asked, g.Judged, now)
		if err := p.lookedAt(&g, standing, now); err != nil {
			return ledger.Change{}, err
		}
		standing, uncounted := a.ProvenStanding(standing, p.Requester, now)
		begun, over, err := a.continued(ctx, p, standing, now)
		if err != nil {
			return ledger.Change{}, err
		}
		if p.stop, _ = a.KilledIn(&standing, now); p.stop.Scope != "" {
			_ = a.BothKilled(ctx) // what fails here is tried again with the next action, and this one is stopped anyway
		}
		p.first = firstUseOf(&p.under.Evaluator, &p, standing, read.Impacts, now)
		made, invalid, err := a.evaluate(ctx, &p, read, begun, now)
		if err != nil {
			return ledger.Change{}, err
		}
		if invalid == nil {
			invalid = uncounted
		}
		decision := made.Decision
		last = shadowed{proposal: p.Proposal, under: p.under, made: made, at: now}
		answer = interlock.Answer{Decision: decision}
		p.agent, p.tree = made.snapshot.Agent, core.TreeOf(p.Requester, standing)
		a.becomes(&p, decision, standing, over, now)
		if left := a.left(p, standing, decision, now); left || len(p.takes()) > 0 && p.Handover == interlock.HandoverUnsure {
			if answer.Unsure = p.Handover == interlock.HandoverUnsure; answer.Unsure {
				return ledger.Change{}, errUnsure
			}
			answer.Gateway = true
		}
		answer.Uses, answer.Decided = p.takes(), now
		shown := a.Redacted(p.Proposal)
		change, opened, err := a.change(ctx, p, shown, standing, made, now, &answer)
		if err == nil && opened {
			err = a.ClearAway(ctx, &change, now)
		}
		if err != nil {
			return change, err
		}
		if err := a.WentOn(&change, core.Besides(core.PassedBy(p.Requester, false, standing, now), answer.Request), now); err != nil {
			return change, err
		}
		p.spend(&change)
		if err := a.commitInto(&change, &p, now); err != nil {
			return change, err
		}
		if err := a.watched(ctx, &p, &g, &change, standing, answer.Decision, now); err != nil {
			return change, err
		}
		if err := a.insisted(ctx, &p, &change, &answer); err != nil {
			return change, err
		}
		if err := a.rateLimited(&p, &change, answer.Decision, now); err != nil {
			return change, err
		}
		if err := a.posted(&p, &change, standing, answer.Decision, now); err != nil {
			return change, err
		}
		if over {
			change.Spends = slices.DeleteFunc(change.Spends, func(s ledger.Spend) bool { return s.Key == p.Continues })
		}
		if said != nil {
			row, err := did(g.Done, who, *said, p.Action, answer.Decision, p.under.Counters, now)
			if err != nil {
				return change, err
			}
			change.Writes = append(change.Writes, row)
		}
		if fresh, err = a.challenged(&change, p, shown, standing, decision, now, &answer); err != nil || invalid == nil {
			return change, err
		}
		return change, a.alert(&change, p.Requester, invalid)
	}
	receipt, err := a.CommitOn(ctx, true, on, build)
	for moved := false; ; {
		if moved = p.objects(err) || a.healed(ctx, &p, err); !moved && !a.Consult(ctx, p.Requester, &p.judging, err) {
			break
		}
		receipt, err = a.CommitOn(ctx, !moved, on, build) // after asking a judge mostly nothing has
	}
	if errors.Is(err, errUnsure) {
		return answer, nil, nil
	}
	if err != nil {
		return interlock.Answer{}, nil, err
	}
	if err := a.capped(ctx, &p, answer.Decision); err != nil {
		return interlock.Answer{}, nil, err
	}
	answer.Event, answer.Index, answer.Checkpoint = receipt.Events[0], receipt.First, receipt.Checkpoint
	a.warn(ctx, &p, receipt.Left, last.at)
	a.Owing.Look(&p.judging)
	a.pauseOver(ctx, &p, last.at)
	a.overseeSoon(ctx, &p, last.at)
	answer.Always = inAdvance(answer.Request, answer.Decision, p.Action)
	last.event, last.index = answer.Event, answer.Index
	a.shadow.beside(last)
	return answer, fresh, nil
}

// evaluate decides, and decides again without an approval whose signature does not hold: the store is read by whoever can
// write its file, so an approval is proved anew at the moment it is spent. It decides again as well if the agent has asked too
// much to be given another question, and with what only shows once it is known what the action does: who wrote or fetched what it
// runs, and where its values come from.
//
// The analysis is of the action as the door knows it. It is made once, before anything is loaded, so that a commit
// that lost a race repeats the decision and not what is slow.
func (a *Admission) evaluate(ctx context.Context, p *Case, analysis impact.Analysis, standing ledger.Standing,
	now time.Time) (decision evaluation, invalid, err error) {
	letter := p.post.Objects(a.Messages, p.under, &standing, now)
	judge := func(limits []interlock.Finding) evaluation {
		return judgeCase(&p.under.Evaluator, p, analysis, standing, slices.Concat(letter, p.over, p.overBudget(analysis, now), p.first.objects,
			p.beside(analysis, standing, now), limits), now)
	}
	if err = a.budgets(ctx, p, standing, now); err != nil {
		return decision, nil, err
	}
	if err = a.authored(ctx, p, analysis, now); err != nil {
		return decision, nil, err
	}
	decision = judge(nil)
	own, err := a.ownScripts(ctx, p, decision.Decision, now)
	if err != nil {
		return decision, nil, err
	}
	if len(own) > 0 {
		p.View.Written = own
		analysis = analysed(&p.under.Evaluator, p)
		decision = judge(nil)
	}
	if p.View.Fetched, err = a.fetchedBefore(ctx, p, analysis, now); err != nil {
		return decision, nil, err
	}
	if len(p.View.Fetched) > 0 {
		analysis = analysed(&p.under.Evaluator, p)
		decision = judge(nil)
	}
	told, err := a.told(ctx, p, decision.Decision, now)
	if err != nil {
		return decision, nil, err
	}
	if told != nil {
		p.Origin = told
		decision = judge(nil)
	}
	for decision.Approval != "" {
		err := a.Recheck(ctx, standing.Requests[decision.Approval], standing, now)
		if err == nil {
			break
		}
		invalid = err
		standing.Requests = without(standing.Requests, decision.Approval)
		decision = judge(nil)
	}
	limits, err := a.questions(ctx, *p, standing, decision.Decision, now)
	if err == nil && len(limits) > 0 {
		decision = judge(limits)
	}
	if err == nil {
		err = a.unheard(p, analysis, &decision.Decision, standing)
	}
	return decision, invalid, err
}

// alert adds to a change the event that says an approval in the store does not hold.
func (a *Admission) alert(change *ledger.Change, r interlock.Requester, invalid error) error {
	code, message := "approval-invalid", "an approval in the store does not count: "+core.Reason(invalid)
	if order := (core.Unproved{}); errors.As(invalid, &order) {
		code, message = "suppression-invalid", "a suppression in the store does not count: "
		if order.Verb == interlock.VerbGrant {
			code, message = "grant-invalid", "a standing grant in the store does not count: "
		}
		message += core.Reason(invalid)
	}
	return a.Raise(change, r, code, message)
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

// change is what a decision does to the store: its event, the call it answers, the request it opens or the approval it
// spends. It fills in answer.Request.
func (a *Admission) change(ctx context.Context, p Case, shown interlock.Proposal, standing ledger.Standing, made evaluation,
	now time.Time, answer *interlock.Answer) (change ledger.Change, opened bool, err error) {
	d := made.Decision
	change = ledger.Change{Version: standing.Version}
	handed := d.Answer.Allowed() && p.Handover.Hands(d)
	if d.Approval != "" {
		change.Spends = ledger.One(ledger.Request, d.Approval)
	}
	if d.Grant != "" && !standing.Grants[d.Grant].Unlimited() {
		change.Spends = append(change.Spends, ledger.One(ledger.Order, d.Grant)...)
	}
	if handed { // the same question is put again by what runs it, and that is the one the yes was for
		change.Spends = nil
	}
	if asks(d) && !answer.Gateway {
		id, open, err := a.request(p, shown, standing, d, now)
		if err != nil {
			return change, false, err
		}
		if answer.Request = id; open != nil {
			if err := a.SeatCouncil(ctx, open, standing.Agents); err != nil {
				return change, false, err
			}
			change.Writes, opened = append(ledger.Rows(*open), p.first.asked(open)...), true
		}
	}
	recorded := a.RedactedDecision(d)
	record := auditlog.DecisionRecord{Proposal: shown, Decision: recorded, Request: answer.Request, Recent: p.Recent, At: now,
		Handed: handed, Gateway: answer.Gateway, Uses: p.takes(), Canary: interlock.Canary(p.Proposal, d),
		Loop: p.Loop, Upstream: p.Upstream, Failed: p.Failed, Origin: p.Origin,
		Trust: p.under.TrustOf(p.Requester, standing, now), Pin: pinning.PinOf(standing, p.Upstream),
		Judgments: made.snapshot.Judgments, Commits: p.committed, Plan: p.planStep(), Basis: made.snapshot.Run,
		Accountable: p.under.Accountable(p.Requester, standing)}
	if block, blocked := core.BlockOf(standing, p.Requester); blocked {
		record.Block = block.ID
	}
	for _, order := range core.SuppressionsOf(standing, p.Requester, now) {
		record.Orders = append(record.Orders, order.ID)
	}
	for _, grant := range governance.GrantsOf(standing, p.Requester, p.under.Rules.Digest(), now) {
		record.Grants = append(record.Grants, grant.ID)
	}
	payload, err := record.Payload()
	if err != nil {
		return change, false, fmt.Errorf("encoding the decision: %w", err)
	}
	draft, err := a.Draft(eventType(d), p.Requester, "agent", payload)
	if err != nil {
		return change, false, err
	}
	draft.Recorded = now
	draft.Snapshots["ruleset"] = string(d.Ruleset)
	draft.Snapshots["snapshot"] = string(d.Snapshot)
	if made.limited, err = a.asRead(ctx, &p, now); err != nil {
		return change, false, err
	}
	if err := a.keepInputs(&change, &draft, p.under.Manifest, p.Action, shown.Action, &made, recorded); err != nil {
		return change, false, err
	}
	change.Events = []ledger.Draft{draft}
	if err := a.owe(&change, &p, d, now); err != nil {
		return change, false, err
	}
	if (p.Requester.Call != "" || p.Event != "") && !p.Unseen {
		change.Writes = append(change.Writes, ledger.Rows(ledger.CallBody{Requester: p.Requester, Action: d.Action,
			Anywhere: anywhere(p.Proposal), Events: events(p.Proposal), Decision: recorded, Request: answer.Request, Gateway: answer.Gateway,
			At: now})...)
	}
	change.Writes = append(change.Writes, a.Judged(&p.judging, now)...)
	change.Writes = append(change.Writes, remembered(&p, d, made.snapshot.Run, now)...)
	if p.Requester.Run != "" {
		if past, ok := p.under.Rules.Remember(p.Action.Kind, recorded, now); ok {
			change.Writes = append(change.Writes, ledger.Rows(ledger.Past{Run: core.RunOf(p.Requester), Action: past})...)
		}
	}
	return change, opened, nil
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
func (a *Admission) request(p Case, shown interlock.Proposal, standing ledger.Standing, d interlock.Decision,
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
		Obligations: d.Obligations, Status: interlock.RequestPending, Harness: asksItsUser(&p, d), FirstUse: p.first.of, Judged: p.judging.Said}
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
