package runs

import (
	"context"
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/impact"
	"interlock/internal/origin"
)

// maxResult bounds how much of a result is read for values.
const maxResult = 1 << 20

// hearingWithin is how long a result waits at most for what is noted of it.
const hearingWithin = 5 * time.Second

// Returned takes note of what an action of a run returned, before the one who proposed it sees the result. Without a user's words
// nothing but a result that gives orders says anything about later actions, so that no other is kept.
func (a *Runs) Returned(r interlock.Requester, view interlock.View, action interlock.Action, result string) {
	result = result[:min(len(result), maxResult)]
	result = origin.Text([]byte(result))
	if r.Run == "" || !impact.Orders(result) {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), hearingWithin)
	defer cancel()
	run := core.RunOf(r)
	err := a.hear(ctx, run, func(h origin.Heard) (origin.Heard, bool) {
		return a.Config.Returned(h, run, view, action, result, a.Config.Now().UTC()), true
	})
	if err != nil && a.Config.Alert != nil {
		a.Config.Alert("not-heard", "a result that gives orders could not be noted: "+core.Reason(err))
	}
}
