package console

import (
	"bytes"
	"encoding/json"
	"slices"
	"sort"
	"time"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/internal/judgments"
	"interlock/internal/quorum"
)

// The bounds of a rollup, so that it costs the same memory however long the log is.
const (
	rollupHours = 31 * 24 // how far back it counts
	maxNamed    = 256     // agents, and rules, that are counted by name; the rest is counted together
	maxTaken    = 2000    // answers whose time is remembered, the newest
)

// A rollup counts, hour by hour, what the log says of the last month: for the overview, and for nothing that is decided. It lives in
// this process alone, is derived from the log by position, and is made again from it when it is not there.
type rollup struct {
	hours  [rollupHours]hourly
	agents map[string]*named
	rules  map[string]*named
	taken  []quorum.Answered // how people answered, oldest first
	drill  int64             // after the index of the newest drill of the stop of everything; 0: none
}

// An hourly is what one hour held.
type hourly struct {
	hour     int64 // since 1970; what is counted below is of this hour
	decided  tallies
	asked    int // questions that were put to people
	yes, no  int // that people gave
	expired  int // questions that nobody answered in time
	there    int // questions that were over where their harness had put them
	alerts   int // things that somebody should have looked at
	judged   judgments.Counts
	from, to int64 // indexes of its entries: the first, and after the last
}

// A named is what one agent or one rule had in each hour: of an agent its decisions and questions, of a rule how often it was
// the one that is named and how often that was a question.
type named struct {
	all, asked [rollupHours]uint32
}

// A seen is what a rollup takes from one entry.
type seen struct {
	index int64
	at    time.Time
	kind  interlock.EventType

	answer interlock.Verdict // as lists show it
	asked  bool              // it left a question
	agent  string
	rule   string // that was named; empty where nothing objected

	judged *judgments.Seen // nil: it tells nothing of judges, or nobody wants to know

	drill    bool              // of an alert: it says what a drill has found
	verdict  interlock.Verdict // of a human's answer
	final    bool              // which ended its request
	operator string            // who gave it; empty for nobody in particular
	put      time.Time         // when the question was put
}

func newRollup() *rollup { return &rollup{agents: map[string]*named{}, rules: map[string]*named{}} }

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
func see(e interlock.Entry) (seen, bool) {
	if !countedType(e.Type) || auditlog.Released(&e) {
		return seen{}, false
	}
	event, err := auditlog.ParseEvent(e.Body)
	if err != nil {
		return seen{}, false
	}
	s := seen{index: e.Index, at: event.Recorded, kind: e.Type}
	switch e.Type {
	case interlock.EventAlert, interlock.EventSettled:
		s.drill = e.Type == interlock.EventAlert && bytes.Contains(event.Payload, quoted("", "kill-drill"))
		return s, true
	case interlock.EventApproval:
		return s, s.readAnswer(event.Payload)
	case interlock.EventApprovalExpired:
		var wire struct {
			Status interlock.RequestStatus `json:"status"`
		}
		ok := json.Unmarshal(event.Payload, &wire) == nil
		s.final = wire.Status == interlock.RequestPending // one that was answered yes is counted where that was said
		return s, ok
	default:
		return s, s.readDecision(event.Payload)
	}
}

func (s *seen) readDecision(payload []byte) bool {
	var answer, verdict interlock.Verdict
	var request, rule string
	known, canary := 0, false
	read := func(into *interlock.Verdict, value []byte) {
		if into.UnmarshalText([]byte(textOf(value))) == nil {
			known++
		}
	}
	ok := members(payload, func(name, value []byte) bool {
		switch string(name) {
		case "request":
			request = textOf(value)
		case "canary": // doctor's: nobody wanted that
			canary = string(value) == "true"
		case "requester":
			return members(value, func(name, value []byte) bool {
				if string(name) == "agent" {
					s.agent = textOf(value)
				}
				return s.agent == ""
			})
		case "decision":
			return members(value, func(name, value []byte) bool {
				switch string(name) {
				case "answer":
					read(&answer, value)
				case "verdict":
					read(&verdict, value)
				case "findings":
					rule = decisive(firstOf(value))
				}
				return true
			})
		}
		return true
	})
	s.answer, s.rule = shownAnswer(answer, verdict, request), rule
	s.asked = s.answer == interlock.Ask
	return ok && known == 2 && !canary
}

// decisive is the rule of a decision's first finding, unless that was suppressed.
func decisive(finding []byte) string {
	var rule, verdict string
	members(finding, func(name, value []byte) bool {
		switch string(name) {
		case "rule":
			rule = textOf(value)
		case "verdict":
			verdict = textOf(value)
		}
		return true
	})
	if verdict == interlock.Allow.String() {
		return ""
	}
	return rule
}

func (s *seen) readAnswer(payload []byte) bool {
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
	s.verdict = wire.Approval.Verdict
	request := interlock.ApprovalRequest{Obligations: wire.Request.Obligations}
	s.final = s.verdict != interlock.Allow || !request.NeedsTwo() || len(wire.Request.First) > 0
	if method := wire.Approval.Method; method != interlock.MethodCode && method != interlock.MethodRequester {
		s.operator, s.put = wire.Approval.Operator, wire.Request.Created
	}
	return true
}

// shownAnswer is what lists call an answer: a question is one also where its agent was told no for now, because nobody could be asked
// on the spot.
func shownAnswer(answer, verdict interlock.Verdict, request string) interlock.Verdict {
	if request != "" && verdict == interlock.Ask && answer == interlock.Deny {
		return interlock.Ask
	}
	return answer
}

// hourOf counts hours since 1970.
func hourOf(t time.Time) int64 { return t.Unix() / 3600 }

// slot is where an hour is counted, emptied if it held an hour that is long over; nil where the hour is too old.
func (r *rollup) slot(hour int64) *hourly {
	at := hour % rollupHours
	slot := &r.hours[at]
	if slot.hour > hour || hour < 0 {
		return nil
	}
	if slot.hour < hour {
		*slot = hourly{hour: hour, from: -1}
		for _, by := range []map[string]*named{r.agents, r.rules} {
			for _, one := range by { // any order: each is emptied alike
				one.all[at], one.asked[at] = 0, 0
			}
		}
	}
	return slot
}

// of is where a name is counted: under its own while there is room, else with all others.
func of(by map[string]*named, name string) *named {
	one := by[name]
	if one == nil {
		if len(by) >= maxNamed {
			name = ""
			one = by[name]
		}
		if one == nil {
			one = &named{}
			by[name] = one
		}
	}
	return one
}

// in is what was counted under a name in an hour. A slot that nothing has come to since may still hold an hour of a month ago.
func (r *rollup) in(one *named, hour int64) (all, asked int) {
	at := hour % rollupHours
	if r.hours[at].hour != hour {
		return 0, 0
	}
	return int(one.all[at]), int(one.asked[at])
}

// add counts what was seen of one entry. Each entry is added once, in any order.
func (r *rollup) add(s seen) {
	hour := hourOf(s.at)
	slot := r.slot(hour)
	if slot == nil {
		return
	}
	if slot.from < 0 || s.index < slot.from {
		slot.from = s.index
	}
	slot.to = max(slot.to, s.index+1)
	if s.judged != nil {
		slot.judged.Add(*s.judged)
	}
	switch s.kind {
	case interlock.EventAlert:
		slot.alerts++
		if s.drill {
			r.drill = max(r.drill, s.index+1)
		}
	case interlock.EventApprovalExpired:
		if s.final {
			slot.expired++
		}
	case interlock.EventSettled:
		slot.there++
	case interlock.EventApproval:
		r.answered(slot, s)
	case "": // of judges alone
	default:
		slot.decided.add(s.answer)
		at := hour % rollupHours
		agent := of(r.agents, s.agent)
		agent.all[at]++
		if s.asked {
			slot.asked++
			agent.asked[at]++
		}
		if s.rule != "" {
			rule := of(r.rules, s.rule)
			rule.all[at]++
			if s.asked {
				rule.asked[at]++
			}
		}
	}
}

func (r *rollup) answered(slot *hourly, s seen) {
	if !s.final {
		return
	}
	if s.verdict == interlock.Allow {
		slot.yes++
	} else {
		slot.no++
	}
	if s.operator == "" {
		return
	}
	at := sort.Search(len(r.taken), func(i int) bool { return r.taken[i].At.After(s.at) })
	if len(r.taken) >= maxTaken {
		if at == 0 {
			return // older than all that are remembered
		}
		r.taken = slices.Delete(r.taken, 0, 1)
		at--
	}
	r.taken = slices.Insert(r.taken, at, quorum.Answered{Operator: s.operator, Verdict: s.verdict, Asked: s.put, At: s.at})
}
