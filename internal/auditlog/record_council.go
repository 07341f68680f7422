package auditlog

import (
	"encoding/json"

	"interlock"
)

// An ActionRecord says that somebody asks for an act of governance, how somebody voted on it, or what has become of it.
type ActionRecord struct {
	Request     string                   `json:"request_id"` // its id
	Action      interlock.GovernedAction `json:"action"`
	Digest      interlock.Digest         `json:"action_digest"`
	Class       int                      `json:"class"`
	Approval    string                   `json:"required_approval_type"` // the required_approval_type
	From        interlock.ActionStatus   `json:"from,omitempty"`
	To          interlock.ActionStatus   `json:"status,omitempty"` // where it went from one status to another
	Why         string                   `json:"why,omitempty"`    // of a terminal status, or the justification; redacted
	Origin      string                   `json:"origin,omitempty"`
	Asks        *interlock.Requester     `json:"requester,omitempty"`
	Evidence    []string                 `json:"evidence,omitempty"`
	Roster      []interlock.Elector      `json:"roster,omitempty"`
	Hash        interlock.Digest         `json:"roster_hash,omitempty"`
	Quorum      int                      `json:"quorum,omitempty"`
	Display     interlock.Digest         `json:"display_digest,omitempty"`
	Vote        string                   `json:"vote,omitempty"`
	Approve     int                      `json:"approve"`
	Reject      int                      `json:"reject"`
	Abstain     int                      `json:"abstain"`
	Outstanding int                      `json:"outstanding"`

	Overrides string            `json:"override_id,omitempty"` // the override that a review is of
	Signers   []interlock.Order `json:"signers,omitempty"`     // of an emergency override, each with its own signature
	Order     *interlock.Order  `json:"order,omitempty"`       // redacted
}

func (r ActionRecord) Payload() (json.RawMessage, error) { return payload("an action request", &r) }

// withoutVotes is a ballot as it is told with something else: each vote stands in an event of its own.
func withoutVotes(b *interlock.Ballot) *interlock.Ballot {
	if b == nil {
		return nil
	}
	told := *b
	told.Votes = nil
	return &told
}
