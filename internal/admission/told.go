package admission

import (
	"context"
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/admission/runs"
	"interlock/internal/ledger"
	"interlock/internal/origin"
)

// told is where the values of an action come from, by what was heard of its run through any process. It is only looked for
// where that may matter to a decision that was made without.
func (a *Admission) told(ctx context.Context, p *Case, d interlock.Decision,
	now time.Time) (*interlock.Origin, error) {
	if p.Requester.Run == "" || !runs.Outward(p.Action, d) {
		return nil, nil
	}
	run := core.RunOf(p.Requester)
	rows, _, err := a.Config.Store.Recall(ctx, core.Key(ledger.Heard, run))
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	heard, _ := rows[0].Value.(ledger.HeardBody)
	return origin.Of(heard.Heard, run, p.Action, now), nil
}
