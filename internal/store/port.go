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
)

// A Log is the log as readers and pages take it: in parts, from either end, by name.
type Log interface {
	auditlog.Source
	auditlog.HashRows
	// Entries returns up to limit entries from an index on, in order.
	Entries(ctx context.Context, from int64, limit int) ([]interlock.Entry, error)
	// Recent returns up to limit entries before an index, newest first; of one type, or of all if it is empty. A negative
	// index is the end.
	Recent(ctx context.Context, kind interlock.EventType, before int64, limit int) ([]interlock.Entry, error)
	EntryAt(ctx context.Context, index int64) (interlock.Entry, bool, error)
	EntryByID(ctx context.Context, eventID string) (interlock.Entry, bool, error)
	// Request returns a request, whatever has become of it.
	Request(ctx context.Context, id string) (interlock.ApprovalRequest, bool, error)
	// Requests returns up to limit requests, newest first; of one status, or of all if it is empty.
	Requests(ctx context.Context, status interlock.RequestStatus, limit int) ([]interlock.ApprovalRequest, error)
}

// A Port is what every backend must be able to do. The compiler holds each of them against it, in open.go.
type Port interface {
	admission.Store   // what decides and records
	Log               // what reads
	archive.Recording // what replays, exports and archives, with what decisions were made from

	// BlobUnchanged reports whether a blob is as it was stored under this digest, without unpacking it, and whether that can be
	// told; where it can't, Blob is to be asked.
	BlobUnchanged(ctx context.Context, digest interlock.Digest) (unchanged, known bool, err error)

	// CheckStanding calls visit for everything that stands beside the log and is not as Interlock wrote it. It takes Options.Sealer.
	CheckStanding(ctx context.Context, visit func(*ledger.Tampered) error) error
}

// An Archiving lets go of what is in an archive.
type Archiving interface {
	// BlobsUnused calls visit for every blob that nothing has named since a time.
	BlobsUnused(ctx context.Context, since time.Time, visit func(ledger.Blob) error) error
	// Release takes the content of entries away, and blobs that nothing younger names; hashes stay. What is broken off is
	// finished by doing the same again.
	Release(ctx context.Context, l ledger.Letting) (entries, blobs int64, err error)
}

// A Part is the name of what not every backend can do.
type Part string

// PartArchiving is the name of [Archiving].
const PartArchiving Part = "archiving"

// A Store is an opened backend: what each has, and, by their names, the parts that only some have. Open has seen to it that those
// that were needed are there.
type Store struct {
	Port
	Archiving Archiving // nil where there is none: in a backend that can't, and in a store opened for reading
}

// Need answers with an error that names the first of some parts that the store does not have.
func (s *Store) Need(parts ...Part) error {
	for _, part := range parts {
		has := false
		if part == PartArchiving {
			has = s.Archiving != nil
		}
		if !has {
			return interlock.Errorf(interlock.CodeUnavailable, "store",
				"this store, as it was opened, does not have the part %q, which is needed here; use a backend that has it, or do "+
					"without what needs it", string(part))
		}
	}
	return nil
}
