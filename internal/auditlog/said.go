package auditlog

import (
	"encoding/json"

	"interlock"
	"interlock/internal/ledger"
)

// Said are the rows beside the log that an entry says were written with it, as far as it says all of them: people and agents, grants,
// suppressions, settings, and that orders were carried out. An agent's token and what was redacted the log does not say; whether a row
// is the one that was there is for its proof to tell.
func Said(e interlock.Entry) []ledger.Row {
	switch e.Type {
	case interlock.EventIdentity, interlock.EventGrant, interlock.EventSuppression, interlock.EventRuleset, interlock.EventMode,
		interlock.EventTrust, interlock.EventPin, interlock.EventUnblocked, interlock.EventPromotion, interlock.EventIncident,
		interlock.EventHaltClear, interlock.EventKill, interlock.EventKillRelease, interlock.EventPhase, interlock.EventRootCause, interlock.EventSeconded,
		interlock.EventBreaker, interlock.EventBreakerReset:
	default:
		return nil
	}
	event, err := ParseEvent(e.Body)
	if err != nil {
		return nil
	}
	var says struct {
		Agent       json.RawMessage `json:"agent"` // a record here, a name elsewhere
		Operator    json.RawMessage `json:"operator"`
		Order       *interlock.Order
		Grant       *interlock.Grant
		Suppression *interlock.Suppression
		After       json.RawMessage `json:"after"` // settings here, a level elsewhere
	}
	if json.Unmarshal(event.Payload, &says) != nil {
		return nil
	}
	var values []any
	var agent interlock.AgentRecord
	if json.Unmarshal(says.Agent, &agent) == nil && agent.ID != "" {
		values = append(values, agent)
	}
	var operator interlock.OperatorRecord
	if json.Unmarshal(says.Operator, &operator) == nil && operator.Name != "" {
		values = append(values, operator)
	}
	var orders []interlock.Order
	if says.Grant != nil {
		values, orders = append(values, *says.Grant), append(orders, says.Grant.Order())
	}
	if says.Suppression != nil {
		values, orders = append(values, *says.Suppression), append(orders, says.Suppression.Order())
	}
	if says.Order != nil {
		orders = append(orders, *says.Order)
	}
	rows := ledger.Rows(values...)
	for _, o := range orders {
		if o.Statement != "" {
			rows = append(rows, ledger.Once(o))
		}
	}
	var settings map[string]string
	if json.Unmarshal(says.After, &settings) == nil {
		rows = append(rows, ledger.Settings(settings)...)
	}
	var whole []ledger.Row
	for _, r := range rows {
		if put, err := ledger.Put(r.Kind, r.Key, r.Value); err == nil {
			whole = append(whole, put)
		}
	}
	return whole
}
