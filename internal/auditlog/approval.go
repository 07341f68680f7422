package auditlog

import (
	"encoding/json"
	"fmt"

	"interlock"
)

// ApprovalOf reads a human's answer and the request it answered back from its entry. Any other entry is an error.
func ApprovalOf(e interlock.Entry) (interlock.ApprovalRequest, interlock.Approval, error) {
	if e.Type != interlock.EventApproval {
		return interlock.ApprovalRequest{}, interlock.Approval{}, fmt.Errorf("auditlog: a %s event holds no answer", e.Type)
	}
	event, err := ParseEvent(e.Body)
	if err != nil {
		return interlock.ApprovalRequest{}, interlock.Approval{}, fmt.Errorf("auditlog: read the event: %w", err)
	}
	var wire struct {
		Request  interlock.ApprovalRequest `json:"request"`
		Approval interlock.Approval        `json:"approval"`
	}
	if err := json.Unmarshal(event.Payload, &wire); err != nil {
		return interlock.ApprovalRequest{}, interlock.Approval{}, fmt.Errorf("auditlog: read the answer: %w", err)
	}
	return wire.Request, wire.Approval, nil
}
