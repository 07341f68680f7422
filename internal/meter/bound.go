package meter

import "time"

// A Bound is how much there is room for: so much in all or, with a window, within one that ends now.
type Bound struct {
	Most   int64
	Window time.Duration
}

// A Reading is what a bound says of a count at one time.
type Reading struct {
	Used int64     // within the window
	Left int64     // room
	Back time.Time // when there is room for as much as was asked about; the zero time is never
}

// Read says how much of a bound is used at a time, and when there is room for so much more.
func (b Bound) Read(c Count, take int64, now time.Time) Reading {
	used := c.Used(b.Window, now)
	return Reading{Used: used, Left: max(b.Most-used, 0), Back: b.back(c, take, now)}
}

// Wait is how long it takes until there is room; nothing where that is not for time to bring.
func (r Reading) Wait(now time.Time) time.Duration { return Until(r.Back, now) }

// Until is how long it is until a time; nothing where there is none, or where it is over.
func Until(at, now time.Time) time.Duration {
	if at.IsZero() {
		return 0
	}
	return max(at.Sub(now), 0)
}

// Seconds is a wait in whole seconds, rounded up: who waits for so long does not come too early.
func Seconds(wait time.Duration) time.Duration { return (wait + time.Second - 1).Truncate(time.Second) }

// Lately returns those of some times, the oldest first, that lie within a window which ends now, in a slice of its own. One in
// the future counts: a clock that was set back frees nothing.
func Lately(times []time.Time, window time.Duration, now time.Time) (lately []time.Time) {
	for _, at := range times {
		if now.Sub(at) < window {
			lately = append(lately, at)
		}
	}
	return lately
}

// A Span is how long something stays closed: twice as long each time, up to the longest.
type Span struct{ First, Longest time.Duration }

// After is how long it is after it was so long; after none it is the first.
func (s Span) After(before time.Duration) time.Duration {
	if before <= 0 {
		return s.First
	}
	return min(2*before, s.Longest)
}

// An Allowance lets something be done so often in a stretch of time, which begins when it is done first, and counts what it
// refused. It counts for one process and is not safe for concurrent use.
type Allowance struct {
	Most int
	Per  time.Duration

	since         time.Time
	taken, missed int
}

// Take reports whether it may be done once more, and how often it was refused in the stretch before, where a new one begins.
func (a *Allowance) Take(now time.Time) (may bool, missed int) {
	if now.Sub(a.since) >= a.Per {
		missed = a.Missed()
		a.since, a.taken = now, 0
	}
	if a.taken >= a.Most {
		a.missed++
		return false, missed
	}
	a.taken++
	return true, missed
}

// Last reports whether nothing more may be done in this stretch.
func (a *Allowance) Last() bool { return a.taken >= a.Most }

// Missed is how often it was refused since that was asked last.
func (a *Allowance) Missed() (n int) {
	n, a.missed = a.missed, 0
	return n
}
