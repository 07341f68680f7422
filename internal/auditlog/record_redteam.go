package auditlog

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"interlock"
)

// A RedteamRecord is what came of attacks that were made out of a number (MACE 9.2). It names the failures by their numbers: with the
// seed they are made again, and no attack that works stands in the log.
type RedteamRecord struct {
	Seed      uint64
	Grammar   int // the version of what makes attacks out of numbers
	Cases     int
	Family    string // the only one that was tried; empty: all
	Where     string // throw-away or live
	Profile   string
	Rules     interlock.Digest
	Version   string // of the program
	Scheduled bool   // by the settings and not by a person
	Passed    bool
	Families  []RedteamCount
	Allowed   []int // numbers of the cases whose attack was allowed, the first of them
	Stopped   []int // and of those whose harmless twin was stopped
}

// A RedteamCount is what came of one family of attacks.
type RedteamCount struct {
	Family  string `json:"family"`
	Cases   int    `json:"cases"`
	Stopped int    `json:"stopped"`
	Twins   int    `json:"twins_passed"`
	Held    bool   `json:"held"`
}

// Payload renders the record. The seed is a text: not every reader keeps numbers of that size.
func (r RedteamRecord) Payload() (json.RawMessage, error) {
	return payload("what a red team found", struct {
		Seed      string           `json:"seed"`
		Grammar   int              `json:"grammar"`
		Cases     int              `json:"cases"`
		Family    string           `json:"family,omitempty"`
		Where     string           `json:"where"`
		Profile   string           `json:"profile"`
		Rules     interlock.Digest `json:"rules"`
		Version   string           `json:"version"`
		Scheduled bool             `json:"scheduled"`
		Passed    bool             `json:"passed"`
		Families  []RedteamCount   `json:"families"`
		Allowed   []int            `json:"allowed"`
		Stopped   []int            `json:"stopped"`
	}{strconv.FormatUint(r.Seed, 10), r.Grammar, r.Cases, r.Family, r.Where, r.Profile, r.Rules, r.Version, r.Scheduled, r.Passed,
		list(r.Families), list(r.Allowed), list(r.Stopped)})
}

// RedteamOf reads back from its entry what a red team found: the seed, whether it passed and whether the settings had it run; and when.
// Any other entry is an error.
func RedteamOf(e interlock.Entry) (r RedteamRecord, at time.Time, err error) {
	if e.Type != interlock.EventRedteam {
		return r, at, fmt.Errorf("auditlog: a %s event holds no red-team report", e.Type)
	}
	event, err := ParseEvent(e.Body)
	if err != nil {
		return r, at, fmt.Errorf("auditlog: read the event: %w", err)
	}
	var wire struct {
		Seed      uint64 `json:"seed,string"`
		Cases     int    `json:"cases"`
		Passed    bool   `json:"passed"`
		Scheduled bool   `json:"scheduled"`
	}
	if err := json.Unmarshal(event.Payload, &wire); err != nil {
		return r, at, fmt.Errorf("auditlog: read the red-team report: %w", err)
	}
	return RedteamRecord{Seed: wire.Seed, Cases: wire.Cases, Passed: wire.Passed, Scheduled: wire.Scheduled}, event.Recorded, nil
}

// list is what an empty list is written as.
func list[T any](of []T) []T {
	if of == nil {
		return []T{}
	}
	return of
}
