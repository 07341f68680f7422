package embedded

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"interlock"
	"interlock/internal/account"
	"interlock/internal/archive"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/store"
)

// An Archiving is what came of archiving.
type Archiving struct {
	auditlog.ArchiveRecord
	Event    string `json:"event_id,omitempty"` // that says so; none where nothing was old enough
	Released int64  `json:"released"`           // entries whose content has left the store
	Gone     int64  `json:"blobs_released"`
}

// Archive moves what was recorded before a time into a directory: whole bundles of entries, and what their decisions were made
// from. The files are written, synced and read back, then an event says so, and only then does the content leave the
// store. What was broken off at any point is finished by doing it again. earlier are signed heads that the log must
// contain.
func (b *Backend) Archive(ctx context.Context, to string, before time.Time, earlier [][]byte) (Archiving, error) {
	if err := b.Store.Need(store.PartArchiving); err != nil {
		return Archiving{}, err
	}
	to, err := filepath.Abs(to)
	if err != nil {
		return Archiving{}, fmt.Errorf("archive: %w", err)
	}
	if err := b.MayArchive(ctx, before); err != nil {
		return Archiving{}, err
	}
	done, err := LastArchive(ctx, b.Store)
	if err != nil {
		return Archiving{}, err
	}
	if err := b.resume(ctx, to, done); err != nil {
		return Archiving{}, err
	}
	size, err := b.olderThan(ctx, done.Size, before)
	if err != nil || size == done.Size {
		return Archiving{ArchiveRecord: auditlog.ArchiveRecord{First: done.Size, Size: size, Before: before, To: to}}, err
	}
	report, err := auditlog.Verify(ctx, b.Store, b.Key, auditlog.VerifyOptions{Earlier: earlier})
	if err == nil && report.Problem != nil {
		err = fmt.Errorf("%s: the log is not sound after %d good entries, and nothing of it is archived: %w",
			interlock.EventIntegrity,
			report.Entries, report.Problem)
	}
	if err != nil {
		return Archiving{}, err
	}
	part, err := archive.Write(ctx, to, b.Store, archive.Order{First: done.Size, Size: size, Before: before, Key: b.Key,
		Sign: b.signPrefix})
	if err == nil && (part.Size > size || part.Before.After(before)) { // a part was there, and only a file says what it is
		err = interlock.Errorf(interlock.CodeConflict, "--to",
			"the directory holds a part that goes to entry %d, recorded before %s, which is more than may leave now; name another",
			part.Size-1, part.Before.Format(time.RFC3339))
	}
	if err == nil {
		err = b.readBack(ctx, to, part)
	}
	if err != nil {
		return Archiving{}, err
	}
	result := Archiving{ArchiveRecord: auditlog.ArchiveRecord{First: part.First, Size: part.Size,
		Before: part.Before, Root: part.Root,
		Manifest: part.Digest, To: to, Inputs: part.Inputs, Blobs: part.Blobs, User: account.Name()}}
	receipt, err := b.Archived(ctx, result.ArchiveRecord)
	if err != nil {
		return Archiving{}, err
	}
	result.Event = receipt.Events[0]
	result.Released, result.Gone, err = b.release(ctx, result.ArchiveRecord)
	return result, err
}

// LastArchive is what the newest archiving of a log wrote; the zero record if nothing was archived.
func LastArchive(ctx context.Context, log store.Log) (auditlog.ArchiveRecord, error) {
	entries, err := log.Entries(ctx, interlock.EventArchive, ledger.Before(-1, 1))
	if err != nil || len(entries) == 0 {
		return auditlog.ArchiveRecord{}, err
	}
	return auditlog.ArchiveOf(entries[0])
}

// resume finishes taking away what the last archiving wrote, if that was broken off.
func (b *Backend) resume(ctx context.Context, to string, done auditlog.ArchiveRecord) error {
	left := false
	err := b.Store.Recorded(ctx, done.First, func(e interlock.Entry) error {
		if left = e.Index < done.Size && len(e.Body) > 0 && !auditlog.Stays(e.Type); left || e.Index >= done.Size {
			return errEnough
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) || !left {
		return ignore(err, errEnough)
	}
	archives, err := archive.Open(to)
	if err == nil {
		part, found := archives.Part(done.First)
		if !found || part.Digest != done.Manifest {
			err = interlock.Errorf(interlock.CodeConflict, "--to",
				"the entries from %d to %d were archived to %s, and some are in the store still; name that directory to finish it first",
				done.First, done.Size-1, done.To)
		} else {
			err = b.readBack(ctx, to, part)
		}
	}
	if err != nil {
		return err
	}
	_, _, err = b.release(ctx, done)
	return err
}

// errEnough ends a walk.
var errEnough = errors.New("enough")

func ignore(err, what error) error {
	if errors.Is(err, what) {
		return nil
	}
	return err
}

// olderThan is how many entries there are before the first that was not recorded before a time, in whole bundles.
func (b *Backend) olderThan(ctx context.Context, from int64, before time.Time) (int64, error) {
	const page = 1000
	size := from
	for {
		entries, err := b.Store.Entries(ctx, "", ledger.From(size, page))
		if err != nil || len(entries) == 0 {
			return size - size%auditlog.TileWidth, err
		}
		for _, e := range entries {
			event, err := auditlog.ParseEvent(e.Body)
			if err != nil {
				return 0, fmt.Errorf("archive: entry %d: %w", e.Index, err)
			}
			if !event.Recorded.Before(before) {
				return size - size%auditlog.TileWidth, nil
			}
			size = e.Index + 1
		}
	}
}

// readBack reads what was written and holds it against the store: nothing leaves that is not there, byte for byte.
func (b *Backend) readBack(ctx context.Context, to string, part archive.Part) error {
	archives, err := archive.Open(to)
	if err == nil {
		err = archives.Check(ctx, b.Key)
	}
	if err != nil {
		return err
	}
	differs := func(what string) error {
		return &archive.Damage{Detail: what + " is another than in the store; nothing was taken from the store"}
	}
	err = b.Store.Recorded(ctx, part.First, func(e interlock.Entry) error {
		if e.Index >= part.Size {
			return errEnough
		}
		if auditlog.Released(&e) {
			return nil
		}
		there := interlock.Entry{Index: e.Index}
		if found, err := archives.Fill(&there, true); err != nil || !found ||
			!bytes.Equal(there.Body, e.Body) || !bytes.Equal(there.Inputs, e.Inputs) ||
			!bytes.Equal(there.Checkpoint, e.Checkpoint) {
			return errors.Join(err, differs(fmt.Sprint("entry ", e.Index)))
		}
		return nil
	})
	if err = ignore(err, errEnough); err != nil {
		return err
	}
	limit := part.Before.Add(-ledger.BlobLag)
	return b.Store.Archiving.BlobsUnused(ctx, limit, func(blob ledger.Blob) error {
		text, found, err := archives.Blob(ctx, blob.Digest)
		if err != nil || !found || !bytes.Equal(text, blob.Text) {
			return errors.Join(err, differs("a text"))
		}
		return nil
	})
}

// release takes from the store what an event says is archived.
func (b *Backend) release(ctx context.Context, done auditlog.ArchiveRecord) (entries, blobs int64, err error) {
	keep, err := b.inForce(ctx, done.Size)
	if err != nil {
		return 0, 0, err
	}
	var stay []interlock.EventType
	for _, kind := range interlock.EventTypes() {
		if auditlog.Stays(kind) {
			stay = append(stay, kind)
		}
	}
	before, err := b.oldestKept(ctx, done)
	if err != nil {
		return 0, 0, err
	}
	return b.Store.Archiving.Release(ctx, ledger.Letting{From: done.First, UpTo: done.Size, Stay: stay, Before: before, Keep: keep})
}

// oldestKept is when the oldest entry was recorded that stays: a bundle that is not full keeps some that are older than the time
// that was named, and what those were decided from must stay with them.
func (b *Backend) oldestKept(ctx context.Context, done auditlog.ArchiveRecord) (time.Time, error) {
	entries, err := b.Store.Entries(ctx, "", ledger.From(done.Size, auditlog.TileWidth))
	before := done.Before
	for _, e := range entries {
		event, err := auditlog.ParseEvent(e.Body)
		if err != nil {
			return before, fmt.Errorf("archive: entry %d: %w", e.Index, err)
		}
		if event.Recorded.Before(before) {
			before = event.Recorded
		}
	}
	return before, err
}

// inForce are the texts under which entries from an index on were decided: rules, snapshots and registry that the
// events name which brought them into force, from the last one before that index on.
func (b *Backend) inForce(ctx context.Context, from int64) ([]interlock.Digest, error) {
	keep := map[interlock.Digest]bool{}
	for _, kind := range []interlock.EventType{interlock.EventRuleset, interlock.EventMode} {
		for before := int64(-1); ; {
			entries, err := b.Store.Entries(ctx, kind, ledger.Before(before, 100))
			if err != nil {
				return nil, err
			}
			for _, e := range entries {
				after, err := auditlog.SettingsAfter(e)
				if err != nil {
					return nil, err
				}
				for _, value := range after { // any order: fills a set
					if strings.HasPrefix(value, "sha256:") {
						keep[interlock.Digest(value)] = true
					}
				}
				if before = e.Index; before < from {
					break
				}
			}
			if len(entries) == 0 || before < from {
				break
			}
		}
	}
	for _, g := range auditlog.GrowingSnapshots() {
		for _, kind := range g.Events {
			entries, err := b.Store.Entries(ctx, kind, ledger.Before(from, 1))
			if err != nil {
				return nil, err
			}
			if len(entries) == 0 {
				continue
			}
			event, err := auditlog.ParseEvent(entries[0].Body)
			if err != nil {
				return nil, fmt.Errorf("archive: entry %d: %w", entries[0].Index, err)
			}
			if named := event.Snapshots[g.Name]; named != "" {
				keep[interlock.Digest(named)] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(keep)), nil
}
