package auditlog

import (
	"encoding/json"
	"time"

	"interlock"
	"interlock/internal/ledger"
	"interlock/internal/module"
	"interlock/internal/phase"
	"interlock/internal/strictjson"
)

// PaceSchema is the value of "schema" in what is kept of a phase before it changes.
const PaceSchema = "interlock.pace/v1"

// SnapshotPace is the name, among an event's snapshots, of what stood before it.
const SnapshotPace = "pace"

// A PaceSnapshot is what was there before a phase or breaker changed: the holds on those concerned, what counted towards them,
// what they had asked and not used, and what they did last. It is a blob, so nobody writes it again, stored with the change.
type PaceSnapshot struct {
	Schema   string               `json:"schema"`
	On       string               `json:"on"`
	At       time.Time            `json:"at"`
	Holds    []ledger.HoldBody    `json:"holds"`
	Counts   []ledger.BreakerBody `json:"counts"`
	Requests []PendingRequest     `json:"requests"`
	Last     []ledger.Act         `json:"last_actions"`
	Runs     []RunState           `json:"runs,omitempty"` // that were open: theirs, or all where everything was stopped
}

// A RunState is what a run was at: its row, and its newest checkpoint by digest.
type RunState struct {
	Run         interlock.Run    `json:"run"`
	Checkpoint  interlock.Digest `json:"checkpoint,omitempty"`
	Constraints interlock.Digest `json:"constraints_digest,omitempty"`
	System      interlock.Digest `json:"system_prompt,omitempty"`
}

// A PendingRequest is a question that waited, or whose answer had not been used.
type PendingRequest struct {
	ID      string                  `json:"id"`
	Agent   string                  `json:"agent"`
	Action  interlock.Digest        `json:"action"`
	Status  interlock.RequestStatus `json:"status"`
	Created time.Time               `json:"created"`
}

// Text is the snapshot as it is kept.
func (s PaceSnapshot) Text() ([]byte, error) { return strictjson.Marshal(s) }

// A PhaseRecord says that something went from one phase to another, what brought it, on whose word, and what stood before.
type PhaseRecord struct {
	On       string           `json:"hold"` // the name of the hold
	From     phase.Phase      `json:"from"`
	To       phase.Phase      `json:"to"`
	Trigger  string           `json:"trigger"`
	Why      string           `json:"why,omitempty"`
	Only     string           `json:"only,omitempty"`  // the one agent that goes on
	Proof    string           `json:"proof,omitempty"` // what says that nothing tainted lives on
	Cause    *phase.Cause     `json:"root_cause,omitempty"`
	Snapshot string           `json:"snapshot,omitempty"`
	Order    *interlock.Order `json:"order,omitempty"`            // redacted; nil: a machine's
	Half     []HalfDone       `json:"half_done,omitempty"`        // what those held may have left half done, the newest first
	More     int              `json:"half_done_more,omitempty"`   // such actions that are not listed
	Unread   bool             `json:"half_done_unread,omitempty"` // nobody could read what is half done
}

// Payload renders the record.
func (r PhaseRecord) Payload() (json.RawMessage, error) {
	authoriser := "interlock"
	if r.Order != nil {
		authoriser = r.Order.Operator
	}
	return payload("a change of phase", &struct {
		PhaseRecord
		Authoriser string `json:"authoriser"`
	}{r, authoriser})
}

// A CauseRecord says what somebody says an emergency came of.
type CauseRecord struct {
	On    string          `json:"hold"`
	Cause phase.Cause     `json:"root_cause"`
	Order interlock.Order `json:"order"` // redacted
}

func (r CauseRecord) Payload() (json.RawMessage, error) { return payload("a root cause", &r) }

// A SecondedRecord says that somebody of one team says yes to what another team is to order.
type SecondedRecord struct {
	Subject string          `json:"subject"` // the digest of that
	Teams   []string        `json:"teams"`
	Order   interlock.Order `json:"order"` // redacted
}

func (r SecondedRecord) Payload() (json.RawMessage, error) { return payload("a seconding", &r) }

// A ProbeRecord says that questions with errors were put to operators on purpose.
type ProbeRecord struct {
	Requests []string `json:"requests"`      // their ids
	Why      string   `json:"why,omitempty"` // redacted
}

// Payload renders the record.
func (r ProbeRecord) Payload() (json.RawMessage, error) {
	return payload("probes", &struct {
		ProbeRecord
		Probe bool `json:"probe"`
	}{r, true})
}

// A BreakerRecord says that a breaker is in another state, and why.
type BreakerRecord struct {
	On       string           `json:"hold"` // the name of the hold
	From     string           `json:"from"`
	To       string           `json:"to"`
	Trigger  string           `json:"trigger"`
	Why      string           `json:"why,omitempty"`
	Until    time.Time        `json:"until,omitzero"` // before which nobody half-opens it
	Snapshot string           `json:"snapshot,omitempty"`
	Order    *interlock.Order `json:"order,omitempty"` // redacted; nil: a machine's
}

func (r BreakerRecord) Payload() (json.RawMessage, error) { return payload("a breaker", &r) }

// A NodeRecord says that a module is in another status, or that it tries once more what has failed (MACE self representation).
type NodeRecord struct {
	Node    string         `json:"node_id"`
	From    module.Status  `json:"from,omitempty"`
	To      module.Status  `json:"status,omitempty"`
	Why     string         `json:"why,omitempty"`
	Health  *module.Health `json:"health,omitempty"`
	Attempt int            `json:"attempt_index,omitempty"` // of a retry: the first attempt is 0
}

// Payload renders the record.
func (r NodeRecord) Payload() (json.RawMessage, error) { return payload("a module", &r) }

// An AccountRecord says that an account met a fixed threshold of misuse, what became of it at once, and that people are to look at it
// (MACE 7).
type AccountRecord struct {
	Agent     string `json:"agent"`
	Account   string `json:"account,omitempty"` // the person it acts for
	Heuristic string `json:"heuristic"`         // refusals, or the id of a limit
	Most      int64  `json:"threshold"`
	Window    int64  `json:"window_seconds,omitempty"`
	Then      string `json:"then"` // blocked, or asked: it waits for a person
	Why       string `json:"why,omitempty"`
}

// Payload renders the record.
func (r AccountRecord) Payload() (json.RawMessage, error) { return payload("an account", &r) }
