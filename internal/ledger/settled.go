package ledger

import (
	"time"

	"interlock"
)

// SettleWithin is how long after a decision it is looked at what became of what the action took from limits. What is told later
// changes nothing: it stays as it was taken.
const SettleWithin = 7 * 24 * time.Hour

// keptSettled is how long it is remembered that a decision was settled: for as long as another outcome might settle it, and a day.
const keptSettled = SettleWithin + 24*time.Hour

// A SettledBody is that what the action of one decision took from limits was put right by how it ended. Outcomes may be told twice,
// and there is one of these for each decision.
type SettledBody struct {
	Event string    `json:"event"` // of the decision
	At    time.Time `json:"at"`    // when it was decided
}

// ErrSettled is that a decision was settled before. A caller that meets it leaves out what it would have settled.
var ErrSettled = interlock.Errorf(interlock.CodeConflict, "settled", "what the action took from limits was put right before")

func settledOnce(_, _ SettledBody, there bool, _ time.Time) error {
	if there {
		return ErrSettled
	}
	return nil
}
