package auditlog

import (
	"encoding/json"
	"time"

	"interlock"
)

// A KillRecord says that everything is stopped from a time on, or that this has ended.
type KillRecord struct {
	Mode  string // hard or graduated; proposed, where an observer asks for it
	Why   string
	By    string // who threw the switch, where no order says so
	Since time.Time
	Until time.Time        // when what was proposed happens, unless an admin declines it
	Order *interlock.Order // redacted; nil: a machine, or somebody without a key

	Snapshot string // the digest of what stood before, as a blob of the log
}

// Payload renders the record.
func (r KillRecord) Payload() (json.RawMessage, error) {
	return payload("a stop of everything", struct {
		Mode  string           `json:"mode"`
		Why   string           `json:"why,omitempty"`
		By    string           `json:"by,omitempty"`
		Since time.Time        `json:"since"`
		Until time.Time        `json:"until,omitzero"`
		Order *interlock.Order `json:"order,omitempty"`
		// what was kept for whoever looks into it
		Snapshot string `json:"snapshot,omitempty"`
	}{r.Mode, r.Why, r.By, r.Since, r.Until, r.Order, r.Snapshot})
}
