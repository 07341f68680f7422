package auditlog

import (
	"encoding/json"

	"interlock"
)

// A ChallengeRecord is a challenge that began, had a code issued, or ended. The code's hash is left out: there is nothing to
// learn from it.
type ChallengeRecord struct {
	Challenge interlock.Challenge `json:"challenge"`
	Failed    []string            `json:"failed_channels,omitempty"` // channels that did not take the code, and why
	// by which an operator had a code issued again or the block ended
	Order *interlock.Order `json:"order,omitempty"`
	truncated
}

// Payload renders the record.
func (r ChallengeRecord) Payload() (json.RawMessage, error) {
	c := cutter{room: 8 << 10}
	r.Challenge.CodeHash = ""
	r.Challenge.Display, r.Challenge.Reason = c.text("display", r.Challenge.Display), c.text("reason", r.Challenge.Reason)
	r.Failed = short(r.Failed)
	r.Cut = c.cut
	return payload("a challenge", &r)
}

// A VerificationRecord is one answer to a challenge. What was answered is left out.
type VerificationRecord struct {
	Challenge string `json:"challenge"` // id, as the agent gave it
	Result    string `json:"result"`    // passed, wrong, expired, unknown or limited
	Reason    string `json:"reason,omitempty"`
	Failed    int    `json:"failed_in_window,omitempty"` // answers that failed within the window
	truncated
}

// Payload renders the record.
func (r VerificationRecord) Payload() (json.RawMessage, error) {
	c := cutter{room: 1 << 10}
	r.Challenge = c.text("challenge", r.Challenge)
	r.Reason = c.text("reason", r.Reason)
	r.Cut = c.cut
	return payload("a verification", &r)
}

// An ExecutionRecord is a monitored execution that changed its state.
type ExecutionRecord struct {
	Execution string `json:"execution"`
	Element   string `json:"element,omitempty"` // what the agent calls itself or its task
	State     string `json:"state"`             // running, paused, completed, failed or cancelled
	Steps     int    `json:"steps"`
	Reason    string `json:"reason,omitempty"` // redacted
	truncated
}

// Payload renders the record.
func (r ExecutionRecord) Payload() (json.RawMessage, error) {
	c := cutter{room: 4 << 10}
	r.Execution = c.text("execution", r.Execution)
	r.Element = c.text("element", r.Element)
	r.Reason = c.text("reason", r.Reason)
	r.Cut = c.cut
	return payload("an execution", &r)
}

// A GrantRecord is a standing grant as signed, or its end.
type GrantRecord struct {
	Grant interlock.Grant `json:"grant"`
	Ended string          `json:"ended,omitempty"` // why it ends; empty if it begins
}

func (r GrantRecord) Payload() (json.RawMessage, error) { return payload("a grant", &r) }

// A TrustRecord is an agent's trust that changed, and on what evidence.
type TrustRecord struct {
	Agent    string          `json:"agent"`
	Before   interlock.Trust `json:"before"`
	After    interlock.Trust `json:"after"`
	Operator string          `json:"operator,omitempty"` // who changed it; empty if it expired
	Evidence string          `json:"evidence,omitempty"`
	Until    string          `json:"until,omitempty"` // when a certificate expires, RFC 3339; empty: never
	truncated
}

// Payload renders the record.
func (r TrustRecord) Payload() (json.RawMessage, error) {
	c := cutter{room: 4 << 10}
	r.Evidence = c.text("evidence", r.Evidence)
	r.Cut = c.cut
	return payload("a change of trust", &r)
}

// A SessionRecord is an operator who came into the console, left it or was turned away.
type SessionRecord struct {
	Operator string `json:"operator,omitempty"`
	What     string `json:"what"` // entered, left, ended, refused or enrolled
	Reason   string `json:"reason,omitempty"`
	truncated
}

// Payload renders the record.
func (r SessionRecord) Payload() (json.RawMessage, error) {
	c := cutter{room: 1 << 10}
	r.Operator = c.text("operator", r.Operator)
	r.Reason = c.text("reason", r.Reason)
	r.Cut = c.cut
	return payload("a session", &r)
}

// A TokenRecord is a confirmation token that was issued, redeemed, rejected or revoked. The token is named by its hash.
type TokenRecord struct {
	Token     string           `json:"token_hash,omitempty"` // SHA-256 of the token
	Operation string           `json:"operation"`
	Danger    interlock.Danger `json:"danger"`
	Code      string           `json:"code,omitempty"` // why it was rejected
	truncated
}

// Payload renders the record.
func (r TokenRecord) Payload() (json.RawMessage, error) {
	c := cutter{room: 1 << 10}
	r.Operation = c.text("operation", r.Operation)
	r.Cut = c.cut
	return payload("a token", &r)
}

// A SettledRecord is a question that was answered in the harness which had put it to its own user.
type SettledRecord struct{ Request interlock.ApprovalRequest }

// Payload renders the record.
func (r SettledRecord) Payload() (json.RawMessage, error) {
	var how interlock.SettledBy
	if r.Request.Settled != nil {
		how = r.Request.Settled.How
	}
	return payload("a settled request", &struct {
		Request string              `json:"request"`
		Action  interlock.Digest    `json:"action"`
		Result  interlock.SettledBy `json:"result"`
	}{r.Request.ID, r.Request.Action, how})
}
