package ledger

import (
	"slices"
	"time"

	"interlock"
)

// maxFailed bounds how many actions are remembered of one agent. Whichever failed longest ago goes first.
const maxFailed = 256

// A FailedBody is which actions of an agent, carried out by a gateway, failed lately, the latest last.
type FailedBody struct {
	Principal string    `json:"principal,omitempty"`
	Agent     string    `json:"agent"`
	Seen      time.Time `json:"seen"` // when something ended last that made a difference here
	Actions   []Failure `json:"actions,omitempty"`
}

// A Failure is one action that failed.
type Failure struct {
	Action interlock.Digest `json:"action"`
	Run    string           `json:"run,omitempty"` // that its failures were counted in
	interlock.Failures
}

// An Ending is how one action ended that a gateway carried out. Writing one is adding it to what its agent's body says.
type Ending struct {
	Principal string
	Agent     string
	Run       string
	Action    interlock.Digest
	At        time.Time
	Status    interlock.OutcomeStatus
	Changes   bool // the action does more than read
}

// FailedKey names what failed of an agent.
func FailedKey(principal, agent string) string { return principal + "\x00" + agent }

// With returns the body with one more ending, and whether it says anything new. One that it holds already changes nothing, so
// that what is under way to the store may be added to what is there.
func (f FailedBody) With(e Ending) (FailedBody, bool) {
	at := slices.IndexFunc(f.Actions, func(one Failure) bool { return one.Action == e.Action })
	one, before := Failure{Action: e.Action}, f.Actions
	if at >= 0 {
		one = f.Actions[at]
	}
	f.Actions = make([]Failure, 0, len(before)+1)
	switch e.Status {
	case interlock.OutcomeFailure, interlock.OutcomeUnknown:
		if one.Run == e.Run && one.Outcome == e.Status && one.Last.Equal(e.At) {
			f.Actions = before
			return f, false
		}
		if one.Run != e.Run {
			one.Count, one.Run = 0, e.Run
		}
		one.Failures = one.Failures.With(e.Status, e.At)
		for i, other := range before {
			if i != at && e.At.Sub(other.Last) < interlock.RetryWindow {
				f.Actions = append(f.Actions, other)
			}
		}
		f.Actions = append(f.Actions, one)
		f.Actions = f.Actions[max(len(f.Actions)-maxFailed, 0):]
	case interlock.OutcomeSuccess:
		changed := false
		for i, other := range before {
			earlier := !other.Last.After(e.At)
			if i == at && earlier {
				changed = true
				continue
			}
			if e.Changes && earlier && other.Run == e.Run && !other.Changed { // what failed before in this run may fare better now
				other.Changed, changed = true, true
			}
			f.Actions = append(f.Actions, other)
		}
		if !changed {
			f.Actions = before
			return f, false
		}
	default:
		f.Actions = before
		return f, false
	}
	f.Principal, f.Agent, f.Seen = e.Principal, e.Agent, e.At
	return f, true
}

// Of is what is known of an action, for a run; nil is nothing.
func (f FailedBody) Of(run string, action interlock.Digest) *interlock.Failures {
	for _, one := range f.Actions {
		if one.Action != action {
			continue
		}
		known := one.Failures
		if one.Run != run {
			known.Count = 0 // the budget is the run's; the cooldown is not
		}
		return &known
	}
	return nil
}
