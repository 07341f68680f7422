package auditlog

import (
	"encoding/json"

	"interlock"
)

// An InstalledRecord says what `install` registered with a harness, so that a registration that is gone, changed or led elsewhere is
// found by whoever looks.
type InstalledRecord struct {
	Harness  string             `json:"harness"`
	Settings string             `json:"settings"`           // the file it is registered in
	Project  string             `json:"project,omitempty"`  // whose settings they are; empty: the user's
	Removed  bool               `json:"removed,omitempty"`  // it was taken out
	Again    bool               `json:"again,omitempty"`    // files were written anew since, and it stands as before
	Mark     string             `json:"mark"`               // what tells without reading the settings that they are as they were
	Lines    []string           `json:"lines"`              // event and command line
	Problems []string           `json:"problems,omitempty"` // what kept it from running then
	Programs []InstalledProgram `json:"programs"`
	User     string             `json:"user,omitempty"`
}

// An InstalledProgram is a program that a registration runs.
type InstalledProgram struct {
	Path   string           `json:"path"`
	Digest interlock.Digest `json:"digest"`
	Mark   string           `json:"mark"`
}

// Payload renders the record.
func (r InstalledRecord) Payload() (json.RawMessage, error) { return payload("what was installed", r) }

// InstalledOf reads such an entry back.
func InstalledOf(e interlock.Entry) (InstalledRecord, error) {
	r, _, err := readOf[InstalledRecord](e, "tells of no installation", interlock.EventInstalled)
	return r, err
}

// AlertOf reads an alert's kind and message; empty where the entry is none.
func AlertOf(e interlock.Entry) (code, message string) {
	r, _, err := readOf[AlertRecord](e, "is no alert", interlock.EventAlert)
	if err != nil {
		return "", ""
	}
	return r.Code, r.Message
}
