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

// A JudgeTestedRecord is what came of testing a judge.
type JudgeTestedRecord struct {
	Judge   interlock.JudgeIdentity
	Passed  bool
	Failure interlock.JudgeFailure
	Reason  string // redacted
}

// Payload renders the record.
func (r JudgeTestedRecord) Payload() (json.RawMessage, error) {
	return payload("that a judge was tested", struct {
		interlock.JudgeIdentity
		Passed  bool                   `json:"passed"`
		Failure interlock.JudgeFailure `json:"failure,omitempty"`
		Reason  string                 `json:"reason,omitempty"`
	}{r.Judge, r.Passed, r.Failure, r.Reason})
}
