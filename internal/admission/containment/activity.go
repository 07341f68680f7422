package containment

import (
	"context"
	"slices"
	"strings"
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/anomaly"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
)

// An activity reads the log from where it was read to the last time, and keeps the profiles of those who did something in it.
type activity struct {
	store core.Store
	log   core.Log
	began int64 // where it was read from
	seen  int64 // the next entry
	names map[string]*ledger.ProfileBody
	dirty map[string]bool
	kinds map[string]string // the types of agents, as they were when first looked for
	shown map[string]decidedRead
	fresh bool // nobody has ever looked
}

// A decidedRead is a decision that only reads, for when it turns out to have gone wrong.
type decidedRead struct{ text string }

const (
	maxLookBack = 20_000 // entries that are learned from when the log is looked at for the first time
	maxReads    = 8192   // reads whose outcomes may yet come
	maxProfiles = 20_000 // that are held at once
	lookPage    = 512    // entries
)

// newActivity begins where the log was looked at up to.
func newActivity(ctx context.Context, store core.Store, log core.Log) (*activity, error) {
	a := &activity{store: store, log: log, names: map[string]*ledger.ProfileBody{}, dirty: map[string]bool{}, kinds: map[string]string{},
		shown: map[string]decidedRead{}}
	rows, _, err := store.Load(ctx, core.Key(ledger.Profile, ledger.ProfileCursor))
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		if cursor, ok := row.Value.(ledger.ProfileBody); ok {
			a.began, a.seen = cursor.Seen, cursor.Seen
			return a, nil
		}
	}
	newest, err := log.Entries(ctx, "", ledger.Before(-1, 1))
	if err != nil || len(newest) == 0 {
		return a, err
	}
	a.fresh, a.seen = true, max(newest[0].Index-maxLookBack, 0)
	return a, nil
}

// read takes in a page of the log. done is called with what is known of an agent each time ten minutes of it are over, and at the end
// of the page for everybody who did something.
func (a *activity) read(ctx context.Context, done func(*ledger.ProfileBody, time.Time) error) (more bool, err error) {
	entries, err := a.log.Entries(ctx, "", ledger.From(a.seen, lookPage))
	if err != nil {
		return false, err
	}
	var acted []string
	last := map[string]time.Time{}
	for n := range entries {
		e := &entries[n]
		a.seen = e.Index + 1
		if auditlog.Released(e) {
			continue
		}
		facts, err := a.facts(ctx, e)
		if err != nil {
			return false, err
		}
		for _, f := range facts {
			p, kind, err := a.profiles(ctx, f.agent)
			if err != nil {
				return false, err
			}
			if f.signal != nil {
				p.Heard(*f.signal, f.At)
			}
			if !p.Last.IsZero() && p.Closes(f.Fact) && !last[f.agent].IsZero() {
				if err := done(p, last[f.agent]); err != nil {
					return false, err
				}
			}
			if f.signal == nil {
				p.Add(f.Fact, kind)
			}
			a.dirty[p.Name] = true
			if kind != nil {
				a.dirty[kindName(p.Type)] = true
			}
			if !slices.Contains(acted, f.agent) {
				acted = append(acted, f.agent)
			}
			last[f.agent] = f.At
		}
	}
	for _, agent := range acted {
		if err := done(a.names[agentName(agent)], last[agent]); err != nil {
			return false, err
		}
	}
	return len(entries) == lookPage, nil
}

func agentName(agent string) string { return ledger.HoldName(ledger.HoldAgent, agent) }

func kindName(kind string) string { return ledger.HoldName(ledger.HoldType, kind) }

// profiles is what is known of an agent and of its type; nil where it is bound to none.
func (a *activity) profiles(ctx context.Context, agent string) (p *ledger.ProfileBody, kind *anomaly.Profile, err error) {
	bound, known := a.kinds[agent]
	if !known {
		rows, _, err := a.store.Recall(ctx, core.Key(ledger.Agent, agent))
		if err != nil {
			return nil, nil, err
		}
		for _, row := range rows {
			if record, ok := row.Value.(interlock.AgentRecord); ok {
				bound = record.Type
			}
		}
		a.kinds[agent] = bound
	}
	if p, err = a.profile(ctx, agentName(agent)); err != nil {
		return nil, nil, err
	}
	p.Type = bound
	if bound == "" {
		return p, nil, nil
	}
	of, err := a.profile(ctx, kindName(bound))
	if err != nil {
		return nil, nil, err
	}
	return p, &of.Profile, nil
}

func (a *activity) profile(ctx context.Context, name string) (*ledger.ProfileBody, error) {
	if p := a.names[name]; p != nil {
		return p, nil
	}
	p := &ledger.ProfileBody{Name: name}
	rows, _, err := a.store.Load(ctx, core.Key(ledger.Profile, name))
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		if body, ok := row.Value.(ledger.ProfileBody); ok {
			body.Profile, body.Alarmed = body.Profile.Clone(), slices.Clone(body.Alarmed)
			*p = body
		}
	}
	a.names[name] = p
	return p, nil
}

// kindOf is what is known of the type of the agent that a profile is of.
func (a *activity) kindOf(p *ledger.ProfileBody) *anomaly.Profile {
	if of := a.names[kindName(p.Type)]; p.Type != "" && of != nil {
		return &of.Profile
	}
	return nil
}

// changed are the rows that say what has become known, and how far the log was looked at.
func (a *activity) changed(now time.Time) []ledger.Row {
	rows := []ledger.Row{}
	for _, name := range sortedKeys(a.dirty) {
		p := *a.names[name]
		p.Profile, p.Alarmed = p.Profile.Clone(), slices.Clone(p.Alarmed)
		rows = append(rows, ledger.Row{Kind: ledger.Profile, Key: name, Value: p})
	}
	return append(rows, ledger.Row{Kind: ledger.Profile, Key: ledger.ProfileCursor, Value: ledger.ProfileBody{Name: ledger.ProfileCursor,
		From: a.began, Seen: a.seen, Profile: anomaly.Profile{Last: now}}})
}

// A factOf is a fact of an agent's, or what an observer says of it.
type factOf struct {
	agent string
	anomaly.Fact
	signal *interlock.Signal
}

// facts is what an entry of the log says of those who act. What can't be read says nothing: the log's own checks are for that.
func (a *activity) facts(ctx context.Context, e *interlock.Entry) ([]factOf, error) {
	switch e.Type {
	case interlock.EventDecision, interlock.EventBlock, interlock.EventReviewRequest:
		if d, err := auditlog.ReadDecision(*e); err == nil && !d.Canary && d.Decision.Mode == interlock.Enforcing {
			return []factOf{a.decided(e.ID, &d)}, nil
		}
	case interlock.EventOutcome:
		return a.ended(ctx, e)
	case interlock.EventSignal:
		var s struct {
			interlock.Signal
			Observer string `json:"observer"`
		}
		if event, err := auditlog.Read(*e, &s); err == nil && s.Observer != interlock.OwnObserver && s.Agent != "" {
			return []factOf{{agent: s.Agent, Fact: anomaly.Fact{At: event.Recorded}, signal: &s.Signal}}, nil
		}
	case interlock.EventRunRegistered, interlock.EventRunEnded:
		return runFacts(e), nil
	case interlock.EventTurn:
		if event, err := auditlog.ParseEvent(e.Body); err == nil && event.Actor != "" {
			return []factOf{{agent: event.Actor, Fact: anomaly.Fact{At: event.Recorded, Message: true}}}, nil
		}
	case interlock.EventPhase:
		var moved struct{ Hold, To, Authoriser string }
		event, err := auditlog.Read(*e, &moved)
		if scope, agent, _ := strings.Cut(moved.Hold, ":"); err == nil && scope == string(ledger.HoldAgent) && moved.To == "P" {
			return []factOf{{agent: agent, Fact: anomaly.Fact{At: event.Recorded, Begin: true}}}, nil
		}
	}
	return nil, nil
}

// decided is the fact of a decision.
func (a *activity) decided(id string, d *auditlog.Decided) factOf {
	f := anomaly.Fact{At: d.Event.Recorded, Decided: true, Refused: RefusedFor(d.Decision)}
	action := d.Proposal.Action
	f.Tools, f.Places = d.Used()
	reads := len(d.Decision.Impacts) > 0
	for n := range d.Decision.Impacts {
		i := &d.Decision.Impacts[n]
		reads = reads && i.Reversibility == interlock.Readonly
		f.Message = f.Message || i.Kind == interlock.ImpactMessage
		if i.Kind == interlock.ImpactRead || i.Kind == interlock.ImpactNetwork {
			f.Data += i.Records + i.Bytes/1000
		}
	}
	for _, u := range d.Uses {
		if u.Measure == "tokens" || u.Measure == "money" {
			f.Cost += u.Take
		}
	}
	if text := auditlog.ActionLine(action); reads && f.Refused {
		f.Probe, f.Families = anomaly.Name(text), anomaly.Families(text)
	} else if reads {
		if len(a.shown) >= maxReads {
			clear(a.shown) // what fails of those is looked up
		}
		a.shown[id] = decidedRead{text}
	}
	return factOf{agent: d.Proposal.Requester.Agent, Fact: f}
}

// ended is the fact of an outcome.
func (a *activity) ended(ctx context.Context, e *interlock.Entry) ([]factOf, error) {
	var o interlock.Outcome
	event, err := auditlog.Read(*e, &o)
	if err != nil || event.Actor == "" || o.Status == interlock.OutcomeSkipped {
		return nil, nil
	}
	f := anomaly.Fact{At: event.Recorded, Ended: true, Failed: o.Status == interlock.OutcomeFailure, Took: o.Duration}
	read, known := a.shown[o.Event]
	delete(a.shown, o.Event)
	if f.Failed && !known && o.Event != "" {
		entry, found, err := a.store.Entry(ctx, o.Event)
		if err != nil {
			return nil, err
		}
		if d, err := auditlog.ReadDecision(entry); found && err == nil && !core.Changes(d.Decision.Impacts) &&
			len(d.Decision.Impacts) > 0 {
			read, known = decidedRead{auditlog.ActionLine(d.Proposal.Action)}, true
		}
	}
	if f.Failed && known {
		f.Probe, f.Families = anomaly.Name(read.text), anomaly.Families(read.text)
	}
	return []factOf{{agent: event.Actor, Fact: f}}, nil
}

// runFacts are those of a run that was registered or has ended.
func runFacts(e *interlock.Entry) []factOf {
	var r struct {
		Run       interlock.Run `json:"run"`
		Uncertain []string      `json:"uncertain"`
	}
	event, err := auditlog.Read(*e, &r)
	if err != nil || r.Run.Agent == "" {
		return nil
	}
	if e.Type == interlock.EventRunRegistered {
		if len(r.Run.Chain) == 0 || r.Run.Chain[0].Agent == r.Run.Agent {
			return nil
		}
		return []factOf{{agent: r.Run.Chain[0].Agent, Fact: anomaly.Fact{At: event.Recorded, Message: true}}}
	}
	f := anomaly.Fact{At: event.Recorded, Done: true, Whole: r.Run.Status == interlock.RunCompleted, Unsure: len(r.Uncertain) > 0}
	if r.Run.Parent == "" && r.Run.Status != interlock.RunCancelled {
		f.Run = r.Run.Ended.Sub(r.Run.Created)
	}
	return []factOf{{agent: r.Run.Agent, Fact: f}}
}
