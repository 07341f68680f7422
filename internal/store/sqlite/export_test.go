package sqlite

import (
	"context"
	"database/sql/driver"
	"time"
)

// WithWrap returns options under which wrap stands between the store and the driver.
func WithWrap(o Options, wrap func(driver.Conn) driver.Conn) Options {
	o.wrap = wrap
	return o
}

// Age makes what the store remembers seem read long ago.
func Age(s *Store) {
	s.cache.Lock()
	defer s.cache.Unlock()
	s.seen = s.seen.Add(-time.Hour)
}

// Tidy forgets now what the store would in time.
func Tidy(s *Store) {
	s.writing.Lock()
	defer s.writing.Unlock()
	s.tidy(context.Background())
}
