package sqlite

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"interlock"
	"interlock/internal/ledger"
	"interlock/internal/pack"
)

// Rows of which one comes with most actions, which are calls, are added at the end of a table and found by short hashes of their
// keys and marks: indexes over the texts would cost more than the rows. The body is packed and decides.

// errEnough ends a query early.
var errEnough = errors.New("enough")

// digest8 is the value of a by_ column: the first eight bytes of a hash over the parts.
func digest8(parts ...string) int64 {
	h := sha256.New()
	var length [8]byte
	for _, part := range parts {
		binary.BigEndian.PutUint64(length[:], uint64(len(part)))
		h.Write(length[:])
		h.Write([]byte(part))
	}
	return int64(binary.BigEndian.Uint64(h.Sum(nil)))
}

// filedUnder is the column of a mark and its value there.
func filedUnder(mark string) (column string, hash int64) {
	kind, rest, _ := strings.Cut(mark, "\x00")
	switch kind {
	case "action", "call":
		return "by_" + kind, digest8(strings.Split(rest, "\x00")...)
	default:
		return "", 0
	}
}

// readFiled reads the row under a key.
func (s *Store) readFiled(ctx context.Context, c *conn, kind, key string) (r stored, err error) {
	r.Row = ledger.Row{Kind: kind, Key: key}
	err = c.each(ctx, "SELECT id, body, at FROM calls WHERE by_event = ? ORDER BY id DESC", []any{digest8(key)},
		func(scan func(...any) error) error {
			var id int64
			row, _, err := s.scanFiled(scan, kind, &id, new(int64))
			if err != nil || row.Key != key {
				return err
			}
			r = stored{id: id, Row: row}
			return errEnough
		})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return r, err
}

// filedSpan reads a span of the rows under a mark, in the order in which they were written first.
func (s *Store) filedSpan(ctx context.Context, c *conn, mark ledger.Ref,
	span ledger.Span) (rows []ledger.Row, next ledger.Place, err error) {
	column, hash := filedUnder(mark.Mark)
	if column == "" {
		return nil, next, nil
	}
	order, after := "id > ? ORDER BY id", int64(-1)
	if span.Newest {
		order, after = "id < ? ORDER BY id DESC", math.MaxInt64
	}
	query := "SELECT id, body, at FROM calls WHERE " + column + " = ? AND at BETWEEN ? AND ? AND " + order + " LIMIT ?"
	if span.After != (ledger.Place{}) {
		after = span.After.Row
	}
	read, last := 0, ledger.Place{}
	err = c.each(ctx, query, []any{hash, span.From, span.UpTo, after, span.Limit}, func(scan func(...any) error) error {
		row, about, err := s.scanFiled(scan, mark.Kind, &last.Row, &last.At)
		read++
		if err == nil && slices.ContainsFunc(about.Marks, func(m ledger.Mark) bool { return m.Name == mark.Mark }) {
			rows = append(rows, row)
		}
		return err
	})
	if read == span.Limit {
		next = last
	}
	return rows, next, err
}

// scanFiled reads one row, with what its body says.
func (s *Store) scanFiled(scan func(...any) error, kind string, id, at *int64) (r ledger.Row, about ledger.About, err error) {
	var packed []byte
	into := []any{id, &packed, at}
	if err := scan(into...); err != nil {
		return r, about, err
	}
	r.Kind = kind
	if r.Body, err = pack.Unpack(packed, maxBody); err == nil {
		if r.Value, err = s.book.Value(r); err == nil {
			about, err = s.book.Named(r)
		}
	}
	if err != nil {
		return r, about, fmt.Errorf("decode a %s: %w", kind, err)
	}
	r.Key = about.Key
	return r, about, nil
}

// A filed row is one that a transaction writes, and where the first event of its change stands among the drafts.
type filed struct {
	first int
	row   ledger.Row
}

var insertFiled = insertions("calls", "by_event, by_action, by_call, at, body", "")

// saveFiled writes the rows that the transaction's changes file, now that their events have ids. Most are new.
func (b *batch) saveFiled(ctx context.Context, entries []interlock.Entry) error {
	var fresh [][]any
	for _, f := range b.filed {
		if f.row.Key != "" {
			continue
		}
		r, err := b.store.book.Keyed(f.row, entries[f.first].ID)
		if err != nil {
			return err
		}
		columns, err := b.store.columns(r)
		if err != nil {
			return err
		}
		fresh = append(fresh, columns)
	}
	err := b.insert(ctx, insertFiled, len(fresh), func(to []any, i int) []any { return append(to, fresh[i]...) })
	for _, f := range b.filed {
		if err == nil && f.row.Key != "" {
			err = b.store.refile(ctx, f.row)
		}
	}
	return err
}

// columns are those of a row.
func (s *Store) columns(r ledger.Row) ([]any, error) {
	about, err := s.book.About(r)
	if err != nil {
		return nil, err
	}
	var byAction, byCall any
	var at int64
	for _, m := range about.Marks {
		switch column, hash := filedUnder(m.Name); column {
		case "by_action":
			byAction, at = hash, m.At
		case "by_call":
			byCall = hash
		}
	}
	body := pack.Pack(r.Body)
	s.written += int64(len(body) + 256)
	return []any{digest8(r.Key), byAction, byCall, at, body}, nil
}

// refile writes a row in the place that it has, or at the end where it has none.
func (s *Store) refile(ctx context.Context, r ledger.Row) error {
	was, err := s.readFiled(ctx, s.writer, r.Kind, r.Key)
	if err != nil {
		return err
	}
	if r.Body == nil {
		_, err = s.writer.exec(ctx, "DELETE FROM calls WHERE id = ?", was.id)
		return err
	}
	columns, err := s.columns(r)
	if err != nil {
		return err
	}
	if was.id == 0 {
		_, err = s.writer.exec(ctx, insertFiled[len(insertFiled)-1], columns...)
		return err
	}
	_, err = s.writer.exec(ctx, "UPDATE calls SET at = ?, body = ? WHERE id = ?", columns[3], columns[4], was.id)
	return err
}
