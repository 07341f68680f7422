// Package store is the port between Interlock and whatever keeps its truth: what a store must be able to do, which parts only
// some can do, and the one place that chooses the backend of a home. Nobody else imports a backend.
//
// Start with Store here, and Open in open.go. What the methods promise is held by the contract in storagetest.
package store

import (
	"context"
	"time"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/archive"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/store/driver"
)

// A Log is the log as readers and pages take it: whole, in parts from either end, and by name.
type Log interface {
	auditlog.Source
	auditlog.HashRows
	auditlog.Pages
}

// A Port is what every backend must be able to do, and nothing that only one feature asks for: rows, entries and blobs, written
// together and told of. The compiler holds each backend against it, in open.go; docs/decisions/0027 says of each method why it is
// one of its own.
type Port interface {
	admission.Store   // what decides and records
	Log               // what reads
	archive.Recording // what replays, exports and archives, with what decisions were made from

	// CheckStanding calls visit for everything kept beside the log and is not as Interlock wrote it. It takes Options.Sealer.
	CheckStanding(ctx context.Context, visit func(*ledger.Tampered) error) error
}

// A Checking tells of a blob whether it is as it was stored under this digest, without unpacking it, and whether that can be told;
// where it can't, Blob is to be asked.
type Checking interface {
	BlobUnchanged(ctx context.Context, digest interlock.Digest) (unchanged, known bool, err error)
}

// An Archiving lets go of what is in an archive.
type Archiving interface {
	// BlobsUnused calls visit for every blob that nothing has named since a time.
	BlobsUnused(ctx context.Context, since time.Time, visit func(ledger.Blob) error) error
	// Release takes the content of entries away, and blobs that nothing younger names; hashes stay. What is broken off is
	// finished by doing the same again.
	Release(ctx context.Context, l ledger.Letting) (entries, blobs int64, err error)
}

// A Mending says what is wrong beside the log and what mending it would do; a change carries it out, see [ledger.Mend].
type Mending interface {
	// Repairs is a plan, given what the log says of rows, oldest first. It changes nothing.
	Repairs(ctx context.Context, said []ledger.Row) ([]ledger.Repair, error)
}

// A Part is the name of what not every backend can do.
type Part = driver.Part

// The names of [Archiving], [Checking] and [Mending].
const (
	PartArchiving Part = "archiving"
	PartChecking  Part = "checking"
	PartMending   Part = "mending"
)

// A Store is an opened backend: what each has, and, by their names, the parts that only some have. Open has seen to it that those
// that were needed are there.
type Store struct {
	Port
	Archiving Archiving // nil where there is none: in a backend that can't, and in a store opened for reading
	Mending   Mending   // likewise
	Checking  Checking  // nil in a backend that can't; its users do without then
}

// Need answers with an error that names the first of some parts that the store does not have.
func (s *Store) Need(parts ...Part) error {
	for _, part := range parts {
		has := false
		switch part {
		case PartArchiving:
			has = s.Archiving != nil
		case PartMending:
			has = s.Mending != nil
		case PartChecking:
			has = s.Checking != nil
		}
		if !has {
			return interlock.Errorf(interlock.CodeUnavailable, "store",
				"this store, as it was opened, does not have the part %q, which is needed here; use a backend that has it, or do "+
					"without what needs it", string(part))
		}
	}
	return nil
}
