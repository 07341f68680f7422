package auditlog

import (
	"encoding/json"

	"interlock"
)

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
