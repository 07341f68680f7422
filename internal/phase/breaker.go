package phase

import (
	"time"

	"interlock"
	"interlock/internal/meter"
)

// When a breaker trips: so many refusals in a short time, or such a share of what was decided in a longer one.
const (
	TripBlocks    = 3
	TripWindow    = 10 * time.Minute
	TripPercent   = 5 // more than this share
	TripAtLeast   = 20
	ShareWindow   = 30 * time.Minute
	maxBlocks     = 32 // that are remembered; three trip
	firstOpen     = 10 * time.Minute
	longestOpen   = 24 * time.Hour
	MendingProbes = 3 // actions that have to go well before somebody may close a half-open breaker
)

// The states of a breaker. One that is closed leaves no hold.
const (
	Closed   = "closed"
	Open     = "open"
	HalfOpen = "half-open"
)

// A Breaker is one that is not closed.
type Breaker struct {
	State  string    `json:"state"`
	Since  time.Time `json:"since"`           // of this state
	Until  time.Time `json:"until,omitzero"`  // when it may be half-opened at the earliest
	Span   int64     `json:"span,omitempty"`  // seconds it was to stay open, which a refusal doubles; 0 where somebody tripped it
	Probe  string    `json:"probe,omitempty"` // names the one action that runs, see [ProbeName]
	Passed int       `json:"passed,omitempty"`
}

// Trip opens a breaker. before is what it was, if it was half-open: then it stays open for twice as long.
func Trip(before *Breaker, byHand bool, now time.Time) Breaker {
	b := Breaker{State: Open, Since: now}
	if byHand {
		return b
	}
	was := time.Duration(0)
	if before != nil {
		was = time.Duration(before.Span) * time.Second
	}
	span := meter.Span{First: firstOpen, Longest: longestOpen}.After(was)
	b.Span, b.Until = int64(span/time.Second), now.Add(span)
	return b
}

// Reset is the breaker as a person resets it, and whether they may by now: an open one is half-open, a half-open one that has let
// enough run which went well is closed, and any other starts again as half-open. Nothing but a person's order does any of it.
func (b Breaker) Reset(now time.Time) (Breaker, bool) {
	switch {
	case b.State == Open && now.Before(b.Until):
		return b, false
	case b.State == HalfOpen && b.Passed >= MendingProbes:
		return Breaker{State: Closed, Since: now}, true
	}
	return Breaker{State: HalfOpen, Since: now, Span: b.Span}, true
}

// ProbeName names the action that a half-open breaker lets run, by what was decided and from which snapshot: no two decisions that were
// committed one after the other have both in common.
func ProbeName(action, snapshot interlock.Digest) string {
	return string(action) + " " + string(snapshot)
}

// Ended is a half-open breaker after its one action has ended, and whether that changes anything. Of what nobody knows how it ended the
// place stays taken, and so it does of any other action.
func (b Breaker) Ended(probe string, status interlock.OutcomeStatus) (after Breaker, changed bool) {
	if b.State != HalfOpen || b.Probe == "" || b.Probe != probe || status == interlock.OutcomeUnknown {
		return b, false
	}
	b.Probe = ""
	if status == interlock.OutcomeSuccess {
		b.Passed++
	}
	return b, true
}

const (
	ruleOpen = "breaker.open"
	ruleBusy = "breaker.busy"
)

// Object is what a breaker objects to every action of its scope, if anything: half-open it lets one run. on is what it guards, such as
// agent:builder.
func (b Breaker) Object(on string) (f interlock.Finding, objects bool) {
	if b.State == HalfOpen && b.Probe == "" {
		return f, false
	}
	f = interlock.Finding{Gate: "breaker", Rule: ruleOpen, Layer: 1, Verdict: interlock.Deny,
		Suggestion: "tell an operator: `interlock breaker show` says why, `interlock breaker reset` half-opens it"}
	since := " is open since " + b.Since.UTC().Format(time.RFC3339) + ": nothing passes until a person half-opens it"
	if b.State == HalfOpen {
		f.Rule = ruleBusy
		since = " is half-open since " + b.Since.UTC().Format(time.RFC3339) + ": one action runs at a time, and one has not ended"
	}
	f.Reason = "the breaker of " + on + since
	return f, true
}

// Blocks returns those of some refusals that a breaker still looks at, with one more, the newest last. It changes no slice it is given.
func Blocks(before []time.Time, now time.Time) []time.Time {
	after := append(meter.Lately(before, ShareWindow, now), now)
	return after[max(len(after)-maxBlocks, 0):]
}

// Trips says why refusals trip a breaker, or nothing. blocks are those of one agent, the newest last; a type has none, because so
// many agents are refused something every few minutes. tally is what was decided lately, the newest refusal in it.
func Trips(blocks []time.Time, tally Tally, now time.Time) string {
	if len(meter.Lately(blocks, TripWindow, now)) >= TripBlocks {
		return "it was refused too often within a short time"
	}
	if all, refused := tally.Sum(now); all >= TripAtLeast && refused*100 > all*TripPercent {
		return "too large a share of its actions was refused"
	}
	return ""
}

// A Tally is how many actions were decided lately and how many of them refused, by the minute, the oldest first.
type Tally []Minute

// A Minute is what was decided in one minute.
type Minute struct {
	At      int64 `json:"at"` // since 1970
	All     int   `json:"all"`
	Refused int   `json:"refused,omitempty"`
}

// maxMinutes bounds a tally: the window, and the minute that has begun.
const maxMinutes = int(ShareWindow/time.Minute) + 1

// With is the tally with one more decision. It changes no slice it is given. One of before the newest minute counts in that: a clock
// that was set back frees nothing.
func (t Tally) With(now time.Time, refused bool) Tally {
	minute := now.Unix() / 60
	one := 0
	if refused {
		one = 1
	}
	var after Tally
	for _, m := range t {
		if minute-m.At < int64(maxMinutes) {
			after = append(after, m)
		}
	}
	if n := len(after); n > 0 && after[n-1].At >= minute {
		after[n-1].All++
		after[n-1].Refused += one
		return after
	}
	return append(after, Minute{At: minute, All: 1, Refused: one})
}

// Sum is how much was decided in the window, and refused of it.
func (t Tally) Sum(now time.Time) (all, refused int) {
	for _, m := range t {
		if now.Unix()/60-m.At < int64(maxMinutes) {
			all += m.All
			refused += m.Refused
		}
	}
	return all, refused
}
