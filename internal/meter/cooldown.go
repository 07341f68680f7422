package meter

import (
	"time"

	"interlock"
)

// The bounds on repeating what has failed. An agent that gets an error tends to send the same again; what failed a moment ago
// fails again, and where nobody knows how it ended it may be done twice.
const (
	CooldownWrites = 60 * time.Second // after a failure of what changes something
	CooldownReads  = 10 * time.Second // after one of what only reads
	RetryBudget    = 3                // repetitions within a run; then none for as long as the window
	RetryWindow    = interlock.RetryWindow
)

// Again returns how long an action that has failed is not to be tried again, and whether that is because it has been tried too
// often. Zero lets it through. What the run has changed in the meantime makes the next attempt another one, except where
// nobody knows how the last one ended.
func Again(f interlock.Failures, writes bool, now time.Time) (wait time.Duration, spent bool) {
	if f.Last.IsZero() || f.Changed && f.Outcome != interlock.OutcomeUnknown {
		return 0, false
	}
	since := max(now.Sub(f.Last), 0) // one in the future counts as now: a clock was set back
	if f.Count > RetryBudget && since < RetryWindow {
		return RetryWindow - since, true
	}
	cooldown := CooldownReads
	if writes {
		cooldown = CooldownWrites
	}
	return max(cooldown-since, 0), false
}
