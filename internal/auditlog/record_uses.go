package auditlog

import (
	"encoding/json"
	"fmt"
	"time"

	"interlock"
)

// UsesOf returns what the action of a decision took from limits and when, as the decision's own event says.
func UsesOf(e interlock.Entry) (uses []interlock.Taken, at time.Time, err error) {
	event, err := ParseEvent(e.Body)
	if err != nil {
		return nil, at, fmt.Errorf("auditlog: read the event: %w", err)
	}
	var wire struct {
		Uses []interlock.Taken `json:"uses"`
	}
	if err := json.Unmarshal(event.Payload, &wire); err != nil {
		return nil, at, fmt.Errorf("auditlog: read what a decision took: %w", err)
	}
	return wire.Uses, event.Recorded, nil
}
