package containment

import (
	"context"
	"errors"
	"slices"
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/auditlog"
	"interlock/internal/gate"
	"interlock/internal/ledger"
	"interlock/internal/phase"
	"interlock/internal/ruleset"
)

// Healing is how a loss heals by the rules in force.
func (a *Containment) Healing() phase.Healing { return phase.Healing(a.Active.Load().Rules.Healing()) }

// maxLostWork bounds how many open runs of an agent that was lost its event lists.
const maxLostWork = 100

// replace has another agent stand in for one that goes to a stricter phase, where its type names one. What was lost, and what waits for
// somebody to take it up, is said in the log. The backup only reads at first, whatever it did before.
func (m *HoldTransition) replace(h *ledger.HoldBody, byHand bool) {
	rules := m.A.Active.Load().Rules
	if !rules.Typed() || m.err != nil {
		return
	}
	t, err := m.A.TypeOf(m.ctx, rules, h.Key)
	if err != nil || t.Lost() != ruleset.LossBackup && (h.Trigger != phase.TriggerLoss || t.Lost() == ruleset.LossDegrade) {
		m.err = errors.Join(m.err, err)
		return
	}
	record, err := m.A.lossOf(m.ctx, h.Key, t, h.Why)
	if err != nil {
		m.err = errors.Join(m.err, err)
		return
	}
	record.Did = string(ruleset.LossHalt)
	says := "no agent stands in for " + h.Key + "; what it was part of stands still where it was lost"
	if t.Lost() == ruleset.LossBackup {
		backup, found, err := m.A.backupFor(m.ctx, rules, h.Key, t.Backup, m.Now)
		m.err = errors.Join(m.err, err)
		if found {
			record.Did, record.Backup, h.Instead = string(ruleset.LossBackup), backup, backup
			says = backup + " stands in for " + h.Key + ", which is isolated; give it what " + h.Key + " was to do"
			how := phase.Healing(rules.Healing())
			if how.Machine && !byHand && h.Phase == phase.Alternate {
				h.Heals = m.Now.Add(how.After)
			}
			m.put(ledger.HoldBody{Scope: ledger.HoldBackup, Key: ledger.HoldName(ledger.HoldAgent, backup), Cause: interlock.EventLost,
				Why: "it stands in for " + h.Key, Since: m.Now,
				Hold: phase.Hold{Trigger: h.Trigger, Backup: &phase.Backup{For: h.Key}, Heals: h.Heals}})
		}
	}
	m.Moves = append(m.Moves, Move{Kind: interlock.EventLost, Name: h.Name(), Says: says, Record: func(string) auditlog.Record {
		for _, r := range m.Waiting {
			if r.Requester.Agent == record.Agent {
				record.Waiting = append(record.Waiting, r.ID)
			}
		}
		return record
	}})
}

// TypeOf is the type of an agent as it is registered.
func (a *Containment) TypeOf(ctx context.Context, rules *ruleset.Ruleset, agent string) (*ruleset.Type, error) {
	standing, err := a.Ground(ctx, core.Key(ledger.Agent, agent))
	return rules.TypeOf(core.AgentOf(interlock.Requester{Agent: agent}, standing)), err
}

// lossOf says what an agent leaves behind that is lost.
func (a *Containment) lossOf(ctx context.Context, agent string, t *ruleset.Type, why string) (auditlog.LossRecord, error) {
	record := auditlog.LossRecord{Agent: agent, Type: t.Name, Accountable: t.Accountable, OnLoss: string(t.Lost()), Why: why}
	open, _, err := a.Config.Store.Scan(ctx, core.Under(ledger.Run, ledger.RunsOf(agent)), ledger.Every(maxLostWork))
	depends := core.Names{}
	for _, row := range open {
		run, ok := row.Value.(interlock.Run)
		if !ok {
			continue
		}
		record.Work = append(record.Work, auditlog.LostWork{Run: run.ID, Task: run.Task, Parent: run.Parent, Orchestration: run.Orchestration})
		for _, by := range run.Chain {
			depends.Add(by.Agent)
		}
		below, _, problem := a.Config.Store.Scan(ctx, core.Under(ledger.Run, ledger.RunUnder(run.ID)), ledger.Every(maxLostWork))
		err = errors.Join(err, problem)
		for _, one := range below {
			if child, ok := one.Value.(interlock.Run); ok {
				depends.Add(child.Agent)
			}
		}
	}
	record.Dependants = depends
	refs := make([]ledger.Ref, 0, len(record.Work))
	for _, w := range record.Work {
		refs = append(refs, core.Key(ledger.Checkpoint, ledger.RunKey(agent, w.Run)))
	}
	if err != nil || len(refs) == 0 {
		return record, err
	}
	kept, err := a.Ground(ctx, refs...)
	for n := range record.Work {
		c, _ := kept.Checkpoint(agent, record.Work[n].Run)
		record.Work[n].Checkpoint = c.Digest
	}
	return record, err
}

// backupFor finds an agent of a type that may stand in: it is in office, nothing holds it, it stands in for nobody else, and it was heard
// lately where its type says that it is to be. Of several the one that was registered first.
func (a *Containment) backupFor(ctx context.Context, rules *ruleset.Ruleset, lost, kind string, now time.Time) (agent string,
	found bool,
	err error) {
	span := ledger.Every(core.PageRows)
	for {
		rows, next, err := a.Config.Store.Scan(ctx, core.Under(ledger.Agent, ledger.All), span)
		if err != nil {
			return "", false, err
		}
		for _, row := range rows {
			record, ok := row.Value.(interlock.AgentRecord)
			if !ok || record.ID == lost || record.Observer || ruleset.TypeName(record) != kind ||
				!record.Revoked.IsZero() && !now.Before(record.Revoked) {
				continue
			}
			ready, err := a.ready(ctx, rules.TypeNamed(kind), record.ID, now)
			if err != nil || ready {
				return record.ID, ready, err
			}
		}
		if span.After = next; next == (ledger.Place{}) {
			return "", false, nil
		}
	}
}

// ready reports whether an agent of a type may stand in now.
func (a *Containment) ready(ctx context.Context, t *ruleset.Type, agent string, now time.Time) (bool, error) {
	rows, _, err := a.Config.Store.Load(ctx, core.Under(ledger.Hold, ledger.Over(ledger.HoldAgent, agent)),
		core.Key(ledger.Alive, agent))
	heard := time.Time{}
	for _, row := range rows {
		switch v := row.Value.(type) {
		case ledger.HoldBody:
			return false, err
		case ledger.AliveBody:
			heard = v.At
		}
	}
	return t.Alive <= 0 || !heard.IsZero() && now.Sub(heard) <= time.Duration(t.Alive), err
}

// WantsWhatItMayNot reports whether what says what must not be done objects, whatever else does: a backup that only reads is
// refused nothing less for having been refused the change as well.
func WantsWhatItMayNot(d interlock.Decision) bool {
	return slices.ContainsFunc(d.Findings, func(f interlock.Finding) bool {
		return f.Verdict.Compare(interlock.Deny) >= 0 && gate.Of(&f).Counts
	})
}

// ErrHeals means that something a decision is under may have healed, and is to be looked at first.
var ErrHeals = errors.New("a phase may have healed")

// MayHeal reports whether anything that a decision is under may have healed by now.
func MayHeal(over []ledger.HoldBody, now time.Time) bool {
	return slices.ContainsFunc(over, func(h ledger.HoldBody) bool { return !h.Heals.IsZero() && !now.Before(h.Heals) })
}

// HealDue has the system, and the agent that was lost, go back to primary where a machine may do that: the backup has stood in
// for as long as the rules say and nothing was refused it. It returns how much was recorded.
func (a *Containment) HealDue(ctx context.Context, now time.Time) (recorded int, err error) {
	if !a.Healing().Machine {
		return 0, nil
	}
	rows, _, err := a.Config.Store.Scan(ctx, core.Under(ledger.Hold, ledger.Heals), ledger.UpTo(now.UnixNano(), core.MaxAtOnce))
	if err != nil {
		return 0, err
	}
	for _, row := range rows {
		due, ok := row.Value.(ledger.HoldBody)
		if !ok || due.Backup == nil {
			continue
		}
		lost := due.Backup.For
		var g core.DecisionRows
		on := func(ctx context.Context, load core.LoadRows) (_ core.DecisionRows, err error) {
			g, err = a.Rows(core.Under(ledger.Hold, ledger.All), core.Key(ledger.Breaker, ledger.HoldName(ledger.HoldAgent, lost)),
				core.Key(ledger.Agent, lost), core.Key(ledger.Alive, lost))(ctx, load)
			return g, err
		}
		_, err := a.CommitOn(ctx, false, on, func(standing ledger.Standing) (ledger.Change, error) {
			change := ledger.Change{Version: standing.Version}
			m := a.Moving(ctx, &change, standing, now)
			if !m.heal(due.Name(), core.Found[ledger.AliveBody](&g, core.Key(ledger.Alive, lost))) {
				return change, core.ErrUnchanged
			}
			err := m.Done(interlock.Requester{Agent: "interlock"})
			if err == nil && len(change.Events) == 0 {
				return change, core.ErrUnchanged
			}
			return change, err
		})
		if errors.Is(err, core.ErrUnchanged) {
			continue
		}
		if err != nil {
			return recorded, err
		}
		recorded++
	}
	return recorded, nil
}

// heal ends what began with a loss, as far as it has healed, and reports whether anything has.
func (m *HoldTransition) heal(name string, alive ledger.AliveBody) bool {
	backup, stands := m.Holds[name]
	if !stands || backup.Backup == nil || backup.Heals.IsZero() || m.Now.Before(backup.Heals) || !backup.Backup.MayWrite(m.Now) {
		return false
	}
	lost := ledger.HoldName(ledger.HoldAgent, backup.Backup.For)
	x := m.Holds[lost]
	broken := m.Holds[ledger.HoldName(ledger.HoldBreaker, lost)]
	if x.Phase != phase.Alternate || x.By != "" || !m.alone(backup.Key) || broken.By != "" {
		return false // people have it, or it has become worse
	}
	why := "nothing was refused " + backup.Key + ", which stands in, since " + backup.Backup.Steady.UTC().Format(time.RFC3339)
	if b := broken.Breaker; b == nil || b.State != phase.Open || !m.Now.Before(b.Until) {
		if x.Trigger != phase.TriggerLoss || alive.At.After(x.Since) {
			m.Moved(ledger.HoldBody{Scope: x.Scope, Key: x.Key, Cause: interlock.EventPhase, Why: why, Since: m.Now,
				Hold: phase.Hold{Phase: phase.Primary, Trigger: phase.TriggerHealed}}, x.Phase, nil, why)
			if b != nil && b.State == phase.Open {
				if half, may := b.Reset(m.Now); may {
					m.breaker(lost, half, b.State, phase.TriggerHealed, why, interlock.EventBreakerReset, nil)
				}
			}
		}
	}
	system := ledger.HoldName(ledger.HoldSystem, phase.SystemKey)
	if s := m.Holds[system]; s.Phase == phase.Alternate && s.Trigger == phase.TriggerSpread && s.By == "" && !m.othersOut(lost) {
		m.Moved(ledger.HoldBody{Scope: s.Scope, Key: s.Key, Cause: interlock.EventPhase, Why: why, Since: m.Now,
			Hold: phase.Hold{Phase: phase.Primary, Trigger: phase.TriggerHealed}}, s.Phase, nil, why)
	}
	if _, still := m.Holds[lost]; still { // the agent that was lost is not back; the backup goes on
		h := m.Holds[name]
		h.Heals = m.Now.Add(m.A.Healing().ReadOnly)
		m.put(h)
		if len(m.Moves) == 0 { // nobody hears of it, and it is looked at again then
			m.Change.Writes = append(m.Change.Writes, h.Row())
		}
	}
	return true
}

// alone reports whether nothing holds a backup but that it stands in.
func (m *HoldTransition) alone(agent string) bool {
	_, held := m.Holds[agent]
	_, broken := m.Holds[ledger.HoldName(ledger.HoldBreaker, agent)]
	return !held && !broken
}

// othersOut reports whether another agent than one is isolated too.
func (m *HoldTransition) othersOut(lost string) bool {
	for name, h := range m.Holds { // order-independent: is there any
		if h.Scope == ledger.HoldAgent && name != lost {
			return true
		}
	}
	return false
}
