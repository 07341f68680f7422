package containment

import (
	"context"
	"errors"
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/module"
	"interlock/internal/phase"
)

// HealthOf is how a module does, and in which status that puts it. Quarantined it is where people have its agent in emergency.
func HealthOf(standing *ledger.Standing, agent string) (module.Health, module.Status) {
	name := ledger.HoldName(ledger.HoldAgent, agent)
	h := module.New()
	if body, ok := standing.Others[ledger.Breaker][name].(ledger.BreakerBody); ok && body.Health != nil {
		h = *body.Health
	}
	held, _ := standing.Others[ledger.Hold][name].(ledger.HoldBody)
	return h, h.Status(held.Phase == phase.Emergency)
}

// nodeEvent is what records the status that a module has come to.
func nodeEvent(s module.Status) interlock.EventType {
	switch s {
	case module.Healthy:
		return interlock.EventNodeHealthy
	case module.Degraded:
		return interlock.EventNodeDegraded
	}
	return interlock.EventNodeOffline
}

// Did adds to a change what something that happened to a module makes of how it does, with the event that says so. Whatever that is, it
// quarantines nothing (MACE self representation, GOV-T5). The standing holds its agent and what counts towards its breaker.
func (a *Containment) Did(change *ledger.Change, standing *ledger.Standing, r interlock.Requester, e module.Event) (changed bool, err error) {
	if standing.Agents[r.Agent].Module == nil {
		return false, nil
	}
	was, from := HealthOf(standing, r.Agent)
	is := was.After(e)
	if is == was {
		return false, nil
	}
	name := ledger.HoldName(ledger.HoldAgent, r.Agent)
	body, _ := standing.Others[ledger.Breaker][name].(ledger.BreakerBody)
	body.Name, body.Health = name, &is
	change.Writes = append(change.Writes, ledger.Rows(body)...)
	to := is.Status(from == module.Quarantined)
	record := auditlog.NodeRecord{Node: r.Agent, From: from, To: to, Why: is.Why(to), Health: &is}
	if err := a.Append(change, nodeEvent(is.Status(false)), r, "system", record); err != nil {
		return false, err
	}
	if to == module.Offline && from != to {
		return true, a.Raise(change, r, "node-offline", "this module is offline, so that each of its actions waits for a person: "+record.Why)
	}
	return true, nil
}

// ModuleDid takes note of how an action of a module ended, or that it took longer than the module may. That things go well takes one back
// from being offline only on the word of what carried them out: an agent's own is that of the one who is to be kept from acting.
func (a *Containment) ModuleDid(ctx context.Context, r interlock.Requester, d interlock.Decision, o interlock.Outcome, carried bool) error {
	if !d.Answer.Allowed() || o.Status == interlock.OutcomeSkipped {
		return nil
	}
	agent := core.Key(ledger.Agent, r.Agent)
	known, err := a.Known(ctx, agent)
	m := known.Agents[r.Agent].Module
	if err != nil || m == nil {
		return err
	}
	e := module.Event{Kind: module.Exception}
	switch {
	case o.Status == interlock.OutcomeUnknown, o.Duration > time.Duration(m.Timeout)*time.Millisecond:
		e.Kind = module.Timeout
	case o.Status == interlock.OutcomeSuccess:
		e.Kind = module.Success
	}
	name := ledger.HoldName(ledger.HoldAgent, r.Agent)
	on := a.Rows(agent, core.Key(ledger.Breaker, name), core.Under(ledger.Hold, ledger.Over(ledger.HoldAgent, r.Agent)))
	_, err = a.CommitOn(ctx, true, on, func(standing ledger.Standing) (ledger.Change, error) {
		change := ledger.Change{Version: standing.Version}
		if _, status := HealthOf(&standing, r.Agent); e.Kind == module.Success && status == module.Offline && !carried {
			return change, core.ErrUnchanged
		}
		changed, err := a.Did(&change, &standing, r, e)
		if err == nil && !changed {
			err = core.ErrUnchanged
		}
		return change, err
	})
	if errors.Is(err, core.ErrUnchanged) {
		return nil
	}
	return err
}
