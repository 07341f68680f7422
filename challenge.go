package interlock

import "time"

// A ChallengeKind says what a [Challenge] holds back.
type ChallengeKind string

// The kinds of challenge.
const (
	ChallengeVerify ChallengeKind = "verify" // the agent's further steps pause until the code is given or has expired
	ChallengeBlock  ChallengeKind = "block"  // the agent may do nothing until the code is given or an admin lifts the block
)

// A Challenge is a question that only a code answers which reaches a human outside the agent's view. It binds the agent's
// identity, Requester.Agent and Requester.Principal: no other name, connection or run escapes it.
//
// The code itself is nowhere in it. A challenge without a code in force stays what it is until an operator has a new code
// issued or lifts it.
type Challenge struct {
	ID        string        `json:"id"` // UUIDv4
	Kind      ChallengeKind `json:"kind"`
	Requester Requester     `json:"requester"`
	Action    Digest        `json:"action_digest"`
	Ruleset   Digest        `json:"ruleset_digest"`
	Display   string        `json:"display"` // the redacted action, as an approver is shown it
	Rule      string        `json:"rule"`    // of the decisive finding
	Reason    string        `json:"reason"`
	Request   string        `json:"request,omitempty"` // the approval request that a right code answers, of a verify challenge
	Created   time.Time     `json:"created"`

	CodeHash string    `json:"code_hash,omitempty"` // SHA-256 of the code in force; empty: burned, or none was issued
	Issued   time.Time `json:"issued,omitzero"`     // when the code was
	Expires  time.Time `json:"expires,omitzero"`    // the code, not the block
	Channels []string  `json:"channels,omitempty"`  // that took the code
	Order    string    `json:"order,omitempty"`     // id of the order by which an operator had it issued

	Ended   time.Time `json:"ended,omitzero"`    // a challenge that has ended is no longer in force
	Outcome string    `json:"outcome,omitempty"` // how it ended: passed, lifted, answered or expired
	By      string    `json:"by,omitempty"`      // operator who ended it
}

// Binds reports whether the challenge is about this requester.
func (c Challenge) Binds(r Requester) bool {
	return c.Requester.Agent == r.Agent && c.Requester.Principal == r.Principal
}

// Blocks reports whether the challenge forbids everything to this requester.
func (c Challenge) Blocks(r Requester) bool {
	return c.Kind == ChallengeBlock && c.Ended.IsZero() && c.Binds(r)
}
