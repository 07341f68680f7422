package auditlog

import (
	"encoding/json"
	"fmt"

	"interlock"
)

// A JudgeAskedRecord is that judges are asked, and what was taken from their budgets for it.
type JudgeAskedRecord struct {
	Class   string                 `json:"class"` // of what is done
	Subject interlock.JudgeSubject `json:"subject"`
	Judges  []JudgeReserved        `json:"judges"`
}

// A JudgeReserved is the most that asking one judge can cost, in millionths of one unit of a currency.
type JudgeReserved struct {
	Judge    string `json:"judge"`
	Most     int64  `json:"most"`
	Currency string `json:"currency"`
}

func (r JudgeAskedRecord) Payload() (json.RawMessage, error) {
	return payload("that judges are asked", &r)
}

// A JudgeTestedRecord is what came of testing a judge.
type JudgeTestedRecord struct {
	Judge   interlock.JudgeIdentity `json:",inline"`
	Passed  bool                    `json:"passed"`
	Failure interlock.JudgeFailure  `json:"failure,omitempty"`
	Reason  string                  `json:"reason,omitempty"` // redacted
}

func (r JudgeTestedRecord) Payload() (json.RawMessage, error) {
	return payload("that a judge was tested", &r)
}

// A JudgedAfterRecord is what a judge said of an action after it was let through, and what came of that. Its event is in the run
// of the action.
type JudgedAfterRecord struct {
	Event     string               `json:"event"` // of the decision that it is about
	Action    interlock.Digest     `json:"action"`
	Class     string               `json:"class"`
	Result    string               `json:"result"`         // allow, deny, or unheard where nobody could be heard in time
	Judgments []interlock.Judgment `json:"judgments"`      // redacted
	Held      string               `json:"held,omitempty"` // what is held for it, such as run:r1; empty: nothing
	// what would have to be undone; nil where it is allowed, or the log could not be read
	Undo *UndoProposed `json:"undo,omitempty"`
	truncated
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
	r.Judgments = c.judgments(r.Judgments)
	if r.Undo != nil {
		undo := *r.Undo
		undo.How = c.text("undo.how", undo.How)
		r.Undo = &undo
	}
	r.Cut = c.cut
	return payload("what a judge said afterwards", &r)
}

// Revokes reports whether what was allowed is taken back.
func (r JudgedAfterRecord) Revokes() bool { return r.Result != JudgedAllow }

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
	GroundRules interlock.Digest `json:"ground_rules"`     // of all of them, as a judge is sent them
	Before      interlock.Digest `json:"before,omitempty"` // of those of before; empty where nothing is known of any
	Added       interlock.Digest `json:"added,omitempty"`  // of what the operator adds to those that ship; empty: nothing
	Order       *interlock.Order `json:"order,omitempty"`  // redacted; nil where a process began with them
	// of a start: id of the event by whose order they are what they are; empty: they are the file's
	Ordered string `json:"ordered_by,omitempty"`
}

func (r GroundRulesRecord) Payload() (json.RawMessage, error) { return payload("ground rules", &r) }

// GroundRulesOf reads the record of an event that its log's key has signed.
func GroundRulesOf(e Event) (r GroundRulesRecord, err error) {
	if e.Type != interlock.EventGroundRules {
		return r, fmt.Errorf("auditlog: a %s event holds no ground rules", e.Type)
	}
	if err := json.Unmarshal(e.Payload, &r); err != nil {
		return r, fmt.Errorf("auditlog: read the ground rules: %w", err)
	}
	return r, nil
}
