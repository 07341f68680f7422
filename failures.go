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
