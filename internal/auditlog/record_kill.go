package auditlog

import (
	"encoding/json"
	"time"

	"interlock"
)

// A KillRecord says that everything is stopped from a time on, or that this has ended.
type KillRecord struct {
	Mode  string // hard or graduated
	Why   string
	By    string // who threw the switch, where no order says so
	Since time.Time
	Order *interlock.Order // redacted; nil: a machine, or somebody without a key
}

// Payload renders the record.
func (r KillRecord) Payload() (json.RawMessage, error) {
	return payload("a stop of everything", struct {
		Mode  string           `json:"mode"`
		Why   string           `json:"why,omitempty"`
		By    string           `json:"by,omitempty"`
		Since time.Time        `json:"since"`
		Order *interlock.Order `json:"order,omitempty"`
	}{r.Mode, r.Why, r.By, r.Since, r.Order})
}
