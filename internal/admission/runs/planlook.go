package runs

import (
	"fmt"
	"slices"
	"strings"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/impact"
	"interlock/internal/ledger"
	"interlock/internal/ruleset"
)

// View is what is known of the world for a step: nothing but where it would run.
func (p *Planning) View(action interlock.Action) interlock.View {
	return interlock.View{Workspace: action.Dir}
}

// Short is an action in one line.
func (p *Planning) Short(action interlock.Action) string {
	text := action.Input
	if action.Tool != "" {
		text = strings.TrimSpace(action.Tool + " " + text)
	}
	if len(action.Arguments) > 0 {
		text += " " + string(p.RedactedArguments(action.Arguments))
	}
	return core.Bounded(core.Visible(strings.Join(strings.Fields(p.Redact(text)), " ")), maxStepShown)
}

// Undone is what it takes to undo an action: what its worst part takes. What can't be told can't be undone.
func Undone(analysis impact.Analysis) interlock.Reversibility {
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

// Lapse marks the steps whose time for being undone is over before the plan has ended. How long a step takes may be said to be
// longer than the rules assume, never shorter: a plan can't keep a window open by its own word.
func Lapse(steps []interlock.StepView) {
	left := 0
	for n := len(steps) - 1; n >= 0; n-- {
		s := &steps[n]
		s.Lapses = s.Reversibility == interlock.Window && left > s.Undo
		left += s.Takes
	}
}

// Undone adds what there is against a plan because of what can't be undone.
func (p *Planning) Undone(plan *interlock.Plan) {
	for n, s := range plan.Steps {
		if !s.Final() {
			continue
		}
		if plan.Irreversible == 0 {
			plan.Irreversible = n + 1
			plan.Objections = append(plan.Objections, interlock.PlanRemark{Rule: "plan.irreversible", Verdict: interlock.Ask,
				Steps:  []int{n + 1},
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
	if p.Under.Rules.Plans().Refuses() {
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

// Sums holds what all steps together take against what the limits have left. Nothing is taken: each step does that when it is
// decided.
func (p *Planning) Sums(decided []interlock.Decision) (found []interlock.PlanRemark, err error) {
	agent := core.AgentOf(p.Who, p.Standing)
	var all []*sum
	for n, d := range decided {
		for _, c := range p.Under.Rules.Charges(d.Profile, &agent, p.Steps[n].Kind, d.Impacts) {
			l := c.Limit
			row := ledger.TakenFrom(interlock.Taken{Limit: l.ID, Per: string(l.Per),
				Of: l.Of(p.Who, &agent, core.TreeOf(p.Who, p.Standing)), Measure: string(l.Measure),
				Currency: l.Currency, Window: l.Window(), Monitored: p.Under.Mode == interlock.Monitoring})
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
	keys := make([]string, len(all))
	for n, s := range all {
		keys[n] = s.key
	}
	counts, err := p.Meters().Get(p.Ctx, keys...)
	if err != nil {
		return nil, err
	}
	for n, s := range all {
		used := min(counts[n].Used(s.limit.Window(), p.Now), ruleset.MaxMost)
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
