package auditlog

import (
	"encoding/json"

	"interlock"
)

// An IntegrityRecord says what was found missing, or to be another than it was, and what it is on.
type IntegrityRecord struct {
	Held []string // names of the holds that come of it
	Why  string
}

// Payload renders the record.
func (r IntegrityRecord) Payload() (json.RawMessage, error) {
	return payload("a failure of integrity", struct {
		Held []string `json:"held"`
		Why  string   `json:"why"`
	}{r.Held, r.Why})
}

// A HoldRecord says that nothing is decided or made again under something from now on, or that this has ended, and by which order.
type HoldRecord struct {
	Name  string // of the hold
	Cause interlock.EventType
	Why   string
	Event string           // that found it; empty where an order reported it
	Order *interlock.Order // redacted; nil: it was found
}

// Payload renders the record.
func (r HoldRecord) Payload() (json.RawMessage, error) {
	return payload("a hold", struct {
		Name  string              `json:"hold"`
		Cause interlock.EventType `json:"cause"`
		Why   string              `json:"why,omitempty"`
		Event string              `json:"found_by,omitempty"`
		Order *interlock.Order    `json:"order,omitempty"`
	}{r.Name, r.Cause, r.Why, r.Event, r.Order})
}

// A MendRecord says that what somebody else did beside the log was put right, as it was shown to who ordered it.
type MendRecord struct {
	Plan  interlock.Digest
	Order interlock.Order // redacted
}

// Payload renders the record.
func (r MendRecord) Payload() (json.RawMessage, error) {
	return payload("a mending", struct {
		Plan  interlock.Digest `json:"plan"`
		Order interlock.Order  `json:"order"`
	}{r.Plan, r.Order})
}
