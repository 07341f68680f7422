package sqlite

import (
	"context"
	"time"
)

// restCheck is how long nothing must have been written before what the connections keep is given back.
const restCheck = 2 * time.Second

// A rested is how far the log was when the store was last looked at, and when memory was last given back.
type rested struct{ looked, returned int64 }

// over reports whether writing has paused since the last look and memory is still kept from it.
func (r *rested) over(size int64) bool {
	over := size == r.looked && size != r.returned
	if over {
		r.returned = size
	}
	r.looked = size
	return over
}

// rest gives back what the connections keep once writing has paused: the writer its pages of the file, the readers, many left by
// a load, all they have. The system keeps the file's pages for as long as nobody needs its memory more, so the next who come
// pay little. Those who write or read meanwhile come first.
func (s *Store) rest(ctx context.Context, r *rested) {
	if !s.writing.TryLock() {
		return
	}
	over := r.over(s.newest.Size)
	if over && s.failed() == nil {
		_, _ = s.writer.sql.ExecContext(ctx, "PRAGMA shrink_memory") // whatever is wrong, the next commit says it
	}
	s.writing.Unlock()
	if !over {
		return
	}
	for {
		select {
		case c := <-s.readers:
			_ = c.close() // it goes in any case
			continue
		default:
		}
		break
	}
	s.db.SetMaxIdleConns(-1) // closes those that are idle
	s.db.SetMaxIdleConns(maxReaders)
}
