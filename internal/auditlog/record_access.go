package auditlog

import (
	"encoding/json"

	"interlock"
)

// An AccessRecord says that an operator reads what is kept sealed. It is in the log before anything is opened.
type AccessRecord struct {
	Order interlock.Order // redacted
}

// Payload renders the record.
func (r AccessRecord) Payload() (json.RawMessage, error) {
	return payload("an access", struct {
		Order interlock.Order `json:"order"`
	}{r.Order})
}
