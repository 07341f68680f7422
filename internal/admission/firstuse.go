package admission

import (
	"context"
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

// extendUses loads what is known of what an action uses, where anything is to be known.
func (a *Admission) extendUses(ctx context.Context, load core.LoadRows, g *core.DecisionRows, p *Case, impacts []interlock.Impact) error {
	if !p.under.NotesUses() {
		return nil
	}
	uses, _ := gate.Uses(p.Action, impacts)
	if len(uses) == 0 {
		return nil
	}
	agent := core.AgentOf(p.Requester, g.Standing)
	kind := ruleset.TypeName(agent)
	refs := make([]ledger.Ref, 0, len(uses))
	for _, use := range uses {
		refs = append(refs, core.Key(ledger.FirstUse, ledger.FirstUseKey(kind, use)), core.Key(ledger.FirstUse, ledger.AskedKey(kind, use)))
	}
	if p.under.Rules.Maso().Classifies() && p.Action.Tool != "" {
		refs = append(refs, core.Under(ledger.Order, ledger.RangesOf(kind)))
	}
	g.Reads = append(g.Reads, refs...)
	var operators core.Names
	if err := a.Extend(ctx, load, g, &operators, refs); err != nil || len(operators) == 0 {
		return err
	}
	read := len(g.Reads)
	for _, name := range append(operators, agent.ID, agent.Principal) {
		if name != "" {
			g.Reads = append(g.Reads, core.Key(ledger.Operator, name))
		}
	}
	return a.Extend(ctx, load, g, &operators, g.Reads[read:])
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

// asked says of what is asked in a request that somebody is being asked.
func (f *first) asked(request *interlock.ApprovalRequest) []ledger.Row {
	if f.of == nil || len(f.objects) == 0 {
		return nil
	}
	return core.UsesOf(request, ledger.FirstUseBody{Request: request.ID, Agent: request.Requester.Agent, Until: request.Expires})
}
