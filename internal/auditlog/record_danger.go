package auditlog

import (
	"encoding/json"
	"time"

	"interlock"
)

// dangerWire is the audit entry that MCP-AQL asks of every attempt from destructive upwards (danger levels 7.4). It is in
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

// A UsageRecord is what was reported as used by an agent, and what that was charged to.
type UsageRecord struct {
	Run     string            `json:"run,omitempty"`
	Service string            `json:"service,omitempty"` // what reported it
	Used    []Used            `json:"used"`
	Charged []interlock.Taken `json:"charged,omitempty"` // to budgets
}

// A Used is how much of one measure was newly reported.
type Used struct {
	Measure  string `json:"measure"`
	Currency string `json:"currency,omitempty"`
	Amount   int64  `json:"amount"` // of money in millionths of its currency
	Source   string `json:"source"` // the metric, span or event that said it
}

func (r UsageRecord) Payload() (json.RawMessage, error) { return payload("reported usage", &r) }

// A BudgetRecord is that the use of a budget has reached a step of its ladder.
type BudgetRecord struct {
	Budget string   `json:"budget"`
	Step   string   `json:"step"`
	Share  int      `json:"share"` // from which the step holds, in percent
	Per    string   `json:"per"`
	Of     []string `json:"of,omitempty"`
	Used   int64    `json:"used"`
	Most   int64    `json:"most"`
	Money  string   `json:"currency,omitempty"`
}

// Payload renders the record.
func (r BudgetRecord) Payload() (json.RawMessage, error) { return payload("a budget", r) }

// A RateRecord says that a quota had no room for an action, and when it will have (MACE 7).
type RateRecord struct {
	Limit      string `json:"limit"`
	Per        string `json:"per"`     // for whom it is counted, e.g. "agent"
	Measure    string `json:"measure"` // what is counted
	Used       int64  `json:"used"`
	Room       int64  `json:"room"`
	Window     int64  `json:"window_seconds,omitempty"`      // 0: it is counted for ever
	RetryAfter int64  `json:"retry_after_seconds,omitempty"` // 0: time brings no room back
}

// Payload renders the record.
func (r RateRecord) Payload() (json.RawMessage, error) { return payload("a rate limit", r) }
