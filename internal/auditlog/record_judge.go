package auditlog

import (
	"encoding/json"
	"fmt"

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

// A GroundRulesRecord is that judges hold actions against other ground rules from now on: by an admin's order, or because a process
// that lasts began with them.
type GroundRulesRecord struct {
	GroundRules interlock.Digest // of all of them, as a judge is sent them
	Before      interlock.Digest // of those of before; empty where nothing is known of any
	Added       interlock.Digest // of what the operator adds to those that ship; empty: nothing
	Order       *interlock.Order // redacted; nil where a process began with them
	Ordered     string           // of a start: id of the event by whose order they are what they are; empty: they are the file's
}

// Payload renders the record.
func (r GroundRulesRecord) Payload() (json.RawMessage, error) {
	return payload("ground rules", struct {
		GroundRules interlock.Digest `json:"ground_rules"`
		Before      interlock.Digest `json:"before,omitempty"`
		Added       interlock.Digest `json:"added,omitempty"`
		Order       *interlock.Order `json:"order,omitempty"`
		Ordered     string           `json:"ordered_by,omitempty"`
	}{r.GroundRules, r.Before, r.Added, r.Order, r.Ordered})
}

// GroundRulesOf reads the record of an event that its log's key has signed.
func GroundRulesOf(e Event) (r GroundRulesRecord, err error) {
	var wire struct {
		GroundRules interlock.Digest `json:"ground_rules"`
		Before      interlock.Digest `json:"before"`
		Added       interlock.Digest `json:"added"`
		Order       *interlock.Order `json:"order"`
		Ordered     string           `json:"ordered_by"`
	}
	if e.Type != interlock.EventGroundRules {
		return r, fmt.Errorf("auditlog: a %s event holds no ground rules", e.Type)
	}
	if err := json.Unmarshal(e.Payload, &wire); err != nil {
		return r, fmt.Errorf("auditlog: read the ground rules: %w", err)
	}
	return GroundRulesRecord(wire), nil
}
