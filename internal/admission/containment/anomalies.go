package containment

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/anomaly"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/phase"
)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// watching looks at what the log has come to hold, one look at a time.
type watching struct {
	sync.Mutex
	activity *activity // nil: nothing was looked at since the start, or another process has looked
	agents   map[string]bool
	alarms   int
	kept     time.Time // when what is known was written last
}

// The bounds of a look.
const (
	looksAtOnce = 20               // pages: some 2,000 entries a second, less than a tenth of a processor
	keepEvery   = 10 * time.Minute // what is known of agents is written; what is not is read from the log again
	keepAfter   = 20_000           // entries
	tooOld      = time.Hour        // nobody is told of what is older than that: it is learned from
)

// LookForAnomalies reads what was recorded since the last look, scores those who did something in it, tells people of what is
// unusual, and tightens what the bands of the rules say. Where no tier is in force it does nothing. It takes no part in a
// decision. all has everything written at the end, as a process that goes has to.
func (a *Containment) LookForAnomalies(ctx context.Context, all bool) (alarms int, err error) {
	if a.Config.Log == nil || a.Tier() < 1 || a.Active.Load().Rules.Watch().Off {
		return 0, nil
	}
	w := &a.watching
	w.Lock()
	defer w.Unlock()
	if w.activity == nil {
		if w.activity, err = newActivity(ctx, a.Config.Store, a.Config.Log); err != nil {
			return 0, err
		}
		w.agents, w.alarms, w.kept = map[string]bool{}, 0, a.Config.Now()
	}
	before := w.alarms
	for range looksAtOnce {
		more, err := w.activity.read(ctx, func(p *ledger.ProfileBody, at time.Time) error {
			w.agents[p.Name] = true
			return a.scored(ctx, w, p, at)
		})
		if err != nil {
			w.activity = nil // what was read and not written is read again
			return w.alarms - before, err
		}
		if !more {
			break
		}
	}
	alarms = w.alarms - before
	if len(w.activity.dirty) > 0 && (all || w.activity.fresh || a.Config.Now().Sub(w.kept) >= keepEvery ||
		w.activity.seen-w.activity.began >= keepAfter || len(w.activity.names) > maxProfiles) {
		err = a.keepProfiles(ctx, w)
	}
	return alarms, err
}

// keepProfiles writes what is known. Where another process has looked at the same meanwhile, its word is kept.
func (a *Containment) keepProfiles(ctx context.Context, w *watching) error {
	now := a.Config.Now().UTC()
	change := ledger.Change{Writes: w.activity.changed(now)}
	err := a.Append(&change, interlock.EventWatched, interlock.Requester{Agent: interlock.OwnObserver}, "system",
		auditlog.WatchedRecord{From: w.activity.began, UpTo: w.activity.seen, Agents: len(w.agents), Alarms: w.alarms})
	if err == nil {
		_, err = a.Config.Store.Commit(ctx, change)
	}
	if err != nil {
		w.activity = nil
		if errors.Is(err, ledger.ErrConflict) {
			return nil
		}
		return err
	}
	w.activity.began, w.activity.fresh, w.activity.dirty = w.activity.seen, false, map[string]bool{}
	w.agents, w.alarms, w.kept = map[string]bool{}, 0, a.Config.Now()
	if len(w.activity.names) > maxProfiles/2 {
		w.activity.names, w.activity.kinds = map[string]*ledger.ProfileBody{}, map[string]string{}
	}
	return nil
}

// scored scores an agent at a time, and does what follows.
func (a *Containment) scored(ctx context.Context, w *watching, p *ledger.ProfileBody, at time.Time) error {
	score := p.Profile.Score(w.activity.kindOf(p), p.Told(at))
	p.Score, p.Drift = score.Value, score.Drift
	if a.Config.Now().Sub(at) > tooOld {
		return nil
	}
	_, agent, _ := ledger.Actors(p.Name)
	for _, alarm := range score.Alarms {
		if !p.Tell(alarm.Code) {
			continue
		}
		w.alarms++
		change := ledger.Change{}
		if err := a.Raise(&change, interlock.Requester{Agent: agent}, "anomaly-"+alarm.Code, a.Redact(alarm.Says)); err != nil {
			return err
		}
		if _, err := a.Config.Store.Commit(ctx, change); err != nil {
			return err
		}
	}
	for n, s := range []interlock.Signal{{Kind: interlock.SignalAnomaly, Agent: agent, Value: score.Value, Reason: worst(score)},
		{Kind: interlock.SignalDrift, Agent: agent, Value: score.Drift, Reason: score.Moved}} {
		after, tell := a.bands().Told(p.Sent[n], s)
		if after != p.Sent[n] {
			s.Reason = core.Bounded(s.Reason, maxSignalReason-16)
			if _, err := a.Signal(ctx, interlock.OwnObserver, s); err != nil {
				return err
			}
		}
		if p.Sent[n] = after; tell {
			w.alarms++
		}
	}
	if score.Grave == "" || a.Tier() < 2 { // (ENV-22)
		return nil
	}
	return a.Tighten(ctx, Tightening{Scope: ledger.HoldAgent, Key: agent, To: phase.Emergency, Trigger: phase.TriggerSignal, Why: score.Grave})
}

// worst are the dimensions that a score comes of, the heaviest first.
func worst(score anomaly.Score) (says string) {
	of := slices.Clone(score.Of)
	slices.SortStableFunc(of, func(x, y anomaly.Dimension) int {
		switch {
		case x.Weight*x.Value > y.Weight*y.Value:
			return -1
		case x.Weight*x.Value < y.Weight*y.Value:
			return 1
		}
		return 0
	})
	for _, d := range of[:3] {
		if d.Known && d.Value > 0 {
			if says != "" {
				says += "; "
			}
			says += d.Name + ": " + d.Why
		}
	}
	return says
}

// bands are the levels of anomaly and drift in force.
func (a *Containment) bands() phase.Bands {
	b := a.Active.Load().Rules.Watch().Bands()
	return phase.Bands{Elevated: b[0], Alternate: b[1], Contingency: b[2]}
}
