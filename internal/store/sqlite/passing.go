package sqlite

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"interlock"
	"interlock/internal/ledger"
	"interlock/internal/store/proof"
)

// Rows of the kinds that are forgotten after a time of their own have a table of their own: most actions write one, and nobody
// compares them. So writing one is one statement for many, moves no version and no revision, and costs nobody who remembers
// other rows anything.

// passingSince is the version from which there is that table.
const passingSince = 8

// A memory is what this process knows of passing rows without reading the file. It is exact while nobody else has written since
// size; the first to find that somebody has empties it.
type memory struct {
	guard  sync.Mutex
	rows   map[ledger.Ref][]ledger.Row // by key; one that is not there is known too
	size   int64                       // of the log when this was known to be all
	epochs int                         // how often it was emptied
}

// forget empties the memory: it is not known what others wrote before the log had this size.
func (m *memory) forget(size int64) {
	m.guard.Lock()
	defer m.guard.Unlock()
	m.rows, m.size = map[ledger.Ref][]ledger.Row{}, size
	m.epochs++
}

// notice takes note of the size the log has, and forgets if it has grown by what this process did not write.
func (m *memory) notice(size int64) {
	m.guard.Lock()
	known := size <= m.size
	m.guard.Unlock()
	if !known {
		m.forget(size)
	}
}

// learn takes over what a transaction of this process has read and written.
func (m *memory) learn(size int64, rows map[ledger.Ref]*passing) {
	m.guard.Lock()
	defer m.guard.Unlock()
	if size < m.size {
		return // somebody else has written since, and perhaps the same
	}
	m.size = size
	if len(m.rows)+len(rows) > maxJobs {
		m.rows = map[ledger.Ref][]ledger.Row{}
		m.epochs++
	}
	for ref, p := range rows { // any order: they don't depend on each other
		switch {
		case p.noted: // which change without anybody's noticing
		case p.row.Body == nil:
			m.rows[ref] = nil
		case p.row.Value != nil: // else reading it says what is wrong
			m.rows[ref] = []ledger.Row{p.row}
		}
	}
}

// look returns what is known of a row, and when it was looked.
func (m *memory) look(ref ledger.Ref) (rows []ledger.Row, known bool, epoch int) {
	m.guard.Lock()
	defer m.guard.Unlock()
	rows, known = m.rows[ref]
	return rows, known, m.epochs
}

// keep takes over what was read since it was looked for, unless a transaction has told it better.
func (m *memory) keep(ref ledger.Ref, rows []ledger.Row, epoch int) {
	m.guard.Lock()
	defer m.guard.Unlock()
	if _, known := m.rows[ref]; !known && epoch == m.epochs && len(m.rows) < maxJobs {
		m.rows[ref] = rows
	}
}

// silence is which noted rows were not there within [knownFor], so that what most runs do not have is not looked up for each of
// their actions. That one is not there yet may be as old as that.
type silence struct {
	guard sync.Mutex
	refs  map[ledger.Ref]time.Time
	ended time.Time // when this process last took a note
}

// maxSilence bounds of how many rows it is known that they are not there.
const maxSilence = 256

func (s *silence) knows(ref ledger.Ref) bool {
	s.guard.Lock()
	defer s.guard.Unlock()
	at, known := s.refs[ref]
	return known && time.Since(at) < knownFor
}

func (s *silence) keep(ref ledger.Ref, looked time.Time) {
	s.guard.Lock()
	defer s.guard.Unlock()
	if s.refs == nil || len(s.refs) >= maxSilence {
		s.refs = map[ledger.Ref]time.Time{}
	}
	if looked.After(s.ended) { // else it may have been read before what was noted meanwhile
		s.refs[ref] = looked
	}
}

func (s *silence) ends(ref ledger.Ref) {
	s.guard.Lock()
	defer s.guard.Unlock()
	delete(s.refs, ref)
	s.ended = time.Now()
}

// readPassing reads the row under a key as it is in the file, which has no body if it is not there: for who can't check it, or does
// not decide.
func readPassing(ctx context.Context, c *conn, kind, key string) (ledger.Row, error) {
	r := ledger.Row{Kind: kind, Key: key}
	_, err := c.row(ctx, "SELECT body FROM passing WHERE kind = ? AND key = ?", []any{kind, key}, &r.Body)
	return r, err
}

// scanPassing reads a span of the rows of a kind, by when they are over, which is the one mark they have.
//
// Rows that Interlock has not written do not come, where that can be told; that one is gone is for Load to find: nobody decides from
// pages.
func (s *Store) scanPassing(ctx context.Context, c *conn, version int64, mark ledger.Ref,
	span ledger.Span) (rows []ledger.Row, next ledger.Place, err error) {
	if mark.Mark != ledger.Until {
		return nil, next, nil
	}
	id, proof := "owner", "proof"
	if version < besideSince {
		id, proof = "id", "NULL"
	}
	query := "SELECT key, body, until, " + id + ", " + proof + " FROM passing WHERE kind = ? AND until <= ? AND (until, " + id +
		") > (?, ?) ORDER BY until, " + id + " LIMIT ?"
	after := cmp.Or(span.After, ledger.Place{At: span.From, Row: -1})
	args := []any{mark.Kind, span.UpTo, after.At, after.Row, span.Limit}
	if span.Newest {
		query = "SELECT key, body, until, " + id + ", " + proof + " FROM passing WHERE kind = ? AND until >= ? AND (until, " + id +
			") < (?, ?) ORDER BY until DESC, " + id + " DESC LIMIT ?"
		after = cmp.Or(span.After, ledger.Place{At: span.UpTo, Row: math.MaxInt64})
		args = []any{mark.Kind, span.From, after.At, after.Row, span.Limit}
	}
	var last ledger.Place
	read := 0
	err = c.each(ctx, query, args, func(scan func(...any) error) error {
		r := ledger.Row{Kind: mark.Kind}
		var proof []byte
		if err := scan(&r.Key, &r.Body, &last.At, &last.Row, &proof); err != nil {
			return err
		}
		read++
		if !s.options.ReadOnly {
			if genuine := s.prover.Pass(r, last.At); !bytes.Equal(proof, genuine[:]) {
				return nil
			}
		}
		rows = append(rows, r)
		return nil
	})
	if read == span.Limit {
		next = last
	}
	return rows, next, err
}

// passing is a row that a transaction has looked for or written.
type passing struct {
	row     ledger.Row // as the transaction leaves it; its body is made when the transaction is
	wrote   bool
	missing bool // it was looked for and not there
	noted   bool // it may be written without an event
}

// look is the row as the commits before leave it, in this transaction or in those before.
func (b *batch) look(ctx context.Context, kind, key string) (ledger.Row, error) {
	ref := ledger.Ref{Kind: kind, Key: key}
	if p := b.passing[ref]; p != nil {
		return p.row, nil
	}
	r, s := ledger.Row{Kind: kind, Key: key}, b.store
	rows, known, _ := s.passing.look(ref)
	switch {
	case !known || s.book.Noted(kind):
		var err error
		if r, err = b.proved.Passed(ctx, kind, key); err != nil {
			return r, err
		}
		r.Value, _ = s.book.Value(r) // one who needs it finds what is wrong
	case len(rows) > 0:
		r = rows[0]
	}
	b.pass(ref, &passing{row: r, missing: r.Body == nil})
	return r, nil
}

func (b *batch) pass(ref ledger.Ref, p *passing) {
	if b.passing == nil {
		b.passing = map[ledger.Ref]*passing{}
	}
	p.noted = b.store.book.Noted(ref.Kind)
	b.passing[ref] = p
}

// put has the transaction write a row. Of several of one row only the last is written.
func (b *batch) put(r ledger.Row) {
	ref := ledger.Ref{Kind: r.Kind, Key: r.Key}
	p := b.passing[ref]
	if p == nil {
		p = &passing{}
		b.pass(ref, p)
	}
	p.row, p.wrote = r, true
}

// A passRow is a row as it is stored: its kind, key and body.
type passRow struct {
	ledger.Row
	owner, until int64
}

var insertPassing = insertions("passing", "owner, kind, key, until, proof, body", " ON CONFLICT (owner) DO UPDATE SET "+
	"kind = excluded.kind, key = excluded.key, until = excluded.until, proof = excluded.proof, body = excluded.body")

// savePassing writes what the transaction's changes have made of passing rows, and where its runs are. A row that is new sweeps out
// those that are over.
func (b *batch) savePassing(ctx context.Context) error {
	s, rows, fresh := b.store, make([]passRow, 0, len(b.passing)+len(b.touched)), false
	for ref, p := range b.passing { // they are sorted below
		switch {
		case !p.wrote:
			continue
		case p.row.Body == nil && p.row.Value == nil:
			if err := b.forgetPassed(ctx, proof.PassNumber(ref.Kind, ref.Key)); err != nil {
				return err
			}
			continue
		}
		until, err := s.finish(&p.row)
		if err != nil {
			return err
		}
		rows, fresh = append(rows, passRow{p.row, proof.PassNumber(ref.Kind, ref.Key), until}), fresh || p.missing
	}
	kept, err := b.keptRuns(ctx)
	if err != nil {
		return err
	}
	rows = append(rows, kept...)
	if err := b.savePassed(ctx, rows); err != nil || !fresh {
		return err
	}
	return b.sweepPassing(ctx, s.at(&b.accepted[0].change))
}

// savePassed writes rows with their proofs.
func (b *batch) savePassed(ctx context.Context, rows []passRow) error {
	s := b.store
	slices.SortFunc(rows, func(one, other passRow) int { return cmp.Compare(one.owner, other.owner) }) // neighbours are written together
	return b.insert(ctx, insertPassing, len(rows), func(to []any, i int) []any {
		r := &rows[i]
		proof := b.proved.Pass(r.Row, r.owner, r.until)
		s.written += int64(len(r.Body) + 96)
		return append(to, r.owner, r.Kind, r.Key, r.until, proof[:], r.Body)
	})
}

// finish gives a row the body and the value it lacks, and returns when it is over.
func (s *Store) finish(r *ledger.Row) (until int64, err error) {
	if r.Body == nil {
		if r.Body, err = ledger.Encode(r.Value); err != nil {
			return 0, fmt.Errorf("encode a %s: %w", r.Kind, err)
		}
	}
	if r.Value, err = s.book.Value(*r); err != nil {
		return 0, err
	}
	about, err := s.book.About(*r)
	for _, m := range about.Marks {
		if m.Name == ledger.Until {
			until = m.At
		}
	}
	return until, err
}

// forgetPassed deletes a row.
func (b *batch) forgetPassed(ctx context.Context, owner int64) error {
	if err := b.proved.Forget(ctx, owner); err != nil {
		return err
	}
	return b.store.writer.RemovePassing(ctx, owner, owner)
}

// sweepEach is how often rows that are over are looked for at most while new ones come.
const sweepEach = time.Minute

// sweepPassing forgets rows that are over, unless that was done a moment ago.
func (b *batch) sweepPassing(ctx context.Context, now time.Time) error {
	s := b.store
	if since := now.Sub(s.swept); since >= 0 && since < sweepEach {
		return nil
	}
	s.swept = now
	return b.forgetWhere(ctx, -1, "until < ?", now.UnixNano())
}

// notePassing writes a row inside the transaction of a note. One that is new sweeps out those that are over, and of its kind
// those that are over next if there are too many.
func (b *batch) notePassing(ctx context.Context, r ledger.Row, fresh bool) error {
	s := b.store
	until, err := s.finish(&r)
	if err != nil {
		return err
	}
	row := passRow{r, proof.PassNumber(r.Kind, r.Key), until}
	if err := b.proved.ReadPass(ctx, row.owner); err != nil {
		return err
	}
	if fresh {
		if err := b.sweepPassing(ctx, s.options.Now()); err != nil {
			return err
		}
		if most := s.book.Most(r.Kind); most > 0 {
			if err := b.forgetWhere(ctx, -1, "kind = ? AND owner NOT IN (SELECT owner FROM passing WHERE kind = ? "+
				"ORDER BY until DESC LIMIT ?)", r.Kind, r.Kind, most-1); err != nil {
				return err
			}
		}
	}
	return b.savePassed(ctx, []passRow{row})
}

// The keys under which the table of recent actions, which is gone, had what is no run's: agents have names.
const (
	legacyHeard   = "\x00heard\x00"
	legacyWritten = "written\x00"
)

// moveToPassing brings a store to version 8: the orders become one kind, what passes moves to its table, and tools in quarantine
// get a mark of their own.
func (s *Store) moveToPassing(ctx context.Context) error {
	if err := s.moveOrders(ctx); err != nil {
		return err
	}
	if err := s.movePassing(ctx); err != nil {
		return err
	}
	return s.remarkAll(ctx, ledger.Pin)
}

// movePassing fills the table of version 8 from those of the version before. It runs in the transaction of the migration.
func (s *Store) movePassing(ctx context.Context) error {
	if _, _, err := s.soundHead(ctx); err != nil {
		return err
	}
	rows, err := s.legacyRecent(ctx)
	if err != nil {
		return err
	}
	for _, kind := range ledger.Swept() {
		for _, statement := range []string{
			"INSERT INTO passing (kind, key, until, body) SELECT r.kind, r.key, m.at, r.body FROM marks m CROSS JOIN rows r ON " +
				"r.id = m.row WHERE m.kind = ?1 AND m.mark = ?2 AND r.body IS NOT NULL",
			"DELETE FROM rows WHERE kind = ?1 AND ?2 <> ''", "DELETE FROM marks WHERE kind = ?1 AND ?2 <> ''",
		} {
			if _, err := s.writer.exec(ctx, statement, kind, ledger.Until); err != nil {
				return err
			}
		}
	}
	for _, r := range rows {
		until, err := s.finish(&r)
		if err != nil {
			return err
		}
		if _, err := s.writer.exec(ctx, "INSERT INTO passing (kind, key, until, body) VALUES (?, ?, ?, ?) ON CONFLICT (kind, key) "+
			"DO UPDATE SET until = excluded.until, body = excluded.body", r.Kind, r.Key, until, r.Body); err != nil {
			return err
		}
	}
	if _, err := s.writer.sql.ExecContext(ctx, "DROP TABLE recent"); err != nil {
		return err
	}
	_, _, err = s.soundHead(ctx)
	return err
}

// legacyRecent reads the table of recent actions as rows of the ledger. What can't be read says nothing, and is left.
func (s *Store) legacyRecent(ctx context.Context) (rows []ledger.Row, err error) {
	err = s.writer.each(ctx, "SELECT run, at, body FROM recent", nil, func(scan func(...any) error) error {
		var key string
		var at int64
		var body []byte
		if err := scan(&key, &at, &body); err != nil {
			return err
		}
		rows = append(rows, legacyPast(key, at, body)...)
		return nil
	})
	return rows, err
}

func legacyPast(key string, at int64, body []byte) []ledger.Row {
	if run, heard := strings.CutPrefix(key, legacyHeard); heard {
		var h ledger.HeardBody
		if json.Unmarshal(body, &h) != nil {
			return nil
		}
		h.Run = run
		return []ledger.Row{{Kind: ledger.Heard, Key: run, Value: h}}
	}
	if file, written := strings.CutPrefix(key, legacyWritten); written {
		wrote := time.Unix(0, at).Add(interlock.RecentWindow - interlock.WrittenWindow).UTC()
		return []ledger.Row{{Kind: ledger.Written, Key: file, Value: ledger.WrittenBody{File: file, At: wrote}}}
	}
	var actions []interlock.PastAction
	if json.Unmarshal(body, &actions) != nil || len(actions) == 0 {
		return nil
	}
	return []ledger.Row{{Kind: ledger.Recent, Key: key, Value: ledger.RecentBody{Run: key, Actions: actions}}}
}
