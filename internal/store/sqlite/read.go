package sqlite

import (
	"context"
	"strings"
	"time"

	"interlock"
	"interlock/internal/ledger"
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
	s.readers <- c // there is room: whoever holds a slot has at most one
	return nil
}

// alone is read on a connection opened for it, for steps that take long or read something else meanwhile.
func (s *Store) alone(ctx context.Context, doing string, step func(c *conn) error) error {
	if err := s.begin(); err != nil {
		return err
	}
	defer s.end()
	c, err := take(ctx, s.db, s.options.Patience)
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
		return take(ctx, s.db, s.options.Patience)
	}
}

// knownFor is how far behind other processes [Store.Known] may be.
const knownFor = 10 * time.Millisecond

// Known is Standing from memory where this process has seen within [knownFor], by a commit of its own or by reading, that
// it was in force. It always holds what this process has committed. It is for computing a Change, whose Version Commit
// holds against the file; a change that is refused is computed again from Standing.
func (s *Store) Known(ctx context.Context) (interlock.Standing, error) {
	if err := s.failed(); err != nil {
		return interlock.Standing{}, err
	}
	s.cache.Lock()
	if s.fresh() && s.mind.settle(s.book) {
		standing := s.mind.standing
		s.cache.Unlock()
		return standing, nil
	}
	s.cache.Unlock()
	return s.Standing(ctx)
}

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

// Standing returns who is known and what is pending or approved, whole, for what shows or orders it. It costs one row while
// nothing has changed. The maps are shared: callers read them and change nothing.
func (s *Store) Standing(ctx context.Context) (interlock.Standing, error) {
	var result interlock.Standing
	err := s.read(ctx, "read the standing", func(c *conn) error {
		revision, err := s.look(ctx, c)
		if err != nil {
			return err
		}
		s.cache.Lock()
		if s.mind.revision == revision && s.mind.settle(s.book) {
			result = s.mind.standing
		}
		s.cache.Unlock()
		if result.Version != 0 {
			return nil
		}
		result, revision, err = s.loadStanding(ctx, c)
		if err != nil {
			return err
		}
		s.cache.Lock()
		defer s.cache.Unlock()
		if s.mind.revision == revision {
			s.mind.whole, s.mind.late, s.mind.standing = true, nil, result
		}
		return nil
	})
	if err != nil {
		return interlock.Standing{}, err
	}
	return result, nil
}

// loadStanding reads the standing whole, in one snapshot of the database. The tables may be old ones if nobody may write.
func (s *Store) loadStanding(ctx context.Context, c *conn) (standing interlock.Standing, revision int64, err error) {
	standing = ledger.NewStanding()
	whole := context.WithoutCancel(ctx) // a caller who leaves must not leave a transaction open
	if _, err := c.exec(whole, "BEGIN"); err != nil {
		return standing, 0, err
	}
	defer func() {
		if _, end := c.exec(whole, "COMMIT"); err == nil {
			err = end
		}
	}()
	if _, err := c.row(ctx, "SELECT version, revision FROM head WHERE one = 1", nil, &standing.Version, &revision); err != nil {
		return standing, 0, err
	}
	put := func(r interlock.Row) error { return s.book.Into(r, &standing) }
	if s.options.ReadOnly {
		version := int64(schemaVersion)
		if _, err := c.row(ctx, "PRAGMA user_version", nil, &version); err != nil {
			return standing, 0, err
		}
		if version < ordersSince {
			if err := legacyRows(ctx, c, version, put); err != nil || version < rowsSince {
				return standing, revision, err
			}
		}
	}
	kinds := ledger.Standing()
	args := []any{ledger.All}
	for _, kind := range kinds {
		args = append(args, kind)
	}
	err = c.each(ctx, "SELECT r.kind, r.key, r.version, r.body FROM marks m CROSS JOIN rows r ON r.id = m.row WHERE m.mark = ? "+
		"AND m.kind IN (?"+strings.Repeat(", ?", len(kinds)-1)+")", args, func(scan func(...any) error) error {
		var r interlock.Row
		if err := scan(&r.Kind, &r.Key, &r.Version, &r.Body); err != nil {
			return err
		}
		return put(r)
	})
	return standing, revision, err
}
