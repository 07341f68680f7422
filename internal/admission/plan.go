package admission

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/admission/judging"
	"interlock/internal/admission/runs"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/strictjson"
)

// planLooks are of what a run is to do.
var planLooks = []look{
	{gates: []string{"plan"}, finds: (*pendingDecision).planFindings, writes: (*pendingDecision).writePlan},
}

// A plan is handed over whole and looked at before its first step: what each step would be decided as, which can't be undone by the
// end, and what all of them together take from the limits. A person acknowledges what can't be undone. From then on the run takes these
// steps in this order, and anything else that changes something is asked about. That a plan was accepted lowers nothing: each step is
// decided by itself.

// SubmitPlan looks at the plan of a registered run of the requester's. The same plan again is the one that is recorded, as far as
// it has come: so is heard that a person has acknowledged it. Another plan takes its place.
func (a *Admission) SubmitPlan(ctx context.Context, by interlock.Requester, q interlock.PlanRequest) (plan interlock.Plan, err error) {
	steps, err := runs.CheckPlan(by, q)
	if err != nil {
		return plan, a.RefuseRun(ctx, by, err)
	}
	by.Run = q.Run
	under, err := a.InForce(ctx)
	if err != nil {
		return plan, err
	}
	var g core.DecisionRows
	var heard judging.Consultation
	read := func(ctx context.Context, load core.LoadRows) (_ core.DecisionRows, err error) {
		g, err = a.GroundOf(ctx, load, by)
		return g, err
	}
	build := func(standing ledger.Standing) (ledger.Change, error) {
		now := a.Config.Now().UTC().Truncate(time.Microsecond)
		if err := core.InOffice(by, standing, now); err != nil {
			return ledger.Change{}, err
		}
		who := core.Owned(by, standing)
		if basis := core.BasisOf(who, standing, now); basis == nil || basis.Wrong != "" || basis.Run != q.Run {
			return ledger.Change{}, interlock.Errorf(interlock.CodeUnauthorized, "/run", "is no open run of this agent; register it, POST /v1/runs")
		}
		p := runs.Planning{Runs: a.Runs, Ctx: ctx, Under: under, Who: who, Steps: steps, Standing: standing,
			Recent: core.Found[ledger.RecentBody](&g, core.Key(ledger.Recent, core.RunOf(by))).Actions, Now: now, Consulted: &heard}
		change := ledger.Change{Version: standing.Version}
		plan, err = into(&p, &change)
		return change, err
	}
	_, err = a.CommitOn(ctx, false, read, build)
	for a.Consult(ctx, by, &heard, err) {
		_, err = a.CommitOn(ctx, false, read, build)
	}
	if errors.Is(err, core.ErrUnchanged) {
		return plan, nil
	}
	if err != nil {
		return interlock.Plan{}, a.RefuseRun(ctx, by, err)
	}
	return plan, nil
}

// into adds to a change what becomes of the plan, and gives it. Nothing is added where it is recorded as it is.
func into(p *runs.Planning, change *ledger.Change) (interlock.Plan, error) {
	digest, err := p.Digest()
	if err != nil {
		return interlock.Plan{}, err
	}
	was, there := p.Standing.Plan(p.Who.Agent, p.Who.Run)
	request := p.Standing.Requests[was.Request]
	if there && was.Digest == digest && was.Ruleset == p.Under.Rules.Digest() && !(was.Status == interlock.PlanRefused &&
		runs.UnheardOf(was)) {
		switch {
		case was.Status != interlock.PlanWaiting:
			return was, core.ErrUnchanged
		case request.Status == interlock.RequestApproved && p.Now.Before(request.Expires):
			return p.Accepted(was, request, change)
		case request.ID != "" && request.Status == interlock.RequestPending && p.Now.Before(request.Expires):
			return was, core.ErrUnchanged
		case p.Denied(was):
			was.Status = interlock.PlanRefused // a person said no
			was.Objections = append(was.Objections, interlock.PlanRemark{Rule: "plan.denied", Verdict: interlock.Deny,
				Reason: "a person was asked to acknowledge this plan, and refused"})
			return was, p.Write(change, was)
		}
	}
	plan, err := lookAtPlan(p, digest)
	if err != nil {
		return plan, err
	}
	if request.ID != "" && request.Status == interlock.RequestPending {
		if err := p.ExpireRequest(change, request, p.Now); err != nil {
			return plan, err
		}
	}
	if plan.Status == interlock.PlanWaiting {
		asked, err := p.Ask(plan)
		if err != nil {
			return plan, err
		}
		plan.Request = asked.ID
		change.Writes = append(change.Writes, ledger.Rows(asked)...)
	}
	change.Writes = append(change.Writes, p.Runs.Judging.JudgedRows(p.Consulted, p.Now)...)
	return plan, p.Write(change, plan)
}

// planFindings are what an action's run planned against it: a step that is not next, or a plan that nobody has acknowledged.
func (d *pendingDecision) planFindings() []interlock.Finding {
	e, p, analysis, standing := d.under, d.Case, d.analysis, d.begun
	p.step = runs.StepOutside
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
	case !there && e.Rules.Plans().Required && core.Changes(analysis.Impacts):
		return object("missing", interlock.Deny, "in runs nothing is changed here without a plan that was accepted", "hand over a plan: POST /v1/plans")
	case !there || err != nil:
		return nil
	}
	accepted := plan.Status == interlock.PlanAccepted
	if accepted {
		p.step = runs.NextStep(plan, digest)
	}
	switch {
	case !core.Changes(analysis.Impacts): // looking is never outside of a plan
		return nil
	case plan.Status == interlock.PlanWaiting:
		return object("waiting", interlock.Deny, "the plan of this run waits for a person to acknowledge it: "+plan.Request,
			"once that is done, hand the plan over again and go on")
	case !accepted:
		return object("refused", interlock.Deny, "the plan of this run was refused", "hand over another plan")
	case p.step == runs.StepOutside:
		return object("deviation", interlock.Ask, "this is not the next step of the plan of its run, and a person says whether it is done",
			"hand over another plan, or take the next step")
	}
	return nil
}

// steps finds how far a plan has come once its next step is let through.
func (a *Admission) steps(p *Case, d interlock.Decision, standing ledger.Standing, goesOn bool) {
	p.planning = nil
	if p.step != runs.StepNext || !d.Answer.Allowed() || p.Handover.Hands(d) || p.Handover == interlock.HandoverGateway || goesOn {
		return
	}
	if plan, there := standing.Plan(p.Requester.Agent, standing.RunOf(p.Requester)); there {
		plan.Done++
		p.planning = &plan
	}
}

func (d *pendingDecision) writePlan() error {
	if d.planning != nil {
		d.change.Writes = append(d.change.Writes, ledger.Rows(*d.planning)...)
	}
	return nil
}

// planStep is what the log says of the step that an action is.
func (p *Case) planStep() *auditlog.PlanStep {
	if p.planning == nil {
		return nil
	}
	return &auditlog.PlanStep{Plan: p.planning.ID, Step: p.planning.Done}
}

// lookAtPlan finds what there is against a plan: each step as it would be decided after those before it, and all together.
func lookAtPlan(p *runs.Planning, digest interlock.Digest) (interlock.Plan, error) {
	plan := interlock.Plan{ID: "pln_" + strings.TrimPrefix(string(digest), "sha256:")[:24], Digest: digest, Run: p.Who.Run,
		Agent: p.Who.Agent, Principal: p.Who.Principal, Ruleset: p.Under.Rules.Digest(), Created: p.Now}
	recent := p.Under.Rules.Recent(p.Recent, p.Now)
	var decided []interlock.Decision
	for n, s := range p.Steps {
		view, decision, err := planStep(p, s, recent)
		if err != nil {
			return plan, err
		}
		if past, remembered := p.Under.Rules.Remember(s.Kind, decision, p.Now); remembered {
			recent = interlock.Remember(recent, past)
		}
		decided = append(decided, decision)
		plan.Steps = append(plan.Steps, view)
		if decision.Verdict.Compare(interlock.Deny) >= 0 {
			plan.Objections = append(plan.Objections, interlock.PlanRemark{Rule: "plan.step", Verdict: interlock.Deny, Steps: []int{n + 1},
				Reason: fmt.Sprintf("step %d would be refused: %s", n+1, view.Reason)})
		}
	}
	runs.Lapse(plan.Steps)
	p.Undone(&plan)
	sums, err := p.Sums(decided)
	if err != nil {
		return plan, err
	}
	plan.Objections = append(plan.Objections, sums...)
	if err := p.Judged(&plan, decided); err != nil {
		return plan, err
	}
	plan.Status = interlock.PlanAccepted
	for _, o := range plan.Objections {
		switch {
		case o.Verdict.Compare(interlock.Deny) >= 0:
			plan.Status = interlock.PlanRefused
		case o.Verdict == interlock.Ask && plan.Status == interlock.PlanAccepted:
			plan.Status = interlock.PlanWaiting
		}
	}
	if p.Under.Mode != interlock.Enforcing { // nothing is asked or refused; what would be is told all the same
		plan.Status = interlock.PlanAccepted
	}
	if plan.Status == interlock.PlanAccepted {
		plan.Accepted = p.Now
	}
	return plan, nil
}

// planStep decides one step as far as that can be done before those that come earlier have been taken.
func planStep(p *runs.Planning, s interlock.PlannedStep, recent []interlock.PastAction) (view interlock.StepView,
	d interlock.Decision, err error) {
	c := Case{Proposal: interlock.Proposal{Action: s.Action, Requester: p.Who, View: p.View(s.Action), Door: "plan", CanAsk: true},
		Recent: recent, under: p.Under}
	c.Sandboxed = true // whether it will be is for the step's own decision
	c.judging.Said = runs.EachJudged
	c.stop, _ = p.Containment.KilledIn(&p.Standing, p.Now)
	analysis := analysed(&p.Under.Evaluator, &c)
	made := pendingDecision{Case: &c, analysis: analysis, begun: p.Standing, now: p.Now}
	made.judgeBy(&p.Under.Evaluator, nil)
	d = made.made.Decision
	view = interlock.StepView{Action: d.Action, Says: p.Short(s.Action), Verdict: d.Verdict, Reversibility: runs.Undone(analysis)}
	if f := d.Decisive(); f != nil {
		view.Rule, view.Reason = f.Rule, p.Redact(f.Reason)
	}
	rules := p.Under.Rules.Plans()
	view.Takes = max(s.Takes, int(time.Duration(rules.Step)/time.Second))
	if view.Reversibility == interlock.Window {
		view.Undo = int(rules.Window(s.Tool, s.Input) / time.Second)
	}
	if s.Compensation != nil {
		view.MadeGood = p.Short(*s.Compensation)
		view.Compensation, err = strictjson.ActionDigest(*s.Compensation)
	}
	return view, d, err
}
