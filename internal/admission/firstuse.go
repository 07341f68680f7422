package admission

import (
	"context"
	"time"

	"interlock"
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
func (a *Admission) extendUses(ctx context.Context, load loader, g *ground, p *Case, impacts []interlock.Impact) error {
	if !p.under.notesUses() {
		return nil
	}
	uses, _ := gate.Uses(p.Action, impacts)
	if len(uses) == 0 {
		return nil
	}
	agent := agentOf(p.Requester, g.Standing)
	kind := ruleset.TypeName(agent)
	refs := make([]ledger.Ref, 0, len(uses))
	for _, use := range uses {
		refs = append(refs, key(ledger.FirstUse, ledger.FirstUseKey(kind, use)), key(ledger.FirstUse, ledger.AskedKey(kind, use)))
	}
	if p.under.Rules.Maso().Classifies() && p.Action.Tool != "" {
		refs = append(refs, under(ledger.Order, ledger.RangesOf(kind)))
	}
	g.reads = append(g.reads, refs...)
	var operators names
	if err := a.extend(ctx, load, g, &operators, refs); err != nil || len(operators) == 0 {
		return err
	}
	read := len(g.reads)
	for _, name := range append(operators, agent.ID, agent.Principal) {
		if name != "" {
			g.reads = append(g.reads, key(ledger.Operator, name))
		}
	}
	return a.extend(ctx, load, g, &operators, g.reads[read:])
}

func (e *Evaluator) notesUses() bool {
	return e.Mode == interlock.Enforcing && e.Rules.Maso().NotesFirstUse()
}

// firstUse is what an action uses that its agent's type has not used before, and what is objected to that.
func (e *Evaluator) firstUse(p *Case, standing ledger.Standing, impacts []interlock.Impact, now time.Time) first {
	if !e.notesUses() {
		return first{}
	}
	uses, whole := gate.Uses(p.Action, impacts)
	agent := agentOf(p.Requester, standing)
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
	return usesOf(request, ledger.FirstUseBody{Request: request.ID, Agent: request.Requester.Agent, Until: request.Expires})
}

// usesAnswered is what an answer to a request says of what was asked: it is known from now on, or may be asked again.
func usesAnswered(request interlock.ApprovalRequest) []ledger.Row {
	switch request.Status {
	case interlock.RequestApproved:
		return append(usesFree(&request), usesOf(&request, ledger.FirstUseBody{Request: request.ID, Agent: request.Requester.Agent,
			By: request.Approval.Operator, Yes: request.Approval.At})...)
	case interlock.RequestDenied:
		return usesFree(&request)
	}
	return nil
}

// usesSettled is the same where a harness had asked its own user.
func usesSettled(request interlock.ApprovalRequest, now time.Time) []ledger.Row {
	rows := usesFree(&request)
	if how := request.Settled.How; how == interlock.SettledRan || how == interlock.SettledFailed {
		rows = append(rows, usesOf(&request, ledger.FirstUseBody{Request: request.ID, Agent: request.Requester.Agent, Yes: now})...)
	}
	return rows
}

// usesFree has others ask about what was asked about.
func usesFree(request *interlock.ApprovalRequest) (rows []ledger.Row) {
	if request.FirstUse == nil {
		return nil
	}
	for _, use := range request.FirstUse.Uses {
		rows = append(rows, ledger.Ended(ledger.FirstUse, ledger.AskedKey(request.FirstUse.Type, use)))
	}
	return rows
}

func usesOf(request *interlock.ApprovalRequest, body ledger.FirstUseBody) []ledger.Row {
	if request.FirstUse == nil {
		return nil
	}
	rows := make([]ledger.Row, 0, len(request.FirstUse.Uses))
	for _, use := range request.FirstUse.Uses {
		body.Type, body.Use = request.FirstUse.Type, use
		rows = append(rows, ledger.Rows(body)...)
	}
	return rows
}
