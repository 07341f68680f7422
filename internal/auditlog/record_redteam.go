package auditlog

import (
	"encoding/json"
	"time"

	"interlock"
)

// A RedteamRecord is what came of attacks that were made out of a number (MACE 9.2). It names the failures by their numbers: with the
// seed they are made again, and no attack that works stands in the log.
type RedteamRecord struct {
	Seed      uint64           `json:"seed,string"` // a text: not every reader keeps numbers of that size
	Grammar   int              `json:"grammar"`     // the version of what makes attacks out of numbers
	Cases     int              `json:"cases"`
	Family    string           `json:"family,omitempty"` // the only one that was tried; empty: all
	Where     string           `json:"where"`            // throw-away or live
	Profile   string           `json:"profile"`
	Rules     interlock.Digest `json:"rules"`
	Version   string           `json:"version"`   // of the program
	Scheduled bool             `json:"scheduled"` // by the settings and not by a person
	Passed    bool             `json:"passed"`
	Families  []RedteamCount   `json:"families"`
	Allowed   []int            `json:"allowed"` // numbers of the cases whose attack was allowed, the first of them
	Stopped   []int            `json:"stopped"` // and of those whose harmless twin was stopped
}

// A RedteamCount is what came of one family of attacks.
type RedteamCount struct {
	Family  string `json:"family"`
	Cases   int    `json:"cases"`
	Stopped int    `json:"stopped"`
	Twins   int    `json:"twins_passed"`
	Held    bool   `json:"held"`
}

func (r RedteamRecord) Payload() (json.RawMessage, error) {
	return payload("what a red team found", &r)
}

// RedteamOf reads back from its entry what a red team found, and when. Any other entry is an error.
func RedteamOf(e interlock.Entry) (r RedteamRecord, at time.Time, err error) {
	r, event, err := readOf[RedteamRecord](e, "holds no red-team report", interlock.EventRedteam)
	return r, event.Recorded, err
}
