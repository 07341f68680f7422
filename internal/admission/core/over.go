package core

import (
	"context"
	"slices"
	"strings"
	"time"

	"interlock"
	"interlock/internal/impact"
	"interlock/internal/impact/fact"
	"interlock/internal/ledger"
	"interlock/internal/phase"
	"interlock/internal/ruleset"
)

func Changes(impacts []interlock.Impact) bool {
	for i := range impacts {
		if impacts[i].Reversibility != interlock.Readonly {
			return true
		}
	}
	return false
}

// Holdable names the holds that would keep this process from deciding: those on the ruleset and on the snapshots in force.
func (a *Core) Holdable() []ledger.Ref {
	now := a.Active.Load()
	refs := []ledger.Ref{KillRef(), Key(ledger.Hold, ledger.HoldName(ledger.HoldRuleset, string(now.Rules.Digest())))}
	if now.Manifest != "" {
		refs = append(refs, Key(ledger.Hold, ledger.HoldName(ledger.HoldManifest, string(now.Manifest))))
	}
	return refs
}

// Halted refuses to begin a job while a hold is on what it would be decided under (MACE safety boundaries 8.3). standing knows what
// Holdable names.
func Halted(standing ledger.Standing) error {
	for _, h := range standing.Holds() {
		if h.Scope == ledger.HoldRuleset || h.Scope == ledger.HoldManifest {
			return interlock.Errorf(interlock.CodeUnavailable, "", "%s: no job begins until the council, or an admin where none sits, clears "+
				"the hold %s", h.Cause, h.Name())
		}
	}
	return nil
}

// KillRef is the row.
func KillRef() ledger.Ref { return Key(ledger.Hold, ledger.KillName) }

// runsOver names the runs that an action is part of: the one its requester names, the one that is bound to that, and those it was
// delegated by.
func runsOver(r interlock.Requester, standing ledger.Standing) (list Names) {
	list.Add(r.Run)
	id := standing.RunOf(r)
	list.Add(id)
	if run, open := standing.Run(r.Agent, id); open {
		for _, by := range run.Chain[:min(len(run.Chain), ruleset.MaxDepth)] {
			list.Add(by.Run)
		}
	}
	return list
}

// heldAsRun reports whether a hold is on one of some runs.
func heldAsRun(h *ledger.HoldBody, runs Names) bool {
	return h.Scope == ledger.HoldRun && slices.Contains(runs, h.Key)
}

// overRefs names the holds over a requester and what counts towards them, as far as the requester itself says who it is: by marks
// that hold few rows each, however many agents are held. A caller that knows more runs that an action is part of names them the
// same way.
func (a *Core) overRefs(r interlock.Requester) []ledger.Ref {
	refs := []ledger.Ref{Under(ledger.Hold, ledger.OverAll), Under(ledger.Hold, ledger.Over(ledger.HoldAgent, r.Agent))}
	if r.Run != "" {
		refs = append(refs, Under(ledger.Hold, ledger.Over(ledger.HoldRun, r.Run)))
	}
	if a.watches() {
		name := ledger.HoldName(ledger.HoldAgent, r.Agent)
		refs = append(refs, Key(ledger.Breaker, name), Key(ledger.Tally, name))
	}
	return refs
}

// typeRefs names likewise what is over an agent's type.
func (a *Core) typeRefs(agent interlock.AgentRecord) (refs []ledger.Ref) {
	if agent.Module != nil && !a.watches() {
		refs = append(refs, Key(ledger.Breaker, ledger.HoldName(ledger.HoldAgent, agent.ID))) // how it does
	}
	if agent.Type == "" {
		return refs
	}
	refs = append(refs, Under(ledger.Hold, ledger.Over(ledger.HoldType, agent.Type)))
	if a.watches() {
		refs = append(refs, Key(ledger.Tally, ledger.HoldName(ledger.HoldType, agent.Type)))
	}
	return refs
}

// Tier is the tier in force where no type of agents says more.
func (a *Core) Tier() int { return a.Active.Load().Rules.Maso().Tier }

// watches reports whether a tier is in force for anybody, so that refusals are counted.
func (a *Core) watches() bool { return a.Active.Load().Rules.HighestTier() > 0 }

// TierOf is the tier that an agent acts at, as far as this process knows the agent.
func (a *Core) TierOf(ctx context.Context, agent string) (int, error) {
	known, err := a.Known(ctx, Key(ledger.Agent, agent))
	if err != nil {
		return 0, err
	}
	return a.Active.Load().Rules.TierFor(AgentOf(interlock.Requester{Agent: agent}, known)), nil
}

// TierOver is the tier at which something that can be held moves: an agent's, a type's, and otherwise what holds for everybody.
func (a *Core) TierOver(name string, standing ledger.Standing) int {
	rules := a.Active.Load().Rules
	scope, whose, _ := ledger.Actors(name)
	if scope == ledger.HoldBreaker {
		scope, whose, _ = ledger.Actors(whose)
	}
	switch scope {
	case ledger.HoldAgent:
		return rules.TierFor(AgentOf(interlock.Requester{Agent: whose}, standing))
	case ledger.HoldType:
		return rules.TierFor(interlock.AgentRecord{Type: whose})
	}
	return rules.Maso().Tier
}

// HoldsOver are the holds on actors that are over a requester, as they are at a time, by name.
func HoldsOver(standing ledger.Standing, r interlock.Requester, now time.Time) (over []ledger.HoldBody) {
	if len(standing.Others) == 0 { // nearly always
		return nil
	}
	agent, runs := standing.Agents[r.Agent], runsOver(r, standing)
	for _, h := range standing.Holds() {
		on, whose := h.Scope, h.Key
		if on == ledger.HoldBreaker || on == ledger.HoldBackup {
			of, key, _ := strings.Cut(h.Key, ":")
			on, whose = ledger.HoldScope(of), key
		}
		switch {
		case on == ledger.HoldSystem, on == ledger.HoldLayer, on == ledger.HoldAgent && whose == r.Agent,
			on == ledger.HoldType && agent.Type != "" && whose == agent.Type, heldAsRun(&h, runs):
			over = append(over, h.AsOf(now))
		}
	}
	return over
}

// ActOf is an action as holds are held against it. One that nobody can read changes something.
func ActOf(r interlock.Requester, analysis impact.Analysis) phase.Act {
	between := func(i interlock.Impact) bool { return i.Has(fact.TraitAgents) } // which changes nothing in the world
	return phase.Act{Agent: r.Agent, Changes: Changes(slices.DeleteFunc(slices.Clone(analysis.Impacts), between)),
		Messages: slices.ContainsFunc(analysis.Impacts, func(i interlock.Impact) bool {
			return i.Kind == interlock.ImpactMessage || between(i)
		})}
}

// SinceHeld leaves out the approvals that were given before a phase was what it is, or before a given time: those who gave them
// did not know of it.
func SinceHeld(approvals []interlock.ApprovalRequest, over []ledger.HoldBody, since time.Time) []interlock.ApprovalRequest {
	for n := range over {
		if over[n].Breaker == nil && over[n].Since.After(since) {
			since = over[n].Since
		}
	}
	if since.IsZero() {
		return approvals
	}
	return slices.DeleteFunc(approvals, func(r interlock.ApprovalRequest) bool {
		return r.Approval == nil || r.Approval.At.Before(since)
	})
}

// SinceGiven leaves out the approvals that were given before a time.
func SinceGiven(approvals []interlock.ApprovalRequest, since time.Time) []interlock.ApprovalRequest {
	if since.IsZero() {
		return approvals
	}
	return slices.DeleteFunc(approvals, func(r interlock.ApprovalRequest) bool {
		return r.Approval == nil ||
			r.Approval.At.Before(since)
	})
}
