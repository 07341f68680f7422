package auditlog

import (
	"encoding/json"

	"interlock"
	"interlock/internal/ledger"
)

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
