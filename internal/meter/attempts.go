package meter

import "time"

// The bounds on failed answers to challenges (MCP-AQL 8.8.5). Ten guesses at 160 random bits per window find nothing; what
// the limit keeps out is noise, and an agent that makes its operators issue code after code.
const (
	FailedAttempts = 10               // within a window; then no answer is looked at for as long as the window
	AttemptsWindow = 60 * time.Second // the first one; it doubles each time the limit is reached
	MaxWindow      = 24 * time.Hour   // it doubles no further, and after so long without a failure it is the first one again
)

// Attempts are failed answers to challenges, as far as they count.
type Attempts struct {
	Failed []time.Time   `json:"failed"`         // within the window, oldest first
	Window time.Duration `json:"window_ns"`      // how long one counts; doubles whenever the limit is reached again
	Until  time.Time     `json:"until,omitzero"` // no answer is looked at before
}

// Wait returns how long no answer of this agent is looked at yet; zero lets the next one through.
func (a Attempts) Wait(now time.Time) time.Duration {
	return min(Until(a.Until, now), MaxWindow) // a clock that was set back must not lock anybody out for ever
}

// Fail returns the attempts with one more failure at now, and how many that makes within the window. It changes nothing it
// is given.
func (a Attempts) Fail(now time.Time) (Attempts, int) {
	if a.Window < AttemptsWindow || a.Window > MaxWindow || a.quiet(now) {
		a.Window, a.Until = AttemptsWindow, time.Time{}
	}
	a.Failed = append(Lately(a.Failed, a.Window, now), now)
	n := len(a.Failed)
	if n >= FailedAttempts {
		a.Until, a.Failed = now.Add(a.Window), nil
		a.Window = Span{AttemptsWindow, MaxWindow}.After(a.Window)
	}
	return a, n
}

// quiet reports whether nothing has failed for so long that the agent starts over.
func (a Attempts) quiet(now time.Time) bool {
	last := a.Until
	for _, at := range a.Failed {
		if at.After(last) {
			last = at
		}
	}
	return now.Sub(last) >= MaxWindow
}
