package admission

import (
	"time"

	"interlock"
	"interlock/internal/ledger"
)

// know completes a case with what stands: whose agent it is, what its run and others of its agent have done, where a monitored
// execution stands that said something of itself.
func (a *Admission) know(p *Case, who interlock.Requester, said *interlock.Loop, g *ground, standing ledger.Standing,
	now time.Time) (err error) {
	p.View.Written, p.View.Fetched = nil, nil // by whom what it runs was written is looked up each time
	if err := inOffice(p.Requester, standing, now); err != nil {
		return err
	}
	p.Requester = owned(p.Requester, standing)
	p.Failed = a.failuresOf(*p, who, g.failed)
	p.Origin = nil
	p.Recent = p.under.Rules.Recent(g.recent.Actions, now)
	if said == nil {
		return nil
	}
	p.Loop = loop(g.done, *said, p.under.Rules.Loop(agentOf(p.Requester, standing)), p.under.counters, now)
	pause, _ := verifying(standing, p.Requester, now)
	p.Loop.Verifying = pause.ID // what a door says of that counts for nothing
	p.Loop.Paused, p.Loop.Asked, err = a.paused(*p, standing, pause, now)
	return err
}

// recentOf names what the requester's run did a moment ago, where rules ask for it. Actions that name no run have nothing in
// common, so nothing is remembered of them.
func recentOf(p Case) []ledger.Ref {
	if p.Requester.Run == "" || !p.under.Rules.Recalls() {
		return nil
	}
	return []ledger.Ref{key(ledger.Recent, runOf(p.Requester))}
}
