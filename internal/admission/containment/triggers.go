package containment

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/anomaly"
	"interlock/internal/ledger"
	"interlock/internal/phase"
)

// A DecisionHealth is what this process decided since somebody looked: how much, how long it took, and how often it could not.
type DecisionHealth struct{ decided, Failed, took, longest atomic.Int64 }

// Beat counts one decision.
func (p *DecisionHealth) Beat(took time.Duration) {
	p.decided.Add(1)
	p.took.Add(int64(took))
	for longest := p.longest.Load(); int64(took) > longest; longest = p.longest.Load() {
		if p.longest.CompareAndSwap(longest, int64(took)) {
			return
		}
	}
}

// Fails counts that a decision could not be made, where that is the program's or the store's doing and not the caller's.
func (p *DecisionHealth) Fails(ctx context.Context, err error) {
	if own := interlock.Code(core.Code(err)); ctx.Err() == nil && (own == interlock.CodeInternal ||
		own == interlock.CodeUnavailable) {
		p.Failed.Add(1)
	}
}

// since is what was counted since the last time.
func (p *DecisionHealth) since(now time.Time) anomaly.Minute {
	return anomaly.Minute{At: now.Unix() / 60, Decided: int(p.decided.Swap(0)), Failed: int(p.Failed.Swap(0)),
		Took: time.Duration(p.took.Swap(0)), Longest: time.Duration(p.longest.Swap(0))}
}

// layers is how the layers of control do, as far as this process knows.
type layers struct {
	sync.Mutex
	gates    anomaly.Gates
	people   anomaly.People
	proposed string // whom people were told of
}

// LookAtLayers looks whether what controls agents has itself fallen behind, and at what of a house is isolated together; and tightens
// what follows from that. Below tier 2 it does nothing. It takes no part in a decision.
func (a *Containment) LookAtLayers(ctx context.Context) error {
	if a.Tier() < 2 {
		return nil
	}
	a.layers.Lock()
	defer a.layers.Unlock()
	now := a.Config.Now().UTC()
	state, why, trigger := a.layers.gates.Add(a.Pulse.since(now))
	if err := a.layerCame(ctx, phase.LayerGates, state, why, trigger); err != nil {
		return err
	}
	queue, err := a.queue(ctx, now)
	if err != nil {
		return err
	}
	state, why, trigger = a.layers.people.Add(queue, now)
	if state == anomaly.Down && trigger == phase.TriggerNobody && a.Tier() > 2 {
		state = anomaly.Gone
	}
	if err := a.layerCame(ctx, phase.LayerPeople, state, why, trigger); err != nil {
		return err
	}
	return a.together(ctx, now)
}

// layerCame moves a layer of control to the phase that it has come to.
func (a *Containment) layerCame(ctx context.Context, layer string, state int, why, trigger string) error {
	to, bad := map[int]phase.Phase{anomaly.Degraded: phase.Alternate, anomaly.Down: phase.Contingency, anomaly.Gone: phase.Emergency}[state]
	if !bad {
		return nil
	}
	return a.Tighten(ctx, Tightening{Scope: ledger.HoldLayer, Key: layer, To: to, Trigger: trigger, Why: why})
}

// RulesUnread moves the gates to alternate where rules that somebody put in place can't be used.
func (a *Containment) RulesUnread(ctx context.Context) error {
	if a.Tier() < 2 {
		return nil
	}
	return a.layerCame(ctx, phase.LayerGates, anomaly.Degraded, "rules were changed and can't be used", phase.TriggerFailing)
}

// maxQueue bounds how many questions are looked at for the one that has waited longest.
const maxQueue = 1000

// queue is what waits for people.
func (a *Containment) queue(ctx context.Context, now time.Time) (q anomaly.Queue, err error) {
	q.Within = a.Active.Load().Rules.Watch().Within()
	rows, _, err := a.Config.Store.Scan(ctx, core.Under(ledger.Request, ledger.Is(interlock.RequestPending)), ledger.Every(maxQueue))
	if err != nil {
		return q, err
	}
	for _, row := range rows {
		if r, ok := row.Value.(interlock.ApprovalRequest); ok && !r.Harness && now.Before(r.Expires) {
			q.Waiting++
			q.Oldest = max(q.Oldest, now.Sub(r.Created))
		}
	}
	if q.Waiting == 0 {
		return q, nil
	}
	operators, _, err := a.Config.Store.Scan(ctx, core.Under(ledger.Operator, ledger.All), ledger.Every(maxQueue))
	if err != nil {
		return q, err
	}
	q.Nobody = !slices.ContainsFunc(operators, func(row ledger.Row) bool {
		o, ok := row.Value.(interlock.OperatorRecord)
		return ok && (o.Revoked.IsZero() || now.Before(o.Revoked))
	})
	return q, nil
}

// together looks at the agents that are isolated: two at once are people's to decide about, and too many of one type are that type's.
func (a *Containment) together(ctx context.Context, now time.Time) error {
	rows, _, err := a.Config.Store.Scan(ctx, core.Under(ledger.Hold, ledger.All), ledger.Every(core.MaxAtOnce))
	if err != nil {
		return err
	}
	var isolated, lately []string
	for _, row := range rows {
		h, ok := row.Value.(ledger.HoldBody)
		switch {
		case !ok || h.Breaker != nil:
		case h.Scope == ledger.HoldSystem && h.AsOf(now).Phase.Compare(phase.Contingency) >= 0:
			return nil // it has been decided
		case h.Scope == ledger.HoldAgent && h.AsOf(now).Phase.Compare(phase.Alternate) >= 0:
			isolated = append(isolated, h.Key)
			if now.Sub(h.Since) < phase.ShareWithin+lookSlack {
				lately = append(lately, h.Key)
			}
		}
	}
	if len(isolated) < 2 {
		a.layers.proposed = ""
		return nil
	}
	slices.Sort(isolated)
	if err := a.proposeContingency(ctx, isolated); err != nil {
		return err
	}
	return a.shared(ctx, lately, now)
}

// lookSlack is by how much later than it happens something may be looked at.
const lookSlack = 10 * time.Second

// proposeContingency tells people once of agents that are isolated together.
func (a *Containment) proposeContingency(ctx context.Context, isolated []string) error {
	names := strings.Join(isolated[:min(len(isolated), 8)], ", ")
	if len(isolated) > 8 {
		names += " and others"
	}
	if names == a.layers.proposed {
		return nil
	}
	change := ledger.Change{}
	if err := a.Raise(&change, interlock.Requester{Agent: interlock.OwnObserver}, "phase-proposal", "two agents or more are "+
		"isolated at once ("+names+
		"): decide whether the system goes to contingency, with interlock phase set system C --agent NAME --reason TEXT"); err != nil {
		return err
	}
	if _, err := a.Config.Store.Commit(ctx, change); err != nil {
		return err
	}
	a.layers.proposed = names
	return nil
}

// shared has a type follow those of its agents that came to alternate within a short time.
func (a *Containment) shared(ctx context.Context, lately []string, now time.Time) error {
	if len(lately) < phase.ShareAtLeast {
		return nil
	}
	kinds := map[string]int{}
	for _, agent := range lately {
		known, err := a.Known(ctx, core.Key(ledger.Agent, agent))
		if err != nil {
			return err
		}
		if kind := known.Agents[agent].Type; kind != "" {
			kinds[kind]++
		}
	}
	for _, kind := range sortedKeys(kinds) {
		if kinds[kind] < phase.ShareAtLeast {
			continue
		}
		all, err := a.instances(ctx, kind, now)
		if err != nil {
			return err
		}
		if !phase.Shared(kinds[kind], all) {
			continue
		}
		if err := a.Tighten(ctx, Tightening{Scope: ledger.HoldType, Key: kind, To: phase.Alternate, Trigger: phase.TriggerShare,
			Why: "more than a fifth of its agents were isolated within two minutes"}); err != nil {
			return err
		}
	}
	return nil
}

// instances is how many agents of a type there are. It is asked only once several of them were isolated together.
func (a *Containment) instances(ctx context.Context, kind string, now time.Time) (n int, err error) {
	for span := ledger.Every(core.MaxAtOnce); ; {
		rows, next, err := a.Config.Store.Scan(ctx, core.Under(ledger.Agent, ledger.All), span)
		if err != nil {
			return n, err
		}
		for _, row := range rows {
			if r, ok := row.Value.(interlock.AgentRecord); ok && r.Type == kind && (r.Revoked.IsZero() || now.Before(r.Revoked)) {
				n++
			}
		}
		if next == (ledger.Place{}) {
			return n, nil
		}
		span.After = next
	}
}
