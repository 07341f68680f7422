package auditlog

import (
	"encoding/json"

	"interlock"
)

// A SignalRecord is what an observer told of an agent, and what that did.
type SignalRecord struct {
	Signal   interlock.Signal // redacted
	Observer string
	Severity string // of the highest level that it has reached: info, warning or critical
	Told     bool   // people are told
	Stopped  bool   // everything is stopped
}

// Payload renders the record.
func (r SignalRecord) Payload() (json.RawMessage, error) {
	return payload("a signal", struct {
		interlock.Signal
		Observer string `json:"observer"`
		Severity string `json:"severity,omitempty"`
		Told     bool   `json:"told,omitempty"`
		Stopped  bool   `json:"stopped,omitempty"`
	}{r.Signal, r.Observer, r.Severity, r.Told, r.Stopped})
}
