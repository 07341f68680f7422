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
	"interlock/internal/store/proof"
)

// Rows that come with most actions, one each, which are calls, are added at the end of a table and found by short hashes of their
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

// readFiled reads the row under a key, its place and what it adds to the sum of the table.
func (s *Store) readFiled(ctx context.Context, c *conn, kind, key string) (id int64, adds proof.Sum, r ledger.Row, err error) {
	r = ledger.Row{Kind: kind, Key: key}
	err = c.each(ctx, s.filedQuery("by_event = ? ORDER BY id DESC"), []any{digest8(key)},
		func(scan func(...any) error) error {
			f, more, row, _, err := s.scanFiled(scan, kind)
			if err != nil || row.Key != key {
				return err
			}
			id, adds, r = f.ID, more, row
			return errEnough
		})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return id, adds, r, err
}

// filedColumns are those of a row but for its proof.
const filedColumns = "SELECT id, by_event, by_action, by_call, at, body, "

// filedQuery reads rows with their proofs, where there may be any: who only reads decides nothing, and it may be a store of before.
func (s *Store) filedQuery(where string) string {
	if s.options.ReadOnly {
		return filedColumns + "NULL FROM calls WHERE " + where
	}
	return filedColumns + "proof FROM calls WHERE " + where
}

// filedOf reads the row of a query made by filedQuery.
func filedOf(scan func(...any) error) (f proof.Filed, err error) {
	err = scan(&f.ID, &f.Event, &f.Action, &f.Called, &f.At, &f.Body, &f.Proof)
	return f, err
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
	if span.Lone {
		order = "by_call IS NULL AND " + order
	}
	query := s.filedQuery(column + " = ? AND at BETWEEN ? AND ? AND " + order + " LIMIT ?")
	if span.After != (ledger.Place{}) {
		after = span.After.Row
	}
	read, last := 0, ledger.Place{}
	err = c.each(ctx, query, []any{hash, span.From, span.UpTo, after, span.Limit}, func(scan func(...any) error) error {
		f, _, row, about, err := s.scanFiled(scan, mark.Kind)
		last = ledger.Place{At: f.At, Row: f.ID}
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
func (s *Store) scanFiled(scan func(...any) error, kind string) (f proof.Filed, adds proof.Sum, r ledger.Row, about ledger.About, err error) {
	r.Kind = kind
	if f, err = filedOf(scan); err != nil {
		return f, adds, r, about, err
	}
	if !s.options.ReadOnly {
		var genuine bool
		if _, adds, genuine = s.prover.Sum(&f); !genuine {
			return f, adds, r, about, nil
		}
	}
	if r.Body, err = pack.Unpack(f.Body, maxBody); err == nil {
		if r.Value, err = s.book.Value(r); err == nil {
			about, err = s.book.Named(r)
		}
	}
	if err != nil {
		return f, adds, r, about, fmt.Errorf("decode a %s: %w", kind, err)
	}
	r.Key = about.Key
	return f, adds, r, about, nil
}

// A filed row is one that a transaction writes, and where the first event of its change is among the drafts.
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
		row.ID = entries[f.first].Index + 1
		fresh = append(fresh, b.filedColumns(&row))
	}
	err := b.insert(ctx, insertFiled, len(fresh), func(to []any, i int) []any { return append(to, fresh[i]...) })
	for _, f := range b.filed {
		if err == nil && f.row.Key != "" {
			err = b.refile(ctx, f.row)
		}
	}
	return err
}

// filedColumns counts a row in and returns its columns, with its proof.
func (b *batch) filedColumns(f *proof.Filed) []any {
	tag, adds, _ := b.store.prover.Sum(f)
	b.proved.Sums[proof.Calls].Add(adds)
	return []any{f.ID, f.Event, f.Action, f.Called, f.At, f.Body, tag[:]}
}

// filedRow is a row as it is to be stored, but for its place.
func (s *Store) filedRow(r ledger.Row) (f proof.Filed, err error) {
	about, err := s.book.About(r)
	if err != nil {
		return f, err
	}
	for _, m := range about.Marks {
		switch column, hash := filedUnder(m.Name); column {
		case "by_action":
			f.Action, f.At = &hash, m.At
		case "by_call":
			f.Called = &hash
		}
	}
	f.Event, f.Body = digest8(r.Key), pack.Pack(r.Body)
	s.written += int64(len(f.Body) + 256)
	return f, nil
}

// refile writes a row in the place that it has, or before all others where it has none.
func (b *batch) refile(ctx context.Context, r ledger.Row) error {
	s := b.store
	id, adds, _, err := s.readFiled(ctx, s.writer, r.Kind, r.Key)
	if err != nil {
		return err
	}
	if id != 0 {
		b.proved.Sums[proof.Calls].Take(adds)
	}
	if r.Body == nil {
		return s.writer.RemoveFiled(ctx, id)
	}
	f, err := s.filedRow(r)
	if err != nil {
		return err
	}
	if f.ID = id; id == 0 {
		if _, err := s.writer.row(ctx, "SELECT min(coalesce(min(id), 0), 0) - 1 FROM calls", nil, &f.ID); err != nil {
			return err
		}
	}
	columns := b.filedColumns(&f)
	if id == 0 {
		return s.writer.done(ctx, insertFiled[len(insertFiled)-1], columns...)
	}
	return s.writer.done(ctx, "UPDATE calls SET by_action = ?, by_call = ?, at = ?, body = ?, proof = ? WHERE id = ?", f.Action, f.Called,
		f.At, f.Body, columns[len(columns)-1], f.ID)
}

// pruneFiled forgets the oldest rows, so many of them at most, if they are from before a time.
func (b *batch) pruneFiled(ctx context.Context, most int, before int64) error {
	s := b.store
	oldest := "id IN (SELECT id FROM calls ORDER BY id LIMIT ?) AND at < ?"
	err := s.writer.each(ctx, s.filedQuery(oldest), []any{most, before}, func(scan func(...any) error) error {
		f, err := filedOf(scan)
		if _, adds, genuine := s.prover.Sum(&f); err == nil && genuine {
			b.proved.Sums[proof.Calls].Take(adds)
		}
		return err
	})
	if err == nil {
		_, err = s.writer.exec(ctx, "DELETE FROM calls WHERE "+oldest, most, before)
	}
	return err
}
