package containment

import (
	"context"
	"errors"
	"fmt"
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/ledger"
	"interlock/internal/ruleset"
)

// ReviewOf is how long a question that a decision leaves may wait, by its risk; timed is false where the settings alone say so.
func ReviewOf(f *core.ActiveRules, d interlock.Decision) (within time.Duration, level string, timed bool) {
	l := ruleset.LevelOf(d.Risk)
	within, timed = f.Rules.Maso().Within(l)
	return within, l.String(), timed
}

// Remind tells people of the questions that have waited for half of their time, and for four fifths. What has then waited for all
// of it is denied: a request that has expired approves nothing, and an answer that comes later is refused.
func (a *Containment) Remind(ctx context.Context, now time.Time) (told int, err error) {
	rows, _, err := a.Config.Store.Scan(ctx, core.Under(ledger.Request, ledger.ReviewDue),
		ledger.UpTo(now.UnixNano(), core.MaxAtOnce))
	if err != nil {
		return 0, err
	}
	for _, row := range rows {
		r, ok := row.Value.(interlock.ApprovalRequest)
		at, share := r.WarnAt()
		if !ok || share == 0 || now.Before(at) || !now.Before(r.Expires) {
			continue
		}
		if late := r.Created.Add(r.Expires.Sub(r.Created) / 100 * interlock.WarnLate); !now.Before(late) {
			share = interlock.WarnLate // one alert is enough where nobody looked for so long
		}
		r.Warned = share
		change := ledger.Change{Writes: ledger.Rows(r)}
		code := "review-half"
		if share == interlock.WarnLate {
			code = "review-late"
		}
		err := a.Raise(&change, r.Requester, code, fmt.Sprintf("%s waits for a human since %s of its %s; in %s it is denied (%s risk)",
			r.ID, now.Sub(r.Created).Round(time.Second), r.Expires.Sub(r.Created), r.Expires.Sub(now).Round(time.Second), r.Review))
		if err == nil {
			_, err = a.Config.Store.Commit(ctx, change)
		}
		if errors.Is(err, ledger.ErrConflict) {
			continue // it was answered, or another process was first
		}
		if err != nil {
			return told, err
		}
		told++
	}
	return told, nil
}

// Oversee tells people of every open orchestration that has taken longer than it may: once, and before it has taken twice as long, where
// somebody looks often enough. It is looked for by every process that serves, and by every decision that is made in a run.
func (a *Containment) Oversee(ctx context.Context) (told int, err error) {
	if len(a.Active.Load().Rules.Maso().Latency) == 0 {
		return 0, nil
	}
	now := a.Config.Now().UTC()
	a.Overseen.Store(now.UnixNano())
	rows, _, err := a.Config.Store.Scan(ctx, core.Under(ledger.Run, ledger.RunsLate), ledger.UpTo(now.UnixNano(), core.MaxAtOnce))
	if err != nil {
		return 0, err
	}
	for _, row := range rows {
		run, ok := row.Value.(interlock.Run)
		if !ok {
			continue
		}
		run.Late = now
		change := ledger.Change{Writes: ledger.Rows(run)}
		err := a.Raise(&change, interlock.Requester{Agent: run.Agent, Principal: run.Principal, Run: run.ID}, "latency",
			fmt.Sprintf("the orchestration %s has taken %d ms, and may take %d ms", run.ID, now.Sub(run.Created).Milliseconds(),
				run.Latency.Milliseconds()))
		if err == nil {
			_, err = a.Config.Store.Commit(ctx, change)
		}
		if errors.Is(err, ledger.ErrConflict) {
			continue // it has ended, or another process was first
		}
		if err != nil {
			return told, err
		}
		told++
	}
	return told, nil
}

// OverseeAtMost bounds how often decisions look for what takes too long.
const OverseeAtMost = 100 * time.Millisecond
