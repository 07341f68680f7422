package admission

import (
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/gate"
	"interlock/internal/ledger"
	"interlock/internal/ruleset"
)

// What a type of agents has not used before is asked about, from tier 2 on (EC-AC-2). It is looked at for the type and not for each agent,
// so that of sixty thousand instances one asks and the others are told that somebody is being asked. From tier 1 on it is remembered what
// people said yes to. An action that only reads needs none of it, and loads none of it.

// A first is what an action uses that its agent's type has not used before.
type first struct {
	of      *interlock.FirstUse // nil: nothing
	objects []interlock.Finding // from tier 2 on
	agent   string              // whose action it is
}

// usesRefs names what is known of what an action uses, where anything is to be known.
func (d *pendingDecision) usesRefs() (refs []ledger.Ref) {
	if !d.under.NotesUses() {
		return nil
	}
	uses, _ := gate.Uses(d.Action, d.read.Impacts)
	kind := ruleset.TypeName(core.AgentOf(d.Requester, d.ground.Standing))
	for _, use := range uses {
		refs = append(refs, core.Key(ledger.FirstUse, ledger.FirstUseKey(kind, use)), core.Key(ledger.FirstUse, ledger.AskedKey(kind, use)))
	}
	if len(uses) > 0 && d.under.Rules.Maso().Classifies() && d.Action.Tool != "" {
		refs = append(refs, core.Under(ledger.Order, ledger.RangesOf(kind)))
	}
	return refs
}

// firstUseOf is what an action uses that its agent's type has not used before, and what is objected to that.
func firstUseOf(e *core.Evaluator, p *Case, standing ledger.Standing, impacts []interlock.Impact, now time.Time) first {
	if !e.NotesUses() {
		return first{}
	}
	uses, whole := gate.Uses(p.Action, impacts)
	agent := core.AgentOf(p.Requester, standing)
	kind := ruleset.TypeName(agent)
	var new []string
	f := first{agent: agent.ID}
	asks := e.Rules.Maso().AsksFirstUse()
	for _, use := range uses {
		was := standing.FirstUse(kind, use)
		if was.Known() {
			continue
		}
		new = append(new, use)
		if was.Asked(now) && was.Agent != agent.ID && asks {
			f.objects = []interlock.Finding{gate.FirstUseAsked(kind, use, was.Request)}
			return f
		}
	}
	if len(new) == 0 && whole {
		return f
	}
	if len(new) > 0 {
		f.of = &interlock.FirstUse{Type: kind, Uses: new}
	} else {
		new = uses // and more than can be told apart
	}
	if asks {
		f.objects = []interlock.Finding{gate.FirstUse(kind, new)}
	}
	return f
}

func (d *pendingDecision) firstUseFindings() []interlock.Finding { return d.first.objects }

// writeFirstUse says of what is asked in a request that somebody is being asked.
func (d *pendingDecision) writeFirstUse() error {
	if request := d.opened; request != nil && d.first.of != nil && len(d.first.objects) > 0 {
		d.change.Writes = append(d.change.Writes,
			core.UsesOf(request, ledger.FirstUseBody{Request: request.ID, Agent: request.Requester.Agent, Until: request.Expires})...)
	}
	return nil
}
