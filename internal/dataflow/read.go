package dataflow

import (
	"encoding/json"
	"slices"
	"time"

	"interlock"
	"interlock/internal/auditlog"
)

// A Log is what is known of a log's actions. The zero value knows none.
type Log struct {
	actions []*Action
	byEvent map[string]*Action
	bound   map[Context][]Context // what is done in a session counts as done in a run
	size    int64
	gone    int64 // decisions whose content has left the store
}

// Size is how many entries of the log were looked at.
func (l *Log) Size() int64 { return l.size }

// Gone is how many decisions are in an archive, and so are not known.
func (l *Log) Gone() int64 { return l.gone }

// Actions are all that ran, or may have, in the order of the log.
func (l *Log) Actions() []*Action {
	return slices.DeleteFunc(slices.Clone(l.actions), func(a *Action) bool { return !a.Ran() })
}

// Find is the action of an event.
func (l *Log) Find(event string) (*Action, bool) {
	a, known := l.byEvent[event]
	return a, known
}

// Add takes the next entry of the log. Entries come in its order, from the first one on or from whatever time matters.
func (l *Log) Add(e interlock.Entry) error {
	l.size = max(l.size, e.Index+1)
	if auditlog.Released(&e) {
		if auditlog.IsDecision(e.Type) {
			l.gone++
		}
		return nil
	}
	switch e.Type {
	case interlock.EventDecision, interlock.EventBlock, interlock.EventReviewRequest:
		if auditlog.OfText(&e) {
			return nil
		}
		return l.decided(e)
	case interlock.EventOutcome, interlock.EventAlert:
		return l.ended(e)
	case interlock.EventRunRegistered, interlock.EventRunEnded:
		return l.ofRun(e)
	case interlock.EventRunBound:
		return l.ofSession(e)
	case eventMessage:
		return l.ofMessage(e)
	}
	return nil
}

// A message between agents is decided where it is sent and where it is received; an event beside each says which message it was.
const (
	eventMessage interlock.EventType = "MESSAGE"
	toolSend                         = "interlock.message.send"
	toolReceive                      = "interlock.message.receive"
)

// ofMessage takes that a message was sent or received, which is the last such action of that agent.
func (l *Log) ofMessage(e interlock.Entry) error {
	event, err := auditlog.ParseEvent(e.Body)
	if err != nil {
		return err
	}
	var p struct {
		What    string `json:"what"`
		Message struct {
			ID string `json:"id"`
		} `json:"message"`
	}
	if json.Unmarshal(event.Payload, &p) == nil {
		l.passed(event.Actor, p.What, p.Message.ID)
	}
	return nil
}

func (l *Log) passed(agent, what, id string) {
	tool := map[string]string{"sent": toolSend, "received": toolReceive}[what]
	for n := len(l.actions) - 1; n >= 0 && tool != "" && id != ""; n-- {
		if a := l.actions[n]; a.Agent == agent && a.Tool == tool {
			if a.message == "" {
				a.message = id
			}
			return
		}
	}
}

func (l *Log) put(a *Action) {
	if l.byEvent == nil {
		l.byEvent = map[string]*Action{}
	}
	l.actions = append(l.actions, a)
	l.byEvent[a.Event] = a
}

func (l *Log) decided(e interlock.Entry) error {
	d, err := auditlog.ReadDecision(e)
	if err != nil {
		return err
	}
	r := d.Proposal.Requester
	a := &Action{Event: d.Event.ID, Index: e.Index, At: d.Event.Recorded, Agent: r.Agent, Principal: r.Principal, Run: r.Run,
		Tool: d.Proposal.Action.Tool, Text: auditlog.ActionLine(d.Proposal.Action), Kind: d.Proposal.Action.Kind,
		Workspace: d.Proposal.View.Workspace, Impacts: d.Decision.Impacts, Uses: d.Proposal.Uses,
		answered: d.Decision.Answer.Allowed() && !d.Canary, handed: d.Handed || d.Execution != "awaited"}
	if a.Workspace == "" {
		a.Workspace = d.Proposal.Action.Dir
	}
	if d.Origin != nil && d.Origin.Returned > 0 {
		a.Source = d.Origin.Source
	}
	a.contexts = []Context{{r.Agent, r.Run}}
	if d.Basis != nil && d.Basis.Run != "" && d.Basis.Run != r.Run {
		a.contexts = append(a.contexts, Context{r.Agent, d.Basis.Run})
	}
	for _, run := range l.bound[Context{r.Agent, r.Run}] {
		if !slices.Contains(a.contexts, run) {
			a.contexts = append(a.contexts, run)
		}
	}
	l.put(a)
	return nil
}

// ended takes how an action ended. An alert is one if it says that something ran.
func (l *Log) ended(e interlock.Entry) error {
	event, err := auditlog.ParseEvent(e.Body)
	if err != nil {
		return err
	}
	var told struct {
		interlock.Outcome
		Carried bool `json:"carried_out"`
	}
	if json.Unmarshal(event.Payload, &told) != nil || told.Event == "" {
		return nil
	}
	o := told.Outcome
	if o.Status == interlock.OutcomeSkipped && !told.Carried { // an agent's own word hides none of its steps
		o.Status = interlock.OutcomeUnknown
	}
	a, known := l.byEvent[o.Event]
	if !known || event.Actor != a.Agent { // what another agent says of it counts for nothing
		return nil
	}
	if a.Status == "" || a.Status == interlock.OutcomeSkipped || a.Status == interlock.OutcomeUnknown {
		a.Status = o.Status // who says that it ran is believed before who says that it did not
	}
	a.Ended, a.Uses = later(a.Ended, event.Recorded), append(a.Uses, o.Uses...)
	a.Discarded = o.Overlay && !o.Kept
	if o.Sandboxed && (len(o.Effects) > 0 || o.Overlay) {
		a.Effects, a.Watched = o.Effects, !o.Partial
	}
	return nil
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// ofRun takes that a run was registered, which gives it work, or has ended, which gives its result to its delegator.
func (l *Log) ofRun(e interlock.Entry) error {
	event, err := auditlog.ParseEvent(e.Body)
	if err != nil {
		return err
	}
	var p struct {
		Run interlock.Run `json:"run"`
	}
	if json.Unmarshal(event.Payload, &p) != nil || p.Run.ID == "" {
		return nil
	}
	a := &Action{Event: event.ID, Index: e.Index, At: event.Recorded, Ended: event.Recorded, Principal: p.Run.Principal,
		Status: interlock.OutcomeSuccess, answered: true}
	own := Context{p.Run.Agent, p.Run.ID}
	if len(p.Run.Chain) == 0 {
		return nil // nobody gave it
	}
	by := Context{p.Run.Chain[0].Agent, p.Run.Chain[0].Run}
	a.Text, a.Giving = "delegated run "+p.Run.ID+" to "+p.Run.Agent, GivingWork
	if e.Type == interlock.EventRunEnded {
		own, by = by, own
		a.Text, a.Giving = "run "+p.Run.ID+" ended, and what came of it went back to "+own.Agent, GivingResult
	}
	a.Agent, a.Run, a.Gave, a.contexts = by.Agent, by.Run, own, []Context{by}
	l.put(a)
	return nil
}

// ofSession takes that what is done in a session counts as done in a run. What the session knew, the run knows.
func (l *Log) ofSession(e interlock.Entry) error {
	event, err := auditlog.ParseEvent(e.Body)
	if err != nil {
		return err
	}
	var p struct{ Run, Session string }
	if json.Unmarshal(event.Payload, &p) != nil || p.Run == "" {
		return nil
	}
	if l.bound == nil {
		l.bound = map[Context][]Context{}
	}
	session := Context{event.Actor, p.Session}
	l.bound[session] = append(l.bound[session], Context{event.Actor, p.Run})
	return nil
}
