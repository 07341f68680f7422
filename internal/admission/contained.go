package admission

import (
	"context"
	"errors"
	"slices"
	"time"

	"interlock"
	"interlock/internal/admission/containment"
	"interlock/internal/admission/core"
	"interlock/internal/gate"
	"interlock/internal/ledger"
	"interlock/internal/phase"
	"interlock/internal/ruleset"
)

// containedLooks are of what stops or holds actions, and what that counts.
var containedLooks = []look{
	{gates: []string{gate.NameKill}, tried: true, finds: (*pendingDecision).killFindings},
	{gates: []string{"hold"}, tried: true, finds: (*pendingDecision).holdFindings},
	{gates: []string{"phase", "breaker"}, tried: true, finds: (*pendingDecision).phaseFindings},
	{tried: true, finds: (*pendingDecision).watchFindings},
	{writes: (*pendingDecision).updateBreakers, late: true},
}

// updateBreakers adds to a change what a decision means for the breakers over its requester: the place that a half-open one gives
// it, one more action that counts, and that one trips of it.
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

// servedBy tells the hold of a backup that its agent has acted: while nothing is refused it, the time runs after which it may
// write.
func servedBy(m *containment.HoldTransition, over []ledger.HoldBody, p *Case, d interlock.Decision, handed bool) {
	refused := containment.WantsWhatItMayNot(d) || len(p.limited) > 0 && !d.Answer.Allowed()
	if !refused && (handed || !d.Answer.Allowed()) {
		return
	}
	for _, h := range over {
		after, changed := h.Acted(m.A.Healing(), refused, m.Now)
		if !changed {
			continue
		}
		h.Hold = after
		m.Holds[h.Name()] = h
		m.Change.Writes = append(m.Change.Writes, h.Row())
	}
}

// healed looks, once for each decision, at what may have healed, and reports whether the decision is to be made again.
func (a *Admission) healed(ctx context.Context, p *Case, err error) bool {
	if !errors.Is(err, containment.ErrHeals) {
		return false
	}
	p.healed = true
	_, _ = a.HealDue(ctx, a.Config.Now().UTC()) // what fails here stays as strict as it is, and is tried again
	return true
}

// capped isolates an agent that was refused for a cap on what it may reach, where its tier has phases (EC-2.3). A rate of actions
// is none: an agent that is only too fast waits.
func (a *Admission) capped(ctx context.Context, p *Case, d interlock.Decision) error {
	if len(p.limited) == 0 || d.Answer.Allowed() || d.Mode != interlock.Enforcing || p.under.Rules.TierFor(p.agent) < 2 {
		return nil
	}
	for n := range p.limited {
		row := &p.limited[n]
		if row.Measure == string(ruleset.MeasureActions) || !refusedBy(d, row.Limit) {
			continue
		}
		return a.Tighten(ctx, containment.Tightening{Scope: ledger.HoldAgent, Key: p.Requester.Agent, To: phase.Alternate,
			Trigger: phase.TriggerCap, Why: "the limit " + row.Limit + " has no room left for what it wanted"})
	}
	return nil
}

// holdFindings object to every action where a hold is on what it is decided under. Nothing lowers a denial of layer 1.
func (d *pendingDecision) holdFindings() (found []interlock.Finding) {
	if len(d.begun.Others) == 0 {
		return nil
	}
	for _, h := range d.begun.Holds() {
		if h.Scope != ledger.HoldRuleset && h.Scope != ledger.HoldManifest {
			continue
		}
		found = append(found, interlock.Finding{Gate: "hold", Rule: "hold." + string(h.Scope), Layer: 1, Verdict: interlock.Deny,
			Reason: string(h.Cause) + ": nothing is decided under the " + containment.HeldWhat(h.Scope) + " in force until the council, or " +
				"an admin where none sits, clears the hold " + h.Name(),
			Suggestion: "tell an operator: `interlock hold list` says what was found, `interlock hold clear` ends it"})
	}
	return found
}

// Everything is stopped by a row of the ledger, which a signed order or a machine that watches has written, and by a file that
// every process looks at before each permit. Either is enough, and only an admin's signed order ends both (EC-K-1, EC-ENV-21).

func (d *pendingDecision) killFindings() []interlock.Finding {
	return containment.Stopping(d.stop, d.Sandboxed, d.now)
}

// phaseFindings are what the holds over a requester object to an action. Of one that stands in and has read for long enough
// nobody is asked where the system is in alternate for that one loss, and nothing else.
func (d *pendingDecision) phaseFindings() (found []interlock.Finding) {
	over, now := d.over, d.now
	if len(over) == 0 { // nearly always
		return nil
	}
	act, tier := core.ActOf(d.Requester, d.analysis), d.rules.TierFor(core.AgentOf(d.Requester, d.begun))
	alone := slices.ContainsFunc(over, func(h ledger.HoldBody) bool { return h.Alone(now) })
	for n := range over {
		h := &over[n]
		if h.Breaker != nil {
			if f, objects := h.Breaker.Object(h.Key); objects {
				found = append(found, f)
			}
			continue
		}
		if h.Name() == ledger.IntakeName {
			found = append(found, interlock.Finding{Gate: "hold", Rule: "hold.intake", Layer: 1, Verdict: interlock.Deny,
				Reason:     string(interlock.EventPause) + ": an admin has paused intake, and nothing new is let through",
				Suggestion: "wait; an admin lets things go on with: interlock hold resume"})
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

// overseeSoon looks for what takes too long, where a decision was made in a run and nobody has looked a moment ago. It changes
// nothing of the decision, which is durable: what fails is looked for again.
func (a *Admission) overseeSoon(ctx context.Context, p *Case, now time.Time) {
	if len(p.under.Rules.Maso().Latency) == 0 || p.Requester.Run == "" ||
		now.UnixNano()-a.Overseen.Load() < int64(containment.OverseeAtMost) {
		return
	}
	if _, err := a.Oversee(ctx); err != nil && a.Config.Alert != nil {
		a.Config.Alert("latency-unread", err.Error())
	}
}

// pauseOver has the run paused that an action was refused in because its time is over, where no server has done that yet. Nothing
// is done in it in any case, so that what fails here is tried again with the next one.
func (a *Admission) pauseOver(ctx context.Context, p *Case, now time.Time) {
	if p.overdue {
		_, _ = a.PauseDue(ctx, now)
	}
}

// watchFindings are what is asked about where nobody looks for what is unusual and nobody has accepted that: it counts as
// contingency (MASO's pitfalls), so that a person says yes to each action.
func (d *pendingDecision) watchFindings() []interlock.Finding {
	w := d.rules.Watch()
	if d.rules.Maso().Tier < 2 || !w.Off || w.Accepted != "" {
		return nil
	}
	return []interlock.Finding{{Gate: "phase", Rule: "phase.unwatched", Layer: 2, Verdict: interlock.Ask,
		Reason: "phase C (contingency): nobody looks for what is unusual (maso.watch.off), and nobody has accepted the risk, so every " +
			"action needs a person's yes",
		Suggestion: "tell an operator: name accepted_by and reason beside off in the rules, or take off out"}}
}
