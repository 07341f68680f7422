package sqlite

import (
	"bytes"
	"context"
	"errors"

	codes "modernc.org/sqlite/lib"

	"interlock/internal/ledger"
	"interlock/internal/store/proof"
)

// Note has change make what it will of a row that permits nothing, and keeps it; nil of it keeps it as it is. It is a note beside
// the log and no event. change is asked before anybody is kept from writing, and once more if others have written the row
// meanwhile.
func (s *Store) Note(ctx context.Context, row ledger.Ref, change func(value any) (any, error)) error {
	if s.options.ReadOnly || s.closedNow() {
		return errClosed
	}
	const doing = "take a note"
	var before ledger.Row
	err := s.read(ctx, doing, func(c *conn) (err error) {
		before, err = s.readNote(ctx, c, row)
		return err
	})
	if err != nil {
		return err
	}
	after, about, err := s.book.Note(before, change)
	if err != nil || about.Key == "" {
		return err
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	if err := s.failed(); err != nil {
		return err
	}
	if s.closedNow() {
		return errClosed
	}
	if _, err := s.writer.exec(ctx, "BEGIN IMMEDIATE"); err != nil {
		return s.classify(doing, err)
	}
	sure := context.WithoutCancel(ctx)
	b, head, err := s.beginBatch(sure)
	now := before
	if err == nil {
		now, err = b.readNote(sure, row)
	}
	if err == nil && !bytes.Equal(now.Body, before.Body) {
		after, about, err = s.book.Note(now, change)
	}
	if err == nil && about.Key != "" {
		if s.book.Filed(row.Kind) {
			err = b.refile(sure, after)
		} else {
			err = b.notePassing(sure, after, now.Body == nil)
		}
		if err == nil {
			err = b.saveBeside(sure, head)
		}
	}
	end := "COMMIT"
	if err != nil {
		end = "ROLLBACK"
	}
	_, failure := s.writer.exec(sure, end)
	s.unheard.ends(row)
	if err == nil && failure == nil && b.next != nil {
		s.vouchedFor(b.next)
	} else if err != nil || failure != nil {
		s.proofs = nil // whatever was known of them may be of what did not happen
	}
	if failure != nil {
		if code(failure) == codes.SQLITE_FULL && err == nil { // SQLite has undone it, and a note is nothing to stop for
			_, _ = s.writer.exec(sure, "ROLLBACK")
			return explain(doing, failure)
		}
		return s.fail(explain(doing, failure))
	}
	if err == nil {
		s.watching.noted(row.Kind)
	}
	return s.classify(doing, err)
}

// readNote reads the row that a note is about.
func (s *Store) readNote(ctx context.Context, c *conn, ref ledger.Ref) (r ledger.Row, err error) {
	if s.book.Filed(ref.Kind) {
		_, _, r, err = s.readFiled(ctx, c, ref.Kind, ref.Key)
		return r, err
	}
	known, err := s.look(ctx, c)
	if err != nil {
		return r, err
	}
	n := s.prover.Read(c, known)
	if r, err = n.Passed(ctx, ref.Kind, ref.Key); errors.Is(err, proof.ErrUnsteady) {
		err = n.Steadily(ctx, func() (err error) {
			r, err = n.Passed(ctx, ref.Kind, ref.Key)
			return err
		})
	}
	return r, err
}

// readNote is readNote inside the transaction.
func (b *batch) readNote(ctx context.Context, ref ledger.Ref) (r ledger.Row, err error) {
	if b.store.book.Filed(ref.Kind) {
		_, _, r, err = b.store.readFiled(ctx, b.store.writer, ref.Kind, ref.Key)
		return r, err
	}
	return b.proved.Passed(ctx, ref.Kind, ref.Key)
}

// closedNow reports whether the store was closed: its connections may be gone.
func (s *Store) closedNow() bool {
	s.closing.RLock()
	defer s.closing.RUnlock()
	return s.closed
}
