package auditlog

import (
	"encoding/json"
	"time"

	"interlock"
)

// dangerWire is the audit entry that MCP-AQL asks of every attempt from destructive upwards (danger levels 7.4). It stands in
// the decision's own event, beside everything else that is recorded of it.
type dangerWire struct {
	Timestamp  string          `json:"timestamp"`
	Adapter    string          `json:"adapter_name"`
	Operation  string          `json:"operation"`
	Level      int             `json:"danger_level"` // 0 to 4, as danger levels 2.1 number them
	Trust      interlock.Trust `json:"adapter_trust"`
	Outcome    string          `json:"outcome"`                      // allowed, confirmed or denied
	Token      string          `json:"confirmation_token,omitempty"` // id of the request or grant by which a human confirmed it
	User       string          `json:"user_id,omitempty"`
	Parameters json.RawMessage `json:"parameters,omitempty"` // redacted
}

// danger makes the entry. What waits for a human is denied until one has answered; the retry that passes then is confirmed.
func (r DecisionRecord) danger(c *cutter, user string) *dangerWire {
	p, d := r.Proposal, r.Decision
	entry := &dangerWire{Timestamp: r.At.UTC().Format(time.RFC3339Nano), Adapter: c.text("adapter_name", p.Requester.Agent),
		Operation: c.text("operation", operation(p.Action, d)), Level: int(d.Danger), Trust: r.Trust, Outcome: "denied", User: user,
		Parameters: c.object("parameters", p.Action.Arguments)}
	if d.Answer.Allowed() {
		entry.Outcome = "allowed"
		if entry.Token = d.Approval; entry.Token == "" {
			entry.Token = d.Grant
		}
		if entry.Token != "" {
			entry.Outcome = "confirmed"
		}
	}
	return entry
}

// operation names what was attempted: the tool, or the command that has the first impact.
func operation(action interlock.Action, d interlock.Decision) string {
	if action.Kind.TakesObject() && action.Tool != "" {
		return action.Tool
	}
	for i := range d.Impacts {
		if via := d.Impacts[i].Via; via != "" {
			return via
		}
	}
	return string(action.Kind)
}
