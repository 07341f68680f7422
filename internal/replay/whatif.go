package replay

import (
	"errors"
	"sort"
	"time"

	"interlock"
	"interlock/internal/impact"
	"interlock/internal/ledger"
	"interlock/internal/ruleset"
)

// maxExamples is how many decisions are named for each change of an agent and a rule.
const maxExamples = 3

// A WhatIf collects what other rules would have decided about what has happened. Nothing of it is a decision: it answers nobody
// and is recorded nowhere.
type WhatIf struct {
	Ruleset  interlock.Digest
	Analyser *impact.Analyser // optional: analyses actions again, under the view that was recorded
	Before   *ruleset.Ruleset // optional: what is compared with is decided under these rules, instead of taken from the record

	rules   *ruleset.Ruleset
	total   int
	skipped map[Code]int
	sealed  int
	from    time.Time
	to      time.Time
	asked   [2]int // questions under the rules of then, and under these
	changes map[changeKey]*Change
	under   map[interlock.Digest]int
}

type changeKey struct {
	agent, rule string
	was, now    interlock.Verdict
}

// A Change is one way in which verdicts differ: of one agent, by the rule that is decisive under the stricter of both.
type Change struct {
	Agent    string            `json:"agent"`
	Rule     string            `json:"rule"`
	Was      interlock.Verdict `json:"was"`
	Now      interlock.Verdict `json:"now"`
	Count    int               `json:"count"`
	Examples []Example         `json:"examples"`
}

// Stricter reports whether these rules would have objected more.
func (c *Change) Stricter() bool { return c.Now.Compare(c.Was) > 0 }

// An Example is one decision that differs.
type Example struct {
	Event  string    `json:"event"`
	Index  int64     `json:"index"`
	At     time.Time `json:"at"`
	Reason string    `json:"reason,omitempty"` // under the stricter of both, redacted
}

// A Question is what somebody wants to know of the past.
type Question struct {
	Rule      string    // what this one of the rules did, compared with the others alone; empty: what all of them would have
	Candidate bool      // of the rules that decide in the shadow instead of those in force
	Agent     string    // only what this agent did
	Since     time.Time // only what was decided from then on
}

// A Report is what other rules would have done.
type Report struct {
	Ruleset   interlock.Digest `json:"ruleset"`
	Decisions int              `json:"decisions"`
	Skipped   map[Code]int     `json:"skipped,omitempty"`  // decisions that can't be made again, by why
	Sealed    int              `json:"sealed,omitempty"`   // those that hold secrets and that nobody had opened
	Archived  int              `json:"archived,omitempty"` // and those in an archive that was not named
	From      time.Time        `json:"from,omitzero"`
	To        time.Time        `json:"to,omitzero"`
	Questions [2]float64       `json:"questions_a_day"` // under the rules of then, and under these
	Changes   []Change         `json:"changes"`         // newly denied first, then newly asked, then newly allowed
	Newly     map[string]int   `json:"newly"`           // how many by the new verdict

	Under map[interlock.Digest]int `json:"under,omitempty"` // how many were decided under which rules
}

// NewWhatIf tries rules.
func NewWhatIf(rules *ruleset.Ruleset) *WhatIf {
	return &WhatIf{Ruleset: rules.Digest(), rules: rules, skipped: map[Code]int{}, changes: map[changeKey]*Change{},
		under: map[interlock.Digest]int{}}
}

// Skip counts a decision that can't be tried.
func (w *WhatIf) Skip(why error) {
	if errors.Is(why, ErrSealed) {
		w.sealed++
		return
	}
	code := IntegrityFailure
	if f, ok := why.(*Failure); ok { //nolint:errorlint // failures are never wrapped
		code = f.Code
	}
	w.skipped[code]++
}

// Try decides one recorded action under the rules. redact takes secrets out of reasons, as when a decision is
// recorded. was is the decision that was made.
func (w *WhatIf) Try(r *Record, was interlock.Decision, redact func(string) (string, []string)) {
	now := r.decide(w.rules, w.Analyser)
	if w.Before != nil {
		was = r.decide(w.Before, w.Analyser)
	}
	w.total++
	w.under[interlock.Digest(r.Event.Snapshots["ruleset"])]++
	if w.from.IsZero() || r.At().Before(w.from) {
		w.from = r.At()
	}
	if r.At().After(w.to) {
		w.to = r.At()
	}
	if was.Verdict == interlock.Ask {
		w.asked[0]++
	}
	if now.Verdict == interlock.Ask {
		w.asked[1]++
	}
	if was.Verdict == now.Verdict {
		return
	}
	stricter := was
	if now.Verdict.Compare(was.Verdict) > 0 {
		stricter = now
	}
	key := changeKey{agent: r.Requester.Agent, rule: named(stricter), was: was.Verdict, now: now.Verdict}
	c := w.changes[key]
	if c == nil {
		c = &Change{Agent: key.agent, Rule: key.rule, Was: key.was, Now: key.now}
		w.changes[key] = c
	}
	c.Count++
	if len(c.Examples) < maxExamples {
		e := Example{Event: r.Event.ID, Index: r.Index, At: r.At()}
		if f := stricter.Decisive(); f != nil {
			e.Reason, _ = redact(f.Reason)
		}
		c.Examples = append(c.Examples, e)
	}
}

// Report says what came out so far.
func (w *WhatIf) Report() Report {
	out := Report{Ruleset: w.Ruleset, Decisions: w.total, From: w.from, To: w.to, Changes: []Change{}, Newly: map[string]int{},
		Under: w.under, Sealed: w.sealed}
	if len(w.skipped) > 0 {
		out.Skipped = w.skipped
	}
	days := max(w.to.Sub(w.from).Hours()/24, 1)
	for n := range w.asked {
		out.Questions[n] = float64(w.asked[n]) / days
	}
	for _, c := range w.changes { // any order: sorted below
		out.Changes = append(out.Changes, *c)
		out.Newly[c.Now.String()] += c.Count
	}
	sort.Slice(out.Changes, func(i, j int) bool {
		a, b := &out.Changes[i], &out.Changes[j]
		switch {
		case a.Now != b.Now:
			return a.Now.Compare(b.Now) > 0
		case a.Count != b.Count:
			return a.Count > b.Count
		case a.Agent != b.Agent:
			return a.Agent < b.Agent
		case a.Rule != b.Rule:
			return a.Rule < b.Rule
		default:
			return a.Was.Compare(b.Was) < 0
		}
	})
	return out
}

// A ShadowReport is what a ruleset that decided beside the one in force decided otherwise.
type ShadowReport struct {
	Report
	Dropped int `json:"dropped,omitempty"` // decisions there was no room for
	Failed  int `json:"failed,omitempty"`  // decisions it could not make
	Others  int `json:"others,omitempty"`  // that differ in ways there was no room for
}

// A ShadowState is which ruleset decides beside the one in force, and what it decided otherwise.
type ShadowState struct {
	InForce interlock.Digest `json:"in_force"`
	Began   time.Time        `json:"began,omitzero"`
	Until   time.Time        `json:"until,omitzero"`
	Over    bool             `json:"over,omitempty"`   // it has run out and decides no more
	Shadow  *ShadowReport    `json:"shadow,omitempty"` // nil where none decides
}

// Shadowed says what a shadow has counted in the words of what-if.
func Shadowed(s ledger.ShadowBody) ShadowReport {
	w := WhatIf{Ruleset: s.Ruleset, total: s.Decisions, asked: s.Questions, from: s.From, to: s.To, changes: map[changeKey]*Change{}}
	for i := range s.Parted {
		p := &s.Parted[i]
		c := &Change{Agent: p.Agent, Rule: p.Rule, Was: p.Was, Now: p.Now, Count: p.Count, Examples: []Example{}}
		for _, e := range p.Examples {
			c.Examples = append(c.Examples, Example(e))
		}
		w.changes[changeKey{p.Agent, p.Rule, p.Was, p.Now}] = c
	}
	return ShadowReport{Report: w.Report(), Dropped: s.Dropped, Failed: s.Failed, Others: s.Others}
}
