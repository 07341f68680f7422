package admission

import (
	"time"

	"interlock"
	"interlock/internal/impact"
	"interlock/internal/origin"
)

// Prompted adds to what a run has heard what its user said.
func (e *Evaluator) Prompted(h interlock.Heard, run, text string, now time.Time) interlock.Heard {
	return origin.Prompt(h, run, text, e.Analyser.Wishes(text), now)
}

// Returned adds to what a run has heard what an action of it returned.
func (e *Evaluator) Returned(h interlock.Heard, run string, view interlock.View, action interlock.Action, text string, now time.Time) interlock.Heard {
	return origin.Result(h, run, action, e.inside(view, action), text, impact.Orders(text), now)
}

// inside reports whether what an action returns is the project's own: it is no tool of anybody else's and reaches nobody.
func (e *Evaluator) inside(view interlock.View, action interlock.Action) bool {
	if action.Kind == interlock.KindTool || action.Kind == interlock.KindHTTP {
		return false
	}
	for _, i := range e.Analyser.Analyse(view, action).Impacts {
		if i.Kind == interlock.ImpactNetwork || i.Kind == interlock.ImpactMessage || i.Reach == interlock.ReachExternal || i.Reach == interlock.ReachProduction {
			return false
		}
	}
	return true
}
