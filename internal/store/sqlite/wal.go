package sqlite

import (
	"context"
	"errors"
	"os"
	"time"

	"interlock/internal/ledger"
)

// checkpointAfter is how many bytes go into the write-ahead log before it is copied into the file.
const checkpointAfter = 8 << 20

// checkpointSoon asks for a checkpoint when enough was written. The writer's lock is held.
func (s *Store) checkpointSoon() {
	if s.options.Brief || s.written < checkpointAfter {
		return
	}
	select {
	case s.checkpoints <- struct{}{}:
		s.written = 0
	default:
	}
}

// checkpointer copies the write-ahead log into the file when enough was written, and gives memory back when writing pauses.
func (s *Store) checkpointer() {
	defer s.background.Done()
	ctx := context.Background()
	tick := time.NewTicker(restCheck)
	defer tick.Stop()
	var pause rested
	for {
		select {
		case _, open := <-s.checkpoints:
			if !open {
				return
			}
			s.checkpoint(ctx)
		case <-tick.C:
			s.rest(ctx, &pause)
		}
	}
}

// checkpoint copies the write-ahead log into the file from a connection of its own, so that commits go on meanwhile.
// What was committed in the meantime is copied by the writer between two commits: only when nothing is left does SQLite
// restart the write-ahead log, and without that it would grow for as long as somebody commits.
func (s *Store) checkpoint(ctx context.Context) {
	err := s.apart(ctx, "copy the write-ahead log", func(c *conn) error {
		_, err := c.sql.ExecContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)")
		return err
	})
	if err != nil {
		return // it is housekeeping: the next one may succeed, and commits say what is wrong
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	s.tidy(ctx)
}

// pruneAtOnce bounds how many calls one tidying forgets, because it keeps others from writing meanwhile.
const pruneAtOnce = 8192

// tidy finishes a checkpoint and forgets calls nobody will ask for again, oldest first, and rows whose time is over. The writer's
// lock is held. Errors are left to the next commit, which says what is wrong.
func (s *Store) tidy(ctx context.Context) {
	now := s.options.Now()
	_ = s.beside(ctx, func(b *batch) error {
		if err := b.pruneFiled(ctx, pruneAtOnce, now.Add(-ledger.CallLife).UnixNano()); err != nil {
			return err
		}
		return b.forgetWhere(ctx, pruneAtOnce, "until < ?", now.UnixNano())
	})
	_, _ = s.writer.sql.ExecContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)")
}

// beside has step change what is beside the log, in a transaction of its own that writes no entry. The writer's lock is held.
func (s *Store) beside(ctx context.Context, step func(b *batch) error) error {
	if _, err := s.writer.exec(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	b, head, err := s.beginBatch(ctx)
	if err == nil {
		err = step(b)
	}
	if err == nil {
		err = b.saveBeside(ctx, head)
	}
	end := "COMMIT"
	if err != nil {
		end = "ROLLBACK"
	}
	_, failure := s.writer.exec(ctx, end)
	if err == nil && failure == nil {
		s.vouchedFor(b.next)
		return nil
	}
	s.proofs = nil
	if failure != nil && s.unfinished(ctx) {
		return s.fail(explain("write beside the log", failure))
	}
	return errors.Join(err, failure)
}

// leave ends a brief process's use of the store. It reports whether the connections may stay open for the kernel to close:
// closing the last one would copy the write-ahead log into the file and sync twice, for which the agent would wait. The
// next process reads that log when it opens the store, so once it has grown, somebody has to tidy up.
func (s *Store) leave() bool {
	info, err := os.Stat(s.path + "-wal")
	if err != nil {
		return false
	}
	if info.Size() <= leaveWAL {
		return true
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	if s.failed() == nil {
		s.tidy(context.Background())
	}
	return false
}
