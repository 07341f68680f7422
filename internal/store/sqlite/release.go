package sqlite

import (
	"context"
	"errors"
	"strings"

	"interlock"
	"interlock/internal/ledger"
	"interlock/internal/store/proof"
)

// releaseAtOnce is of how many entries one transaction takes the content away: others write in between, and no agent waits long.
const releaseAtOnce = 512

// blobKnown is for how long a process takes a blob for stored that it has stored or found. What says when a blob was last named
// lags behind by twice that at most.
const blobKnown = ledger.BlobLag / 3

// Release takes the content of entries away, what their decisions were made from, and the blobs that nothing younger
// names. Index, id, type and hashes stay, so that every proof can still be made. It takes many short transactions;
// what is broken off is finished by doing the same again. The caller has recorded where the content is. It returns
// how many entries and blobs have gone.
func (s *Store) Release(ctx context.Context, l ledger.Letting) (entries, blobs int64, err error) {
	stay, args := "", []any{}
	for _, kind := range l.Stay {
		args = append(args, string(kind))
	}
	if len(args) > 0 {
		stay = " AND type NOT IN (?" + strings.Repeat(", ?", len(args)-1) + ")"
	}
	for from := l.From; from < l.UpTo; from += releaseAtOnce {
		upTo := min(from+releaseAtOnce, l.UpTo)
		where := "WHERE idx >= ? AND idx < ? AND length(body) > 0" + stay
		n, err := s.let(ctx, func(ctx context.Context) (int64, error) {
			return s.shrink(ctx, where, append([]any{from, upTo}, args...))
		})
		if err != nil {
			return entries, 0, err
		}
		entries += n
	}
	keep, args := "", []any{l.Before.Add(-ledger.BlobLag).UnixNano()}
	for _, digest := range l.Keep {
		args = append(args, string(digest))
	}
	if len(l.Keep) > 0 {
		keep = " AND digest NOT IN (?" + strings.Repeat(", ?", len(l.Keep)-1) + ")"
	}
	for {
		n, err := s.let(ctx, func(ctx context.Context) (int64, error) {
			return s.dropBlobs(ctx, "id IN (SELECT id FROM blobs WHERE used < ?"+keep+" LIMIT ?)",
				append(args[:len(args):len(args)], releaseAtOnce))
		})
		blobs += n
		if err != nil || n < releaseAtOnce {
			return entries, blobs, err
		}
	}
}

// dropBlobs deletes blobs, of those that Interlock has stored so.
func (s *Store) dropBlobs(ctx context.Context, where string, args []any) (deleted int64, err error) {
	b, head, err := s.beginBatch(ctx)
	if err != nil {
		return 0, err
	}
	err = s.writer.blobRows(ctx, where, args, func(r *proof.Blob) error {
		if _, adds, genuine := s.prover.Sum(r); genuine {
			b.proved.Sums[proof.Blobs].Take(adds)
		}
		return nil
	})
	if err == nil {
		deleted, err = s.writer.exec(ctx, "DELETE FROM blobs WHERE "+where, args...)
	}
	if err == nil && deleted > 0 {
		err = b.saveBeside(ctx, head)
		s.proofs = nil // they are known once this is committed
	}
	return deleted, err
}

// shrink takes the content out of rows. They are deleted and written again: SQLite leaves a row that got shorter in its place,
// and the room beside it to nobody, because new entries come at the end.
func (s *Store) shrink(ctx context.Context, where string, args []any) (int64, error) {
	type bare struct {
		index  int64
		id     []byte
		kind   string
		hashes []byte
	}
	var rows []bare
	err := s.writer.each(ctx, "SELECT idx, id, type, hashes FROM entries "+where+" ORDER BY idx", args,
		func(scan func(...any) error) error {
			var r bare
			err := scan(&r.index, &r.id, &r.kind, &r.hashes)
			rows = append(rows, r)
			return err
		})
	if err != nil || len(rows) == 0 {
		return 0, err
	}
	deleted, err := s.writer.exec(ctx, "DELETE FROM entries "+where, args...)
	if err == nil && deleted != int64(len(rows)) {
		err = errors.New("entries changed under their own transaction")
	}
	if err != nil {
		return 0, err
	}
	b := &batch{store: s}
	return deleted, b.insert(ctx, insertEntries, len(rows), func(to []any, i int) []any {
		r := &rows[i]
		return append(to, r.index, storedID(idOf(r.id)), r.kind, []byte{}, r.hashes, nil, nil)
	})
}

// let takes one step in a transaction of its own.
func (s *Store) let(ctx context.Context, step func(context.Context) (int64, error)) (changed int64, err error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if err := s.begin(); err != nil {
		return 0, err
	}
	defer s.end()
	s.writing.Lock()
	defer s.writing.Unlock()
	if s.writer == nil {
		return 0, interlock.Errorf(interlock.CodeUnavailable, "store", "the store was opened for reading")
	}
	if err := s.failed(); err != nil {
		return 0, err
	}
	const doing = "release what is archived"
	if _, err := s.writer.exec(ctx, "BEGIN IMMEDIATE"); err != nil {
		return 0, s.classify(doing, err)
	}
	sure := context.WithoutCancel(ctx)
	changed, err = step(sure)
	s.blobs = map[interlock.Digest]int64{} // whatever is known of them may have gone
	end := "COMMIT"
	if err != nil {
		end = "ROLLBACK"
	}
	if _, failure := s.writer.exec(sure, end); failure != nil {
		return 0, s.fail(explain(doing, failure))
	}
	s.written += changed * 4096
	if err == nil && changed > 0 {
		s.watching.everybody()
	}
	return changed, s.classify(doing, err)
}
