package admission

import (
	"context"
	"time"

	"interlock/internal/ledger"
)

// warn raises an alert where what a decision took has brought the use of a limit to where somebody is to be told. How much it came to is
// what the store's own transaction made of it, so that of many decisions at once one tells. The answer does not wait on it: whatever
// keeps it from being recorded, the action is let through.
func (a *Admission) warn(ctx context.Context, p *Case, left []ledger.Row, now time.Time) {
	for _, u := range p.using {
		if u.Limit == nil || u.Limit.WarnAt == 0 || u.Taken.Monitored {
			continue
		}
		for _, row := range left {
			body, is := row.Value.(ledger.UsageBody)
			if !is || row.Key != u.Key {
				continue
			}
			used, at := body.Used(u.Window, now), u.Limit.WarnAt.Of(u.Limit.Most)
			if used >= at && used-u.Take < at {
				a.Warned(ctx, p.Requester, u.Limit.ID, u.Limit.WarnAt.String())
			}
		}
	}
}
