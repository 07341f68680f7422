package interlock

import (
	"context"
	"time"
)

// A RunCheckpoint is what an agent keeps of a run before its context is rotated, in parts that can be held against each other: there is
// no place for a summary in it, because prose loses what must not be lost.
type RunCheckpoint struct {
	System      Digest          `json:"system_prompt"` // digest of the prompt it was given, to go on with the same
	Goal        string          `json:"goal"`
	Constraints []RunConstraint `json:"constraints"` // byte for byte those of the first checkpoint, as long as nobody orders others
	Decisions   []string        `json:"decisions,omitempty"`
	Pending     []string        `json:"pending,omitempty"` // what is still to be done
}

// A RunConstraint is one thing that a task asks for, in its own words.
type RunConstraint struct {
	Kind RunConstraintKind `json:"kind"`
	Text string            `json:"text"`
}

// A RunConstraintKind says what a constraint asks for.
type RunConstraintKind string

// The kinds of constraints.
const (
	ConstraintMust    RunConstraintKind = "must"
	ConstraintNever   RunConstraintKind = "never"
	ConstraintExactly RunConstraintKind = "exactly"
)

// A RunKept is a checkpoint as it is kept: the newest of its run.
type RunKept struct {
	RunCheckpoint
	Run    string    `json:"run"`
	Number int       `json:"number"` // of its run, from 1
	At     time.Time `json:"at"`
	Digest Digest    `json:"digest"`             // of the checkpoint
	Bound  Digest    `json:"constraints_digest"` // of its constraints
}

// Checkpoints is a [Backend] that keeps checkpoints, as that of package interlock/embedded does.
type Checkpoints interface {
	// Checkpoint keeps what an agent says of a run of its own, in place of what it said before.
	Checkpoint(ctx context.Context, by Requester, run string, c RunCheckpoint) (RunKept, error)
	// Resume is the newest checkpoint of a run, for its agent or the one who delegated it.
	Resume(ctx context.Context, by Requester, run string) (RunKept, error)
}
