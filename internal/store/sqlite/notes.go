package sqlite

import (
	"context"

	codes "modernc.org/sqlite/lib"

	"interlock"
)

// Note has change make what it will of a row that nobody decides from, and keeps it; nil of it keeps it as it is. Like
// what [Store.Hear] keeps it is a note beside the log and no event. change is called once, while nobody else writes.
func (s *Store) Note(ctx context.Context, row interlock.Ref, change func(value any) (any, error)) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	if err := s.failed(); err != nil {
		return err
	}
	if s.options.ReadOnly || s.closedNow() {
		return errClosed
	}
	const doing = "take a note"
	if _, err := s.writer.exec(ctx, "BEGIN IMMEDIATE"); err != nil {
		return s.classify(doing, err)
	}
	sure := context.WithoutCancel(ctx)
	err := s.note(sure, row, change)
	end := "COMMIT"
	if err != nil {
		end = "ROLLBACK"
	}
	if _, failure := s.writer.exec(sure, end); failure != nil {
		if code(failure) == codes.SQLITE_FULL && err == nil { // SQLite has undone it, and a note is nothing to stop for
			_, _ = s.writer.exec(sure, "ROLLBACK")
			return explain(doing, failure)
		}
		return s.fail(explain(doing, failure))
	}
	return s.classify(doing, err)
}

// closedNow reports whether the store was closed: its connections may be gone.
func (s *Store) closedNow() bool {
	s.closing.RLock()
	defer s.closing.RUnlock()
	return s.closed
}

// note writes the row inside a transaction. The revision stays: nobody remembers rows of kinds that are noted.
func (s *Store) note(ctx context.Context, ref interlock.Ref, change func(value any) (any, error)) error {
	before, err := readRow(ctx, s.writer, ref.Kind, ref.Key)
	if err != nil {
		return err
	}
	after, about, err := s.book.Note(before.Row, change)
	if err != nil || about.Key == "" {
		return err
	}
	had, _ := s.book.About(before.Row) // of one that can't be read the marks are left to the sweep
	s.written += int64(len(after.Body) + 256)
	if before.id == 0 {
		if before.id, err = insertRow(ctx, s.writer, after); err != nil {
			return err
		}
	} else if _, err := s.writer.exec(ctx, "UPDATE rows SET body = ? WHERE id = ?", after.Body, before.id); err != nil {
		return err
	}
	return remark(ctx, s.writer, ref.Kind, before.id, had.Marks, about.Marks)
}
