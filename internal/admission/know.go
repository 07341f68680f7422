package admission

import (
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/ledger"
)

// know completes a case with what stands: whose agent it is, what its run and others of its agent have done, where a monitored
// execution stands that said something of itself.
func (a *Admission) know(p *Case, who interlock.Requester, said *interlock.Loop, g *core.DecisionRows, standing ledger.Standing,
	now time.Time) (err error) {
	p.View.Written, p.View.Fetched = nil, nil // by whom what it runs was written is looked up each time
	if err := core.InOffice(p.Requester, standing, now); err != nil {
		return err
	}
	p.Requester = core.Owned(p.Requester, standing)
	p.Failed = a.failuresOf(*p, who, g.Failed)
	p.Origin = nil
	p.Recent = p.under.Rules.Recent(g.Recent.Actions, now)
	if said == nil {
		return nil
	}
	p.Loop = loop(g.Done, *said, p.under.Rules.Loop(core.AgentOf(p.Requester, standing)), p.under.Counters, now)
	pause, _ := core.Verifying(standing, p.Requester, now)
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
	return []ledger.Ref{core.Key(ledger.Recent, core.RunOf(p.Requester))}
}
