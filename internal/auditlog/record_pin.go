package auditlog

import (
	"encoding/json"
	"slices"

	"interlock"
)

// A PinStep is what became of one tool, or of the server itself, whose tool is empty.
type PinStep struct {
	Tool     string              `json:"tool,omitempty"`
	Status   interlock.PinStatus `json:"status"`
	Why      interlock.PinReason `json:"why,omitempty"`
	Detail   string              `json:"detail,omitempty"`
	Approved interlock.Digest    `json:"approved,omitempty"` // of the definition, or of the server's identity
	Seen     interlock.Digest    `json:"seen,omitempty"`
}

// A PinRecord is what was seen of a server's tools, or ordered about them. Definitions stand in the store, not in the log.
type PinRecord struct {
	Server   string           `json:"server"`
	Identity interlock.Digest `json:"identity,omitempty"` // of the server that was seen
	Steps    []PinStep        `json:"steps"`
	Order    *interlock.Order `json:"order,omitempty"`
	truncated
}

// MaxPinSteps is how many steps one record holds.
const MaxPinSteps = 32

// Payload renders the record.
func (r PinRecord) Payload() (json.RawMessage, error) {
	c := cutter{room: 200}
	r.Steps = slices.Clone(r.Steps)
	for n := range r.Steps {
		s := &r.Steps[n]
		s.Tool, s.Detail = c.text("tool", s.Tool), c.text("detail", s.Detail)
	}
	r.Cut = short(c.cut)
	return payload("what became of tools", &r)
}
