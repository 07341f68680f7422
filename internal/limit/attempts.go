package limit

import (
	"time"

	"interlock/internal/ledger"
)

// The bounds on failed answers to challenges (MCP-AQL 8.8.5). Ten guesses at 160 random bits per window find nothing; what
// the limit keeps out is noise, and an agent that makes its operators issue code after code.
const (
	FailedAttempts = 10               // within a window; then no answer is looked at for as long as the window
	AttemptsWindow = 60 * time.Second // the first one; it doubles each time the limit is reached
	MaxWindow      = 24 * time.Hour   // it doubles no further, and after so long without a failure it is the first one again
)

// Wait returns how long no answer of this agent is looked at yet; zero lets the next one through.
func Wait(a ledger.AttemptsBody, now time.Time) time.Duration {
	if !a.Until.After(now) {
		return 0
	}
	return min(a.Until.Sub(now), MaxWindow) // a clock that was set back must not lock anybody out for ever
}

// Fail returns the attempts with one more failure at now, and how many that makes within the window. It changes nothing it
// is given.
func Fail(a ledger.AttemptsBody, now time.Time) (ledger.AttemptsBody, int) {
	if a.Window < AttemptsWindow || a.Window > MaxWindow || quiet(a, now) {
		a.Window, a.Until = AttemptsWindow, time.Time{}
	}
	var failed []time.Time
	for _, at := range a.Failed {
		if now.Sub(at) < a.Window { // one that lies in the future counts
			failed = append(failed, at)
		}
	}
	failed = append(failed, now)
	a.Failed = failed
	if len(failed) < FailedAttempts {
		return a, len(failed)
	}
	a.Until, a.Failed = now.Add(a.Window), nil
	a.Window = min(2*a.Window, MaxWindow)
	return a, len(failed)
}

// quiet reports whether nothing has failed for so long that the agent starts anew.
func quiet(a ledger.AttemptsBody, now time.Time) bool {
	last := a.Until
	for _, at := range a.Failed {
		if at.After(last) {
			last = at
		}
	}
	return now.Sub(last) >= MaxWindow
}
