package auditlog

import (
	"encoding/json"
	"time"

	"interlock"
)

// A ShadowRecord says that a ruleset decides beside the one in force, or no more.
type ShadowRecord struct {
	Step      string           `json:"step"`    // begun, stopped
	Ruleset   interlock.Digest `json:"ruleset"` // of the candidate
	InForce   interlock.Digest `json:"in_force"`
	Documents interlock.Digest `json:"documents,omitempty"` // of the operator's rules in it
	Until     time.Time        `json:"until,omitzero"`
}

func (r ShadowRecord) Payload() (json.RawMessage, error) { return payload("a shadow ruleset", &r) }

// A PromotionRecord is an operator's order that a candidate be the ruleset in force.
type PromotionRecord struct {
	Order     interlock.Order  `json:"order"` // redacted
	Documents interlock.Digest `json:"documents"`
	Tier      int              `json:"tier,omitempty"` // MASO's, of those rules
}

func (r PromotionRecord) Payload() (json.RawMessage, error) {
	return payload("a promotion of rules", &r)
}

// A ReplayRequestRecord says that recorded decisions are to be made again, on whose orders. It is in the log before they are.
type ReplayRequestRecord struct {
	Mode   string            `json:"mode"`
	What   string            `json:"what"`
	Orders []interlock.Order `json:"orders"` // redacted
}

func (r ReplayRequestRecord) Payload() (json.RawMessage, error) { return payload("a replay", &r) }

// A ReplayResultRecord is what came of a replay.
type ReplayResultRecord struct {
	Request       string `json:"request"` // id of the REPLAY_REQUEST event
	Mode          string `json:"mode"`
	Decisions     int    `json:"decisions"`
	Same          int    `json:"same"`
	Replayable    bool   `json:"replayable"`
	Authoritative bool   `json:"authoritative"` // never of a test, nor of what went on by force
	Forced        bool   `json:"forced,omitempty"`
	Code          string `json:"code,omitempty"` // of the first failure
	At            string `json:"at,omitempty"`   // event id of the decision at which it stopped, or would have
	Detail        string `json:"detail,omitempty"`
}

// Payload renders the record.
func (r ReplayResultRecord) Payload() (json.RawMessage, error) {
	c := cutter{room: 400}
	r.Detail = c.text("detail", r.Detail)
	return payload("the result of a replay", &r)
}
