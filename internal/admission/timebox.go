package admission

import (
	"context"
	"time"
)

// pauseOver has the run paused that an action was refused in because its time is over, where no server has done that yet. Nothing is done
// in it in any case, so that what fails here is tried again with the next one.
func (a *Admission) pauseOver(ctx context.Context, p *Case, now time.Time) {
	if p.overdue {
		_, _ = a.PauseDue(ctx, now)
	}
}
