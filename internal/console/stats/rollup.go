package stats

import (
	"bytes"
	"encoding/json"
	"slices"
	"sort"
	"time"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/internal/console/render"
	"interlock/internal/judgments"
	"interlock/internal/quorum"
)

// The bounds of a rollup, so that it costs the same memory however long the log is.
const (
	RollupHours = 31 * 24 // how far back it counts
	MaxNamed    = 256     // agents, and rules, that are counted by name; the rest is counted together
	MaxTaken    = 2000    // answers whose time is remembered, the newest
)

// A Rollup counts, hour by hour, what the log says of the last month: for the overview, and for nothing that is decided. It lives
// in this process alone, is derived from the log by position, and is made again from it when it is not there.
type Rollup struct {
	Hours  [RollupHours]Hourly
	Agents map[string]*Named
	Rules  map[string]*Named
	Taken  []quorum.Answered // how people answered, oldest first
	Drill  int64             // after the index of the newest drill of the stop of everything; 0: none
}

// An Hourly is what one hour held.
type Hourly struct {
	Hour     int64 // since 1970; what is counted below is of this hour
	Decided  Tallies
	Asked    int // questions that were put to people
	Yes, No  int // that people gave
	Expired  int // questions that nobody answered in time
	There    int // questions that were over where their harness had put them
	Alerts   int // things that somebody should have looked at
	judged   judgments.Counts
	From, To int64 // indexes of its entries: the first, and after the last
}

// A Named is what one agent or one rule had in each hour: of an agent its decisions and questions, of a rule how often it was
// the one that is named and how often that was a question.
type Named struct {
	All, Asked [RollupHours]uint32
}

// A Seen is what a rollup takes from one entry.
type Seen struct {
	Index int64
	At    time.Time
	Kind  interlock.EventType

	Answer interlock.Verdict // as lists show it
	Asked  bool              // it left a question
	Agent  string
	Rule   string // that was named; empty where nothing objected

	judged *judgments.Seen // nil: it tells nothing of judges, or nobody wants to know

	drill    bool              // of an alert: it says what a drill has found
	Verdict  interlock.Verdict // of a human's answer
	Final    bool              // which ended its request
	Operator string            // who gave it; empty for nobody in particular
	Put      time.Time         // when the question was put
}

func NewRollup() *Rollup { return &Rollup{Agents: map[string]*Named{}, Rules: map[string]*Named{}} }

// countedType reports whether a rollup takes anything from entries of a type.
func countedType(kind interlock.EventType) bool {
	switch kind {
	case interlock.EventApproval, interlock.EventApprovalExpired, interlock.EventSettled, interlock.EventAlert:
		return true
	default:
		return auditlog.IsDecision(kind)
	}
}

// see reads what a rollup takes from an entry; nothing from one that can't be read, which the audit pages name.
func see(e interlock.Entry) (Seen, bool) {
	if !countedType(e.Type) || auditlog.Released(&e) {
		return Seen{}, false
	}
	event, err := auditlog.ParseEvent(e.Body)
	if err != nil {
		return Seen{}, false
	}
	s := Seen{Index: e.Index, At: event.Recorded, Kind: e.Type}
	switch e.Type {
	case interlock.EventAlert, interlock.EventSettled:
		s.drill = e.Type == interlock.EventAlert && bytes.Contains(event.Payload, render.Quoted("", "kill-drill"))
		return s, true
	case interlock.EventApproval:
		return s, s.ReadAnswer(event.Payload)
	case interlock.EventApprovalExpired:
		var wire struct {
			Status interlock.RequestStatus `json:"status"`
		}
		ok := json.Unmarshal(event.Payload, &wire) == nil
		s.Final = wire.Status == interlock.RequestPending // one that was answered yes is counted where that was said
		return s, ok
	default:
		return s, s.readDecision(event.Payload)
	}
}

func (s *Seen) readDecision(payload []byte) bool {
	var answer, verdict interlock.Verdict
	var request, rule string
	known, canary := 0, false
	read := func(into *interlock.Verdict, value []byte) {
		if into.UnmarshalText([]byte(TextOf(value))) == nil {
			known++
		}
	}
	ok := Members(payload, func(name, value []byte) bool {
		switch string(name) {
		case "request":
			request = TextOf(value)
		case "canary": // doctor's: nobody wanted that
			canary = string(value) == "true"
		case "requester":
			return Members(value, func(name, value []byte) bool {
				if string(name) == "agent" {
					s.Agent = TextOf(value)
				}
				return s.Agent == ""
			})
		case "decision":
			return Members(value, func(name, value []byte) bool {
				switch string(name) {
				case "answer":
					read(&answer, value)
				case "verdict":
					read(&verdict, value)
				case "findings":
					rule = decisive(FirstOf(value))
				}
				return true
			})
		}
		return true
	})
	s.Answer, s.Rule = ShownAnswer(answer, verdict, request), rule
	s.Asked = s.Answer == interlock.Ask
	return ok && known == 2 && !canary
}

// decisive is the rule of a decision's first finding, unless that was suppressed.
func decisive(finding []byte) string {
	var rule, verdict string
	Members(finding, func(name, value []byte) bool {
		switch string(name) {
		case "rule":
			rule = TextOf(value)
		case "verdict":
			verdict = TextOf(value)
		}
		return true
	})
	if verdict == interlock.Allow.String() {
		return ""
	}
	return rule
}

func (s *Seen) ReadAnswer(payload []byte) bool {
	var wire struct {
		Request struct {
			Created     time.Time              `json:"created"`
			Obligations []interlock.Obligation `json:"obligations"`
			First       json.RawMessage        `json:"first_approval"`
		} `json:"request"`
		Approval struct {
			Verdict  interlock.Verdict `json:"verdict"`
			Operator string            `json:"operator"`
			Method   string            `json:"method"`
			At       time.Time         `json:"at"`
		} `json:"approval"`
	}
	if json.Unmarshal(payload, &wire) != nil {
		return false
	}
	s.Verdict = wire.Approval.Verdict
	request := interlock.ApprovalRequest{Obligations: wire.Request.Obligations}
	s.Final = s.Verdict != interlock.Allow || !request.NeedsTwo() || len(wire.Request.First) > 0
	if method := wire.Approval.Method; method != interlock.MethodCode && method != interlock.MethodRequester {
		s.Operator, s.Put = wire.Approval.Operator, wire.Request.Created
	}
	return true
}

// ShownAnswer is what lists call an answer: a question is one also where its agent was told no for now, because nobody could be
// asked on the spot.
func ShownAnswer(answer, verdict interlock.Verdict, request string) interlock.Verdict {
	if request != "" && verdict == interlock.Ask && answer == interlock.Deny {
		return interlock.Ask
	}
	return answer
}

// HourOf counts hours since 1970.
func HourOf(t time.Time) int64 { return t.Unix() / 3600 }

// slot is where an hour is counted, emptied if it held an hour that is long over; nil where the hour is too old.
func (r *Rollup) slot(hour int64) *Hourly {
	at := hour % RollupHours
	slot := &r.Hours[at]
	if slot.Hour > hour || hour < 0 {
		return nil
	}
	if slot.Hour < hour {
		*slot = Hourly{Hour: hour, From: -1}
		for _, by := range []map[string]*Named{r.Agents, r.Rules} {
			for _, one := range by { // any order: each is emptied alike
				one.All[at], one.Asked[at] = 0, 0
			}
		}
	}
	return slot
}

// of is where a name is counted: under its own while there is room, else with all others.
func of(by map[string]*Named, name string) *Named {
	one := by[name]
	if one == nil {
		if len(by) >= MaxNamed {
			name = ""
			one = by[name]
		}
		if one == nil {
			one = &Named{}
			by[name] = one
		}
	}
	return one
}

// In is what was counted under a name in an hour. A slot that nothing has come to since may still hold an hour of a month ago.
func (r *Rollup) In(one *Named, hour int64) (all, asked int) {
	at := hour % RollupHours
	if r.Hours[at].Hour != hour {
		return 0, 0
	}
	return int(one.All[at]), int(one.Asked[at])
}

// Add counts what was seen of one entry. Each entry is added once, in any order.
func (r *Rollup) Add(s Seen) {
	hour := HourOf(s.At)
	slot := r.slot(hour)
	if slot == nil {
		return
	}
	if slot.From < 0 || s.Index < slot.From {
		slot.From = s.Index
	}
	slot.To = max(slot.To, s.Index+1)
	if s.judged != nil {
		slot.judged.Add(*s.judged)
	}
	switch s.Kind {
	case interlock.EventAlert:
		slot.Alerts++
		if s.drill {
			r.Drill = max(r.Drill, s.Index+1)
		}
	case interlock.EventApprovalExpired:
		if s.Final {
			slot.Expired++
		}
	case interlock.EventSettled:
		slot.There++
	case interlock.EventApproval:
		r.answered(slot, s)
	case "": // of judges alone
	default:
		slot.Decided.Add(s.Answer)
		at := hour % RollupHours
		agent := of(r.Agents, s.Agent)
		agent.All[at]++
		if s.Asked {
			slot.Asked++
			agent.Asked[at]++
		}
		if s.Rule != "" {
			rule := of(r.Rules, s.Rule)
			rule.All[at]++
			if s.Asked {
				rule.Asked[at]++
			}
		}
	}
}

func (r *Rollup) answered(slot *Hourly, s Seen) {
	if !s.Final {
		return
	}
	if s.Verdict == interlock.Allow {
		slot.Yes++
	} else {
		slot.No++
	}
	if s.Operator == "" {
		return
	}
	at := sort.Search(len(r.Taken), func(i int) bool { return r.Taken[i].At.After(s.At) })
	if len(r.Taken) >= MaxTaken {
		if at == 0 {
			return // older than all that are remembered
		}
		r.Taken = slices.Delete(r.Taken, 0, 1)
		at--
	}
	r.Taken = slices.Insert(r.Taken, at, quorum.Answered{Operator: s.Operator, Verdict: s.Verdict, Asked: s.Put, At: s.At})
}

// Judged is what came of asking judges in the last hours.
func (r *Rollup) Judged(now time.Time, hours int64) (sum judgments.Counts) {
	last := HourOf(now)
	for n := range r.Hours {
		if slot := &r.Hours[n]; slot.Hour > last-hours && slot.Hour <= last {
			sum.Merge(&slot.judged)
		}
	}
	return sum
}

// Tallies count answers.
type Tallies struct{ Allow, Ask, Deny, Halt int }

func (t *Tallies) Add(v interlock.Verdict) {
	switch v {
	case interlock.Allow:
		t.Allow++
	case interlock.Ask:
		t.Ask++
	case interlock.Halt:
		t.Halt++
	default:
		t.Deny++
	}
}

// Any reports whether anything was counted.
func (t Tallies) Any() bool { return t.Sum() > 0 }

func (t Tallies) Sum() int { return t.Allow + t.Ask + t.Deny + t.Halt }

// Take adds an hour, if it is the one that is meant.
func (h *Hourly) Take(other Hourly, hour int64) {
	if other.Hour != hour {
		return
	}
	h.Decided.Allow += other.Decided.Allow
	h.Decided.Ask += other.Decided.Ask
	h.Decided.Deny += other.Decided.Deny
	h.Decided.Halt += other.Decided.Halt
	h.Asked += other.Asked
	h.Yes += other.Yes
	h.No += other.No
	h.Expired += other.Expired
	h.There += other.There
	h.Alerts += other.Alerts
	if other.From >= 0 && (h.From < 0 || other.From < h.From) {
		h.From = other.From
	}
	h.To = max(h.To, other.To)
}
