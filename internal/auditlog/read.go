package auditlog

import (
	"encoding/json"
	"fmt"

	"interlock"
)

// A Decided is a decision's event read back: what [DecisionRecord] wrote, and the event around it. Of the proposal's view
// only the workspace was recorded.
type Decided struct {
	DecisionRecord
	Event     Event
	User      string
	Execution string // "awaited" or "not_run"
	Cut       []Cut  // what was too long for the record
}

// A Cut names a value that the record holds in part, and the whole of it.
type Cut struct {
	Field  string
	Bytes  int
	Digest string
	Items  int
}

// IsDecision reports whether events of a type hold a decision.
func IsDecision(kind interlock.EventType) bool {
	switch kind {
	case interlock.EventDecision, interlock.EventBlock, interlock.EventReviewRequest:
		return true
	default:
		return false
	}
}

// ReadDecision reads a decision's entry back. Any other entry is an error.
func ReadDecision(e interlock.Entry) (Decided, error) {
	if !IsDecision(e.Type) {
		return Decided{}, fmt.Errorf("auditlog: a %s event holds no decision", e.Type)
	}
	event, err := ParseEvent(e.Body)
	if err != nil {
		return Decided{}, fmt.Errorf("auditlog: read the event: %w", err)
	}
	var wire decisionWire
	if err := json.Unmarshal(event.Payload, &wire); err != nil {
		return Decided{}, fmt.Errorf("auditlog: read the decision: %w", err)
	}
	decided := Decided{Event: event, User: wire.User, Execution: wire.Execution.Status, DecisionRecord: DecisionRecord{
		Proposal: interlock.Proposal{Action: wire.Proposed.Payload, Requester: wire.Requester,
			View:  interlock.View{Workspace: wire.Workspace},
			Event: wire.Carrier, Door: wire.Door, Uses: wire.Used},
		Decision: wire.Decision, Request: wire.Request, Recent: wire.Recent, Orders: wire.Orders,
		Grants: wire.Grants, Loop: wire.Loop, Upstream: wire.Upstream, Failed: wire.Failed, Origin: wire.Origin, Pin: wire.Pin, Canary: wire.Canary,
		Judgments: wire.Judgments, Uses: wire.Uses, Commits: wire.Commits, Plan: wire.Plan, Basis: wire.Basis, Accountable: wire.Accountable,
	}}
	for _, cut := range wire.Cut {
		decided.Cut = append(decided.Cut, Cut(cut))
	}
	return decided, nil
}
