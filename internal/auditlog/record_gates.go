package auditlog

import (
	"encoding/json"
	"slices"

	"interlock"
)

// gates splits a decision into what the deterministic gates and what judges said (ASA 14.1).
func gates(d interlock.Decision, judgments []interlock.Judgment) (first, second gateWire) {
	second = gateWire{Result: "not_run", Reason: "no judge was asked"}
	result, judge := interlock.Allow, interlock.Allow
	judged, objected := len(judgments) > 0, false
	if judged {
		second = gateWire{Result: judge.String(), Reason: judgments[0].Reason}
	}
	if Spared(judgments) != "" { // which is no answer; where it did not count, a finding says so
		second, judged = gateWire{Result: "not_run", Reason: judgments[0].Reason}, false
	}
	for i := range d.Findings {
		f := &d.Findings[i]
		named := gateWire{Result: f.Verdict.String(), Rule: f.Rule, Layer: f.Layer, Reason: f.Reason}
		if f.Gate == judgeGate {
			if f.Verdict.Compare(judge) > 0 {
				judge, second = f.Verdict, named
			}
			judged = true
			continue
		}
		objected = true
		if f.Verdict.Compare(result) > 0 {
			result, first = f.Verdict, named
		}
	}
	if !objected && !judged {
		result = d.Verdict
	}
	switch {
	case judged:
	case d.Mode == interlock.Logging || d.Mode == interlock.Disabled:
		second.Reason = "no judge is asked in the mode " + d.Mode.String()
	case result.Compare(interlock.Deny) >= 0:
		second.Reason = "no judge was asked about what gate 1 denies"
	}
	first.Result = result.String()
	return first, second
}

// judgments are shortened where they speak; what says who judged, by what and at which price stays whole.
func (c *cutter) judgments(said []interlock.Judgment) []interlock.Judgment {
	out := slices.Clone(said)
	for n := range out {
		out[n].Reason, out[n].Rule = c.text("judgments.reason", out[n].Reason), c.text("judgments.rule_id", out[n].Rule)
	}
	return out
}

// DenyingGate says which of the two gates denied: 1 the deterministic one, 2 the judge, 0 neither. Where both did it is the first, as the
// second is not asked then.
func DenyingGate(d interlock.Decision) int {
	first, second := gates(d, nil)
	for n, g := range [...]gateWire{first, second} {
		if g.Result == interlock.Deny.String() || g.Result == interlock.Halt.String() {
			return n + 1
		}
	}
	return 0
}

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
	Signers   []interlock.Order `json:"signers,omitempty"`     // of an override, each with its own signature
	Order     *interlock.Order  `json:"order,omitempty"`       // redacted

	Sets *interlock.Suppression `json:"suppression,omitempty"` // of a safety override: what it sets aside, where and until when
}

func (r ActionRecord) Payload() (json.RawMessage, error) { return payload("an action request", &r) }

// withoutVotes is a ballot as it is told with something else: each vote is in an event of its own.
func withoutVotes(b *interlock.Ballot) *interlock.Ballot {
	if b == nil {
		return nil
	}
	told := *b
	told.Votes = nil
	return &told
}
