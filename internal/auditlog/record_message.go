package auditlog

import (
	"encoding/json"

	"interlock"
)

// What becomes of a message.
const (
	MessageSent         = "sent"
	MessageRefused      = "refused"
	MessageReceived     = "received"
	MessageAcknowledged = "acknowledged"
	MessageExpired      = "expired"
)

// A MessageRecord says what became of a message between agents. Of one that was sent it holds what was attested of its structure on the
// way, of one that was refused where it is not as it has to be and whose fault that is; never anything of its content but the digest.
type MessageRecord struct {
	What      string // one of the constants above
	Message   interlock.Message
	Violation *interlock.Violation
	Halted    bool // no message passes any more in the orchestration
}

// Payload renders the record.
func (r MessageRecord) Payload() (json.RawMessage, error) {
	return payload("a message", struct {
		What      string               `json:"what"`
		Message   interlock.Message    `json:"message"`
		Violation *interlock.Violation `json:"violation,omitempty"`
		Halted    bool                 `json:"halted,omitempty"`
	}{r.What, r.Message, r.Violation, r.Halted})
}
