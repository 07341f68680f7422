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

// A JudgedAfterRecord is what a judge said of an action after it was let through, and what came of that. Its event stands in the run
// of the action.
type JudgedAfterRecord struct {
	Event     string // of the decision that it is about
	Action    interlock.Digest
	Class     string
	Result    string               // allow, deny, or unheard where nobody could be heard in time
	Judgments []interlock.Judgment // redacted
	Held      string               // what is held for it, such as run:r1; empty: nothing
	Undo      *UndoProposed        // what would have to be undone; nil where it is allowed, or the log could not be read
}

// An UndoProposed is what would have to be undone of an action, as it was worked out at that moment. An admin's order begins it.
type UndoProposed struct {
	Plan   interlock.Digest `json:"plan"`
	Size   int64            `json:"log_size"`
	Steps  int              `json:"steps"`
	Open   int              `json:"by_person"` // of them by a person
	Agents []string         `json:"agents"`    // at most 16
	How    string           `json:"how,omitempty"`
}

// The results of a judgment afterwards.
const (
	JudgedAllow   = "allow"
	JudgedDeny    = "deny"
	JudgedUnheard = "unheard"
)

// Payload renders the record.
func (r JudgedAfterRecord) Payload() (json.RawMessage, error) {
	c := cutter{room: 1 << 10}
	judgments := c.judgments(r.Judgments)
	if r.Undo != nil {
		undo := *r.Undo
		undo.How = c.text("undo.how", undo.How)
		r.Undo = &undo
	}
	return payload("what a judge said afterwards", struct {
		Event     string               `json:"event"`
		Action    interlock.Digest     `json:"action"`
		Class     string               `json:"class"`
		Result    string               `json:"result"`
		Judgments []interlock.Judgment `json:"judgments"`
		Held      string               `json:"held,omitempty"`
		Undo      *UndoProposed        `json:"undo,omitempty"`
		Cut       []cutWire            `json:"truncated,omitempty"`
	}{r.Event, r.Action, r.Class, r.Result, judgments, r.Held, r.Undo, c.cut})
}

// A JudgedAfter is such an event read back.
type JudgedAfter struct {
	Event     string               `json:"event"`
	Class     string               `json:"class"`
	Result    string               `json:"result"`
	Judgments []interlock.Judgment `json:"judgments"`
	Held      string               `json:"held"`
	Undo      *UndoProposed        `json:"undo"`
}

// Revokes reports whether what was allowed is taken back.
func (j JudgedAfter) Revokes() bool { return j.Result != JudgedAllow }

// HeardBefore reports whether a judge was heard of what these judgments are about, and objected to nothing, before it was done.
func HeardBefore(said []interlock.Judgment) bool {
	for n := range said {
		if said[n].Failure != "" || said[n].Verdict != interlock.Allow {
			return false
		}
	}
	return len(said) > 0
}

// Spared is why nobody was heard before an action that passed: it is owed, or it was not drawn; empty where neither is so.
func Spared(said []interlock.Judgment) interlock.JudgeFailure {
	for n := range said {
		if said[n].Failure.Spares() {
			return said[n].Failure
		}
	}
	return ""
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
