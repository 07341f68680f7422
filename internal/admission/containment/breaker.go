package containment

import (
	"context"
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/auditlog"
	"interlock/internal/gate"
	"interlock/internal/ledger"
	"interlock/internal/phase"
)

// trip opens a breaker, if it is not open already. From tier 2 on what it guards is in alternate as well.
func (m *HoldTransition) trip(on, trigger, why string, order *interlock.Order) {
	name := ledger.HoldName(ledger.HoldBreaker, on)
	was := m.Holds[name]
	from := phase.Closed
	if was.Breaker != nil {
		from = was.Breaker.State
	}
	if from == phase.Open {
		return
	}
	b := phase.Trip(was.Breaker, order != nil, m.Now)
	m.breaker(on, b, from, trigger, why, interlock.EventBreaker, order)
	scope, whose, _ := ledger.Actors(on)
	if scope == ledger.HoldAgent {
		m.quarantine(on)
		if order == nil && (trigger == phase.TriggerBreaker || trigger == phase.TriggerProbe) {
			m.review(whose, why)
		}
	}
	if m.Tier >= 2 {
		m.Tighten(Tightening{Scope: scope, Key: whose, To: phase.Alternate, Trigger: phase.TriggerBreaker, Why: why}, nil)
	}
}

// review has people look at the account whose refusals have met the thresholds of a breaker, which are fixed (MACE 7). That they are told
// of the breaker is enough.
func (m *HoldTransition) review(agent, why string) {
	record := auditlog.AccountRecord{Agent: agent, Account: m.standing.Agents[agent].Principal, Heuristic: "refusals",
		Most: phase.TripBlocks, Window: int64(phase.TripWindow / time.Second), Then: "blocked", Why: why}
	m.Moves = append(m.Moves, Move{Kind: interlock.EventAccountReview, Name: ledger.HoldName(ledger.HoldAgent, agent),
		Record: func(string) auditlog.Record { return record }})
}

// breaker writes a breaker in another state, with its event.
func (m *HoldTransition) breaker(on string, b phase.Breaker, from, trigger, why string, kind interlock.EventType,
	order *interlock.Order) {
	h := ledger.HoldBody{Scope: ledger.HoldBreaker, Key: on, Cause: interlock.EventBreaker, Why: why, Since: b.Since,
		Hold: phase.Hold{Trigger: trigger, Breaker: &b}}
	if order != nil {
		h.By, h.Order = order.Operator, order.ID
	}
	record := auditlog.BreakerRecord{On: h.Name(), From: from, To: b.State, Trigger: trigger, Why: why, Until: b.Until, Order: order}
	if b.State == phase.Closed {
		m.end(h.Name())
	} else {
		m.put(h)
	}
	m.Moves = append(m.Moves, Move{Kind: kind, Name: h.Name(), order: order,
		Record: func(snapshot string) auditlog.Record {
			record.Snapshot = snapshot
			return record
		},
		Says: "the breaker of " + on + " is " + b.State + ": " + why})
}

// Refused counts one more refusal of an agent or a type, and trips its breaker if it was one too many.
func (m *HoldTransition) Refused(on string) {
	var tally phase.Tally
	for _, t := range m.Tallies {
		if t.Name == on {
			tally = t.Counts
		}
	}
	tally = tally.With(m.Now, true)
	b := m.counts[on]
	if scope, _, _ := ledger.Actors(on); scope == ledger.HoldAgent {
		b.Name, b.Blocks = on, phase.Blocks(b.Blocks, m.Now)
		m.counts[on] = b
	}
	why, trigger := phase.Trips(b.Blocks, tally, m.Now), phase.TriggerBreaker
	if was := m.Holds[ledger.HoldName(ledger.HoldBreaker, on)].Breaker; was != nil && was.State == phase.HalfOpen {
		why, trigger = "it was refused while its breaker was half-open", phase.TriggerProbe
	}
	if why != "" {
		b.Blocks = nil // what has been counted once opens nothing again
		m.counts[on] = b
	}
	if b.Name != "" {
		m.Change.Writes = append(m.Change.Writes, ledger.Rows(b)...)
	}
	if why != "" {
		m.trip(on, trigger, why, nil)
	}
}

// Probe takes the place of the one action that half-open breakers let run. Holds bind, so of two who take it at once one decides
// again.
func (m *HoldTransition) Probe(over []ledger.HoldBody, d interlock.Decision) {
	for _, h := range over {
		if h.Breaker == nil || h.Breaker.State != phase.HalfOpen || h.Breaker.Probe != "" {
			continue
		}
		b := *h.Breaker
		b.Probe = phase.ProbeName(d.Action, d.Snapshot)
		h.Breaker = &b
		m.Holds[h.Name()] = h
		m.Change.Writes = append(m.Change.Writes, h.Row())
	}
}

// RefusedFor reports whether a decision counts towards a breaker: something was refused by what says what must not be done, and
// not by a limit, a pause or a hold, which refuse whatever is done.
func RefusedFor(d interlock.Decision) bool {
	counts := false
	for n := range d.Findings {
		f := &d.Findings[n]
		if f.Verdict.Compare(interlock.Deny) < 0 {
			continue
		}
		row := gate.Of(f)
		if row.Held {
			return false
		}
		counts = counts || row.Counts
	}
	return counts
}

// Probed tells half-open breakers how the one action that they let run has ended. Once enough of them went well a person may
// close one; it does not close by itself, because how an action ended may be what its agent says.
func (a *Containment) Probed(ctx context.Context, r interlock.Requester, d interlock.Decision,
	status interlock.OutcomeStatus) error {
	if !d.Answer.Allowed() || status == interlock.OutcomeUnknown {
		return nil
	}
	waits, err := a.probing(ctx, r)
	if err != nil || !waits {
		return err
	}
	on := func(ctx context.Context, load core.LoadRows) (core.DecisionRows, error) {
		return a.GroundOf(ctx, load, r)
	}
	return a.moves(ctx, on, func(m *HoldTransition, standing ledger.Standing) {
		for _, h := range core.HoldsOver(standing, r, m.Now) {
			if h.Breaker == nil {
				continue
			}
			after, changed := h.Breaker.Ended(phase.ProbeName(d.Action, d.Snapshot), status)
			if !changed {
				continue
			}
			why := "an action that it let run has ended: " + string(status)
			enough := after.Passed == phase.MendingProbes && h.Breaker.Passed < after.Passed
			if enough {
				why = "what it let run went well, and an operator may close it"
			}
			m.breaker(h.Key, after, phase.HalfOpen, phase.TriggerProbe, why, interlock.EventBreakerReset, nil)
			if !enough {
				m.Moves[len(m.Moves)-1].Says = "" // nobody has to look
			}
		}
	})
}

// probing reports whether a breaker over a requester waits for the end of the one action that it let run. What this process knows is
// enough for that: a process that is told how an action ended has seen it begin.
func (a *Containment) probing(ctx context.Context, r interlock.Requester) (bool, error) {
	on, err := a.Known(ctx, core.Key(ledger.Agent, r.Agent), core.Under(ledger.Hold, ledger.Over(ledger.HoldAgent, r.Agent)))
	over := on.Holds()
	if kind := on.Agents[r.Agent].Type; err == nil && kind != "" {
		on, err = a.Known(ctx, core.Under(ledger.Hold, ledger.Over(ledger.HoldType, kind)))
		over = append(over, on.Holds()...)
	}
	for _, h := range over {
		if h.Breaker != nil && h.Breaker.Probe != "" {
			return true, err
		}
	}
	return false, err
}
