package maturity

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"interlock"
	"interlock/internal/auditlog"
	"sync"
)

// An Agent is what the log says of one agent.
type Agent struct {
	ID        string `json:"agent"`
	Decisions int    `json:"decisions"`
	Allowed   int    `json:"allowed"`
	Asked     int    `json:"asked"`
	Denied    int    `json:"denied"`   // and halted
	Yes       int    `json:"yes"`      // that people said to what it asked
	No        int    `json:"no"`       // likewise
	Unasked   int    `json:"unasked"`  // changes that passed lately without a person's yes
	Trips     int    `json:"trips"`    // of its breaker
	Isolated  int    `json:"isolated"` // times a phase was set on it
	OverCap   int    `json:"over_cap"` // actions that a limit had no room for
	Caps      []Cap  `json:"caps"`     // that it used something of
	peaks     map[string]map[int64]int64
}

// A Cap is how much of a limit an agent used at most within one window.
type Cap struct {
	Limit string  `json:"limit"`
	Most  int64   `json:"most,omitempty"` // of the rules in force; 0: it is no longer one of them
	Peak  int64   `json:"peak"`
	Share float64 `json:"share,omitempty"`
}

// A Stop is that everything was stopped, or put into emergency.
type Stop struct {
	At    time.Time `json:"at"`
	Why   string    `json:"why"`
	Drill bool      `json:"drill,omitempty"` // its reason begins with that word
}

// A SignOff is an order by which rules were put in force, with its reason.
type SignOff struct {
	At       time.Time `json:"at"`
	Operator string    `json:"operator"`
	Reason   string    `json:"reason"`
}

// A Book is what a log comes to. The zero value is an empty one.
type Book struct {
	Lately time.Time // from when on changes that nobody was asked about are counted; zero: from the beginning

	First, Last time.Time // events
	Events      int
	Archived    int // those with only a hash here
	Decisions   int
	Yes, No     int
	Expired     int // questions that nobody answered
	Stops       []Stop
	Resets      int
	Trips       map[string]int // by what brought them
	Incidents   int
	Runs, Boxed int // registered, and those with a time box
	Sandboxed   int // decisions that went to `interlock exec`
	Unread      int // events that could not be read
	Orders      []SignOff

	agents map[string]*Agent
}

func (b *Book) agent(id string) *Agent {
	if b.agents == nil {
		b.agents = map[string]*Agent{}
	}
	if b.agents[id] == nil {
		b.agents[id] = &Agent{ID: id, peaks: map[string]map[int64]int64{}}
	}
	return b.agents[id]
}

// Agents are those the log names, by id, with what they used of limits.
func (b *Book) Agents(most map[string]int64) []Agent {
	out := []Agent{}
	for _, id := range slices.Sorted(maps.Keys(b.agents)) {
		a := *b.agents[id]
		a.Caps = []Cap{}
		for _, limit := range slices.Sorted(maps.Keys(a.peaks)) {
			c := Cap{Limit: limit, Most: most[limit]}
			for _, used := range a.peaks[limit] { // any order: the largest
				c.Peak = max(c.Peak, used)
			}
			if c.Most > 0 {
				c.Share = float64(c.Peak) / float64(c.Most)
			}
			a.Caps = append(a.Caps, c)
		}
		out = append(out, a)
	}
	return out
}

// Add takes an entry of the log. What can't be read is counted, and nothing else is said of it.
func (b *Book) Add(e interlock.Entry) {
	b.Events++
	if auditlog.Released(&e) {
		b.Archived++
		return
	}
	event, err := auditlog.ParseEvent(e.Body)
	if err != nil {
		b.Unread++
		return
	}
	if b.First.IsZero() || event.Recorded.Before(b.First) {
		b.First = event.Recorded
	}
	if event.Recorded.After(b.Last) {
		b.Last = event.Recorded
	}
	switch {
	case auditlog.IsDecision(e.Type) && !auditlog.OfText(&e):
		err = b.decided(e)
	case e.Type == interlock.EventApproval:
		err = b.answered(e)
	default:
		err = b.other(e.Type, event)
	}
	if err != nil {
		b.Unread++
	}
}

func (b *Book) decided(e interlock.Entry) error {
	d, err := auditlog.ReadDecision(e)
	if err != nil || d.Canary {
		return err
	}
	b.Decisions++
	a := b.agent(d.Proposal.Requester.Agent)
	a.Decisions++
	switch d.Decision.Verdict {
	case interlock.Allow:
		a.Allowed++
		if !d.Event.Recorded.Before(b.Lately) && d.Decision.Answer.Allowed() && changes(d.Decision.Impacts) && d.Decision.Approval == "" {
			a.Unasked++
		}
	case interlock.Ask:
		a.Asked++
	default:
		a.Denied++
	}
	if d.Proposal.Door == "exec" {
		b.Sandboxed++
	}
	for n := range d.Decision.Findings {
		f := &d.Decision.Findings[n]
		if strings.HasPrefix(f.Rule, "limit.") && f.Verdict.Compare(interlock.Deny) >= 0 {
			a.OverCap++
			break
		}
	}
	for _, use := range d.Uses {
		slots := a.peaks[use.Limit]
		if slots == nil {
			slots = map[int64]int64{}
			a.peaks[use.Limit] = slots
		}
		slot := int64(0)
		if use.Window > 0 {
			slot = d.Event.Recorded.UnixNano() / int64(use.Window)
		}
		slots[slot] += use.Take
	}
	return nil
}

// changes reports whether an action does more than look.
func changes(impacts []interlock.Impact) bool {
	for n := range impacts {
		if impacts[n].Reversibility != interlock.Readonly {
			return true
		}
	}
	return false
}

func (b *Book) answered(e interlock.Entry) error {
	request, answer, err := auditlog.ApprovalOf(e)
	if err != nil {
		return err
	}
	a := b.agent(request.Requester.Agent)
	if answer.Verdict == interlock.Allow {
		b.Yes++
		a.Yes++
	} else {
		b.No++
		a.No++
	}
	return nil
}

// said is what the payloads of other events may hold.
type said struct {
	Hold, To, Trigger, Why, Reason string
	Order                          *struct {
		Verb, Operator, Reason string
	}
	Run struct {
		Until time.Time `json:"until"`
	}
	Until time.Time
}

// drill is how the reason of an exercise begins.
var drill = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^\W*drill\b`)
})

func (b *Book) other(kind interlock.EventType, event auditlog.Event) error {
	var s said
	if err := json.Unmarshal(event.Payload, &s); err != nil {
		s = said{} // members of other kinds mean other things
	}
	why := s.Why
	if s.Order != nil && s.Order.Reason != "" {
		why = s.Order.Reason
	}
	switch kind {
	case interlock.EventApprovalExpired:
		b.Expired++
	case interlock.EventKill:
		b.Stops = append(b.Stops, Stop{At: event.Recorded, Why: why, Drill: drill().MatchString(why)})
	case interlock.EventPhase:
		if s.To == "E" {
			b.Stops = append(b.Stops, Stop{At: event.Recorded, Why: why, Drill: drill().MatchString(why)})
		}
		if id, found := strings.CutPrefix(s.Hold, "agent:"); found && s.To != "P" {
			b.agent(id).Isolated++
		}
	case interlock.EventBreaker:
		if b.Trips == nil {
			b.Trips = map[string]int{}
		}
		b.Trips[s.Trigger]++
		if id, found := strings.CutPrefix(s.Hold, "breaker:agent:"); found {
			b.agent(id).Trips++
		}
	case interlock.EventBreakerReset:
		b.Resets++
	case interlock.EventIncident:
		b.Incidents++
	case interlock.EventRunRegistered:
		b.Runs++
		if !s.Until.IsZero() || !s.Run.Until.IsZero() {
			b.Boxed++
		}
	case interlock.EventPromotion:
		if s.Order != nil {
			b.Orders = append(b.Orders, SignOff{At: event.Recorded, Operator: s.Order.Operator, Reason: s.Order.Reason})
		}
	}
	return nil
}
