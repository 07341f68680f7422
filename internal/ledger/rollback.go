package ledger

import (
	"fmt"
	"slices"
	"time"

	"interlock"
)

// A RollbackBody is a rollback that an operator has ordered: which plan it follows, and how far it has come. It permits nothing, and
// nobody is let go on by its end.
type RollbackBody struct {
	ID      string           `json:"id"`
	What    string           `json:"what"` // such as agent:scout since 2026-03-04T05:06:07Z
	Plan    interlock.Digest `json:"plan"` // the blob that holds it
	Steps   int              `json:"steps"`
	Open    int              `json:"open"` // steps that nobody has told the end of yet
	Failed  int              `json:"failed,omitempty"`
	Held    []string         `json:"held"` // agents that were isolated with it
	Begun   time.Time        `json:"begun"`
	By      string           `json:"by"`
	Why     string           `json:"why"`
	Residue []RollbackLeft   `json:"residue,omitempty"` // what stays, as far as is known, and no more than a bound
	More    int              `json:"more,omitempty"`    // residues that are not listed
	Ended   time.Time        `json:"ended,omitzero"`
}

// MaxResidue bounds how much of what stays is listed.
const MaxResidue = 100

// A RollbackLeft is something that stays of one step; 0 is of no step.
type RollbackLeft struct {
	N    int    `json:"step,omitempty"`
	What string `json:"what"`
}

// Stays notes what stays of a step, in place of what was noted of it before. Empty: nothing does.
func (r *RollbackBody) Stays(step int, what string) {
	r.Residue = slices.DeleteFunc(slices.Clone(r.Residue), func(l RollbackLeft) bool { return l.N == step })
	switch {
	case what == "":
	case len(r.Residue) < MaxResidue:
		r.Residue = append(r.Residue, RollbackLeft{step, what})
	default:
		r.More++
	}
}

// A RollbackStepBody is one step of a rollback that a person or another program carries out, and how that ended.
type RollbackStepBody struct {
	Rollback string    `json:"rollback"`
	N        int       `json:"step"`
	Event    string    `json:"event"`             // the action that is undone
	Agent    string    `json:"agent"`             // whose it was
	Did      string    `json:"did"`               // and what
	Residue  string    `json:"residue,omitempty"` // what of it stays whatever anybody does
	Status   string    `json:"status"`            // open, done or failed
	By       string    `json:"by,omitempty"`
	At       time.Time `json:"at,omitzero"`
	Said     string    `json:"said,omitempty"` // what was done, or why it failed
}

// What has become of a step.
const (
	StepOpen   = "open"
	StepDone   = "done"
	StepFailed = "failed"
)

// RollbackStepKey names a step of a rollback.
func RollbackStepKey(rollback string, n int) string { return fmt.Sprintf("%s/%d", rollback, n) }

// RollbackSteps is the mark of the steps of one rollback.
func RollbackSteps(rollback string) string { return "steps\x00" + rollback }

// RollbackNamed is the mark of one rollback, under way or ended.
func RollbackNamed(id string) string { return "named\x00" + id }

// RollbacksEnded is the mark of rollbacks that have ended.
const RollbacksEnded = "ended"

func rollbackMarks(r RollbackBody) []Mark {
	mark := All
	if !r.Ended.IsZero() {
		mark = RollbacksEnded
	}
	return under(nano(r.Begun), mark, RollbackNamed(r.ID))
}
