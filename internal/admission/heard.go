package admission

import (
	"context"
	"time"

	"interlock"
	"interlock/internal/impact"
	"interlock/internal/origin"
)

// Prompted adds to what a run has heard what its user said.
func (e *Evaluator) Prompted(h origin.Heard, run, text string, now time.Time) origin.Heard {
	return origin.Prompt(h, run, text, e.Analyser.Wishes(text), now)
}

// Returned adds to what a run has heard what an action of it returned.
func (e *Evaluator) Returned(h origin.Heard, run string, view interlock.View, action interlock.Action, text string,
	now time.Time) origin.Heard {
	return origin.Result(h, run, action, e.returns(view, action, impact.Orders(text)), text, now)
}

// returns says what kind of action it is that returned something. Inside is one of nobody else's tools that reaches nobody, so
// that what it returns is the project's own; looking is one that reads here and does nothing else.
func (e *Evaluator) returns(view interlock.View, action interlock.Action, orders bool) origin.Returned {
	impacts := e.Analyser.Analyse(view, action).Impacts
	here, looks := true, len(impacts) > 0
	for n := range impacts {
		i := &impacts[n]
		if i.Kind == interlock.ImpactNetwork || i.Kind == interlock.ImpactMessage || i.Reach == interlock.ReachExternal ||
			i.Reach == interlock.ReachProduction {
			here = false
		}
		looks = looks && i.Kind == interlock.ImpactRead
	}
	own := action.Kind != interlock.KindTool && action.Kind != interlock.KindHTTP
	return origin.Returned{Inside: own && here, Looks: looks && here, Orders: orders}
}

// maxResult bounds how much of a result is read for values.
const maxResult = 1 << 20

// hearingWithin is how long a result waits at most for what is noted of it.
const hearingWithin = 5 * time.Second

// Returned takes note of what an action of a run returned, before whoever proposed it sees the result. Without a user's words
// nothing but a result that gives orders says anything about later actions, so that no other is kept.
func (a *Admission) Returned(r interlock.Requester, view interlock.View, action interlock.Action, result string) {
	result = result[:min(len(result), maxResult)]
	result = origin.Text([]byte(result))
	if r.Run == "" || !impact.Orders(result) {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), hearingWithin)
	defer cancel()
	run := runOf(r)
	err := a.hear(ctx, run, func(h origin.Heard) (origin.Heard, bool) {
		return a.config.Returned(h, run, view, action, result, a.config.Now().UTC()), true
	})
	if err != nil && a.config.Alert != nil {
		a.config.Alert("not-heard", "a result that gives orders could not be noted: "+reason(err))
	}
}
