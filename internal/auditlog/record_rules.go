package auditlog

import (
	"encoding/json"
	"errors"
	"slices"
	"time"

	"interlock"
)

// A ShadowRecord says that a ruleset decides beside the one in force, or no more.
type ShadowRecord struct {
	Step      string           `json:"step"`    // begun, stopped
	Ruleset   interlock.Digest `json:"ruleset"` // of the candidate
	InForce   interlock.Digest `json:"in_force"`
	Documents interlock.Digest `json:"documents,omitempty"` // of the operator's rules in it
	Until     time.Time        `json:"until,omitzero"`
}

func (r ShadowRecord) Payload() (json.RawMessage, error) { return payload("a shadow ruleset", &r) }

// A PromotionRecord is an operator's order that a candidate be the ruleset in force.
type PromotionRecord struct {
	Order     interlock.Order  `json:"order"` // redacted
	Documents interlock.Digest `json:"documents"`
	Tier      int              `json:"tier,omitempty"` // MASO's, of those rules
}

func (r PromotionRecord) Payload() (json.RawMessage, error) {
	return payload("a promotion of rules", &r)
}

// A ReplayRequestRecord says that recorded decisions are to be made again, on whose orders. It is in the log before they are.
type ReplayRequestRecord struct {
	Mode   string            `json:"mode"`
	What   string            `json:"what"`
	Orders []interlock.Order `json:"orders"` // redacted
}

func (r ReplayRequestRecord) Payload() (json.RawMessage, error) { return payload("a replay", &r) }

// A ReplayResultRecord is what came of a replay.
type ReplayResultRecord struct {
	Request       string `json:"request"` // id of the REPLAY_REQUEST event
	Mode          string `json:"mode"`
	Decisions     int    `json:"decisions"`
	Same          int    `json:"same"`
	Sealed        int    `json:"sealed,omitempty"` // besides: what holds secrets and was not opened
	Replayable    bool   `json:"replayable"`
	Authoritative bool   `json:"authoritative"` // never of a test, nor of what went on by force
	Forced        bool   `json:"forced,omitempty"`
	Code          string `json:"code,omitempty"` // of the first failure
	At            string `json:"at,omitempty"`   // event id of the decision at which it stopped, or would have
	Detail        string `json:"detail,omitempty"`
}

// Payload renders the record.
func (r ReplayResultRecord) Payload() (json.RawMessage, error) {
	c := cutter{room: 400}
	r.Detail = c.text("detail", r.Detail)
	return payload("the result of a replay", &r)
}

// A PinStep is what became of one tool, or of the server itself, whose tool is empty.
type PinStep struct {
	Tool     string              `json:"tool,omitempty"`
	Status   interlock.PinStatus `json:"status"`
	Why      interlock.PinReason `json:"why,omitempty"`
	Detail   string              `json:"detail,omitempty"`
	Approved interlock.Digest    `json:"approved,omitempty"` // of the definition, or of the server's identity
	Seen     interlock.Digest    `json:"seen,omitempty"`
}

// A PinRecord is what was seen of a server's tools, or ordered about them. Definitions stand in the store, not in the log.
type PinRecord struct {
	Server   string           `json:"server"`
	Identity interlock.Digest `json:"identity,omitempty"` // of the server that was seen
	Steps    []PinStep        `json:"steps"`
	Order    *interlock.Order `json:"order,omitempty"`
	truncated
}

// MaxPinSteps is how many steps one record holds.
const MaxPinSteps = 32

// Payload renders the record.
func (r PinRecord) Payload() (json.RawMessage, error) {
	c := cutter{room: 200}
	r.Steps = slices.Clone(r.Steps)
	for n := range r.Steps {
		s := &r.Steps[n]
		s.Tool, s.Detail = c.text("tool", s.Tool), c.text("detail", s.Detail)
	}
	r.Cut = short(c.cut)
	return payload("what became of tools", &r)
}

// An InstalledRecord says what `install` registered with a harness, so that a registration that is gone, changed or led elsewhere
// is found by anyone who looks.
type InstalledRecord struct {
	Harness  string             `json:"harness"`
	Settings string             `json:"settings"`           // the file it is registered in
	Project  string             `json:"project,omitempty"`  // whose settings they are; empty: the user's
	Removed  bool               `json:"removed,omitempty"`  // it was taken out
	Again    bool               `json:"again,omitempty"`    // files were written again since, and it is there as before
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

// An ArchiveRecord says that the content of entries is in an archive and leaves the store. Their hashes stay.
type ArchiveRecord struct {
	First    int64     `json:"first"`    // the first entry that this archive holds
	Size     int64     `json:"size"`     // and how many there are up to its end, counted from the log's beginning
	Before   time.Time `json:"before"`   // all of them were recorded before
	Root     string    `json:"root"`     // of the tree over so many entries
	Manifest string    `json:"manifest"` // digest of the file that lists the archive's files and theirs
	To       string    `json:"to"`       // the directory, as it was named
	Inputs   int       `json:"inputs"`   // how many decisions it has what they were made from
	Blobs    int       `json:"blobs"`    // how many texts that decisions share
	User     string    `json:"user,omitempty"`
}

// Payload renders the record.
func (r ArchiveRecord) Payload() (json.RawMessage, error) {
	r.Before = r.Before.UTC()
	return payload("an archive", &r)
}

// ArchiveOf reads an archive's entry back.
func ArchiveOf(e interlock.Entry) (ArchiveRecord, error) {
	r, _, err := readOf[ArchiveRecord](e, "tells of no archive", interlock.EventArchive)
	if err != nil {
		return r, err
	}
	return r, r.check()
}

func archiveIn(payload []byte) (r ArchiveRecord, err error) {
	if err := json.Unmarshal(payload, &r); err != nil {
		return r, errors.New("auditlog: the event tells of no archive that can be read")
	}
	return r, r.check()
}

func (r *ArchiveRecord) check() error {
	if r.First < 0 || r.Size <= r.First || r.Size%TileWidth != 0 || r.First%TileWidth != 0 {
		return errors.New("auditlog: the event tells of an archive that can't be")
	}
	return nil
}

// errReleased says that an entry can't be written out, because its content is in an archive.
func errReleased(e *interlock.Entry) error {
	return interlock.Errorf(interlock.CodeNotFound, "entry",
		"entry %d was archived; the command line reads it with --archive DIR", e.Index)
}
