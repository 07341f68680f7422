package sqlite

import (
	"bytes"
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
	err = c.each(ctx, s.filedQuery("by_event = ? ORDER BY id DESC"), []any{digest8(key)},
		func(scan func(...any) error) error {
			f, row, _, err := s.scanFiled(scan, kind)
			if err != nil || row.Key != key {
				return err
			}
			r = stored{id: f.id, Row: row, adds: f.adds}
			return errEnough
		})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return r, err
}

// filedQuery reads rows with their proofs, where there may be any.
func (s *Store) filedQuery(where string) string {
	if s.options.ReadOnly { // it may be a store of before; and who only reads decides nothing
		return "SELECT id, by_event, by_action, by_call, at, body, NULL FROM calls WHERE " + where
	}
	return "SELECT id, by_event, by_action, by_call, at, body, proof FROM calls WHERE " + where
}

// A filedRow is a row as it is stored.
type filedRow struct {
	id, event, at  int64
	action, called *int64
	body           []byte
	proof          []byte
	adds           sum
}

// scan reads the row of a query made by filedQuery, and whether Interlock has written it so.
func (f *filedRow) scan(s *Store, scan func(...any) error) (genuine bool, err error) {
	if err := scan(&f.id, &f.event, &f.action, &f.called, &f.at, &f.body, &f.proof); err != nil || s.options.Sealer == nil {
		return err == nil, err
	}
	proof, adds := f.tagged(s)
	f.adds = adds
	return bytes.Equal(proof[:], f.proof), nil
}

// tagged is the proof of a row, and what it adds to the sum of the table.
func (f *filedRow) tagged(s *Store) (proof [proofSize]byte, adds sum) {
	text := make([]byte, 0, 48)
	for _, n := range []int64{f.id, f.event, f.at} {
		text = binary.BigEndian.AppendUint64(text, uint64(n))
	}
	for _, n := range []*int64{f.action, f.called} {
		if n == nil {
			text = append(text, 0)
			continue
		}
		text = binary.BigEndian.AppendUint64(append(text, 1), uint64(*n))
	}
	return tagged(s.options.Sealer.Tag([]byte("call 10"), text, f.body))
}

// columns are those of a row, with its proof.
func (f *filedRow) columns(s *Store) (columns []any, adds sum) {
	proof, adds := f.tagged(s)
	return []any{f.id, f.event, f.action, f.called, f.at, f.body, proof[:]}, adds
}

// filedSpan reads a span of the rows under a mark, in the order in which they were written first.
func (s *Store) filedSpan(ctx context.Context, c *conn, mark ledger.Ref,
	span ledger.Span) (rows []ledger.Row, next ledger.Place, err error) {
	column, hash := filedUnder(mark.Mark)
	if column == "" {
		return nil, next, nil
	}
	order, after := "id > ? ORDER BY id", int64(math.MinInt64)
	if span.Newest {
		order, after = "id < ? ORDER BY id DESC", math.MaxInt64
	}
	query := s.filedQuery(column + " = ? AND at BETWEEN ? AND ? AND " + order + " LIMIT ?")
	if span.After != (ledger.Place{}) {
		after = span.After.Row
	}
	read, last := 0, ledger.Place{}
	err = c.each(ctx, query, []any{hash, span.From, span.UpTo, after, span.Limit}, func(scan func(...any) error) error {
		f, row, about, err := s.scanFiled(scan, mark.Kind)
		last = ledger.Place{At: f.at, Row: f.id}
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

// scanFiled reads one row, with what its body says. One that Interlock has not written so says nothing.
func (s *Store) scanFiled(scan func(...any) error, kind string) (f filedRow, r ledger.Row, about ledger.About, err error) {
	r.Kind = kind
	genuine, err := f.scan(s, scan)
	if err != nil || !genuine && !s.options.ReadOnly {
		return f, r, about, err
	}
	if r.Body, err = pack.Unpack(f.body, maxBody); err == nil {
		if r.Value, err = s.book.Value(r); err == nil {
			about, err = s.book.Named(r)
		}
	}
	if err != nil {
		return f, r, about, fmt.Errorf("decode a %s: %w", kind, err)
	}
	r.Key = about.Key
	return f, r, about, nil
}

// A filed row is one that a transaction writes, and where the first event of its change stands among the drafts.
type filed struct {
	first int
	row   ledger.Row
}

var insertFiled = insertions("calls", "id, by_event, by_action, by_call, at, body, proof", "")

// saveFiled writes the rows that the transaction's changes file, now that their events have ids. Most are new. The place of a new one
// is that of its event in the log, so that nobody can say that another came later.
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
		row, err := b.store.filedRow(r)
		if err != nil {
			return err
		}
		row.id = entries[f.first].Index + 1
		columns, adds := row.columns(b.store)
		b.sums[calls].add(adds)
		fresh = append(fresh, columns)
	}
	err := b.insert(ctx, insertFiled, len(fresh), func(to []any, i int) []any { return append(to, fresh[i]...) })
	for _, f := range b.filed {
		if err == nil && f.row.Key != "" {
			err = b.refile(ctx, f.row)
		}
	}
	return err
}

// filedRow is a row as it is to be stored, but for its place.
func (s *Store) filedRow(r ledger.Row) (f filedRow, err error) {
	about, err := s.book.About(r)
	if err != nil {
		return f, err
	}
	for _, m := range about.Marks {
		switch column, hash := filedUnder(m.Name); column {
		case "by_action":
			f.action, f.at = &hash, m.At
		case "by_call":
			f.called = &hash
		}
	}
	f.event, f.body = digest8(r.Key), pack.Pack(r.Body)
	s.written += int64(len(f.body) + 256)
	return f, nil
}

// refile writes a row in the place that it has, or before all others where it has none.
func (b *batch) refile(ctx context.Context, r ledger.Row) error {
	s := b.store
	was, err := s.readFiled(ctx, s.writer, r.Kind, r.Key)
	if err != nil {
		return err
	}
	if was.id != 0 {
		b.sums[calls].take(was.adds)
	}
	if r.Body == nil {
		_, err = s.writer.exec(ctx, "DELETE FROM calls WHERE id = ?", was.id)
		return err
	}
	f, err := s.filedRow(r)
	if err != nil {
		return err
	}
	if f.id = was.id; was.id == 0 {
		if _, err := s.writer.row(ctx, "SELECT min(coalesce(min(id), 0), 0) - 1 FROM calls", nil, &f.id); err != nil {
			return err
		}
	}
	columns, adds := f.columns(s)
	b.sums[calls].add(adds)
	if was.id == 0 {
		_, err = s.writer.exec(ctx, insertFiled[len(insertFiled)-1], columns...)
		return err
	}
	_, err = s.writer.exec(ctx, "UPDATE calls SET by_action = ?, by_call = ?, at = ?, body = ?, proof = ? WHERE id = ?", f.action, f.called,
		f.at, f.body, columns[len(columns)-1], f.id)
	return err
}

// pruneFiled forgets the oldest rows, so many of them at most, if they are from before a time.
func (b *batch) pruneFiled(ctx context.Context, most int, before int64) error {
	s := b.store
	oldest := "id IN (SELECT id FROM calls ORDER BY id LIMIT ?) AND at < ?"
	err := s.writer.each(ctx, s.filedQuery(oldest), []any{most, before}, func(scan func(...any) error) error {
		var f filedRow
		genuine, err := f.scan(s, scan)
		if genuine {
			b.sums[calls].take(f.adds)
		}
		return err
	})
	if err == nil {
		_, err = s.writer.exec(ctx, "DELETE FROM calls WHERE "+oldest, most, before)
	}
	return err
}
