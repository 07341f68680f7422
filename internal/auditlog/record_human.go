package auditlog

import (
	"encoding/json"

	"interlock"
)

// A ChallengeRecord is a challenge that began, had a code issued, or ended. The code's hash is left out: there is nothing to
// learn from it.
type ChallengeRecord struct {
	Challenge interlock.Challenge
	Failed    []string         // channels that did not take the code, and why
	Order     *interlock.Order // by which an operator had a code issued anew or the block ended
}

// Payload renders the record.
func (r ChallengeRecord) Payload() (json.RawMessage, error) {
	c := cutter{room: 8 << 10}
	r.Challenge.CodeHash = ""
	r.Challenge.Display, r.Challenge.Reason = c.text("display", r.Challenge.Display), c.text("reason", r.Challenge.Reason)
	return payload("a challenge", struct {
		Challenge interlock.Challenge `json:"challenge"`
		Failed    []string            `json:"failed_channels,omitempty"`
		Order     *interlock.Order    `json:"order,omitempty"`
		Cut       []cutWire           `json:"truncated,omitempty"`
	}{r.Challenge, short(r.Failed), r.Order, c.cut})
}

// A VerificationRecord is one answer to a challenge. What was answered is left out.
type VerificationRecord struct {
	Challenge string // id, as the agent gave it
	Result    string // passed, wrong, expired, unknown or limited
	Reason    string
	Failed    int // answers that failed within the window
}

// Payload renders the record.
func (r VerificationRecord) Payload() (json.RawMessage, error) {
	c := cutter{room: 1 << 10}
	return payload("a verification", struct {
		Challenge string    `json:"challenge"`
		Result    string    `json:"result"`
		Reason    string    `json:"reason,omitempty"`
		Failed    int       `json:"failed_in_window,omitempty"`
		Cut       []cutWire `json:"truncated,omitempty"`
	}{c.text("challenge", r.Challenge), r.Result, c.text("reason", r.Reason), r.Failed, c.cut})
}

// An ExecutionRecord is a monitored execution that changed its state.
type ExecutionRecord struct {
	Execution string
	Element   string // what the agent calls itself or its task
	State     string // running, paused, completed, failed or cancelled
	Steps     int
	Reason    string // redacted
}

// Payload renders the record.
func (r ExecutionRecord) Payload() (json.RawMessage, error) {
	c := cutter{room: 4 << 10}
	return payload("an execution", struct {
		Execution string    `json:"execution"`
		Element   string    `json:"element,omitempty"`
		State     string    `json:"state"`
		Steps     int       `json:"steps"`
		Reason    string    `json:"reason,omitempty"`
		Cut       []cutWire `json:"truncated,omitempty"`
	}{c.text("execution", r.Execution), c.text("element", r.Element), r.State, r.Steps, c.text("reason", r.Reason), c.cut})
}

// A GrantRecord is a standing grant as signed, or its end.
type GrantRecord struct {
	Grant interlock.Grant
	Ended string // why it ends; empty if it begins
}

// Payload renders the record.
func (r GrantRecord) Payload() (json.RawMessage, error) {
	return payload("a grant", struct {
		Grant interlock.Grant `json:"grant"`
		Ended string          `json:"ended,omitempty"`
	}{r.Grant, r.Ended})
}

// A TrustRecord is an agent's trust that changed, and on what evidence.
type TrustRecord struct {
	Agent    string
	Before   interlock.Trust
	After    interlock.Trust
	Operator string // who changed it; empty if it expired
	Evidence string
	Until    string // when a certificate expires, RFC 3339; empty: never
}

// Payload renders the record.
func (r TrustRecord) Payload() (json.RawMessage, error) {
	c := cutter{room: 4 << 10}
	return payload("a change of trust", struct {
		Agent    string          `json:"agent"`
		Before   interlock.Trust `json:"before"`
		After    interlock.Trust `json:"after"`
		Operator string          `json:"operator,omitempty"`
		Evidence string          `json:"evidence,omitempty"`
		Until    string          `json:"until,omitempty"`
		Cut      []cutWire       `json:"truncated,omitempty"`
	}{r.Agent, r.Before, r.After, r.Operator, c.text("evidence", r.Evidence), r.Until, c.cut})
}

// A SessionRecord is an operator who came into the console, left it or was turned away.
type SessionRecord struct {
	Operator string
	What     string // entered, left, ended, refused or enrolled
	Reason   string
}

// Payload renders the record.
func (r SessionRecord) Payload() (json.RawMessage, error) {
	c := cutter{room: 1 << 10}
	return payload("a session", struct {
		Operator string    `json:"operator,omitempty"`
		What     string    `json:"what"`
		Reason   string    `json:"reason,omitempty"`
		Cut      []cutWire `json:"truncated,omitempty"`
	}{c.text("operator", r.Operator), r.What, c.text("reason", r.Reason), c.cut})
}

// A TokenRecord is a confirmation token that was issued, redeemed, rejected or revoked. The token is named by its hash.
type TokenRecord struct {
	Token     string // SHA-256 of the token
	Operation string
	Danger    interlock.Danger
	Code      string // why it was rejected
}

// Payload renders the record.
func (r TokenRecord) Payload() (json.RawMessage, error) {
	c := cutter{room: 1 << 10}
	return payload("a token", struct {
		Token     string           `json:"token_hash,omitempty"`
		Operation string           `json:"operation"`
		Danger    interlock.Danger `json:"danger"`
		Code      string           `json:"code,omitempty"`
		Cut       []cutWire        `json:"truncated,omitempty"`
	}{r.Token, c.text("operation", r.Operation), r.Danger, r.Code, c.cut})
}

// A SettledRecord is a question that was answered in the harness which had put it to its own user.
type SettledRecord struct{ Request interlock.ApprovalRequest }

// Payload renders the record.
func (r SettledRecord) Payload() (json.RawMessage, error) {
	var how interlock.SettledBy
	if r.Request.Settled != nil {
		how = r.Request.Settled.How
	}
	return payload("a settled request", struct {
		Request string              `json:"request"`
		Action  interlock.Digest    `json:"action"`
		Result  interlock.SettledBy `json:"result"`
	}{r.Request.ID, r.Request.Action, how})
}
