package sqlite

import (
	"context"
	"time"
)

// read runs a reading step on a connection nobody else uses. While nothing is being written it is the writer's own, so
// that a process which does one thing and exits opens one connection.
func (s *Store) read(ctx context.Context, doing string, step func(c *conn) error) error {
	if err := s.begin(); err != nil {
		return err
	}
	defer s.end()
	if s.writer != nil && s.writing.TryLock() {
		defer s.writing.Unlock()
		return explain(doing, step(s.writer))
	}
	return s.apart(ctx, doing, step)
}

// apart is read on a connection that never is the writer's. There are maxReaders at a time: more would cost more to open
// than waiting for one does.
func (s *Store) apart(ctx context.Context, doing string, step func(c *conn) error) error {
	if err := s.begin(); err != nil {
		return err
	}
	defer s.end()
	select {
	case s.slots <- struct{}{}:
	case <-ctx.Done():
		return explain(doing, ctx.Err())
	}
	defer func() { <-s.slots }()
	c, err := s.reader(ctx)
	if err != nil {
		return explain(doing, err)
	}
	err = step(c)
	if err != nil {
		_ = c.close() // whatever state it is in; the step's error is the one to report
		return explain(doing, err)
	}
	s.readers <- c // there is room: the holder of a slot has at most one
	return nil
}

// alone is read on a connection opened for it, for steps that take long or read something else meanwhile.
func (s *Store) alone(ctx context.Context, doing string, step func(c *conn) error) error {
	if err := s.begin(); err != nil {
		return err
	}
	defer s.end()
	c, err := s.take(ctx, s.db)
	if err != nil {
		return explain(doing, err)
	}
	err = step(c)
	if closed := c.close(); err == nil {
		err = closed
	}
	return explain(doing, err)
}

// begin admits a reading step, unless the store has failed or is being closed: a connection must not be closed under a step
// that uses it. Steps may read while they read, so this counts and does not lock.
func (s *Store) begin() error {
	if err := s.failed(); err != nil {
		return err
	}
	s.inUse.Lock()
	defer s.inUse.Unlock()
	if s.leaving {
		return errClosed
	}
	s.readings++
	return nil
}

func (s *Store) end() {
	s.inUse.Lock()
	defer s.inUse.Unlock()
	s.readings--
	if s.readings == 0 && s.quiet != nil {
		close(s.quiet)
		s.quiet = nil
	}
}

// settle refuses new reading steps and waits for those under way.
func (s *Store) settle() {
	s.inUse.Lock()
	s.leaving = true
	var quiet chan struct{}
	if s.readings > 0 {
		quiet = make(chan struct{})
		s.quiet = quiet
	}
	s.inUse.Unlock()
	if quiet != nil {
		<-quiet
	}
}

// reader takes an idle reading connection or opens one.
func (s *Store) reader(ctx context.Context) (*conn, error) {
	select {
	case c := <-s.readers:
		return c, nil
	default:
		return s.take(ctx, s.db)
	}
}

// knownFor is how far behind other processes [Store.Recall] may be.
const knownFor = 10 * time.Millisecond

// saw remembers that a revision was in force at a time. Of two that were read at once the newer one stays.
func (s *Store) saw(revision int64, at time.Time) {
	s.cache.Lock()
	defer s.cache.Unlock()
	if revision > s.current {
		s.current, s.seen = revision, at
	} else if revision == s.current && at.After(s.seen) {
		s.seen = at
	}
}
