package admission

import (
	"time"

	"interlock"
	"interlock/internal/gate"
	"interlock/internal/ledger"
)

// left reports whether the question a decision asks is left to Interlock's own gateway, which judges the same call by the same
// rules: only where nothing asks but what looks at the action itself, and it would without what this run did before:
// the gateway knows nothing of that.
func (a *Admission) left(p *Case, standing ledger.Standing, d interlock.Decision, now time.Time) bool {
	told := p.Handover == interlock.HandoverGateway && d.Answer == interlock.Ask
	if !told && p.Handover != interlock.HandoverUnsure || !asks(d) {
		return false
	}
	asking := askedBy(d)
	if len(p.Recent) > 0 {
		first := *p
		first.Recent = nil
		alone := askedBy(Evaluate(&p.under.Evaluator, first, standing, now))
		for rule := range asking {
			if !alone[rule] {
				return false
			}
		}
	}
	for _, byAction := range asking {
		if !byAction {
			return false
		}
	}
	return len(asking) > 0
}

// askedBy is what asks, and whether each looks at the action itself and at nothing else.
func askedBy(d interlock.Decision) map[string]bool {
	asking := map[string]bool{}
	for n := range d.Findings {
		if f := &d.Findings[n]; f.Verdict == interlock.Ask {
			asking[f.Rule] = gate.Of(f).About == gate.AboutAction
		}
	}
	return asking
}
