package auditlog

import (
	"encoding/json"
	"time"

	"interlock"
)

// A CheckpointRecord says that an agent has kept what it was at.
type CheckpointRecord struct {
	Run         string           `json:"run"`
	Agent       string           `json:"agent"`
	Number      int              `json:"number"`
	Digest      interlock.Digest `json:"digest"`
	Constraints interlock.Digest `json:"constraints_digest"`
	System      interlock.Digest `json:"system_prompt"`
	Bound       int              `json:"constraints"` // how many
	Pending     int              `json:"pending"`     // how much is still to be done
	Order       string           `json:"order,omitempty"`
}

// Payload renders the record.
func (r CheckpointRecord) Payload() (json.RawMessage, error) { return payload("a checkpoint", r) }

// A RunPausedRecord says that the time of a run is over, and what it was at then.
type RunPausedRecord struct {
	Run         interlock.Run `json:"run"` // redacted
	Accountable string        `json:"accountable_human,omitempty"`
	Requests    []string      `json:"withdrawn,omitempty"` // what it had asked, or was allowed and had not used; none of it counts any more
	Snapshot    string        `json:"snapshot"`
}

// Payload renders the record.
func (r RunPausedRecord) Payload() (json.RawMessage, error) { return payload("a pause", r) }

// A RunChangedRecord says that a person has given a run more time, or accepted other constraints for it.
type RunChangedRecord struct {
	Run      string           `json:"run"`
	Until    time.Time        `json:"until,omitzero"`
	Accepted interlock.Digest `json:"accepted,omitempty"`
	Order    interlock.Order  `json:"order"` // redacted
}

// Payload renders the record.
func (r RunChangedRecord) Payload() (json.RawMessage, error) { return payload("a change of a run", r) }
