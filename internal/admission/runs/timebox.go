package runs

import (
	"context"
	"errors"
	"strings"
	"time"

	"interlock"
	"interlock/internal/admission/containment"
	"interlock/internal/admission/core"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/phase"
)

// maxExtension bounds how much time an order gives a run whose type sets no bound of its own.
const maxExtension = 24 * time.Hour

// boxed is how long a run takes at most: as long as was asked for, and no longer than its agent's type lets.
func (r *registering) boxed(standing ledger.Standing) time.Duration {
	box := time.Duration(r.q.Box) * time.Second
	if most := r.rules.BoxOf(r.typeOf(r.to, standing)); most > 0 && (box == 0 || box > most) {
		return most
	}
	return box
}

// PauseDue pauses every run whose time is over: what it was at is kept, what it had asked is withdrawn and never answered, and a
// person is told. Nothing has been done in it since its time was over, whether anybody recorded that or not.
func (a *Runs) PauseDue(ctx context.Context, now time.Time) (paused int, err error) {
	rows, _, err := a.Config.Store.Scan(ctx, core.Under(ledger.Run, ledger.RunsDue), ledger.UpTo(now.UnixNano(), core.MaxAtOnce))
	if err != nil {
		return 0, err
	}
	for _, row := range rows {
		due, ok := row.Value.(interlock.Run)
		if !ok {
			continue
		}
		switch err := a.pauseRun(ctx, due.ID, now); {
		case errors.Is(err, core.ErrUnchanged):
		case err != nil:
			return paused, err
		default:
			paused++
		}
	}
	return paused, nil
}

func (a *Runs) pauseRun(ctx context.Context, id string, now time.Time) error {
	var g core.DecisionRows
	_, err := a.CommitOn(ctx, false, func(ctx context.Context, load core.LoadRows) (_ core.DecisionRows, err error) {
		g, err = a.groundOfEnd(ctx, load, id)
		named := core.All[interlock.Run](&g)
		if err != nil || len(named) == 0 {
			return g, err
		}
		more := append(core.MoveRefs(ledger.HoldName(ledger.HoldRun, id)),
			core.Key(ledger.Checkpoint, ledger.RunKey(named[0].Agent, id)),
			core.Key(ledger.Tally, ledger.HoldName(ledger.HoldAgent, named[0].Agent)))
		g.Reads = append(g.Reads, more...)
		return g, a.Extend(ctx, load, &g, new(core.Names), more)
	}, func(standing ledger.Standing) (ledger.Change, error) {
		change := ledger.Change{Version: standing.Version}
		named := core.All[interlock.Run](&g)
		if len(named) == 0 || !named[0].Ended.IsZero() || !named[0].Paused.IsZero() || !core.Over(named[0], now) {
			return change, core.ErrUnchanged
		}
		run := named[0]
		m := a.Containment.Moving(ctx, &change, standing, now)
		m.Tallies, m.Runs = core.All[ledger.TallyBody](&g), []auditlog.RunState{core.StateOf(run, standing)}
		m.Waiting = asked(run, namesOf(run, standing), standing)
		run.Paused = m.Now
		change.Writes = ledger.Rows(run)
		name := ledger.HoldName(ledger.HoldRun, id)
		m.Moves = append(m.Moves, containment.Move{Kind: interlock.EventRunPaused, Name: name,
			Record: func(snapshot string) auditlog.Record {
				record := auditlog.RunPausedRecord{Run: run, Snapshot: snapshot, Accountable: a.Active.Load().Rules.TypeOf(core.AgentOf(
					interlock.Requester{Agent: run.Agent}, standing)).Accountable}
				for _, r := range m.Waiting {
					record.Requests = append(record.Requests, r.ID)
				}
				return record
			},
			Says: "the time of the run " + id + " of " + run.Agent + " is over, and it is paused; `interlock runs extend " + id +
				"` gives it more, and whoever delegated it may end it"})
		m.Tighten(containment.Tightening{Scope: ledger.HoldRun, Key: id, To: phase.Contingency, Trigger: phase.TriggerBox,
			Why: "its time is over"}, nil)
		if len(m.Moves) > 1 {
			m.Moves[1].Says = "" // said already
		}
		return change, m.Done(interlock.Requester{Agent: "interlock"})
	})
	return err
}

// namesOf are the names that what is done in a run goes by: its own, and those of the sessions that are bound to it.
func namesOf(run interlock.Run, standing ledger.Standing) map[string]bool {
	all := map[string]bool{run.ID: true}
	for session, of := range standing.Tally(ledger.AgentTally(run.Agent)).Sessions { // order-independent: fills a map
		if of == run.ID {
			all[session] = true
		}
	}
	return all
}

// OverdueRun reports whether the run that an action is done in is over, and nobody has recorded that yet.
func OverdueRun(r interlock.Requester, standing ledger.Standing, now time.Time) bool {
	run, open := standing.Run(r.Agent, standing.RunOf(r))
	return open && core.Over(run, now) && run.Paused.IsZero()
}

// The details of orders about runs.
const (
	detailExtend = "extend=" // a duration, as 30m
	detailAccept = "accept=" // the digest of constraints
)

// ExtendDetail and AcceptDetail are what an order says that gives a run more time, or accepts other constraints for it.
func ExtendDetail(by time.Duration) string { return detailExtend + by.String() }

func AcceptDetail(bound interlock.Digest) string { return detailAccept + string(bound) }

func readChangedRun(o interlock.Order) []ledger.Ref {
	return []ledger.Ref{core.Under(ledger.Run, ledger.RunNamed(o.Subject)),
		core.Under(ledger.Checkpoint, ledger.RunNamed(o.Subject)),
		core.Under(ledger.Hold, ledger.Over(ledger.HoldRun, o.Subject))}
}

// findChangedRun finds the run that an order is about: it is its agent's freedom.
func findChangedRun(c *core.PendingOrder) error {
	run, found := runNamed(c.Standing, c.Subject)
	if !found {
		return interlock.Errorf(interlock.CodeNotFound, "subject", "no open run has this name; `interlock runs` lists them")
	}
	c.About = interlock.Requester{Agent: run.Agent, Principal: run.Principal}
	return nil
}

func runNamed(standing ledger.Standing, id string) (interlock.Run, bool) {
	for _, value := range standing.Others[ledger.Run] { // order-independent: one has this id
		if run, ok := value.(interlock.Run); ok && run.ID == id {
			return run, true
		}
	}
	return interlock.Run{}, false
}

// changeRun carries out an order about a run: it has more time, or a person accepts other constraints than those of its first checkpoint.
func (a *Runs) changeRun(ctx context.Context, c *core.PendingOrder) error {
	run, found := runNamed(c.Standing, c.Subject)
	if !found {
		return findChangedRun(c)
	}
	if accepted, is := strings.CutPrefix(c.Detail, detailAccept); is {
		return a.acceptConstraints(c, run, interlock.Digest(accepted))
	}
	text, is := strings.CutPrefix(c.Detail, detailExtend)
	by, err := time.ParseDuration(text)
	if !is || err != nil || by < time.Second {
		return interlock.Errorf(interlock.CodeInvalid, "detail", "%.40q is no time to give to a run; name one of a second or more, such as 30m", text)
	}
	rules := a.Active.Load().Rules
	t, err := a.Containment.TypeOf(ctx, rules, run.Agent)
	if err != nil {
		return err
	}
	most := rules.BoxOf(t)
	if most == 0 {
		most = maxExtension
	}
	if by > most {
		return interlock.Errorf(interlock.CodeLimited, "detail", "a run of this type is given %s at most at once (time_box)", most)
	}
	now := c.Now.Truncate(time.Microsecond)
	if !run.Until.IsZero() && !run.Until.Before(now.Add(by)) {
		return interlock.Errorf(interlock.CodeConflict, "detail", "the run has as much time already; it ends at %s",
			run.Until.UTC().Format(time.RFC3339))
	}
	if run.Until.IsZero() {
		return interlock.Errorf(interlock.CodeConflict, "subject", "this run has no time box; nothing has to be extended")
	}
	run.Until, run.Paused = now.Add(by), time.Time{}
	c.Change.Writes = ledger.Rows(run)
	name := ledger.HoldName(ledger.HoldRun, run.ID)
	if h, held := c.Standing.Others[ledger.Hold][name].(ledger.HoldBody); held && h.Trigger == phase.TriggerBox {
		c.Change.Writes = append(c.Change.Writes, ledger.Ended(ledger.Hold, name))
	}
	return a.Append(&c.Change, interlock.EventRunChanged, interlock.Requester{Agent: c.Operator}, "operator",
		auditlog.RunChangedRecord{Run: run.ID, Until: run.Until, Order: a.OrderKept(c.Order)})
}

// acceptConstraints lets the next checkpoint of a run have constraints of a digest, and no others than those.
func (a *Runs) acceptConstraints(c *core.PendingOrder, run interlock.Run, accepted interlock.Digest) error {
	if !validDigest(accepted) {
		return interlock.Errorf(interlock.CodeInvalid, "detail", "%.80q is no digest of constraints; the refused checkpoint names it", accepted)
	}
	kept, found := c.Standing.Checkpoint(run.Agent, run.ID)
	switch {
	case !found:
		return interlock.Errorf(interlock.CodeNotFound, "subject", "no checkpoint of this run was kept, so that the next one says what holds")
	case kept.Bound == accepted:
		return interlock.Errorf(interlock.CodeConflict, "detail", "these are its constraints already")
	case kept.Accepted == accepted:
		return interlock.Errorf(interlock.CodeConflict, "detail", "these are accepted already")
	}
	kept.Accepted = accepted
	c.Change.Writes = ledger.Rows(kept)
	return a.Append(&c.Change, interlock.EventRunChanged, interlock.Requester{Agent: c.Operator}, "operator",
		auditlog.RunChangedRecord{Run: run.ID, Accepted: accepted, Order: a.OrderKept(c.Order)})
}
