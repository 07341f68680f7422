package admission

import (
	"sync"
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
func (e *Evaluator) Returned(h interlock.Heard, run string, view interlock.View, action interlock.Action, text string,
	now time.Time) interlock.Heard {
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

// The bounds of the runs whose results a process remembers, and of how much of a result is read for values.
const (
	maxHeard  = 1024
	maxResult = 1 << 20
)

// hearing is what runs of this process have heard. It is of this process: a gateway sees all results of its sessions itself.
type hearing struct {
	mu   sync.Mutex
	runs map[string]interlock.Heard
}

// Returned takes note of what an action of a run returned, before whoever proposed it sees the result. Without a user's words
// nothing but a result that gives orders says anything about later actions, so that no other is kept.
func (a *Admission) Returned(r interlock.Requester, view interlock.View, action interlock.Action, result string) {
	result = result[:min(len(result), maxResult)]
	result = origin.Text([]byte(result))
	if r.Run == "" || !impact.Orders(result) {
		return
	}
	a.hearing.mu.Lock()
	defer a.hearing.mu.Unlock()
	key := runOf(r)
	if _, known := a.hearing.runs[key]; !known && (a.hearing.runs == nil || len(a.hearing.runs) >= maxHeard) {
		a.hearing.runs = map[string]interlock.Heard{}
	}
	a.hearing.runs[key] = a.config.Returned(a.hearing.runs[key], key, view, action, result, a.config.Now())
}

// origin says where the values of a proposal's action come from, by what this process has heard.
func (a *Admission) origin(p interlock.Proposal, now time.Time) *interlock.Origin {
	if p.Requester.Run == "" {
		return nil
	}
	key := runOf(p.Requester)
	a.hearing.mu.Lock()
	heard, known := a.hearing.runs[key]
	a.hearing.mu.Unlock()
	if !known {
		return nil
	}
	return origin.Of(heard, key, p.Action, now)
}
