package auditlog

import (
	"encoding/json"
	"time"

	"interlock"
)

// A RunRecord says that a run was registered or has ended.
type RunRecord struct {
	Run interlock.Run `json:"run"` // redacted
	// the human who answers for its agent, as the agent's type says
	Accountable string           `json:"accountable_human,omitempty"`
	Result      interlock.Digest `json:"result,omitempty"`    // of a result that was handed over
	Requests    []string         `json:"withdrawn,omitempty"` // questions that were withdrawn with it
	Uncertain   []string         `json:"uncertain,omitempty"` // what its agent says is not certain; redacted
	// the task failed as often as it may be tried, and is not tried again
	Last bool `json:"not_tried_again,omitempty"`

	Judgments []interlock.Judgment `json:"judgments,omitempty"` // what judges said of the result; their words redacted
	// the request whose answer let the result leave, although judges object to it
	Approval string `json:"approval,omitempty"`
}

func (r RunRecord) Payload() (json.RawMessage, error) { return payload("a run", &r) }

// A TurnRecord says that agents have taken one more turn of a conversation, or may take none.
type TurnRecord struct {
	Run          string `json:"run"`
	Conversation string `json:"conversation"` // redacted
	Turn         int    `json:"turn"`
	Most         int    `json:"most"`
	Decides      string `json:"decides,omitempty"` // who decides, where there are no more turns
}

func (r TurnRecord) Payload() (json.RawMessage, error) { return payload("a turn", &r) }

// A BindingRecord says that what is done in a session counts as done in a run.
type BindingRecord struct {
	Run     string `json:"run"`
	Session string `json:"session"`
}

func (r BindingRecord) Payload() (json.RawMessage, error) { return payload("a binding", &r) }

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
	// what it had asked, or was allowed and had not used; none of it counts any more
	Requests []string `json:"withdrawn,omitempty"`
	Snapshot string   `json:"snapshot"`
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

// A LossRecord says that an agent was lost, what was done about it, and what waits for somebody else to take it up.
type LossRecord struct {
	Agent string `json:"agent"`
	Type  string `json:"type"`
	// the human who answers for it, as its type says
	Accountable string `json:"accountable_human,omitempty"`

	OnLoss     string     `json:"on_loss"`          // what its type says is to be done
	Did        string     `json:"did"`              // what was: backup, degraded or halted
	Backup     string     `json:"backup,omitempty"` // the agent that takes its place
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

// What becomes of a message.
const (
	MessageSent         = "sent"
	MessageRefused      = "refused"
	MessageReceived     = "received"
	MessageAcknowledged = "acknowledged"
	MessageExpired      = "expired"
)

// A MessageRecord says what became of a message between agents. Of one that was sent it holds what was attested of its structure
// on the way, of one that was refused where it is not as it has to be and whose fault that is; never anything of its content but
// the digest.
type MessageRecord struct {
	What      string               `json:"what"` // one of the constants above
	Message   interlock.Message    `json:"message"`
	Violation *interlock.Violation `json:"violation,omitempty"`
	Halted    bool                 `json:"halted,omitempty"` // no message passes any more in the orchestration
}

func (r MessageRecord) Payload() (json.RawMessage, error) { return payload("a message", &r) }

// A SignalRecord is what an observer told of an agent, and what that did.
type SignalRecord struct {
	Signal   interlock.Signal `json:",inline"` // redacted
	Observer string           `json:"observer"`
	Severity string           `json:"severity,omitempty"` // of the highest level that it has reached: info, warning or critical
	Told     bool             `json:"told,omitempty"`     // people are told
	Stopped  bool             `json:"stopped,omitempty"`  // everything is stopped
}

func (r SignalRecord) Payload() (json.RawMessage, error) { return payload("a signal", &r) }
