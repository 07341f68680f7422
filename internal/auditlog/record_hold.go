package auditlog

import (
	"encoding/json"
	"time"

	"interlock"
)

// An IntegrityRecord says what was found missing, or to be another than it was, and what it is on.
type IntegrityRecord struct {
	Held []string `json:"held"` // names of the holds that come of it
	Why  string   `json:"why"`
}

func (r IntegrityRecord) Payload() (json.RawMessage, error) {
	return payload("a failure of integrity", &r)
}

// A HoldRecord says that nothing is decided or made again under something from now on, or that this has ended, and by which order.
type HoldRecord struct {
	Name  string              `json:"hold"` // of the hold
	Cause interlock.EventType `json:"cause"`
	Why   string              `json:"why,omitempty"`
	Event string              `json:"found_by,omitempty"` // that found it; empty where an order reported it
	Order *interlock.Order    `json:"order,omitempty"`    // redacted; nil: it was found
}

func (r HoldRecord) Payload() (json.RawMessage, error) { return payload("a hold", &r) }

// A MendRecord says that what somebody else did beside the log was put right, as it was shown to who ordered it.
type MendRecord struct {
	Plan  interlock.Digest `json:"plan"`
	Order interlock.Order  `json:"order"` // redacted
}

func (r MendRecord) Payload() (json.RawMessage, error) { return payload("a mending", &r) }

// An AccessRecord says that an operator reads what is kept sealed. It is in the log before anything is opened.
type AccessRecord struct {
	Order interlock.Order `json:"order"` // redacted
}

func (r AccessRecord) Payload() (json.RawMessage, error) { return payload("an access", &r) }

// An IntegritySummary says what a check of the whole log, and of what is kept beside it, has found (MACE 10).
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

// A WatchedRecord says how far the log was looked at for what is unusual, and what came of it.
type WatchedRecord struct {
	From   int64 `json:"from"` // the first entry
	UpTo   int64 `json:"up_to"`
	Agents int   `json:"agents"` // about which something was recorded
	Alarms int   `json:"alarms"` // that were raised
}

// Payload renders the record.
func (r WatchedRecord) Payload() (json.RawMessage, error) { return payload("a look at the log", r) }

// A KillRecord says that everything is stopped from a time on, or that this has ended.
type KillRecord struct {
	Mode  string           `json:"mode"` // hard or graduated; proposed, where an observer asks for it
	Why   string           `json:"why,omitempty"`
	By    string           `json:"by,omitempty"` // who threw the switch, where no order says so
	Since time.Time        `json:"since"`
	Until time.Time        `json:"until,omitzero"`  // when what was proposed happens, unless an admin declines it
	Order *interlock.Order `json:"order,omitempty"` // redacted; nil: a machine, or somebody without a key

	Snapshot string `json:"snapshot,omitempty"` // the digest of what stood before, as a blob of the log
}

func (r KillRecord) Payload() (json.RawMessage, error) { return payload("a stop of everything", &r) }
