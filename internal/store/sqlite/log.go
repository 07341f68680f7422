package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"interlock"
	"interlock/internal/ledger"
)

// The log as auditors and doors read it. These methods return what is stored; whether it is sound is verification's work.

const entryColumns = "idx, id, type, body, hashes, checkpoint"

// Head returns the newest state of the log.
func (s *Store) Head(ctx context.Context) (ledger.Head, error) {
	var head ledger.Head
	err := s.read(ctx, "read the head", func(c *conn) (err error) {
		head, _, err = readHead(ctx, c)
		return err
	})
	return head, err
}

// Walk calls visit for every entry in order, as stored in one snapshot of the log. The entry's bytes are the visitor's until
// it returns. Walk holds a connection of its own, so that a long reading keeps nobody from writing.
func (s *Store) Walk(ctx context.Context, visit func(interlock.Entry) error) error {
	var room unpacking
	return walkRows(ctx, s.alone, "SELECT "+entryColumns+" FROM entries ORDER BY idx", nil, visit,
		func(scan func(...any) error, e *interlock.Entry) error {
			var kind string
			var id, body, hashes, checkpoint sql.RawBytes
			if err := scan(&e.Index, &id, &kind, &body, &hashes, &checkpoint); err != nil {
				return err
			}
			e.ID, e.Type, e.Hashes, e.Checkpoint = idOf(id), interlock.EventType(kind), hashes, checkpoint
			room.entry(e, body, nil)
			return nil
		})
}

// shortPage is how many entries of an indexed type are read while the writer may have to wait, in place of another connection.
const shortPage = 64

// Entries returns a span of the log's entries, by their indexes: of one type or, with an empty type, of all.
func (s *Store) Entries(ctx context.Context, kind interlock.EventType, span ledger.Span) ([]interlock.Entry, error) {
	query, args := "SELECT "+entryColumns+" FROM entries WHERE idx >= ? AND idx <= ?", []any{span.From, span.UpTo}
	read := s.apart
	switch kind {
	case "":
	case interlock.EventDecision, interlock.EventOutcome:
		query, args = query+" AND type = ?", append(args, string(kind))
	default: // the index knows of these, and only of these; SQLite wants to be told
		query, args = query+" AND type = ? AND type NOT IN ('DECISION', 'OUTCOME')", append(args, string(kind))
		if span.Limit <= shortPage {
			read = s.read
		}
	}
	query += " ORDER BY idx"
	if span.Newest {
		query += " DESC"
	}
	var entries []interlock.Entry
	err := walk(ctx, read, query+" LIMIT ?", append(args, span.Limit), func(e interlock.Entry) error {
		entries = append(entries, e)
		return nil
	})
	return entries, err
}

// Hashes returns the tree hashes stored with an entry.
func (s *Store) Hashes(ctx context.Context, index int64) ([]byte, error) {
	var hashes []byte
	err := s.read(ctx, "read tree hashes", func(c *conn) error {
		found, err := c.row(ctx, "SELECT hashes FROM entries WHERE idx = ?", []any{index}, &hashes)
		if err == nil && !found {
			return interlock.Errorf(interlock.CodeNotFound, "index", "the log has no entry %d", index)
		}
		return err
	})
	return hashes, err
}

// errVisitor carries a visitor's error past the explanation of the store's own.
type errVisitor struct{ err error }

func (e errVisitor) Error() string { return e.err.Error() }

// walk visits the entries of a query on a connection that read gives it.
func walk(ctx context.Context, read func(context.Context, string, func(*conn) error) error, query string, args []any,
	visit func(interlock.Entry) error) error {
	return walkRows(ctx, read, query, args, visit, func(scan func(...any) error, e *interlock.Entry) error {
		var id, body []byte
		if err := scan(&e.Index, &id, &e.Type, &body, &e.Hashes, &e.Checkpoint); err != nil {
			return err
		}
		e.ID = idOf(id)
		new(unpacking).entry(e, body, nil) // the visitor keeps it
		return nil
	})
}

// walkRows is walk with the way a row becomes an entry.
func walkRows(ctx context.Context, read func(context.Context, string, func(*conn) error) error, query string, args []any,
	visit func(interlock.Entry) error, row func(scan func(...any) error, e *interlock.Entry) error) error {
	err := read(ctx, "read the log", func(c *conn) error {
		return c.each(ctx, query, args, func(scan func(...any) error) error {
			var e interlock.Entry
			if err := row(scan, &e); err != nil {
				return fmt.Errorf("a row of the log can't be read: %w", err)
			}
			if err := visit(e); err != nil {
				return errVisitor{err}
			}
			return nil
		})
	})
	var visitor errVisitor
	if errors.As(err, &visitor) {
		return visitor.err
	}
	return err
}
