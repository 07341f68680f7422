package admission

import (
	"context"

	"interlock/internal/admission/containment"
	"interlock/internal/admission/core"
	"interlock/internal/admission/runs"
	"interlock/internal/ledger"
)

// complete completes a case with what was loaded: whose agent it is, what its run and others of its agent have done, where a monitored
// execution is that said something of itself, and whether everything is stopped.
func (d *pendingDecision) complete(ctx context.Context) (err error) {
	p, g := d.Case, &d.ground
	standing := g.Standing
	d.analysis, d.invalid, p.View.Written, p.View.Fetched, p.Origin = d.read, nil, nil, nil, nil // what a door says of it counts for nothing
	if err := core.InOffice(p.Requester, standing, d.now); err != nil {
		return err
	}
	p.Requester = core.Owned(p.Requester, standing)
	p.Failed = d.a.failuresOf(*p, d.by, core.Found[ledger.FailedBody](g, failedOf(d.by)))
	p.Recent = p.under.Rules.Recent(core.Found[ledger.RecentBody](g, core.Key(ledger.Recent, core.RunOf(d.by))).Actions, d.now)
	if d.said != nil {
		d.done = core.Found[ledger.Done](g, executionOf(d.by))
		p.Loop = loop(d.done, *d.said, p.under.Rules.Loop(core.AgentOf(p.Requester, standing)), p.under.Counters, d.now)
		pause, _ := core.Verifying(standing, p.Requester, d.now)
		p.Loop.Verifying = pause.ID // what a door says of that counts for nothing
		if p.Loop.Paused, p.Loop.Asked, err = d.a.paused(*p, standing, pause, d.now); err != nil {
			return err
		}
	}
	for _, judged := range core.All[ledger.JudgedBody](g) {
		p.judging.Recall(d.question, judged, d.now)
	}
	d.over = core.HoldsOver(standing, p.Requester, d.now)
	if !p.healed && containment.MayHeal(d.over, d.now) {
		return containment.ErrHeals
	}
	p.context, p.overdue = core.All[ledger.SignalBody](g), runs.OverdueRun(p.Requester, standing, d.now)
	d.tallies = core.All[ledger.TallyBody](g)
	p.agent, p.tree = core.TrustedAt(core.AgentOf(p.Requester, standing), d.now), core.TreeOf(p.Requester, standing)
	if p.stop, _ = d.a.KilledIn(&standing, d.now); p.stop.Scope != "" {
		_ = d.a.BothKilled(ctx) // what fails here is tried again with the next action, and this one is stopped anyway
	}
	return nil
}

// recentOf names what the requester's run did a moment ago, where rules ask for it. Actions that name no run have nothing in
// common, so nothing is remembered of them.
func recentOf(p Case) []ledger.Ref {
	if p.Requester.Run == "" || !p.under.Rules.Recalls() {
		return nil
	}
	return []ledger.Ref{core.Key(ledger.Recent, core.RunOf(p.Requester))}
}

// writeRecent remembers of an action what rules ask for later, of those that name a run.
func (d *pendingDecision) writeRecent() error {
	if d.Requester.Run == "" {
		return nil
	}
	if past, ok := d.under.Rules.Remember(d.Action.Kind, d.record, d.now); ok {
		d.change.Writes = append(d.change.Writes, ledger.Rows(ledger.Past{Run: core.RunOf(d.Requester), Action: past})...)
	}
	return nil
}
