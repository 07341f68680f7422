package sqlite

import (
	"context"
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

// checkpointer copies the write-ahead log into the file from a connection of its own, so that commits go on meanwhile.
// What was committed in the meantime is copied by the writer between two commits: only when nothing is left does SQLite
// begin the write-ahead log anew, and without that it would grow for as long as somebody commits.
func (s *Store) checkpointer() {
	defer s.background.Done()
	ctx := context.Background()
	for range s.checkpoints {
		c, err := s.reader(ctx)
		if err != nil {
			continue // a checkpoint is housekeeping: the next one may succeed, and commits say what is wrong
		}
		_, err = c.sql.ExecContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)")
		select {
		case s.readers <- c:
		default:
			_ = c.close()
		}
		if err != nil {
			continue
		}
		s.writing.Lock()
		_, _ = s.writer.sql.ExecContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)")
		_, _ = s.writer.exec(ctx, "DELETE FROM calls WHERE at < ?", s.options.Now().Add(-callLife).UnixNano())
		s.writing.Unlock()
	}
}
