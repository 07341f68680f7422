package auditlog

import "encoding/json"

// An IntegritySummary says what a check of the whole log, and of what stands beside it, has found (MACE 10).
type IntegritySummary struct {
	Day       string   `json:"day"`                // on which it was made, in UTC, as 2006-01-02
	From      int64    `json:"from_size"`          // entries that the check before this one covered; 0 for the first
	To        int64    `json:"to_size"`            // entries that it covers
	Root      string   `json:"root"`               // of the tree over those, "sha256:" and hex
	Heads     int64    `json:"checkpoints_sound"`  // signed heads held against the tree
	Events    int64    `json:"events_sound"`       // entries that are what was sealed, in their place
	Signed    int64    `json:"signatures_sound"`   // events whose own signature holds
	Snapshots int      `json:"snapshots_sound"`    // declared snapshots that the store holds as they were declared
	Failures  []string `json:"failures,omitempty"` // what is wrong, each in a sentence; none: everything is sound
}

// Payload renders the record.
func (r IntegritySummary) Payload() (json.RawMessage, error) { return payload("a check of the log", r) }
