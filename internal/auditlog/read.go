package auditlog

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

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
	if !IsDecision(e.Type) || OfText(&e) {
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
		Uses: wire.Uses, Commits: wire.Commits, Plan: wire.Plan, Basis: wire.Basis, Accountable: wire.Accountable,
		Judgments: wire.Judgments,
	}}
	for _, cut := range wire.Cut {
		decided.Cut = append(decided.Cut, Cut(cut))
	}
	return decided, nil
}

// Read reads what an event holds into a value, for callers that need a few members of it.
func Read(e interlock.Entry, into any) (Event, error) {
	event, err := ParseEvent(e.Body)
	if err != nil {
		return event, fmt.Errorf("auditlog: read the event: %w", err)
	}
	if err := json.Unmarshal(event.Payload, into); err != nil {
		return event, fmt.Errorf("auditlog: read the payload of a %s: %w", e.Type, err)
	}
	return event, nil
}

// readOf reads what an entry of one of some types holds. Of any other it says what that lacks.
func readOf[T any](e interlock.Entry, lacks string, kinds ...interlock.EventType) (r T, event Event, err error) {
	if !slices.Contains(kinds, e.Type) {
		return r, event, fmt.Errorf("auditlog: a %s event %s", e.Type, lacks)
	}
	event, err = Read(e, &r)
	return r, event, err
}

// ApprovalOf reads a human's answer and the request it answered back from its entry. Any other entry is an error.
func ApprovalOf(e interlock.Entry) (interlock.ApprovalRequest, interlock.Approval, error) {
	r, _, err := readOf[ApprovalRecord](e, "holds no answer", interlock.EventApproval)
	return r.Request, r.Approval, err
}

// ProbesOf reads back from its entry which questions with seeded errors were put, and when. Any other entry is an error.
func ProbesOf(e interlock.Entry) (requests []string, at time.Time, err error) {
	r, event, err := readOf[ProbeRecord](e, "holds no probes", interlock.EventProbe)
	return r.Requests, event.Recorded, err
}

// UsesOf returns what the action of a decision took from limits and when, as the decision's own event says.
func UsesOf(e interlock.Entry) (uses []interlock.Taken, at time.Time, err error) {
	var wire struct {
		Uses []interlock.Taken `json:"uses"`
	}
	event, err := Read(e, &wire)
	return wire.Uses, event.Recorded, err
}
