package admission

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/internal/impact"
	"interlock/internal/ledger"
	"interlock/internal/strictjson"
)

// A plan is handed over whole and looked at before its first step: what each step would be decided as, which can't be undone by the
// end, and what all of them together take from the limits. A person acknowledges what can't be undone. From then on the run takes these
// steps in this order, and anything else that changes something is asked about. That a plan was accepted lowers nothing: each step is
// decided by itself.

// The bounds of plans.
const (
	maxPlanSteps = 64
	maxTakes     = 24 * 60 * 60 // seconds
	maxStepShown = 160          // bytes
)

// SubmitPlan looks at the plan of a registered run of the requester's. The same plan again is the one that stands, as far as it has come:
// so is heard that a person has acknowledged it. Another plan takes its place.
func (a *Admission) SubmitPlan(ctx context.Context, by interlock.Requester, q interlock.PlanRequest) (plan interlock.Plan, err error) {
	steps, err := checkPlan(by, q)
	if err != nil {
		return plan, a.refuseRun(ctx, by, err)
	}
	by.Run = q.Run
	under, err := a.inForce(ctx)
	if err != nil {
		return plan, err
	}
	var g ground
	var heard judging
	read := func(ctx context.Context, load loader) (_ ground, err error) {
		g, err = a.groundOf(ctx, load, by)
		return g, err
	}
	build := func(standing ledger.Standing) (ledger.Change, error) {
		now := a.config.Now().UTC().Truncate(time.Microsecond)
		if err := inOffice(by, standing, now); err != nil {
			return ledger.Change{}, err
		}
		who := owned(by, standing)
		if basis := basisOf(who, standing, now); basis == nil || basis.Wrong != "" || basis.Run != q.Run {
			return ledger.Change{}, interlock.Errorf(interlock.CodeUnauthorized, "/run", "is no open run of this agent; register it, POST /v1/runs")
		}
		p := planning{Admission: a, ctx: ctx, under: under, who: who, steps: steps, standing: standing, recent: g.recent.Actions, now: now,
			judging: &heard}
		change := ledger.Change{Version: standing.Version}
		plan, err = p.into(&change)
		return change, err
	}
	_, err = a.commitOn(ctx, false, read, build)
	for a.consult(ctx, by, &heard, err) {
		_, err = a.commitOn(ctx, false, read, build)
	}
	if errors.Is(err, errUnchanged) {
		return plan, nil
	}
	if err != nil {
		return interlock.Plan{}, a.refuseRun(ctx, by, err)
	}
	return plan, nil
}

// checkPlan refuses what is no plan, and gives its steps with their arguments in canonical form.
func checkPlan(by interlock.Requester, q interlock.PlanRequest) ([]interlock.PlannedStep, error) {
	if err := checkAgent(by, "every plan has an agent"); err != nil {
		return nil, err
	}
	switch {
	case !ledger.Registered(q.Run):
		return nil, interlock.Errorf(interlock.CodeInvalid, "/run", "is no id of a registered run: run_ and 24 digits")
	case len(q.Steps) == 0 || len(q.Steps) > maxPlanSteps:
		return nil, interlock.Errorf(interlock.CodeInvalid, "/steps", "has 1 to %d steps", maxPlanSteps)
	}
	steps := slices.Clone(q.Steps)
	for n := range steps {
		at := fmt.Sprintf("/steps/%d", n)
		if steps[n].Takes < 0 || steps[n].Takes > maxTakes {
			return nil, interlock.Errorf(interlock.CodeInvalid, at+"/takes_seconds", "is from 1 to %d", maxTakes)
		}
		if err := checkStep(&steps[n].Action, at); err != nil {
			return nil, err
		}
		if c := steps[n].Compensation; c != nil {
			only := *c
			if err := checkStep(&only, at+"/compensation"); err != nil {
				return nil, err
			}
			steps[n].Compensation = &only
		}
	}
	return steps, nil
}

func checkStep(action *interlock.Action, at string) error {
	switch {
	case !action.Kind.Valid() || action.Kind == interlock.KindText || action.Kind == interlock.KindHint:
		return interlock.Errorf(interlock.CodeInvalid, at+"/kind", "is no kind of action that can be carried out, such as shell or tool")
	case action.Kind.TakesObject() != (len(action.Arguments) > 0):
		return interlock.Errorf(interlock.CodeInvalid, at+"/arguments", "are for kinds %s, %s and %s, and missing or too many here",
			interlock.KindFile, interlock.KindHTTP, interlock.KindTool)
	case action.Kind.TakesObject():
		canonical, err := strictjson.Canonical(action.Arguments)
		if err != nil || canonical[0] != '{' {
			return interlock.Errorf(interlock.CodeInvalid, at+"/arguments", "is no JSON object that can be read in one way only")
		}
		action.Arguments = canonical
	case strings.TrimSpace(action.Input) == "":
		return interlock.Errorf(interlock.CodeInvalid, at+"/input", "is missing for kind %s", action.Kind)
	}
	if _, err := strictjson.ActionDigest(*action); err != nil {
		return interlock.Errorf(interlock.CodeInvalid, at, "has no canonical form; send valid UTF-8 and valid JSON")
	}
	return nil
}

// A planning is one plan while it is looked at.
type planning struct {
	*Admission
	ctx      context.Context
	under    *force
	who      interlock.Requester
	steps    []interlock.PlannedStep
	standing ledger.Standing
	recent   []interlock.PastAction
	now      time.Time
	judging  *judging
	admin    bool // a judge objects, so that only an admin may acknowledge it
}

// into adds to a change what becomes of the plan, and gives it. Nothing is added where it stands as it is.
func (p *planning) into(change *ledger.Change) (interlock.Plan, error) {
	digest, err := p.digest()
	if err != nil {
		return interlock.Plan{}, err
	}
	was, there := p.standing.Plan(p.who.Agent, p.who.Run)
	request := p.standing.Requests[was.Request]
	if there && was.Digest == digest && was.Ruleset == p.under.Rules.Digest() && !(was.Status == interlock.PlanRefused && unheardOf(was)) {
		switch {
		case was.Status != interlock.PlanWaiting:
			return was, errUnchanged
		case request.Status == interlock.RequestApproved && p.now.Before(request.Expires):
			return p.accepted(was, request, change)
		case request.ID != "" && request.Status == interlock.RequestPending && p.now.Before(request.Expires):
			return was, errUnchanged
		case p.denied(was):
			was.Status = interlock.PlanRefused // a person said no
			was.Objections = append(was.Objections, interlock.PlanRemark{Rule: "plan.denied", Verdict: interlock.Deny,
				Reason: "a person was asked to acknowledge this plan, and refused"})
			return was, p.write(change, was)
		}
	}
	plan, err := p.look(digest)
	if err != nil {
		return plan, err
	}
	if request.ID != "" && request.Status == interlock.RequestPending {
		if err := p.expire(change, request, p.now); err != nil {
			return plan, err
		}
	}
	if plan.Status == interlock.PlanWaiting {
		asked, err := p.ask(plan)
		if err != nil {
			return plan, err
		}
		plan.Request = asked.ID
		change.Writes = append(change.Writes, ledger.Rows(asked)...)
	}
	change.Writes = append(change.Writes, p.Admission.judged(p.judging, p.now)...)
	return plan, p.write(change, plan)
}

// denied reports whether a person has refused to acknowledge a plan. What can't be read was not refused: it is asked anew.
func (p *planning) denied(was interlock.Plan) bool {
	asked, found, err := p.Request(p.ctx, was.Request)
	return err == nil && found && asked.Status == interlock.RequestDenied
}

// accepted spends a person's yes to a plan.
func (p *planning) accepted(plan interlock.Plan, request interlock.ApprovalRequest, change *ledger.Change) (interlock.Plan, error) {
	if request.Action != plan.Digest || request.Ruleset != plan.Ruleset || request.Requester.Agent != p.who.Agent ||
		request.Requester.Principal != p.who.Principal || request.Approval == nil || request.Approval.Verdict != interlock.Allow {
		return plan, interlock.Errorf(interlock.CodeConflict, "/steps", "what was answered is not about this plan; hand it over anew")
	}
	if err := p.recheck(p.ctx, request, p.standing, p.now); err != nil {
		return plan, err
	}
	plan.Status, plan.By, plan.Accepted = interlock.PlanAccepted, request.Approval.Operator, p.now
	change.Spends = append(change.Spends, ledger.One(ledger.Request, request.ID)...)
	return plan, p.write(change, plan)
}

// write adds a plan to a change, with its event.
func (p *planning) write(change *ledger.Change, plan interlock.Plan) error {
	change.Writes = append(change.Writes, ledger.Rows(plan)...)
	return p.append(change, interlock.EventPlan, p.who, "agent", auditlog.PlanRecord{Plan: plan, Judgments: p.judging.said})
}

// digest names the plan by all that was handed over of it.
func (p *planning) digest() (interlock.Digest, error) {
	type step struct {
		Action       interlock.Digest `json:"action"`
		Compensation interlock.Digest `json:"compensation,omitempty"`
		Takes        int              `json:"takes,omitempty"`
	}
	whole := struct {
		Schema string `json:"schema"`
		Agent  string `json:"agent"`
		Run    string `json:"run"`
		Steps  []step `json:"steps"`
	}{"interlock.plan/v1", p.who.Agent, p.who.Run, nil}
	for _, s := range p.steps {
		one := step{Takes: s.Takes}
		var err error
		if one.Action, err = strictjson.ActionDigest(s.Action); err == nil && s.Compensation != nil {
			one.Compensation, err = strictjson.ActionDigest(*s.Compensation)
		}
		if err != nil {
			return "", err
		}
		whole.Steps = append(whole.Steps, one)
	}
	text, err := strictjson.Marshal(whole)
	if err == nil {
		text, err = strictjson.Canonical(text)
	}
	return auditlog.BlobDigest(text), err
}

// ask is the question whether somebody acknowledges a plan. What is signed is its digest, and every step of it is shown.
func (p *planning) ask(plan interlock.Plan) (interlock.ApprovalRequest, error) {
	id, err := p.random(6)
	if err != nil {
		return interlock.ApprovalRequest{}, err
	}
	nonce, err := p.random(16)
	if err != nil {
		return interlock.ApprovalRequest{}, err
	}
	request := interlock.ApprovalRequest{ID: "apr_" + id, Action: plan.Digest, Ruleset: plan.Ruleset, Requester: p.who, Nonce: nonce,
		Created: p.now, Expires: p.now.Add(p.config.ApprovalTTL), Display: p.display(plan), Status: interlock.RequestPending,
		Judged: p.judging.said}
	if p.admin {
		request.Obligations = []interlock.Obligation{{Type: interlock.ObligationAdmin}}
	}
	for _, o := range plan.Objections {
		if o.Verdict == interlock.Ask {
			request.Reason, request.Rule = o.Reason, o.Rule
			break
		}
	}
	return request, nil
}

// display is a plan as whoever acknowledges it is shown it: every step whole, and what was found of it.
func (p *planning) display(plan interlock.Plan) string {
	var b strings.Builder
	fmt.Fprintf(&b, "plan: %d steps of the run %s\ndigest: %s\n", len(plan.Steps), plan.Run, plan.Digest)
	for _, o := range plan.Objections {
		b.WriteString("against it: " + visible(o.Reason) + "\n")
	}
	for n, s := range plan.Steps {
		fmt.Fprintf(&b, "\nstep %d: %s, %s by itself", n+1, reversal(s), s.Verdict)
		if plan.Irreversible == n+1 {
			b.WriteString(": the first that can't be undone")
		}
		b.WriteString("\n" + Display(p.redactedAction(p.steps[n].Action)))
		if c := p.steps[n].Compensation; c != nil {
			b.WriteString("made good by:\n" + Display(p.redactedAction(*c)))
		} else if s.Final() {
			b.WriteString("made good by: nothing\n")
		}
	}
	return b.String()
}

func (a *Admission) redactedAction(action interlock.Action) interlock.Action {
	return a.redacted(interlock.Proposal{Action: action}).Action
}

// reversal says whether a step can be undone, for people.
func reversal(s interlock.StepView) string {
	switch {
	case s.Lapses:
		return fmt.Sprintf("can be undone for %ds, which is over before the plan is", s.Undo)
	case s.Reversibility == interlock.Window:
		return fmt.Sprintf("can be undone for %ds", s.Undo)
	case s.Final():
		return "can't be undone"
	}
	return string(s.Reversibility)
}

// planned is what an action's run planned against it: a step that is not next, or a plan that nobody has acknowledged.
func (e *Evaluator) planned(p *Case, analysis impact.Analysis, standing ledger.Standing) []interlock.Finding {
	run := standing.RunOf(p.Requester)
	if run == "" {
		return nil
	}
	object := func(rule string, verdict interlock.Verdict, why, instead string) []interlock.Finding {
		return []interlock.Finding{{Gate: "plan", Rule: "plan." + rule, Layer: 3, Verdict: verdict, Reason: why, Suggestion: instead}}
	}
	plan, there := standing.Plan(p.Requester.Agent, run)
	digest, err := strictjson.ActionDigest(p.Action)
	switch {
	case !there && e.Rules.Plans().Required && changes(analysis.Impacts):
		return object("missing", interlock.Deny, "in runs nothing is changed here without a plan that was accepted", "hand over a plan: POST /v1/plans")
	case !there || err != nil:
		return nil
	}
	accepted := plan.Status == interlock.PlanAccepted
	if accepted {
		p.step = nextStep(plan, digest)
	}
	switch {
	case !changes(analysis.Impacts): // looking is never outside of a plan
		return nil
	case plan.Status == interlock.PlanWaiting:
		return object("waiting", interlock.Deny, "the plan of this run waits for a person to acknowledge it: "+plan.Request,
			"once that is done, hand the plan over again and go on")
	case !accepted:
		return object("refused", interlock.Deny, "the plan of this run was refused", "hand over another plan")
	case p.step == stepOutside:
		return object("deviation", interlock.Ask, "this is not the next step of the plan of its run, and a person says whether it is done",
			"hand over another plan, or take the next step")
	}
	return nil
}

// What an action is to the plan of its run.
const (
	stepOutside = iota // none of its steps
	stepNext
	stepAgain // the last one once more, or what makes good one that was taken
)

// nextStep says what an action is to a plan.
func nextStep(plan interlock.Plan, digest interlock.Digest) int {
	if plan.Done < len(plan.Steps) && plan.Steps[plan.Done].Action == digest {
		return stepNext
	}
	done := plan.Steps[:min(plan.Done, len(plan.Steps))]
	for n, s := range done {
		if s.Compensation == digest || n == len(done)-1 && s.Action == digest &&
			(s.Reversibility == interlock.Readonly || s.Reversibility == interlock.Reversible) {
			return stepAgain
		}
	}
	return stepOutside
}

// steps finds how far a plan has come once its next step is let through.
func (a *Admission) steps(p *Case, d interlock.Decision, standing ledger.Standing, goesOn bool) {
	p.planning = nil
	if p.step != stepNext || !d.Answer.Allowed() || p.Handover.Hands(d) || p.Handover == interlock.HandoverGateway || goesOn {
		return
	}
	if plan, there := standing.Plan(p.Requester.Agent, standing.RunOf(p.Requester)); there {
		plan.Done++
		p.planning = &plan
	}
}

// planStep is what the log says of the step that an action is.
func (p *Case) planStep() *auditlog.PlanStep {
	if p.planning == nil {
		return nil
	}
	return &auditlog.PlanStep{Plan: p.planning.ID, Step: p.planning.Done}
}
