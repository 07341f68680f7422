package ledger

import (
	"crypto/sha256"
	"encoding/hex"
	"time"

	"interlock"
)

// A CommitmentBody is what was decided about something, so that it is decided otherwise only with a reason. Whose it is, is part of its
// name: what one person's agents have decided binds no other's.
type CommitmentBody struct {
	Name   string `json:"name"`   // see [CommitmentName]
	Rule   string `json:"rule"`   // the commitment of the ruleset
	Person string `json:"person"` // for whom it was decided
	About  string `json:"about"`  // what is decided about, redacted, for people

	Choice interlock.Digest `json:"choice"`
	Says   string           `json:"says"`            // the choice, redacted, for people
	Input  interlock.Digest `json:"input,omitempty"` // what it was decided from
	Agent  string           `json:"agent"`
	Run    string           `json:"run,omitempty"`
	At     time.Time        `json:"at"` // when this choice was made

	Reversals []Reversal `json:"reversals,omitempty"` // since it was made first, or unlocked
	Locked    time.Time  `json:"locked,omitzero"`     // since when it stays as it is: it went to and fro too often
}

// A Reversal is one change of what was decided.
type Reversal struct {
	At       time.Time `json:"at"`
	Agent    string    `json:"agent"`
	From     string    `json:"from"` // as [CommitmentBody.Says]
	To       string    `json:"to"`
	By       string    `json:"by"`                 // one of the Reversed constants
	Approval string    `json:"approval,omitempty"` // the request that a person answered
}

// What lets a commitment be reversed.
const (
	ReversedByInput = "input" // what it was decided from has changed
	ReversedByHuman = "human"
)

// MaxReversals is how often what was decided may change: the next time it is locked instead.
const MaxReversals = 2

// CommitmentName names what is decided: for whom, under which commitment of the ruleset, about what.
func CommitmentName(person, rule, about string) string {
	sum := sha256.Sum256([]byte("interlock/commitment/v1\x00" + person + "\x00" + rule + "\x00" + about))
	return "cmt_" + hex.EncodeToString(sum[:12])
}

// CommitmentsLocked is the mark of those that are locked.
const CommitmentsLocked = "locked"

func commitmentMarks(c CommitmentBody) []Mark {
	marks := withAll(nano(c.At))
	if !c.Locked.IsZero() {
		marks = appendMarks(marks, nano(c.Locked), CommitmentsLocked)
	}
	return marks
}

// Committed is what was decided under a name.
func (s *Standing) Committed(name string) (CommitmentBody, bool) {
	c, there := s.Others[Commitment][name].(CommitmentBody)
	return c, there
}
