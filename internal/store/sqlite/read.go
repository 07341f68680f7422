package sqlite

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"interlock"
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

// readRequest reads one approval request.
func readRequest(ctx context.Context, c *conn, id string) (interlock.ApprovalRequest, bool, error) {
	var status string
	var body []byte
	found, err := c.row(ctx, "SELECT status, body FROM requests WHERE id = ?", []any{id}, &status, &body)
	if err != nil || !found {
		return interlock.ApprovalRequest{}, false, err
	}
	r, err := decodeRequest(status, body)
	return r, err == nil, err
}

// Request returns an approval request, whatever has become of it.
func (s *Store) Request(ctx context.Context, id string) (r interlock.ApprovalRequest, found bool, err error) {
	err = s.read(ctx, "reading a request", func(c *conn) error {
		r, found, err = readRequest(ctx, c, id)
		return err
	})
	return r, found, err
}

func decodeRequest(status string, body []byte) (interlock.ApprovalRequest, error) {
	var r interlock.ApprovalRequest
	if err := json.Unmarshal(body, &r); err != nil {
		return interlock.ApprovalRequest{}, fmt.Errorf("decode a request: %w", err)
	}
	r.Status = interlock.RequestStatus(status)
	approved := r.Approval != nil && r.Approval.Request == r.ID && r.Approval.Verdict == interlock.Allow
	if r.Status == interlock.RequestApproved && !approved {
		// Only this package writes the column, and never without the approval. What an approval says is for its signature to
		// prove; that there is one is checked here.
		return interlock.ApprovalRequest{}, interlock.Errorf(interlock.CodeUnavailable, "store",
			"a request is marked as approved and nobody approved it: the store was changed from outside; stop Interlock, keep "+
				"the file as evidence and run `interlock audit verify`")
	}
	return r, nil
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
	standing, fresh := s.standing, s.revision != 0 && s.revision == s.current && time.Since(s.seen) < knownFor
	s.cache.Unlock()
	if fresh {
		return standing, nil
	}
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

// Standing returns who is known and what is pending or approved. It costs one row while nothing has changed. The maps are
// shared: callers read them and change nothing.
func (s *Store) Standing(ctx context.Context) (interlock.Standing, error) {
	var result interlock.Standing
	err := s.read(ctx, "read the standing", func(c *conn) error {
		var version, revision, size int64
		at := time.Now() // before it is read: it may change right after
		found, err := c.row(ctx, "SELECT version, revision, size FROM head WHERE one = 1", nil, &version, &revision, &size)
		if err != nil || !found {
			if err == nil {
				_, _, err = readHead(ctx, c) // says what is wrong
			}
			return err
		}
		s.saw(revision, at)
		s.recent.notice(size)
		s.cache.Lock()
		if s.revision == revision {
			result = s.standing
		}
		s.cache.Unlock()
		if result.Version != 0 {
			return nil
		}
		result, revision, err = loadStanding(ctx, c, s.options.ReadOnly)
		if err != nil {
			return err
		}
		s.cache.Lock()
		if revision > s.revision {
			s.standing, s.revision = result, revision
		}
		s.cache.Unlock()
		return nil
	})
	if err != nil {
		return interlock.Standing{}, err
	}
	return result, nil
}

// loadStanding reads the standing whole, in one snapshot of the database. The tables may be old ones if nobody may write.
func loadStanding(ctx context.Context, c *conn, old bool) (standing interlock.Standing, revision int64, err error) {
	standing = interlock.Standing{
		Agents:    map[string]interlock.AgentRecord{},
		Operators: map[string]interlock.OperatorRecord{},
		Requests:  map[string]interlock.ApprovalRequest{},
		Settings:  map[string]string{},

		Suppressions: map[string]interlock.Suppression{},
		Challenges:   map[string]interlock.Challenge{},
		Grants:       map[string]interlock.Grant{},
		Attempts:     map[string]interlock.Attempts{},
		Pins:         map[string]interlock.Pin{},
	}
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
	err = bodies(ctx, c, "SELECT body FROM agents", func(a interlock.AgentRecord) { standing.Agents[a.ID] = a })
	if err != nil {
		return standing, 0, err
	}
	err = bodies(ctx, c, "SELECT body FROM operators", func(o interlock.OperatorRecord) { standing.Operators[o.Name] = o })
	if err != nil {
		return standing, 0, err
	}
	if err := loadLater(ctx, c, old, &standing); err != nil {
		return standing, 0, err
	}
	err = c.each(ctx, "SELECT name, value FROM settings", nil, func(scan func(...any) error) error {
		var name, value string
		if err := scan(&name, &value); err != nil {
			return err
		}
		standing.Settings[name] = value
		return nil
	})
	if err != nil {
		return standing, 0, err
	}
	err = c.each(ctx, "SELECT status, body FROM requests WHERE status IN ('pending', 'approved')", nil,
		func(scan func(...any) error) error {
			var status string
			var body []byte
			if err := scan(&status, &body); err != nil {
				return err
			}
			r, err := decodeRequest(status, body)
			standing.Requests[r.ID] = r
			return err
		})
	return standing, revision, err
}

// loadLater reads what the first schema had no tables for.
func loadLater(ctx context.Context, c *conn, old bool, standing *interlock.Standing) error {
	version := int64(schemaVersion)
	if old {
		if _, err := c.row(ctx, "PRAGMA user_version", nil, &version); err != nil {
			return err
		}
	}
	if version >= 2 {
		err := bodies(ctx, c, "SELECT body FROM suppressions", func(s interlock.Suppression) { standing.Suppressions[s.ID] = s })
		if err != nil {
			return err
		}
	}
	if version >= 3 {
		if err := loadHeld(ctx, c, standing); err != nil {
			return err
		}
	}
	if version < 4 {
		return nil
	}
	return loadPins(ctx, c, standing)
}

// bodies decodes the JSON in every row of a query.
func bodies[T any](ctx context.Context, c *conn, query string, take func(T)) error {
	return c.each(ctx, query, nil, func(scan func(...any) error) error {
		var body []byte
		if err := scan(&body); err != nil {
			return err
		}
		var value T
		if err := json.Unmarshal(body, &value); err != nil {
			return fmt.Errorf("decode a record: %w", err)
		}
		take(value)
		return nil
	})
}
