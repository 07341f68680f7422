package archive

import (
	"context"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
)

// A Joined is a log and archives of it, read as one.
type Joined struct {
	store    Recording
	archives *Archives
}

// Over joins a store with its archives.
func (a *Archives) Over(store Recording) *Joined { return &Joined{store, a} }

// Head is the store's.
func (j *Joined) Head(ctx context.Context) (ledger.Head, error) { return j.store.Head(ctx) }

// Walk calls visit for every entry, with its content from wherever it is. What no archive here has stays bare.
func (j *Joined) Walk(ctx context.Context, visit func(interlock.Entry) error) error {
	return j.store.Walk(ctx, j.filled(false, visit))
}

// Recorded is Walk from an index on, with what decisions were made from.
func (j *Joined) Recorded(ctx context.Context, from int64, visit func(interlock.Entry) error) error {
	return j.store.Recorded(ctx, from, j.filled(true, visit))
}

func (j *Joined) filled(inputs bool, visit func(interlock.Entry) error) func(interlock.Entry) error {
	return func(e interlock.Entry) error {
		if auditlog.Released(&e) {
			if _, err := j.archives.Fill(&e, inputs); err != nil {
				return err
			}
		}
		return visit(e)
	}
}

// Blob returns the text that a digest names, from wherever it is.
func (j *Joined) Blob(ctx context.Context, digest interlock.Digest) ([]byte, bool, error) {
	text, found, err := j.store.Blob(ctx, digest)
	if err != nil || found {
		return text, found, err
	}
	return j.archives.Blob(ctx, digest)
}

// Blobs calls visit for every blob of both, once.
func (j *Joined) Blobs(ctx context.Context, visit func(ledger.Blob) error) error {
	seen := map[interlock.Digest]bool{}
	if err := j.store.Blobs(ctx, func(b ledger.Blob) error {
		seen[b.Digest] = true
		return visit(b)
	}); err != nil {
		return err
	}
	return j.archives.Blobs(ctx, func(b ledger.Blob) error {
		if seen[b.Digest] {
			return nil
		}
		return visit(b)
	})
}

// An Alone is some archives of one log, read without its store.
type Alone struct {
	archives *Archives
	longest  *opened // the one that goes furthest: its hash tiles begin at the log's beginning
}

// Alone reads archives by themselves.
func (a *Archives) Alone() Alone {
	longest := &a.dirs[0]
	for i := range a.dirs {
		if a.dirs[i].size() > longest.size() {
			longest = &a.dirs[i]
		}
	}
	return Alone{a, longest}
}

// size is how many entries there are up to the end of the last part.
func (d *opened) size() int64 { return d.parts[len(d.parts)-1].Size }

// Whole is how many entries from the beginning may be bare: none where the parts leave none out.
func (a Alone) Whole() (bare int64) {
	for at := int64(0); at < a.longest.size(); at += auditlog.TileWidth {
		if !a.archives.holds(at) {
			bare = at + auditlog.TileWidth
		}
	}
	return bare
}

// Check is that of the archive.
func (a Alone) Check(ctx context.Context, key *auditlog.PublicKey) error {
	return a.archives.Check(ctx, key)
}

// Head is what the archive's checkpoint says.
func (a Alone) Head(context.Context) (ledger.Head, error) {
	return ledger.Head{Checkpoint: a.longest.signed}, nil
}

// Walk calls visit for every entry.
func (a Alone) Walk(ctx context.Context, visit func(interlock.Entry) error) error {
	return a.each(ctx, 0, false, visit)
}

// Recorded is Walk from an index on, with what decisions were made from.
func (a Alone) Recorded(ctx context.Context, from int64, visit func(interlock.Entry) error) error {
	return a.each(ctx, from, true, visit)
}

func (a Alone) each(ctx context.Context, from int64, inputs bool, visit func(interlock.Entry) error) error {
	tree := auditlog.Grown{}
	var leaves []byte
	for index := int64(0); index < a.longest.size(); index++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := index % auditlog.TileWidth
		if n == 0 {
			var err error
			if leaves, err = a.longest.leaves(index / auditlog.TileWidth); err != nil {
				return err
			}
		}
		e := interlock.Entry{Index: index}
		found, err := a.archives.Fill(&e, inputs)
		if err != nil {
			return err
		}
		leaf := [hashSize]byte(leaves[n*hashSize:][:hashSize])
		if found {
			leaf = auditlog.LeafHash(e.Body)
			if event, err := auditlog.ParseEvent(e.Body); err == nil {
				e.ID, e.Type = event.ID, event.Type
			}
		}
		if e.Hashes = tree.Add(leaf); index < from {
			continue
		}
		if err := visit(e); err != nil {
			return err
		}
	}
	return nil
}

// Blob returns the text that a digest names.
func (a Alone) Blob(ctx context.Context, digest interlock.Digest) ([]byte, bool, error) {
	return a.archives.Blob(ctx, digest)
}

// Blobs calls visit for every blob.
func (a Alone) Blobs(ctx context.Context, visit func(ledger.Blob) error) error {
	return a.archives.Blobs(ctx, visit)
}
