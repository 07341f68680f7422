package runs

import (
	"slices"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/admission/judging"
	"interlock/internal/gate"
	"interlock/internal/question"
)

// EachJudged takes the judge's place where a step of a plan is decided beforehand: that it has none of its own yet says nothing
// against it. It is asked about every step again when that is taken, so that what it says of a plan makes no precedent (RT-15).
var EachJudged = []interlock.Judgment{{Judge: "plan", Verdict: interlock.Allow}}

// Judged adds what judges say of the plan as a whole, before its first step (EC-2.7): steps that each do no harm may do some
// together. They are asked of no plan that is refused already, so that no byte of that leaves; errUnheard has them asked first.
func (p *Planning) Judged(plan *interlock.Plan, decided []interlock.Decision) error {
	refused := slices.ContainsFunc(plan.Objections, func(o interlock.PlanRemark) bool { return o.Verdict.Compare(interlock.Deny) >= 0 })
	if refused || p.Under.Mode != interlock.Enforcing && p.Under.Mode != interlock.Monitoring {
		return nil
	}
	q, err := p.inquiry(plan, decided)
	if err == nil {
		err = p.Consulted.Needs(q)
	}
	if err != nil {
		return err
	}
	snapshot := interlock.Snapshot{Profile: p.Under.Profile}
	if q != nil {
		snapshot.Judgments = p.Consulted.Said
	}
	for _, f := range gate.Judged(p.Under.Rules, &snapshot, interlock.Allow, judging.NotAnAction) {
		plan.Objections = append(plan.Objections, interlock.PlanRemark{Rule: f.Rule, Verdict: f.Verdict, Reason: p.Redact(f.Reason)})
	}
	p.admin = len(snapshot.Judgments) > 0 && slices.ContainsFunc(plan.Objections, byJudge)
	return nil
}

// byJudge reports whether a remark is a judge's, which only an admin may answer.
func byJudge(o interlock.PlanRemark) bool {
	return len(o.Rule) > len(gate.NameJudge) && o.Rule[:len(gate.NameJudge)+1] == gate.NameJudge+"."
}

// UnheardOf reports whether a plan was refused because a judge could not be heard: that says nothing of the plan, and it is
// looked at again.
func UnheardOf(plan interlock.Plan) bool {
	return slices.ContainsFunc(plan.Objections, func(o interlock.PlanRemark) bool { return o.Rule == gate.RuleUnheard })
}

// inquiry is the question about a whole plan, or nil where nobody is to be asked. Where the profile wants a judge's Allow every plan is
// judged, elsewhere one that changes something.
func (p *Planning) inquiry(plan *interlock.Plan, decided []interlock.Decision) (*judging.Inquiry, error) {
	required := p.Under.WantsJudge()
	var all []interlock.Impact
	var steps []question.Step
	type one struct {
		Action  interlock.Digest   `json:"action"`
		Impacts []interlock.Impact `json:"impacts"`
	}
	var about []one
	for n := range decided {
		all = append(all, decided[n].Impacts...)
		step := question.Step{Action: p.Steps[n].Action}
		if !required {
			step.Impacts = decided[n].Impacts
		}
		steps = append(steps, step)
		about = append(about, one{plan.Steps[n].Action, decided[n].Impacts})
	}
	if len(p.Config.Judges) == 0 || !required && !core.Changes(all) && !p.Config.JudgeWhen.Due(all) {
		return nil, nil
	}
	payload, err := question.Plan(steps, p.Config.Redact)
	if err != nil {
		return nil, err
	}
	q := p.Judging.JudgedBy(judging.Consequential(all), p.Under.Rules.TierFor(core.AgentOf(p.Who, p.Standing)))
	q.Asks = []interlock.JudgeQuestion{{Subject: interlock.JudgePlan, Payload: payload, Class: "plan"}}
	q.Key, err = q.Digest(about)
	return q, err
}
