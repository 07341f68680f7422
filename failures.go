package interlock

import "time"

// Failures are what is known of how the very same action of the same agent, carried out by a gateway, has failed lately. The
// zero value is nothing.
type Failures struct {
	Last    time.Time     `json:"last"`    // when it was decided that time
	Outcome OutcomeStatus `json:"outcome"` // failure or unknown
	// in this run, without a success and without any change by the run in between
	Count int `json:"count"`
	// the run has changed something since, so that trying again is no mere repetition
	Changed bool `json:"changed,omitempty"`
}

// RetryWindow is how long a failure is remembered, and how long nothing is tried again that has used up its repetitions.
const RetryWindow = 10 * time.Minute

// With returns the failures with one more, of an attempt that was decided at a time.
func (f Failures) With(outcome OutcomeStatus, at time.Time) Failures {
	if f.Changed || at.Sub(f.Last) >= RetryWindow {
		f.Count = 0
	}
	return Failures{Last: at, Outcome: outcome, Count: f.Count + 1}
}
