package judge

import (
	"sync"
	"time"

	"interlock/internal/meter"
)

// When the breaker opens, for how long, and what closes it: the numbers by which MASO's breakers of agents trip. Unlike those it mends
// by itself, because while it is open everything that needs the judge is denied.
const (
	tripFailures  = 3
	tripWindow    = 10 * time.Minute
	firstOpen     = time.Minute
	longestOpen   = 15 * time.Minute
	mendingPassed = 3
)

// The states of a judge's breaker.
const (
	BreakerClosed   = "closed"
	BreakerOpen     = "open"
	BreakerHalfOpen = "half-open"
)

// A breaker spares a judge that fails, and those who wait for it, further questions.
type breaker struct {
	mutex    sync.Mutex
	failures []time.Time
	until    time.Time // zero: it is closed
	span     time.Duration
	probing  bool // half-open, one question is under way
	passed   int
}

// How a question went, for the breaker.
type went int

const (
	wentNeither went = iota // the caller gave up
	wentWell
	wentWrong
)

// enter reports whether a question may be asked now, and whether it is the one of a half-open breaker.
func (b *breaker) enter(now time.Time) (probe, may bool) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	switch {
	case b.until.IsZero():
		return false, true
	case now.Before(b.until) || b.probing:
		return false, false
	}
	b.probing = true
	return true, true
}

// leave takes in how a question went that was let through.
func (b *breaker) leave(now time.Time, probe bool, how went) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if probe {
		b.probing = false
		switch how {
		case wentWrong:
			b.trip(now, b.span)
		case wentWell:
			if b.passed++; b.passed >= mendingPassed {
				b.until, b.failures, b.span = time.Time{}, nil, 0
			}
		}
		return
	}
	if how != wentWrong || !b.until.IsZero() { // a question from before it opened changes nothing more
		return
	}
	if b.failures = append(meter.Lately(b.failures, tripWindow, now), now); len(b.failures) >= tripFailures {
		b.trip(now, 0)
	}
}

// trip opens the breaker, for longer than it was open before.
func (b *breaker) trip(now time.Time, before time.Duration) {
	span := meter.Span{First: firstOpen, Longest: longestOpen}.After(before)
	b.until, b.span, b.passed, b.failures = now.Add(span), span, 0, nil
}

// state is what the breaker is now, and until when it is open.
func (b *breaker) state(now time.Time) (string, time.Time) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	switch {
	case b.until.IsZero():
		return BreakerClosed, time.Time{}
	case now.Before(b.until):
		return BreakerOpen, b.until
	}
	return BreakerHalfOpen, time.Time{}
}
