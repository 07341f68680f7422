// Package digest sums up what a log holds of a stretch of time, for people who have a minute: how much was allowed, asked and denied,
// what was new, what came near its end, what moved, and what nobody has answered. It is made of the log alone, so that making
// it again of the same log gives the same; it names agents, rules, tools and hosts, and nothing that an action or a person said.
//
// Hand every entry from the look-back on to Add, in any order, then take Sum. Start with Digest.
package digest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"interlock"
	"interlock/internal/auditlog"
)

// LookBack is how much longer than its stretch of time a digest looks for what was used before.
const LookBack = 14 * 24 * time.Hour

// most bounds the lists of a digest.
const most = 20

// A Digest is what a stretch of time comes to.
type Digest struct {
	From    time.Time `json:"from"`
	To      time.Time `json:"to"`
	Allowed int       `json:"allowed"`
	Asked   int       `json:"asked"`
	Denied  int       `json:"denied"`
	Failed  int       `json:"failed"` // actions that ended badly

	Agents    []Agent   `json:"agents"`    // the one that did most first
	Rules     []Counted `json:"rules"`     // that asked or denied
	Tools     []string  `json:"new_tools"` // used for the first time
	Places    []string  `json:"new_hosts"`
	Limits    []Counted `json:"limits"`    // alerts of limits and budgets that are near their end, or over it
	Moved     []Move    `json:"moved"`     // phases and breakers
	Anomalies []Counted `json:"anomalies"` // what was unusual, by agent
	Alerts    []Counted `json:"alerts"`    // every other, by its code
	Answered  int       `json:"answered"`
	Expired   int       `json:"expired"` // questions that nobody answered in time
	Waiting   int       `json:"waiting"` // and those that still wait
	Stopped   int       `json:"stopped"` // how often everything was stopped
	Gates     []Gate    `json:"gates"`   // how much each gate denied, beside how much it did before
	Review    []Review  `json:"review"`  // a sample of what was permitted, to look at again
}

// An Agent is what one agent did.
type Agent struct {
	Name    string `json:"agent"`
	Allowed int    `json:"allowed"`
	Asked   int    `json:"asked"`
	Denied  int    `json:"denied"`
}

// A Counted is how often something was.
type Counted struct {
	Name  string `json:"name"`
	Times int    `json:"times"`
}

// A Move is one change of a phase or of a breaker.
type Move struct {
	At   time.Time `json:"at"`
	On   string    `json:"on"`
	From string    `json:"from"`
	To   string    `json:"to"`
	By   string    `json:"trigger"`
}

// A Maker makes one digest.
type Maker struct {
	d                             Digest
	agents                        map[string]*Agent
	rules, limits, odd, other     map[string]int
	tools, places                 map[string]bool // used within the stretch
	knownTools, knownPlaces, over map[string]bool // used before; requests that are over
	asked                         map[string]bool
	gates                         [2]Gate
	review, judged                []Review
}

// New begins a digest of what was recorded from one time on, and before another.
func New(from, to time.Time) *Maker {
	return &Maker{d: Digest{From: from.UTC(), To: to.UTC()}, agents: map[string]*Agent{}, rules: map[string]int{}, limits: map[string]int{},
		odd: map[string]int{}, other: map[string]int{}, tools: map[string]bool{}, places: map[string]bool{}, knownTools: map[string]bool{},
		knownPlaces: map[string]bool{}, over: map[string]bool{}, asked: map[string]bool{}}
}

// Add takes an entry in, and says when it was recorded. One that can't be read says nothing: the log's own checks are for that.
func (m *Maker) Add(e interlock.Entry) time.Time {
	if auditlog.IsDecision(e.Type) && !auditlog.OfText(&e) {
		d, err := auditlog.ReadDecision(e)
		if err == nil && !d.Canary {
			m.decision(e.ID, &d)
		}
		return d.Event.Recorded
	}
	var is struct {
		Request any    `json:"request"`
		Status  string `json:"status"`
		Outcome string `json:"outcome"`
		Hold    string `json:"hold"`
		From    any    `json:"from"`
		To      any    `json:"to"`
		Trigger string `json:"trigger"`
		Code    string `json:"code"`
	}
	event, err := auditlog.Read(e, &is)
	if err != nil || event.Recorded.Before(m.d.From) || !event.Recorded.Before(m.d.To) {
		return event.Recorded
	}
	switch e.Type {
	case interlock.EventOutcome:
		if is.Outcome == string(interlock.OutcomeFailure) {
			m.d.Failed++
		}
	case interlock.EventApproval, interlock.EventSettled:
		m.over[requestID(is.Request)] = true
		m.d.Answered++
	case interlock.EventApprovalExpired:
		if id := requestID(is.Request); is.Status == string(interlock.RequestPending) {
			m.over[id] = true
			m.d.Expired++
		}
	case interlock.EventPhase, interlock.EventBreaker, interlock.EventBreakerReset:
		m.d.Moved = append(m.d.Moved, Move{event.Recorded.UTC(), is.Hold, fmt.Sprint(is.From), fmt.Sprint(is.To), is.Trigger})
	case interlock.EventKill:
		m.d.Stopped++
	case interlock.EventAlert:
		m.alert(is.Code, event.Actor)
	case interlock.EventJudgedLate:
		m.late(e)
	case interlock.EventIntegrity, interlock.EventIncident, interlock.EventBlocked:
		m.other[string(e.Type)]++
	}
	return event.Recorded
}

// requestID is a request's id, as an event names it: alone, or as a member of what it holds of the request.
func requestID(request any) string {
	if whole, is := request.(map[string]any); is {
		request = whole["id"]
	}
	id, _ := request.(string)
	return id
}

// decision counts one decision, or learns from one of before.
func (m *Maker) decision(id string, d *auditlog.Decided) {
	at := d.Event.Recorded
	tools, places := d.Used()
	if at.Before(m.d.From) {
		mark(m.knownTools, tools)
		mark(m.knownPlaces, places)
		m.gate(d, false)
		return
	}
	if !at.Before(m.d.To) {
		return
	}
	m.gate(d, true)
	m.keep(id, d)
	mark(m.tools, tools)
	mark(m.places, places)
	name := d.Proposal.Requester.Agent
	agent := m.agents[name]
	if agent == nil {
		agent = &Agent{Name: name}
		m.agents[name] = agent
	}
	switch d.Decision.Verdict {
	case interlock.Allow:
		m.d.Allowed++
		agent.Allowed++
		return
	case interlock.Ask:
		m.d.Asked++
		agent.Asked++
		if d.Request != "" {
			m.asked[d.Request] = true
		}
	default:
		m.d.Denied++
		agent.Denied++
	}
	if f := d.Decision.Decisive(); f != nil {
		m.rules[f.Rule]++
	}
}

func mark(set map[string]bool, names []string) {
	for _, name := range names {
		set[name] = true
	}
}

// CodeOfDigest is that of the alert by which a digest is told.
const CodeOfDigest = "digest"

func (m *Maker) alert(code, agent string) {
	switch {
	case code == CodeOfDigest || code == "phase": // what moved is listed by itself
	case strings.HasPrefix(code, "limit-") || strings.HasPrefix(code, "budget-"):
		m.limits[code+" "+agent]++
	case strings.HasPrefix(code, "anomaly-") || strings.HasPrefix(code, "signal-"):
		m.odd[code+" "+agent]++
	default:
		m.other[code]++
	}
}

// Sum is the digest of what was taken in.
func (m *Maker) Sum() Digest {
	d := m.d
	d.Agents = make([]Agent, 0, len(m.agents))
	for _, name := range slices.Sorted(maps.Keys(m.agents)) {
		d.Agents = append(d.Agents, *m.agents[name])
	}
	slices.SortStableFunc(d.Agents, func(a, b Agent) int {
		return cmp.Compare(b.Allowed+b.Asked+b.Denied, a.Allowed+a.Asked+a.Denied)
	})
	d.Agents = d.Agents[:min(len(d.Agents), most)]
	d.Rules, d.Limits, d.Anomalies, d.Alerts = counted(m.rules), counted(m.limits), counted(m.odd), counted(m.other)
	d.Gates, d.Review = m.sumGates(), m.drawn()
	d.Tools, d.Places = fresh(m.tools, m.knownTools), fresh(m.places, m.knownPlaces)
	slices.SortStableFunc(d.Moved, func(a, b Move) int { return cmp.Or(a.At.Compare(b.At), strings.Compare(a.On, b.On)) })
	d.Moved = d.Moved[max(len(d.Moved)-most, 0):]
	for _, id := range slices.Sorted(maps.Keys(m.asked)) {
		if !m.over[id] {
			d.Waiting++
		}
	}
	return d
}

func counted(of map[string]int) []Counted {
	list := make([]Counted, 0, len(of))
	for _, name := range slices.Sorted(maps.Keys(of)) {
		list = append(list, Counted{name, of[name]})
	}
	slices.SortStableFunc(list, func(a, b Counted) int { return cmp.Compare(b.Times, a.Times) })
	return list[:min(len(list), most)]
}

func fresh(used, known map[string]bool) []string {
	list := []string{}
	for _, name := range slices.Sorted(maps.Keys(used)) {
		if !known[name] {
			list = append(list, name)
		}
	}
	return list[:min(len(list), most)]
}

// Text is the digest for a reader, a line for each thing that there is to say.
func (d Digest) Text() string {
	var b strings.Builder
	line := func(name, text string) {
		if text != "" {
			fmt.Fprintf(&b, "%-10s %s\n", name, text)
		}
	}
	const layout = "2006-01-02 15:04"
	line("time", d.From.Format(layout)+" to "+d.To.Format(layout)+" UTC")
	line("decided", fmt.Sprintf("%d allowed, %d asked, %d denied; %d ended badly", d.Allowed, d.Asked, d.Denied, d.Failed))
	agents := make([]string, len(d.Agents))
	for n, a := range d.Agents {
		agents[n] = fmt.Sprintf("%s %d/%d/%d", a.Name, a.Allowed, a.Asked, a.Denied)
	}
	line("agents", strings.Join(agents, ", "))
	for _, g := range d.Gates {
		text := fmt.Sprintf("%d denied %d of %d; before %d of %d", g.Gate, g.Denied, g.Of, g.DeniedBefore, g.OfBefore)
		if g.Late+g.Unheard > 0 {
			text += fmt.Sprintf("; afterwards it denied %d more, and was not heard in time of %d", g.Late, g.Unheard)
		}
		line("gate", text)
	}
	line("drop", d.Drop())
	line("questions", fmt.Sprintf("%d answered, %d expired, %d wait", d.Answered, d.Expired, d.Waiting))
	line("rules", list(d.Rules))
	line("new tools", strings.Join(d.Tools, ", "))
	line("new hosts", strings.Join(d.Places, ", "))
	line("limits", list(d.Limits))
	line("anomalies", list(d.Anomalies))
	for _, one := range d.Moved {
		line("moved", fmt.Sprintf("%s %s: %s to %s (%s)", one.At.Format("15:04"), one.On, one.From, one.To, one.By))
	}
	line("alerts", list(d.Alerts))
	for _, one := range d.Review {
		line("review", fmt.Sprintf("%s (%s %s, permitted by %s): interlock audit show %s", one.Event, one.Agent, one.Kind, one.By, one.Event))
	}
	if d.Stopped > 0 {
		line("stopped", fmt.Sprintf("everything, %d times", d.Stopped))
	}
	return b.String()
}

func list(of []Counted) string {
	names := make([]string, len(of))
	for n, one := range of {
		names[n] = fmt.Sprintf("%s (%d)", one.Name, one.Times)
	}
	return strings.Join(names, ", ")
}

// Brief is the digest in one line, for a channel to people.
func (d Digest) Brief() string {
	text := fmt.Sprintf("%d allowed, %d asked, %d denied; %d questions expired, %d wait; %d anomalies, %d changes of phases and "+
		"breakers, %d new tools and hosts",
		d.Allowed, d.Asked, d.Denied, d.Expired, d.Waiting, times(d.Anomalies), len(d.Moved), len(d.Tools)+len(d.Places))
	if near := times(d.Limits); near > 0 {
		text += fmt.Sprintf(", %d alerts of limits", near)
	}
	return text + "; `interlock digest` says more"
}

func times(of []Counted) (n int) {
	for _, one := range of {
		n += one.Times
	}
	return n
}
