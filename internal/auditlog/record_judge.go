package auditlog

import (
	"encoding/json"

	"interlock"
)

// A JudgeAskedRecord is that judges are asked, and what was taken from their budgets for it.
type JudgeAskedRecord struct {
	Class   string // of what is done
	Subject interlock.JudgeSubject
	Judges  []JudgeReserved
}

// A JudgeReserved is the most that asking one judge can cost, in millionths of one unit of a currency.
type JudgeReserved struct {
	Judge    string `json:"judge"`
	Most     int64  `json:"most"`
	Currency string `json:"currency"`
}

// Payload renders the record.
func (r JudgeAskedRecord) Payload() (json.RawMessage, error) {
	return payload("that judges are asked", struct {
		Class   string                 `json:"class"`
		Subject interlock.JudgeSubject `json:"subject"`
		Judges  []JudgeReserved        `json:"judges"`
	}{r.Class, r.Subject, r.Judges})
}
