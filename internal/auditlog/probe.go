package auditlog

import (
	"encoding/json"
	"fmt"
	"time"

	"interlock"
)

// ProbesOf reads back from its entry which questions with seeded errors were put, and when. Any other entry is an error.
func ProbesOf(e interlock.Entry) (requests []string, at time.Time, err error) {
	if e.Type != interlock.EventProbe {
		return nil, at, fmt.Errorf("auditlog: a %s event holds no probes", e.Type)
	}
	event, err := ParseEvent(e.Body)
	if err != nil {
		return nil, at, fmt.Errorf("auditlog: read the event: %w", err)
	}
	var wire struct {
		Requests []string `json:"requests"`
	}
	if err := json.Unmarshal(event.Payload, &wire); err != nil {
		return nil, at, fmt.Errorf("auditlog: read the probes: %w", err)
	}
	return wire.Requests, event.Recorded, nil
}
