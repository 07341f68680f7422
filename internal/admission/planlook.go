package admission

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"interlock"
	"interlock/internal/impact"
	"interlock/internal/ledger"
	"interlock/internal/ruleset"
	"interlock/internal/strictjson"
)

// look finds what stands against a plan: each step as it would be decided after those before it, and all of them together.
func (p *planning) look(digest interlock.Digest) (interlock.Plan, error) {
	plan := interlock.Plan{ID: "pln_" + strings.TrimPrefix(string(digest), "sha256:")[:24], Digest: digest, Run: p.who.Run,
		Agent: p.who.Agent, Principal: p.who.Principal, Ruleset: p.under.Rules.Digest(), Created: p.now}
	recent := p.under.Rules.Recent(p.recent, p.now)
	var decided []interlock.Decision
	for n, s := range p.steps {
		view, decision, err := p.step(s, recent)
		if err != nil {
			return plan, err
		}
		if past, remembered := p.under.Rules.Remember(s.Kind, decision, p.now); remembered {
			recent = interlock.Remember(recent, past)
		}
		decided = append(decided, decision)
		plan.Steps = append(plan.Steps, view)
		if decision.Verdict.Compare(interlock.Deny) >= 0 {
			plan.Objections = append(plan.Objections, interlock.PlanRemark{Rule: "plan.step", Verdict: interlock.Deny, Steps: []int{n + 1},
				Reason: fmt.Sprintf("step %d would be refused: %s", n+1, view.Reason)})
		}
	}
	lapse(plan.Steps)
	p.undone(&plan)
	sums, err := p.sums(decided)
	if err != nil {
		return plan, err
	}
	plan.Objections = append(plan.Objections, sums...)
	if err := p.judged(&plan, decided); err != nil {
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
	if p.under.Mode != interlock.Enforcing { // nothing is asked or refused; what would be is told all the same
		plan.Status = interlock.PlanAccepted
	}
	if plan.Status == interlock.PlanAccepted {
		plan.Accepted = p.now
	}
	return plan, nil
}

// step decides one step as far as that can be done before those that come earlier have been taken.
func (p *planning) step(s interlock.PlannedStep, recent []interlock.PastAction) (view interlock.StepView, d interlock.Decision, err error) {
	c := Case{Proposal: interlock.Proposal{Action: s.Action, Requester: p.who, View: p.view(s.Action), Door: "plan", CanAsk: true},
		Recent: recent, under: p.under}
	c.Sandboxed = true // whether it will be is for the step's own decision
	c.judging.said = eachJudged
	c.stop, _ = p.killed(&p.standing, p.now)
	analysis := p.under.analyse(&c)
	d = p.under.judge(&c, analysis, p.standing, nil, p.now).Decision
	view = interlock.StepView{Action: d.Action, Says: p.short(s.Action), Verdict: d.Verdict, Reversibility: undone(analysis)}
	if f := d.Decisive(); f != nil {
		view.Rule, view.Reason = f.Rule, p.redact(f.Reason)
	}
	rules := p.under.Rules.Plans()
	view.Takes = max(s.Takes, int(time.Duration(rules.Step)/time.Second))
	if view.Reversibility == interlock.Window {
		view.Undo = int(rules.Window(s.Tool, s.Input) / time.Second)
	}
	if s.Compensation != nil {
		view.MadeGood = p.short(*s.Compensation)
		view.Compensation, err = strictjson.ActionDigest(*s.Compensation)
	}
	return view, d, err
}

// view is what is known of the world for a step: nothing but where it would run.
func (p *planning) view(action interlock.Action) interlock.View {
	return interlock.View{Workspace: action.Dir}
}

// short is an action in one line.
func (p *planning) short(action interlock.Action) string {
	text := action.Input
	if action.Tool != "" {
		text = strings.TrimSpace(action.Tool + " " + text)
	}
	if len(action.Arguments) > 0 {
		text += " " + string(p.redactedArguments(action.Arguments))
	}
	return bounded(visible(strings.Join(strings.Fields(p.redact(text)), " ")), maxStepShown)
}

// undone is what it takes to undo an action: what its worst part takes. What can't be told can't be undone.
func undone(analysis impact.Analysis) interlock.Reversibility {
	worst := 0
	order := interlock.Reversibilities()
	for n := range analysis.Impacts {
		i := &analysis.Impacts[n]
		at := slices.Index(order, i.Reversibility)
		if at < 0 || i.Confidence == interlock.Unknown && i.Reversibility != interlock.Readonly {
			at = len(order) - 1
		}
		worst = max(worst, at)
	}
	return order[worst]
}

// lapse marks the steps whose time for being undone is over before the plan has ended. How long a step takes may be said to be longer
// than the rules assume, never shorter: a plan can't keep a window open by its own word.
func lapse(steps []interlock.StepView) {
	left := 0
	for n := len(steps) - 1; n >= 0; n-- {
		s := &steps[n]
		s.Lapses = s.Reversibility == interlock.Window && left > s.Undo
		left += s.Takes
	}
}

// undone adds what stands against a plan because of what can't be undone.
func (p *planning) undone(plan *interlock.Plan) {
	for n, s := range plan.Steps {
		if !s.Final() {
			continue
		}
		if plan.Irreversible == 0 {
			plan.Irreversible = n + 1
			plan.Objections = append(plan.Objections, interlock.PlanRemark{Rule: "plan.irreversible", Verdict: interlock.Ask, Steps: []int{n + 1},
				Reason: fmt.Sprintf("step %d is the first that can't be undone, and a person acknowledges that before the plan begins", n+1)})
		}
		if s.Compensation == "" {
			plan.Uncompensated = append(plan.Uncompensated, n+1)
		}
	}
	if len(plan.Uncompensated) == 0 {
		return
	}
	verdict := interlock.Ask
	if p.under.Rules.Plans().Refuses() {
		verdict = interlock.Deny
	}
	plan.Objections = append(plan.Objections, interlock.PlanRemark{Rule: "plan.uncompensated", Verdict: verdict,
		Steps: plan.Uncompensated, Reason: "steps that can't be undone name nothing that makes them good (compensation)"})
}

// A sum is what all steps of a plan together take from one row of a limit.
type sum struct {
	limit *ruleset.Limit
	key   string
	take  int64
	steps []int
}

// sums holds what all steps together take against what the limits have left. Nothing is taken: each step does that when it is decided.
func (p *planning) sums(decided []interlock.Decision) (found []interlock.PlanRemark, err error) {
	agent := agentOf(p.who, p.standing)
	var all []*sum
	for n, d := range decided {
		for _, c := range p.under.Rules.Charges(d.Profile, &agent, p.steps[n].Kind, d.Impacts) {
			l := c.Limit
			row := ledger.TakenFrom(interlock.Taken{Limit: l.ID, Per: string(l.Per), Of: l.Of(p.who, &agent, treeOf(p.who, p.standing)),
				Measure:  string(l.Measure),
				Currency: l.Currency, Window: l.Window(), Monitored: p.under.Mode == interlock.Monitoring})
			at := slices.IndexFunc(all, func(s *sum) bool { return s.key == row })
			if at < 0 {
				at, all = len(all), append(all, &sum{limit: l, key: row})
			}
			if c.Amount > 0 {
				all[at].take = min(all[at].take, ruleset.MaxMost-min(c.Amount, ruleset.MaxMost)) + c.Amount
				all[at].steps = append(all[at].steps, n+1)
			}
		}
	}
	for _, s := range all {
		used, err := p.used(s)
		if err != nil {
			return nil, err
		}
		remark := interlock.PlanRemark{Rule: "plan.limit." + s.limit.ID, Steps: s.steps}
		switch part := s.limit.EscalateAt.Of(s.limit.Most); {
		case s.take > s.limit.Most-min(used, s.limit.Most):
			remark.Verdict = s.limit.Verdict
			remark.Reason = "all steps together take more than the limit " + s.limit.ID + " has room for"
		case s.limit.EscalateAt > 0 && s.take > part-min(used, part):
			remark.Verdict = interlock.Ask
			remark.Reason = "all steps together take more of the limit " + s.limit.ID + " than is given out without a human"
		default:
			continue
		}
		found = append(found, remark)
	}
	return found, nil
}

// used is what has been used of a limit's row.
func (p *planning) used(s *sum) (int64, error) {
	rows, _, err := p.config.Store.Load(p.ctx, key(ledger.Usage, s.key))
	for _, row := range rows {
		if body, is := row.Value.(ledger.UsageBody); is {
			return min(body.Used(s.limit.Window(), p.now), ruleset.MaxMost), err
		}
	}
	return 0, err
}
