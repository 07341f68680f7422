package auditlog

import (
	"encoding/json"
	"slices"

	"interlock"
	"interlock/internal/ledger"
)

// A Committed is what the action of one decision decides, where the rules say that calls of its tool decide something.
type Committed struct {
	Name     string           `json:"name"` // of the commitment
	Rule     string           `json:"rule"`
	Choice   interlock.Digest `json:"choice"`
	Input    interlock.Digest `json:"input,omitempty"`    // what it was decided from
	Reversed string           `json:"reversed,omitempty"` // it was decided otherwise before: by what that may be, input or human
	Locked   bool             `json:"locked,omitempty"`   // it would have gone to and fro once more, and stays as it is
}

// A PlanStep says which step of its run's plan an action is.
type PlanStep struct {
	Plan string `json:"plan"`
	Step int    `json:"step"` // from 1
}

// A PlanRecord is what a run is to do, as it was looked at; or that a person has acknowledged it.
type PlanRecord struct {
	Plan      interlock.Plan       `json:"plan"`                // redacted
	Judgments []interlock.Judgment `json:"judgments,omitempty"` // what judges said of it as a whole; their words redacted
	truncated
}

// Payload renders the record.
func (r PlanRecord) Payload() (json.RawMessage, error) {
	c := cutter{room: 1 << 10}
	r.Plan.Steps = slices.Clone(r.Plan.Steps)
	for n := range r.Plan.Steps {
		s := &r.Plan.Steps[n]
		s.Says, s.MadeGood = c.text("says", s.Says), c.text("compensation", s.MadeGood)
	}
	r.Judgments = c.judgments(r.Judgments)
	r.Cut = c.cut
	return payload("a plan", &r)
}

// An UnlockRecord says that a commitment that was locked may be decided again, on whose order, and how often it went to and fro.
type UnlockRecord struct {
	Commitment ledger.CommitmentBody `json:"commitment"` // as it is now, redacted
	Reversals  []ledger.Reversal     `json:"reversals,omitempty"`
	Order      interlock.Order       `json:"order"` // redacted
}

func (r UnlockRecord) Payload() (json.RawMessage, error) {
	return payload("an unlocked commitment", &r)
}

// SnapshotRollback is the name, among an event's snapshots, of the plan that a rollback follows.
const SnapshotRollback = "rollback"

// A RollbackRecord says that a rollback has begun, that one of its steps has ended, or that it has.
type RollbackRecord struct {
	Rollback ledger.RollbackBody      `json:"rollback"` // redacted, as are the others
	Step     *ledger.RollbackStepBody `json:"step,omitempty"`
	Grants   []string                 `json:"grants_ended,omitempty"` // standing grants that were ended with it
	Order    *interlock.Order         `json:"order,omitempty"`        // redacted; nil where the last step has ended it
	truncated
}

// Payload renders the record. What stays is told at the beginning and at the end.
func (r RollbackRecord) Payload() (json.RawMessage, error) {
	c := cutter{room: 1 << 10}
	body := &r.Rollback
	if r.Step != nil {
		body.Residue, body.Held = nil, nil
		step := *r.Step
		step.Did, step.Residue, step.Said = c.text("did", step.Did), c.text("residue", step.Residue), c.text("said", step.Said)
		r.Step = &step
	}
	const most = 64
	if len(body.Residue) > most {
		body.More += len(body.Residue) - most
		body.Residue = body.Residue[:most]
	}
	residue := make([]ledger.RollbackLeft, len(body.Residue))
	small := cutter{room: 400}
	for n, left := range body.Residue {
		residue[n] = ledger.RollbackLeft{N: left.N, What: small.text("residue", left.What)}
	}
	body.Residue, body.Why = residue, c.text("why", body.Why)
	r.Cut = c.cut
	return payload("a rollback", &r)
}
