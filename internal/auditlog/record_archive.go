package auditlog

import (
	"encoding/json"
	"errors"
	"time"

	"interlock"
)

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
