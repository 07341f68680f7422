package admission

import (
	"context"
	"time"

	"interlock"
	"interlock/internal/ledger"
)

// warn raises an alert where what a decision took has brought the use of a limit to where somebody is to be told. How much it came to is
// what the store's own transaction made of it, so that of many decisions at once one tells. The answer does not wait on it: whatever
// keeps it from being recorded, the action is let through.
func (a *Admission) warn(ctx context.Context, p *Case, left []ledger.Row, now time.Time) {
	for _, u := range p.using {
		if u.limit == nil || u.limit.WarnAt == 0 || u.taken.Monitored {
			continue
		}
		for _, row := range left {
			body, is := row.Value.(ledger.UsageBody)
			if !is || row.Key != u.Key {
				continue
			}
			used, at := body.Used(u.Window, now), u.limit.WarnAt.Of(u.limit.Most)
			if used >= at && used-u.Take < at {
				a.warned(ctx, p.Requester, u.limit.ID, u.limit.WarnAt.String())
			}
		}
	}
}

func (a *Admission) warned(ctx context.Context, r interlock.Requester, limit, share string) {
	var change ledger.Change
	err := a.alarm(&change, r, "limit-warning", "the limit "+limit+" is used to "+share+"; interlock limits says by whom")
	if err == nil {
		_, err = a.config.Store.Commit(ctx, change)
	}
	if err != nil && a.config.Alert != nil {
		a.config.Alert("limit-warning", "not recorded: "+reason(err))
	}
}
