package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"interlock"
	"interlock/internal/ledger"
	"interlock/internal/pack"
	"interlock/internal/store/proof"
)

// Bounds of what is unpacked: more than anybody may write.
const (
	maxBody   = 1 << 20  // bytes of an event or a call
	maxInputs = 8 << 20  // bytes of what one decision was made from
	maxBlob   = 16 << 20 // bytes of a blob
)

// longBlob is the length, in bytes, from which on a blob is stored with a checksum, because unpacking it takes long.
const longBlob = 64 << 10

// maxKnownBlobs is how many digests a process remembers to have stored.
const maxKnownBlobs = 4096

// saveBlobs stores what a transaction's events name and the store does not have yet, and keeps of each, to within
// [ledger.BlobLag], when it was last named.
func (b *batch) saveBlobs(ctx context.Context) error {
	s := b.store
	for _, c := range b.accepted {
		for i := range c.change.Blobs {
			blob, at := &c.change.Blobs[i], s.at(&c.change).UnixNano()
			if known, is := s.blobs[blob.Digest]; is && at-known < int64(blobKnown) {
				continue
			}
			if err := b.saveBlob(ctx, blob, at); err != nil {
				return err
			}
			if len(s.blobs) >= maxKnownBlobs {
				s.blobs = map[interlock.Digest]int64{}
			}
			s.blobs[blob.Digest] = at
		}
	}
	return nil
}

// saveBlob stores a blob, or when it was last named if that is long ago.
func (b *batch) saveBlob(ctx context.Context, blob *ledger.Blob, at int64) error {
	s, was, found := b.store, proof.Blob{Digest: string(blob.Digest)}, false
	err := s.writer.blobRows(ctx, "digest = ?", []any{was.Digest}, func(r *proof.Blob) error {
		was, found = *r, true
		return nil
	})
	if err != nil {
		return err
	}
	is := proof.Blob{Digest: was.Digest, At: at, Used: at}
	if found {
		_, adds, genuine := s.prover.Sum(&was)
		if genuine && at-was.Used <= int64(blobKnown) {
			return nil
		}
		if is.At = min(at, was.At); genuine {
			b.proved.Sums[proof.Blobs].Take(adds)
		}
	}
	tag, adds, _ := s.prover.Sum(&is)
	b.proved.Sums[proof.Blobs].Add(adds)
	if found {
		return b.one(s.writer.exec(ctx, "UPDATE blobs SET at = ?, used = ?, proof = ? WHERE digest = ?", is.At, is.Used, tag[:], is.Digest))
	}
	var body []byte
	if len(blob.Text) < longBlob {
		body = pack.Pack(blob.Text)
	} else {
		body = pack.Checked(blob.Text, is.Digest)
	}
	s.written += int64(len(body) + 256)
	_, err = s.writer.exec(ctx, "INSERT INTO blobs (digest, at, used, body, proof) VALUES (?, ?, ?, ?, ?)", is.Digest, is.At, is.Used, body,
		tag[:])
	return err
}

// blobRows reads what is kept beside blobs.
func (c *conn) blobRows(ctx context.Context, where string, args []any, visit func(*proof.Blob) error) error {
	return c.each(ctx, "SELECT digest, at, used, proof FROM blobs WHERE "+where, args, func(scan func(...any) error) error {
		var r proof.Blob
		if err := scan(&r.Digest, &r.At, &r.Used, &r.Proof); err != nil {
			return err
		}
		return visit(&r)
	})
}

// Blob returns the text that a digest names. Whether it is that text is for the caller to see to: the digest says.
func (s *Store) Blob(ctx context.Context, digest interlock.Digest) ([]byte, bool, error) {
	var body []byte
	found := false
	err := s.read(ctx, "read a blob", func(c *conn) (err error) {
		found, err = c.row(ctx, blobQuery, []any{string(digest)}, &body)
		return err
	})
	if err != nil || !found {
		return nil, false, err
	}
	text, err := pack.Unpack(body, maxBlob)
	return text, err == nil, err
}

// BlobUnchanged reports whether a blob is, byte for byte, as it was stored under this digest, without unpacking it, and whether
// that can be told: short ones are stored without a checksum, and [Store.Blob] is to be asked.
func (s *Store) BlobUnchanged(ctx context.Context, digest interlock.Digest) (unchanged, known bool, err error) {
	var body sql.RawBytes
	err = s.read(ctx, "read a blob", func(c *conn) error {
		return c.each(ctx, blobQuery, []any{string(digest)}, func(scan func(...any) error) error {
			err := scan(&body)
			if err == nil {
				unchanged, known = pack.Sound(body, string(digest))
			}
			return err
		})
	})
	return unchanged && err == nil, known && err == nil, err
}

const blobQuery = "SELECT body FROM blobs WHERE digest = ?"

// Blobs calls visit for every blob, in the order they were stored. The bytes are the visitor's until it returns.
func (s *Store) Blobs(ctx context.Context, visit func(ledger.Blob) error) error {
	return s.eachBlob(ctx, "", nil, visit)
}

// BlobsUnused is Blobs of those that nothing has named since a time.
func (s *Store) BlobsUnused(ctx context.Context, since time.Time, visit func(ledger.Blob) error) error {
	return s.eachBlob(ctx, "WHERE used < ? ", []any{since.UnixNano()}, visit)
}

func (s *Store) eachBlob(ctx context.Context, where string, args []any, visit func(ledger.Blob) error) error {
	if old, err := s.beforeInputs(ctx); old || err != nil {
		return err // there are none
	}
	err := s.alone(ctx, "read the blobs", func(c *conn) error {
		return c.each(ctx, "SELECT digest, body FROM blobs "+where+"ORDER BY id", args, func(scan func(...any) error) error {
			var digest string
			var body []byte
			if err := scan(&digest, &body); err != nil {
				return err
			}
			text, err := pack.Unpack(body, maxBlob)
			if err == nil {
				err = visit(ledger.Blob{Digest: interlock.Digest(digest), Text: text})
			}
			if err != nil {
				return errVisitor{err}
			}
			return nil
		})
	})
	var visitor errVisitor
	if errors.As(err, &visitor) {
		return visitor.err
	}
	return err
}

// Recorded calls visit for every entry from an index on, in order, with its inputs where it has any. The bytes are the visitor's
// until it returns.
func (s *Store) Recorded(ctx context.Context, from int64, visit func(e interlock.Entry) error) error {
	inputs, err := s.inputsColumn(ctx)
	if err != nil {
		return err
	}
	query := "SELECT " + entryColumns + ", " + inputs + " FROM entries WHERE idx >= ? ORDER BY idx"
	var room unpacking
	return walkRows(ctx, s.alone, query, []any{from}, visit, func(scan func(...any) error, e *interlock.Entry) error {
		var kind string
		var id, body, hashes, checkpoint, inputs sql.RawBytes
		if err := scan(&e.Index, &id, &kind, &body, &hashes, &checkpoint, &inputs); err != nil {
			return err
		}
		e.ID, e.Type, e.Hashes, e.Checkpoint = idOf(id), interlock.EventType(kind), hashes, checkpoint
		room.entry(e, body, inputs)
		return nil
	})
}

// Inputs returns what the decision at an index was made from, as it was given to Commit.
func (s *Store) Inputs(ctx context.Context, index int64) ([]byte, bool, error) {
	inputs, err := s.inputsColumn(ctx)
	if err != nil {
		return nil, false, err
	}
	var body, packed []byte
	found := false
	query := "SELECT body, " + inputs + " FROM entries WHERE idx = ? AND " + inputs + " IS NOT NULL"
	err = s.apart(ctx, "read a decision's inputs", func(c *conn) (err error) {
		found, err = c.row(ctx, query, []any{index}, &body, &packed)
		return err
	})
	if err != nil || !found {
		return nil, false, err
	}
	var e interlock.Entry
	new(unpacking).entry(&e, body, nil)
	text, err := pack.UnpackBeside(packed, e.Body, maxInputs)
	return text, err == nil, err
}

// inputsColumn is where a decision's inputs are in the table of entries, which may have no such column.
func (s *Store) inputsColumn(ctx context.Context) (string, error) {
	old, err := s.beforeInputs(ctx)
	if old {
		return "NULL", err
	}
	return "inputs", err
}

// beforeInputs reports whether the store is of before version 5, which it may be where nobody may write.
func (s *Store) beforeInputs(ctx context.Context) (bool, error) {
	if !s.options.ReadOnly {
		return false, nil
	}
	version := int64(inputsSince)
	err := s.apart(ctx, "read the schema version", func(c *conn) error {
		_, err := c.row(ctx, "PRAGMA user_version", nil, &version)
		return err
	})
	return version < inputsSince, err
}

// An unpacking is memory that one entry after another is unpacked into.
type unpacking struct{ body, inputs pack.Unpacker }

// entry puts what is stored of an entry into it. What can't be unpacked is given as it is: a body is no event then, and
// verifying the log names the entry that was changed; inputs are not those that the event names, and a replay says so of this one
// and goes on.
func (u *unpacking) entry(e *interlock.Entry, body, inputs []byte) {
	var err error
	if e.Body, err = u.body.Unpack(body, maxBody); err != nil {
		e.Body = body
	}
	if len(inputs) == 0 {
		return
	}
	if e.Inputs, err = u.inputs.UnpackBeside(inputs, e.Body, maxInputs); err != nil {
		e.Inputs = inputs
	}
}
