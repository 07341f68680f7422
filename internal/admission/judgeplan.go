package admission

import (
	"slices"

	"interlock"
	"interlock/internal/gate"
	"interlock/internal/question"
)

// eachJudged stands for the judge where a step of a plan is decided beforehand: that it has none of its own yet says nothing against it.
// It is asked about every step again when that is taken, so that what it says of a plan makes no precedent (RT-15).
var eachJudged = []interlock.Judgment{{Judge: "plan", Verdict: interlock.Allow}}

// judged adds what judges say of the plan as a whole, before its first step (EC-2.7): steps that each do no harm may do some together.
// They are asked of no plan that is refused already, so that no byte of that leaves; errUnheard has them asked first.
func (p *planning) judged(plan *interlock.Plan, decided []interlock.Decision) error {
	refused := slices.ContainsFunc(plan.Objections, func(o interlock.PlanRemark) bool { return o.Verdict.Compare(interlock.Deny) >= 0 })
	if refused || p.under.Mode != interlock.Enforcing && p.under.Mode != interlock.Monitoring {
		return nil
	}
	q, err := p.inquiry(plan, decided)
	if err == nil {
		err = p.judging.needs(q)
	}
	if err != nil {
		return err
	}
	snapshot := interlock.Snapshot{Profile: p.under.Profile}
	if q != nil {
		snapshot.Judgments = p.judging.said
	}
	for _, f := range gate.Judged(p.under.Rules, &snapshot, interlock.Allow, notAnAction) {
		plan.Objections = append(plan.Objections, interlock.PlanRemark{Rule: f.Rule, Verdict: f.Verdict, Reason: p.redact(f.Reason)})
	}
	p.admin = len(snapshot.Judgments) > 0 && slices.ContainsFunc(plan.Objections, byJudge)
	return nil
}

// byJudge reports whether a remark is a judge's, which only an admin may answer.
func byJudge(o interlock.PlanRemark) bool {
	return len(o.Rule) > len(gate.NameJudge) && o.Rule[:len(gate.NameJudge)+1] == gate.NameJudge+"."
}

// unheardOf reports whether a plan was refused because a judge could not be heard: that says nothing of the plan, and it is looked at anew.
func unheardOf(plan interlock.Plan) bool {
	return slices.ContainsFunc(plan.Objections, func(o interlock.PlanRemark) bool { return o.Rule == gate.RuleUnheard })
}

// inquiry is the question about a whole plan, or nil where nobody is to be asked. Where the profile wants a judge's Allow every plan is
// judged, elsewhere one that changes something.
func (p *planning) inquiry(plan *interlock.Plan, decided []interlock.Decision) (*inquiry, error) {
	required := p.under.wantsJudge()
	var all []interlock.Impact
	var steps []question.Step
	type one struct {
		Action  interlock.Digest   `json:"action"`
		Impacts []interlock.Impact `json:"impacts"`
	}
	var about []one
	for n := range decided {
		all = append(all, decided[n].Impacts...)
		step := question.Step{Action: p.steps[n].Action}
		if !required {
			step.Impacts = decided[n].Impacts
		}
		steps = append(steps, step)
		about = append(about, one{plan.Steps[n].Action, decided[n].Impacts})
	}
	if len(p.config.Judges) == 0 || !required && !changes(all) && !p.config.JudgeWhen.due(all) {
		return nil, nil
	}
	payload, err := question.Plan(steps, p.config.Redact)
	if err != nil {
		return nil, err
	}
	q := p.judgedBy(consequential(all), p.under.Rules.TierFor(agentOf(p.who, p.standing)))
	q.asks = []interlock.JudgeQuestion{{Subject: interlock.JudgePlan, Payload: payload, Class: "plan"}}
	q.key, err = q.digest(about)
	return q, err
}
