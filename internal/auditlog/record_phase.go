package auditlog

import (
	"encoding/json"
	"time"

	"interlock"
	"interlock/internal/ledger"
	"interlock/internal/phase"
	"interlock/internal/strictjson"
)

// PaceSchema is the value of "schema" in what is kept of a phase before it changes.
const PaceSchema = "interlock.pace/v1"

// SnapshotPace is the name, among an event's snapshots, of what stood before it.
const SnapshotPace = "pace"

// A PaceSnapshot is what stood before a phase or a breaker changed: the holds over whoever it is about, what counted towards them, what
// they had asked and not used, and what they did last. It is a blob, so nobody writes it again, and it is stored with the change.
type PaceSnapshot struct {
	Schema   string               `json:"schema"`
	On       string               `json:"on"`
	At       time.Time            `json:"at"`
	Holds    []ledger.HoldBody    `json:"holds"`
	Counts   []ledger.BreakerBody `json:"counts"`
	Requests []PendingRequest     `json:"requests"`
	Last     []ledger.Act         `json:"last_actions"`
	Runs     []RunState           `json:"runs,omitempty"` // that were open, of whoever it is about, or all where everything was stopped
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
	On       string // the name of the hold
	From, To phase.Phase
	Trigger  string
	Why      string
	Only     string // the one agent that goes on
	Proof    string // what says that nothing tainted lives on
	Cause    *phase.Cause
	Snapshot string
	Order    *interlock.Order // redacted; nil: a machine's
	Half     []HalfDone       // what whoever is held may have left half done, the newest first
	More     int              // such actions that are not listed
	Unread   bool             // nobody could read what is half done
}

// Payload renders the record.
func (r PhaseRecord) Payload() (json.RawMessage, error) {
	authoriser := "interlock"
	if r.Order != nil {
		authoriser = r.Order.Operator
	}
	return payload("a change of phase", struct {
		On         string           `json:"hold"`
		From       phase.Phase      `json:"from"`
		To         phase.Phase      `json:"to"`
		Trigger    string           `json:"trigger"`
		Authoriser string           `json:"authoriser"`
		Why        string           `json:"why,omitempty"`
		Only       string           `json:"only,omitempty"`
		Proof      string           `json:"proof,omitempty"`
		Cause      *phase.Cause     `json:"root_cause,omitempty"`
		Snapshot   string           `json:"snapshot,omitempty"`
		Order      *interlock.Order `json:"order,omitempty"`
		Half       []HalfDone       `json:"half_done,omitempty"`
		More       int              `json:"half_done_more,omitempty"`
		Unread     bool             `json:"half_done_unread,omitempty"`
	}{r.On, r.From, r.To, r.Trigger, authoriser, r.Why, r.Only, r.Proof, r.Cause, r.Snapshot, r.Order, r.Half, r.More, r.Unread})
}

// A CauseRecord says what somebody says an emergency came of.
type CauseRecord struct {
	On    string
	Cause phase.Cause
	Order interlock.Order // redacted
}

// Payload renders the record.
func (r CauseRecord) Payload() (json.RawMessage, error) {
	return payload("a root cause", struct {
		On    string          `json:"hold"`
		Cause phase.Cause     `json:"root_cause"`
		Order interlock.Order `json:"order"`
	}{r.On, r.Cause, r.Order})
}

// A SecondedRecord says that somebody of one team says yes to what another team is to order.
type SecondedRecord struct {
	Subject string // the digest of that
	Teams   []string
	Order   interlock.Order // redacted
}

// Payload renders the record.
func (r SecondedRecord) Payload() (json.RawMessage, error) {
	return payload("a seconding", struct {
		Subject string          `json:"subject"`
		Teams   []string        `json:"teams"`
		Order   interlock.Order `json:"order"`
	}{r.Subject, r.Teams, r.Order})
}

// A ProbeRecord says that questions with errors were put to operators on purpose.
type ProbeRecord struct {
	Requests []string // their ids
	Why      string   // redacted
}

// Payload renders the record.
func (r ProbeRecord) Payload() (json.RawMessage, error) {
	return payload("probes", struct {
		Probe    bool     `json:"probe"`
		Requests []string `json:"requests"`
		Why      string   `json:"why,omitempty"`
	}{true, r.Requests, r.Why})
}

// A BreakerRecord says that a breaker is in another state, and why.
type BreakerRecord struct {
	On       string // the name of the hold
	From, To string
	Trigger  string
	Why      string
	Until    time.Time // before which nobody half-opens it
	Snapshot string
	Order    *interlock.Order // redacted; nil: a machine's
}

// Payload renders the record.
func (r BreakerRecord) Payload() (json.RawMessage, error) {
	return payload("a breaker", struct {
		On       string           `json:"hold"`
		From     string           `json:"from"`
		To       string           `json:"to"`
		Trigger  string           `json:"trigger"`
		Why      string           `json:"why,omitempty"`
		Until    time.Time        `json:"until,omitzero"`
		Snapshot string           `json:"snapshot,omitempty"`
		Order    *interlock.Order `json:"order,omitempty"`
	}{r.On, r.From, r.To, r.Trigger, r.Why, r.Until, r.Snapshot, r.Order})
}
