package admission

import (
	"context"
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/impact"
	"interlock/internal/ledger"
)

// Weigh decides one action without recording it, for a door that only watches: it does so in modes that enforce nothing, and
// only for an action that nothing objects to and no later decision looks back on. Whatever else there is, ok is false, and the
// door proposes the action like any other. An answer of Weigh names no event.
func (a *Admission) Weigh(ctx context.Context, way Way, proposed interlock.Proposal) (answer interlock.Answer, ok bool) {
	defer func() {
		if recover() != nil {
			answer, ok = interlock.Answer{}, false // proposing it finds the same defect, and says so
		}
	}()
	p := Case{Proposal: proposed, Way: way}
	var err error
	if p.under, err = a.InForce(ctx); err != nil {
		return interlock.Answer{}, false
	}
	if a.Config.Mode == interlock.Enforcing || len(a.Config.Judges) > 0 || p.Loop != nil || validate(&p) != nil {
		return interlock.Answer{}, false
	}
	ground, err := a.GroundOf(ctx, a.Config.Store.Recall, p.Requester, append(alsoRead(&p), recentOf(&p)...)...)
	standing, now := ground.Standing, a.Config.Now().UTC().Truncate(time.Microsecond)
	if err != nil || core.InOffice(p.Requester, standing, now) != nil {
		return interlock.Answer{}, false
	}
	p.Failed = a.failuresOf(&p, p.Requester, core.Found[ledger.FailedBody](&ground, failedOf(p.Requester)))
	p.Requester = core.Owned(p.Requester, standing)
	p.Recent = p.under.Rules.Recent(core.Found[ledger.RecentBody](&ground, core.Key(ledger.Recent, core.RunOf(p.Requester))).Actions,
		now)
	p.stop, _ = a.KilledIn(&standing, now)
	decision := Decide(&p.under.Evaluator, &p, standing, now)
	if decision.Verdict != interlock.Allow || decision.Answer != interlock.Allow || decision.Approval != "" ||
		decision.Grant != "" {
		return interlock.Answer{}, false
	}
	if agent := core.AgentOf(p.Requester, standing); len(p.under.Rules.Charges(p.under.Profile, &agent, p.Action.Kind,
		decision.Impacts)) > 0 {
		return interlock.Answer{}, false // a limit counts it
	}
	if d := (&pendingDecision{Case: &p, a: a, analysis: impact.Analysis{Impacts: decision.Impacts}, now: now}); len(
		d.heardRefs()) > 0 {
		if d.ground.Rows, _, err = a.Config.Store.Recall(ctx, d.heardRefs()...); err != nil || d.told() != nil {
			return interlock.Answer{}, false // where its values come from may be objected to
		}
	}
	read := p.Read != nil || p.under.Rules.Typed() // it matters who wrote what
	if read && len(targets(decision.Impacts, interlock.ImpactWrite))+len(targets(decision.Impacts, interlock.ImpactExecute)) > 0 ||
		len(wrote(&p, decision)) > 0 {
		return interlock.Answer{}, false
	}
	if _, remembered := p.under.Rules.Remember(p.Action.Kind, decision, now); remembered && p.Requester.Run != "" {
		return interlock.Answer{}, false
	}
	return interlock.Answer{Decision: decision}, true
}
