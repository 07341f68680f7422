package auditlog

import (
	"encoding/json"
	"fmt"

	"interlock"
)

// A WatchedRecord says how far the log was looked at for what is unusual, and what came of it.
type WatchedRecord struct {
	From   int64 `json:"from"` // the first entry
	UpTo   int64 `json:"up_to"`
	Agents int   `json:"agents"` // of which something was recorded
	Alarms int   `json:"alarms"` // that were raised
}

// Payload renders the record.
func (r WatchedRecord) Payload() (json.RawMessage, error) { return payload("a look at the log", r) }

// Read reads what an event holds into a value, for whoever needs a few members of it.
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
