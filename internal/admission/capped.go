package admission

import (
	"context"
	"time"

	"interlock"
	"interlock/internal/admission/containment"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/phase"
	"interlock/internal/ruleset"
)

// capped isolates an agent that was refused for a cap on what it may reach, where its tier has phases (EC-2.3). A rate of actions is none:
// whoever is only too fast waits.
func (a *Admission) capped(ctx context.Context, p *Case, d interlock.Decision) error {
	if len(p.limited) == 0 || d.Answer.Allowed() || d.Mode != interlock.Enforcing || p.under.Rules.TierFor(p.agent) < 2 {
		return nil
	}
	for n := range p.limited {
		row := &p.limited[n]
		if row.Measure == string(ruleset.MeasureActions) || !refusedBy(d, row.Limit) {
			continue
		}
		return a.Tighten(ctx, containment.Tightening{Scope: ledger.HoldAgent, Key: p.Requester.Agent, To: phase.Alternate, Trigger: phase.TriggerCap,
			Why: "the limit " + row.Limit + " has no room left for what it wanted"})
	}
	return nil
}

// writeRateLimits records under MACE's name that a quota had no room for an action, and when it will have (MACE 7). The agent is told the same
// by the obligation to wait.
func (w *pendingDecision) writeRateLimits() error {
	p, d := w.Case, w.answer.Decision
	if len(p.limited) == 0 || d.Answer.Allowed() || d.Mode != interlock.Enforcing {
		return nil
	}
	for n := range p.limited {
		row := &p.limited[n]
		if !row.Met || !refusedBy(d, row.Limit) {
			continue
		}
		record := auditlog.RateRecord{Limit: row.Limit, Per: row.Per, Measure: row.Measure, Used: row.Used, Room: row.Room,
			Window: int64(row.Window / time.Second), RetryAfter: int64((waitFor(row.Back, w.now) + time.Second - 1) / time.Second)}
		if err := w.a.Append(&w.change, interlock.EventRateLimit, p.Requester, "agent", record); err != nil {
			return err
		}
	}
	return nil
}

// refusedBy reports whether a limit denied, and did not only ask.
func refusedBy(d interlock.Decision, limit string) bool {
	for n := range d.Findings {
		if f := &d.Findings[n]; f.Rule == "limit."+limit && f.Verdict.Compare(interlock.Deny) >= 0 {
			return true
		}
	}
	return false
}
