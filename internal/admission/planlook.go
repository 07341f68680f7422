package admission

import (
	"fmt"
	"strings"
	"time"

	"interlock"
	"interlock/internal/admission/runs"
	"interlock/internal/strictjson"
)

// lookAtPlan finds what stands against a plan: each step as it would be decided after those before it, and all of them together.
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
func planStep(p *runs.Planning, s interlock.PlannedStep, recent []interlock.PastAction) (view interlock.StepView, d interlock.Decision, err error) {
	c := Case{Proposal: interlock.Proposal{Action: s.Action, Requester: p.Who, View: p.View(s.Action), Door: "plan", CanAsk: true},
		Recent: recent, under: p.Under}
	c.Sandboxed = true // whether it will be is for the step's own decision
	c.judging.Said = runs.EachJudged
	c.stop, _ = p.Containment.KilledIn(&p.Standing, p.Now)
	analysis := analysed(&p.Under.Evaluator, &c)
	d = judgeCase(&p.Under.Evaluator, &c, analysis, p.Standing, nil, p.Now).Decision
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
