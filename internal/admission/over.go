package admission

import (
	"slices"
	"strings"
	"time"

	"interlock"
	"interlock/internal/impact"
	"interlock/internal/ledger"
	"interlock/internal/phase"
)

// overRefs names the holds over a requester and what counts towards them, as far as the requester itself says who it is: by marks that
// hold few rows each, however many agents are held. Whoever knows more runs that an action is part of names them the same way.
func (a *Admission) overRefs(r interlock.Requester) []ledger.Ref {
	refs := []ledger.Ref{under(ledger.Hold, ledger.OverAll), under(ledger.Hold, ledger.Over(ledger.HoldAgent, r.Agent))}
	if r.Run != "" {
		refs = append(refs, under(ledger.Hold, ledger.Over(ledger.HoldRun, r.Run)))
	}
	if a.tier() > 0 {
		name := ledger.HoldName(ledger.HoldAgent, r.Agent)
		refs = append(refs, key(ledger.Breaker, name), key(ledger.Tally, name))
	}
	return refs
}

// typeRefs names likewise what is over an agent's type.
func (a *Admission) typeRefs(agent interlock.AgentRecord) []ledger.Ref {
	if agent.Type == "" {
		return nil
	}
	refs := []ledger.Ref{under(ledger.Hold, ledger.Over(ledger.HoldType, agent.Type))}
	if a.tier() > 0 {
		refs = append(refs, key(ledger.Tally, ledger.HoldName(ledger.HoldType, agent.Type)))
	}
	return refs
}

// tier is the tier in force.
func (a *Admission) tier() int { return a.force.Load().Rules.Maso().Tier }

// tierFor is the tier that an agent acts at. Types may come to say otherwise of their agents.
func (f *force) tierFor(interlock.AgentRecord) int { return f.Rules.Maso().Tier }

// holdsOver are the holds on actors that are over a requester, as they are at a time, by name.
func holdsOver(standing ledger.Standing, r interlock.Requester, now time.Time) (over []ledger.HoldBody) {
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

// actOf is an action as holds are held against it. One that nobody can read changes something.
func actOf(r interlock.Requester, analysis impact.Analysis) phase.Act {
	return phase.Act{Agent: r.Agent, Changes: changes(analysis.Impacts),
		Messages: slices.ContainsFunc(analysis.Impacts, func(i interlock.Impact) bool { return i.Kind == interlock.ImpactMessage })}
}

// phased is what the holds over a requester object to an action. Of one that stands in and has read for long enough nobody is asked
// where the system is in alternate for that one loss, and nothing else.
func phased(over []ledger.HoldBody, act phase.Act, tier int, now time.Time) (found []interlock.Finding) {
	alone := slices.ContainsFunc(over, func(h ledger.HoldBody) bool { return h.Alone(now) })
	for n := range over {
		h := &over[n]
		if h.Breaker != nil {
			if f, objects := h.Breaker.Object(h.Key); objects {
				found = append(found, f)
			}
			continue
		}
		if h.Backup != nil {
			if f, objects := phase.ObjectBackup(h.Name(), h.Since, h.Hold, act, now); objects {
				found = append(found, f)
			}
			continue
		}
		if alone && h.Scope == ledger.HoldSystem && h.Trigger == phase.TriggerSpread && !h.Heals.IsZero() {
			continue
		}
		if f, objects := phase.Object(h.Name(), string(h.Scope), h.Since, h.Hold, act, tier); objects {
			found = append(found, f)
		}
	}
	return found
}

// sinceHeld leaves out the approvals that were given before a phase was what it is: whoever gave them did not know of it.
func sinceHeld(approvals []interlock.ApprovalRequest, over []ledger.HoldBody) []interlock.ApprovalRequest {
	var since time.Time
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
