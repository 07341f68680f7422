package auditlog

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"interlock"
	"interlock/internal/strictjson"
)

// CloudEvent renders an entry as a CloudEvents 1.0 event in JSON format. origin is the log's origin. The event itself is
// the data; the sequence extension orders the log as text.
func CloudEvent(e interlock.Entry, origin string) (json.RawMessage, error) {
	event, err := ParseEvent(e.Body)
	if err != nil {
		return nil, fmt.Errorf("auditlog: entry %d: %w", e.Index, err)
	}
	kind := strings.ReplaceAll(strings.ToLower(string(event.Type)), "_", ".")
	return strictjson.Marshal(map[string]any{
		"specversion": "1.0", "id": event.ID, "source": "/log/" + origin, "type": "interlock." + kind + ".v1",
		"subject": event.Actor, "time": event.Recorded.Format(recordedLayout), "datacontenttype": "application/json",
		"sequence": fmt.Sprintf("%020d", e.Index), "data": json.RawMessage(e.Body),
	})
}

// OCSF class and category numbers, schema 1.8.0.
const (
	ocsfVersion     = "1.8.0"
	ocsfAPIActivity = 6003
	ocsfCategory    = 6 // application activity
)

// OCSF renders an entry as an OCSF 1.8.0 API Activity event (class 6003). What has no place in that schema is put under
// unmapped, the exact event included, so nothing is lost in translation.
func OCSF(e interlock.Entry, origin string) (json.RawMessage, error) {
	event, err := ParseEvent(e.Body)
	if err != nil {
		return nil, fmt.Errorf("auditlog: entry %d: %w", e.Index, err)
	}
	var content struct {
		User     string             `json:"user"`
		Proposed proposedWire       `json:"proposed"`
		Final    *interlock.Verdict `json:"final_decision"`
		Gate1    gateWire           `json:"gate_1"`
		Outcome  string             `json:"outcome"`
		Reason   string             `json:"reason"`
	}
	if err := json.Unmarshal(event.Payload, &content); err != nil {
		return nil, errors.New("auditlog: the payload is not an object")
	}
	const activityOther = 99
	operation := string(event.Type)
	if content.Proposed.Payload.Kind != "" {
		operation = string(content.Proposed.Payload.Kind)
		if tool := content.Proposed.Payload.Tool; tool != "" {
			operation += ":" + tool
		}
	}
	user := content.User
	if user == "" {
		user = event.Actor
	}
	message := content.Gate1.Reason
	if message == "" {
		message = content.Reason
	}
	out := map[string]any{
		"class_uid": ocsfAPIActivity, "class_name": "API Activity", "category_uid": ocsfCategory,
		"category_name": "Application Activity", "activity_id": activityOther, "activity_name": string(event.Type),
		"type_uid": ocsfAPIActivity*100 + activityOther, "type_name": "API Activity: Other",
		"time": event.Recorded.UnixMilli(), "severity_id": ocsfSeverity(event.Type, content.Final),
		"metadata": map[string]any{
			"version": ocsfVersion, "uid": event.ID, "sequence": e.Index, "correlation_uid": event.Seed, "log_name": origin,
			"profiles": []string{"security_control"},
			"product":  map[string]any{"name": "Interlock", "vendor_name": "Interlock"},
		},
		"actor":        map[string]any{"app_name": event.Actor, "user": map[string]any{"name": user}},
		"api":          map[string]any{"operation": operation},
		"src_endpoint": map[string]any{"name": event.Actor},
		"unmapped":     map[string]any{"event": json.RawMessage(e.Body)},
	}
	if message != "" {
		out["message"] = message
	}
	addDisposition(out, content.Final, content.Outcome)
	return strictjson.Marshal(out)
}

// ocsfSeverity is 1 informational, 2 low, 3 medium, 4 high.
func ocsfSeverity(kind interlock.EventType, final *interlock.Verdict) int {
	switch {
	case kind == interlock.EventAlert || kind == interlock.EventIntegrity || kind == interlock.EventIncident ||
		kind == interlock.EventHalt || kind == interlock.EventKill:
		return 4
	case final != nil && *final == interlock.Halt:
		return 4
	case final != nil && *final == interlock.Deny, kind == interlock.EventApprovalRefused:
		return 3
	case final != nil && *final == interlock.Ask:
		return 2
	default:
		return 1
	}
}

// addDisposition fills the security_control profile: action_id 1 allowed, 2 denied, 3 observed; disposition_id 1 allowed,
// 2 blocked, 14 delayed; and the status, 1 success, 2 failure, 0 unknown.
func addDisposition(out map[string]any, final *interlock.Verdict, outcome string) {
	out["status_id"], out["action_id"], out["disposition_id"] = 0, 3, 0
	switch outcome {
	case string(interlock.OutcomeSuccess):
		out["status_id"] = 1
	case string(interlock.OutcomeFailure):
		out["status_id"] = 2
	}
	if final == nil {
		return
	}
	switch *final {
	case interlock.Allow:
		out["action_id"], out["disposition_id"], out["status_id"] = 1, 1, 1
	case interlock.Ask:
		out["action_id"], out["disposition_id"] = 2, 14
	default:
		out["action_id"], out["disposition_id"], out["status_id"] = 2, 2, 2
	}
}
