package admission

import (
	"interlock"
	"interlock/internal/admission/containment"
	"interlock/internal/admission/core"
	"interlock/internal/ledger"
)

// updateBreakers adds to a change what a decision means for the breakers over its requester: the place that a half-open one gives it, one more
// action that counts, and that one trips of it.
func (w *pendingDecision) updateBreakers() error {
	p, d, change, standing, now := w.Case, w.answer.Decision, &w.change, w.standing, w.now
	handed := d.Answer.Allowed() && p.Handover.Hands(d) // what runs it decides it again
	over := w.over
	m := w.a.Moving(w.ctx, change, standing, now)
	m.Tallies = w.tallies
	if !handed && d.Answer.Allowed() {
		m.Probe(over, d)
	}
	if d.Mode == interlock.Enforcing && !interlock.Canary(p.Proposal, d) {
		servedBy(m, over, p, d, handed)
	}
	agent := standing.Agents[p.Requester.Agent]
	m.Tier = p.under.Rules.TierFor(core.AgentOf(p.Requester, standing))
	if m.Tier == 0 || handed || d.Mode != interlock.Enforcing || interlock.Canary(p.Proposal, d) {
		return m.Done(p.Requester)
	}
	names := []string{ledger.HoldName(ledger.HoldAgent, p.Requester.Agent)}
	if agent.Type != "" {
		names = append(names, ledger.HoldName(ledger.HoldType, agent.Type))
	}
	refused := containment.RefusedFor(d)
	act := ledger.Act{At: now, Action: d.Action, Verdict: d.Verdict}
	if f := d.Decisive(); f != nil {
		act.Rule = f.Rule
	}
	for _, name := range names {
		change.Writes = append(change.Writes, ledger.Rows(ledger.Counted{Name: name, Refused: refused, Act: act})...)
	}
	if refused {
		for _, name := range names {
			m.Refused(name)
		}
	}
	return m.Done(p.Requester)
}
