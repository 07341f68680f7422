package admission

import (
	"context"
	"time"

	"interlock/internal/admission/containment"
)

// overseeSoon looks for what takes too long, where a decision was made in a run and nobody has looked a moment ago. It changes nothing of
// the decision, which is durable: what fails is looked for again.
func (a *Admission) overseeSoon(ctx context.Context, p *Case, now time.Time) {
	if len(p.under.Rules.Maso().Latency) == 0 || p.Requester.Run == "" ||
		now.UnixNano()-a.Overseen.Load() < int64(containment.OverseeAtMost) {
		return
	}
	if _, err := a.Oversee(ctx); err != nil && a.Config.Alert != nil {
		a.Config.Alert("latency-unread", err.Error())
	}
}
