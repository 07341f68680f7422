package admission

import (
	"context"
	"time"

	"interlock/internal/admission/containment"
	"interlock/internal/admission/core"
	"interlock/internal/admission/runs"
	"interlock/internal/ledger"
)

// pauseOver has the run paused that an action was refused in because its time is over, where no server has done that yet. Nothing is done
// in it in any case, so that what fails here is tried again with the next one.
func (a *Admission) pauseOver(ctx context.Context, p *Case, now time.Time) {
	if p.overdue {
		_, _ = a.PauseDue(ctx, now)
	}
}

// lookedAt leaves in a case what is known of its run, and reports that something it is under may have healed, which is looked at first.
func (p *Case) lookedAt(g *core.DecisionRows, standing ledger.Standing, now time.Time) error {
	if !p.healed && containment.MayHeal(core.HoldsOver(standing, p.Requester, now), now) {
		return containment.ErrHeals
	}
	p.context, p.overdue = g.Context, runs.OverdueRun(p.Requester, standing, now)
	return nil
}
