package sqlite

import (
	"context"
	"time"
)

// OpenWrapped is Open with wrap between the store and the driver.
var OpenWrapped = openWrapped

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

// Looking returns what looks once for what other processes have written.
func Looking(s *Store) (look, end func(), err error) {
	l := &lookout{ctx: context.Background()}
	if err := s.beginLooking(l.ctx, l); err != nil {
		return nil, nil, err
	}
	return func() { s.lookOnce(l) }, func() { _ = l.c.close() }, nil
}

// KnownTexts is of how many rows what they say is remembered.
func KnownTexts(s *Store) int { return s.prover.Known() }
