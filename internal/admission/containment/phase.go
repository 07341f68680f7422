package containment

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/phase"
)

// A Tightening has something in a stricter phase, or its breaker open. Machines may want one as well as operators.
type Tightening struct {
	Scope   ledger.HoldScope // of the phase, or [ledger.HoldBreaker]
	Key     string
	To      phase.Phase // not of a breaker
	Only    string      // the one agent that goes on in contingency
	Trigger string      // one of package phase's
	Why     string      // one sentence, without anything of an action

	heals time.Time // of the system in alternate for one agent's loss: when that may have healed
}

// Tighten moves something to a stricter phase, or opens its breaker, without anybody's order: for signals, timers and whatever else
// sees that something is wrong. What is as strict already stays as it is, and leaves no event.
func (a *Containment) Tighten(ctx context.Context, t Tightening) error {
	name := ledger.HoldName(t.Scope, t.Key)
	if _, _, ok := ledger.Actors(name); !ok {
		return interlock.Errorf(interlock.CodeInvalid, "hold", "%.80q is nothing that acts", name)
	}
	return a.moves(ctx, a.Rows(core.MoveRefs(name)...), func(m *HoldTransition, standing ledger.Standing) {
		m.Tier = a.TierOver(name, standing)
		if t.Scope == ledger.HoldBreaker {
			m.trip(t.Key, t.Trigger, t.Why, nil)
		} else {
			m.Tighten(t, nil)
		}
	})
}

// moves commits a transition that nobody ordered, if it changes anything.
func (a *Containment) moves(ctx context.Context, on func(context.Context, core.LoadRows) (core.DecisionRows, error),
	make func(m *HoldTransition, standing ledger.Standing)) error {
	_, err := a.CommitOn(ctx, false, on, func(standing ledger.Standing) (ledger.Change, error) {
		change := ledger.Change{Version: standing.Version}
		m := a.Moving(ctx, &change, standing, a.Config.Now().UTC())
		make(m, standing)
		if err := m.Done(interlock.Requester{Agent: "interlock"}); err != nil {
			return change, err
		}
		if len(change.Events) == 0 {
			return change, core.ErrUnchanged
		}
		return change, nil
	})
	if errors.Is(err, core.ErrUnchanged) {
		return nil
	}
	return err
}

// A HoldTransition is a change of phases and breakers that is being made: every way from one to another goes through it, so that
// each leaves its event and what stood before.
type HoldTransition struct {
	A        *Containment
	ctx      context.Context
	Change   *ledger.Change
	standing ledger.Standing
	Now      time.Time
	Tier     int
	Tallies  []ledger.TallyBody
	Runs     []auditlog.RunState // that it is about

	Holds    map[string]ledger.HoldBody // as they will be
	touched  []string                   // names of those that are others than before, as they came
	counts   map[string]ledger.BreakerBody
	Moves    []Move
	snapshot string // the digest of what stood before
	Waiting  []interlock.ApprovalRequest
	open     *unfinished
	err      error
}

// A Move is one event that is to be recorded.
type Move struct {
	Kind   interlock.EventType
	Name   string
	order  *interlock.Order
	Record func(snapshot string) auditlog.Record
	Says   string // for people; empty: nobody has to be told
}

func (a *Containment) Moving(ctx context.Context, change *ledger.Change, standing ledger.Standing,
	now time.Time) *HoldTransition {
	m := &HoldTransition{A: a, ctx: ctx, Change: change, standing: standing, Now: now.Truncate(time.Microsecond), Tier: a.Tier(),
		Holds: map[string]ledger.HoldBody{}, counts: map[string]ledger.BreakerBody{}}
	for _, h := range standing.Holds() {
		if h.OnActors() {
			m.Holds[h.Name()] = h.AsOf(now)
		}
	}
	for name, value := range standing.Others[ledger.Breaker] { // order-independent: fills a map
		if b, ok := value.(ledger.BreakerBody); ok {
			m.counts[name] = b
		}
	}
	return m
}

// put has a hold be another than before.
func (m *HoldTransition) put(h ledger.HoldBody) {
	m.Holds[h.Name()] = h
	m.touch(h.Name())
}

func (m *HoldTransition) touch(name string) {
	if !slices.Contains(m.touched, name) {
		m.touched = append(m.touched, name)
	}
}

// end has nothing stand under a name any more.
func (m *HoldTransition) end(name string) {
	delete(m.Holds, name)
	m.touch(name)
}

// IsModule reports whether what is in emergency in a scope is what MACE calls a quarantined module. Where the council governs no machine
// has it so: what a machine sees is contained until people have decided (MACE safety boundaries 8.2).
func IsModule(scope ledger.HoldScope) bool {
	return scope == ledger.HoldAgent || scope == ledger.HoldType
}

// Tighten moves something to a stricter phase, if it is not as strict already, and whatever else follows from that.
func (m *HoldTransition) Tighten(t Tightening, order *interlock.Order) {
	name := ledger.HoldName(t.Scope, t.Key)
	before := m.Holds[name]
	if t.To == phase.Emergency && t.Trigger != phase.TriggerOrder && IsModule(t.Scope) && m.A.Config.Council.Governs {
		t.To, t.Why = phase.Contingency, t.Why+"; to quarantine it takes the council: interlock request create module_quarantine --target "+name
	}
	if order == nil && t.To == phase.Alternate && before.Phase == "" && m.Tier >= 2 && t.Trigger != phase.TriggerSpread {
		m.cycle(name, &t)
	}
	if t.To.Compare(before.Phase) <= 0 {
		if t.Trigger == phase.TriggerSpread && !before.Heals.IsZero() { // it is no longer for one agent's loss alone
			before.Heals = time.Time{}
			m.put(before)
		}
		return
	}
	h := ledger.HoldBody{Scope: t.Scope, Key: t.Key, Cause: interlock.EventPhase, Why: t.Why, Since: m.Now,
		Hold: phase.Hold{Phase: t.To, Trigger: t.Trigger, Only: before.Only, Instead: before.Instead, Heals: t.heals}}
	if t.Only != "" {
		h.Only = t.Only
	}
	if t.To == phase.Alternate && m.Tier >= 2 {
		h.Deadline = m.Now.Add(phase.MaxAlternate)
	}
	if t.Scope == ledger.HoldAgent && before.Phase == "" {
		m.replace(&h, order != nil)
	}
	m.Moved(h, before.Phase, order)
	if t.Scope == ledger.HoldAgent && before.Phase == "" {
		m.isolate(t.Key)
	}
	if t.Scope == ledger.HoldAgent && m.Tier >= 2 {
		m.Tighten(Tightening{Scope: ledger.HoldSystem, Key: phase.SystemKey, To: phase.Alternate, Trigger: phase.TriggerSpread,
			Why: name + " is isolated", heals: h.Heals}, nil)
	}
	if t.Scope == ledger.HoldLayer && t.To == phase.Emergency && m.stopped() > 1 {
		m.Tighten(Tightening{Scope: ledger.HoldSystem, Key: phase.SystemKey, To: phase.Emergency, Trigger: phase.TriggerLayers,
			Why: "two layers of control are in emergency"}, nil)
	}
}

// cycle counts that a machine moves something to alternate. Too often in a day it is contingency instead.
func (m *HoldTransition) cycle(name string, t *Tightening) {
	b := m.counts[name]
	b.Name = name
	var to phase.Phase
	if b.Cycles, to = phase.Cycles(b.Cycles, m.Now); to != t.To {
		t.To, t.Trigger, t.Why = to, phase.TriggerCycles, "it came back too often within a day: "+t.Why
	}
	m.counts[name] = b
	m.Change.Writes = append(slices.DeleteFunc(m.Change.Writes, func(r ledger.Row) bool {
		return r.Kind == ledger.Breaker && r.Key == name
	}), ledger.Rows(b)...)
}

// stopped counts the layers of control that are in emergency.
func (m *HoldTransition) stopped() (n int) {
	for _, layer := range []string{phase.LayerGates, phase.LayerJudge, phase.LayerPeople} {
		if m.Holds[ledger.HoldName(ledger.HoldLayer, layer)].Phase == phase.Emergency {
			n++
		}
	}
	return n
}

// Moved writes a hold in another phase, with its event.
func (m *HoldTransition) Moved(h ledger.HoldBody, from phase.Phase, order *interlock.Order, proof ...string) {
	if order != nil {
		h.By, h.Order = order.Operator, order.ID
	}
	record := auditlog.PhaseRecord{On: h.Name(), From: phase.Stricter(phase.Primary, from), To: phase.Stricter(phase.Primary, h.Phase),
		Trigger: h.Trigger, Why: h.Why, Only: h.Only, Order: order, Cause: m.Holds[h.Name()].Hold.Cause}
	if len(proof) > 0 {
		record.Proof = proof[0]
	}
	if h.Phase.Compare(from) > 0 {
		m.halfDone(&h, &record)
	}
	if h.Phase == phase.Primary || h.Phase == "" {
		if instead := m.Holds[h.Name()].Instead; instead != "" { // the agent that stood in is done with that
			m.end(ledger.BackupName(instead))
		}
		m.end(h.Name())
	} else {
		m.put(h)
	}
	m.Moves = append(m.Moves, Move{Kind: interlock.EventPhase, Name: h.Name(), order: order,
		Record: func(snapshot string) auditlog.Record {
			record.Snapshot = snapshot
			return record
		},
		Says: h.Name() + " went from phase " + record.From.Title() + " to " + record.To.Title() + ": " + h.Why})
}

// quarantine has what an agent has sent, and nobody has received, wait for a person.
func (m *HoldTransition) quarantine(name string) {
	b := m.counts[name]
	b.Name, b.Isolated = name, m.Now
	m.counts[name] = b
	m.Change.Writes = append(slices.DeleteFunc(m.Change.Writes, func(r ledger.Row) bool {
		return r.Kind == ledger.Breaker && r.Key == name
	}), ledger.Rows(b)...)
}

// isolate has what an agent asked, and what it was allowed and has not used, expire, and quarantines what it has sent.
func (m *HoldTransition) isolate(agent string) {
	m.quarantine(ledger.HoldName(ledger.HoldAgent, agent))
	for _, mark := range []string{ledger.Is(interlock.RequestPending), ledger.Harnessed, ledger.Is(interlock.RequestApproved)} {
		rows, _, err := m.A.Config.Store.Scan(m.ctx, core.Under(ledger.Request, mark), ledger.Every(core.MaxAtOnce))
		m.err = errors.Join(m.err, err)
		for _, row := range rows {
			if r, ok := row.Value.(interlock.ApprovalRequest); ok && r.Requester.Agent == agent {
				m.Waiting = append(m.Waiting, r)
			}
		}
	}
	core.SortRequests(m.Waiting)
	m.err = errors.Join(m.err, m.atWork(agent))
}

// atWork takes note of what an agent is at, for what is kept before it is isolated.
func (m *HoldTransition) atWork(agent string) error {
	rows, _, err := m.A.Config.Store.Scan(m.ctx, core.Under(ledger.Run, ledger.RunsOf(agent)), ledger.Every(maxLostWork))
	refs := make([]ledger.Ref, 0, len(rows))
	for _, row := range rows {
		refs = append(refs, core.Key(ledger.Checkpoint, row.Key))
	}
	if err != nil || len(refs) == 0 {
		return err
	}
	kept, err := m.A.Ground(m.ctx, refs...)
	for _, row := range rows {
		if run, ok := row.Value.(interlock.Run); ok {
			m.Runs = append(m.Runs, core.StateOf(run, kept))
		}
	}
	return err
}

// Done adds to the change what has moved: what stood before as a blob that each event names, the events, the holds, and the end
// of what those who were isolated had asked.
func (m *HoldTransition) Done(by interlock.Requester) error {
	if m.err != nil || len(m.Moves) == 0 {
		return m.err
	}
	if err := m.keep(); err != nil {
		return err
	}
	for _, move := range m.Moves {
		who, role := by, "system"
		if move.order != nil {
			who, role = interlock.Requester{Agent: move.order.Operator}, "operator"
		}
		if err := m.A.Append(m.Change, move.Kind, who, role, move.Record(m.snapshot)); err != nil {
			return err
		}
		m.Change.Events[len(m.Change.Events)-1].Snapshots[auditlog.SnapshotPace] = m.snapshot
	}
	for _, name := range m.touched {
		if h, stands := m.Holds[name]; stands {
			h.Snapshot = m.snapshot
			m.Change.Writes = append(m.Change.Writes, h.Row())
		} else {
			m.Change.Writes = append(m.Change.Writes, ledger.Ended(ledger.Hold, name))
		}
	}
	for _, r := range m.Waiting {
		if slices.ContainsFunc(m.Change.Writes, func(w ledger.Row) bool { return w.Kind == ledger.Request && w.Key == r.ID }) {
			continue // it ends already
		}
		if err := m.A.ExpireRequest(m.Change, r, m.Now); err != nil {
			return err
		}
	}
	for _, move := range m.Moves {
		if move.Says == "" {
			continue
		}
		if err := m.A.Raise(m.Change, interlock.Requester{Agent: "interlock"}, "phase", move.Says); err != nil {
			return err
		}
	}
	return nil
}

// keep adds to the change what stood before it.
func (m *HoldTransition) keep() error {
	s := auditlog.PaceSnapshot{Schema: auditlog.PaceSchema, On: m.Moves[0].Name, At: m.Now, Holds: m.standing.Holds(),
		Counts: []ledger.BreakerBody{}, Requests: []auditlog.PendingRequest{}, Last: []ledger.Act{}}
	counted := m.standing.Others[ledger.Breaker]
	for _, name := range slices.Sorted(maps.Keys(counted)) {
		if b, ok := counted[name].(ledger.BreakerBody); ok {
			s.Counts = append(s.Counts, b)
		}
	}
	waiting := slices.Clone(m.Waiting)
	for _, r := range m.standing.Requests { // in any order: sorted below
		if !slices.ContainsFunc(waiting, func(w interlock.ApprovalRequest) bool { return w.ID == r.ID }) {
			waiting = append(waiting, r)
		}
	}
	core.SortRequests(waiting)
	for _, r := range waiting {
		s.Requests = append(s.Requests, auditlog.PendingRequest{ID: r.ID, Agent: r.Requester.Agent, Action: r.Action, Status: r.Status,
			Created: r.Created})
	}
	s.Runs = m.Runs
	for _, t := range m.Tallies {
		s.Last = append(s.Last, t.Last...)
	}
	text, err := s.Text()
	if err != nil {
		return err
	}
	digest := auditlog.BlobDigest(text)
	m.snapshot = string(digest)
	m.Change.Blobs = append(m.Change.Blobs, ledger.Blob{Digest: digest, Text: text})
	return nil
}

// MoveDue records of every alternate that nobody has resolved in time that it is contingency. Decisions have taken it for that
// since its deadline, whether anybody was there to record it or not.
func (a *Containment) MoveDue(ctx context.Context, now time.Time) (recorded int, err error) {
	rows, _, err := a.Config.Store.Scan(ctx, core.Under(ledger.Hold, ledger.Due), ledger.UpTo(now.UnixNano(), core.MaxAtOnce))
	if err != nil {
		return 0, err
	}
	for _, row := range rows {
		due, ok := row.Value.(ledger.HoldBody)
		if !ok {
			continue
		}
		_, err := a.CommitOn(ctx, false, a.Rows(core.MoveRefs(due.Name())...), func(standing ledger.Standing) (ledger.Change, error) {
			change := ledger.Change{Version: standing.Version}
			h, stands := standing.Others[ledger.Hold][due.Name()].(ledger.HoldBody)
			if !stands || h.At(now).Phase == h.Phase {
				return change, core.ErrUnchanged
			}
			m := a.Moving(ctx, &change, standing, now)
			m.Tier = a.TierOver(due.Name(), standing)
			after := h.AsOf(now)
			after.Why, after.Deadline, after.Order = "nobody has resolved it in time: "+h.Why, time.Time{}, ""
			m.Moved(after, h.Phase, nil)
			return change, m.Done(interlock.Requester{Agent: "interlock"})
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
