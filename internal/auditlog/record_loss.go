package auditlog

import (
	"encoding/json"

	"interlock"
)

// A LossRecord says that an agent was lost, what was done about it, and what waits for somebody else to take it up.
type LossRecord struct {
	Agent string `json:"agent"`
	Type  string `json:"type"`
	// the human who answers for it, as its type says
	Accountable string `json:"accountable_human,omitempty"`

	OnLoss     string     `json:"on_loss"`          // what its type says is to be done
	Did        string     `json:"did"`              // what was: backup, degraded or halted
	Backup     string     `json:"backup,omitempty"` // the agent that stands in for it
	Why        string     `json:"why"`
	Dependants []string   `json:"dependants,omitempty"` // agents whose runs have delegated to its own, and those it has delegated to
	Work       []LostWork `json:"work,omitempty"`       // its open runs, whose tasks are to be given to somebody else
	Waiting    []string   `json:"waiting,omitempty"`    // what it had asked, or was allowed and had not used; it has expired
}

// LostWork is one open run of an agent that was lost.
type LostWork struct {
	Run           string `json:"run"`
	Task          string `json:"task,omitempty"` // redacted
	Parent        string `json:"parent,omitempty"`
	Orchestration string `json:"orchestration"`
	// the digest of its newest checkpoint, from which somebody else may go on
	Checkpoint interlock.Digest `json:"checkpoint,omitempty"`
}

// Payload renders the record.
func (r LossRecord) Payload() (json.RawMessage, error) { return payload("a loss", r) }
