package core

import (
	"time"

	"interlock"
)

// A Decided is one decision that this process has made, for those who watch how it does.
type Decided struct {
	Door   string
	Agent  string
	Kind   interlock.Kind
	Start  time.Time
	Took   time.Duration
	Answer *interlock.Answer // which nobody changes
}

// Observe has a function told of each decision from now on, after it was made. The answer waits for it, so it has to return at once.
func (a *Core) Observe(see func(Decided)) { a.observer.Store(&see) }

// Observed returns what tells of a decision that begins now, once it has its answer, if anybody is to be told.
func (a *Core) Observed(p *interlock.Proposal, answer *interlock.Answer) func() {
	see := a.observer.Load()
	if see == nil {
		return func() {}
	}
	start := a.Config.Now()
	return func() {
		if interlock.Canary(*p, answer.Decision) {
			return
		}
		(*see)(Decided{Door: p.Door, Agent: p.Requester.Agent, Kind: p.Action.Kind, Start: start, Took: a.Config.Now().Sub(start),
			Answer: answer})
	}
}
