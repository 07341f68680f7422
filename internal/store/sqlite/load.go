package sqlite

import (
	"bytes"
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"interlock/internal/ledger"
	"interlock/internal/store/proof"
)

// known is what this process remembers of the ledger: the rows that decisions have named, as they were at one revision, which
// this process's own commits move on; what another process writes empties it.
type known struct {
	revision int64 // of what is remembered below; 0 is none yet
	version  int64
	rows     map[ledger.Ref][]ledger.Row
}

// maxRefs bounds what is remembered. What would go beyond is forgotten, all at once, and read again.
const maxRefs = 16384

// at makes what is remembered that of a revision, forgetting it if it was of another.
func (k *known) at(revision, version int64) {
	if k.revision == revision {
		return
	}
	*k = known{revision: revision, version: version, rows: map[ledger.Ref][]ledger.Row{}}
}

// find returns the rows of all refs, if all are remembered. The cache is locked.
func (s *Store) find(refs []ledger.Ref) ([]ledger.Row, bool) {
	var rows []ledger.Row
	for _, ref := range refs {
		var some []ledger.Row
		var known bool
		switch {
		case s.book.Noted(ref.Kind):
			known = s.unheard.knows(ref)
		case s.book.Swept(ref.Kind):
			some, known, _ = s.passing.look(ref)
		default:
			some, known = s.mind.rows[ref]
		}
		if !known {
			return nil, false
		}
		rows = append(rows, some...)
	}
	return rows, true
}

// follow brings what this process remembers up to what its own transaction has written, so that who opens a request does not
// make the next decision read anything again that it did not touch.
func (s *Store) follow(rows []written, before, after proof.Stamp) {
	s.cache.Lock()
	defer s.cache.Unlock()
	if len(rows) == 0 || s.mind.revision != before.Revision {
		return // nothing to follow, or nothing that could: the next one who asks reads
	}
	k := &s.mind
	k.revision, k.version = after.Revision, after.Version
	for _, w := range rows {
		k.replace(s.book, w)
	}
}

// replace puts a row that was written where it is remembered, and forgets where that can't be done. What was handed out stays
// as it is.
func (k *known) replace(book ledger.Book, w written) {
	r := w.row
	value, err := book.Value(r)
	r.Value = value
	about, wrong := book.About(r)
	under := func(mark string) bool {
		return r.Body != nil && slices.ContainsFunc(about.Marks, func(m ledger.Mark) bool { return m.Name == mark })
	}
	refs := []ledger.Ref{{Kind: r.Kind, Key: r.Key}}
	for _, m := range w.marks {
		refs = append(refs, ledger.Ref{Kind: r.Kind, Mark: m.Name})
	}
	for _, ref := range refs {
		rows, known := k.rows[ref]
		if !known {
			continue
		}
		if err != nil || wrong != nil {
			delete(k.rows, ref) // reading it says what is wrong
			continue
		}
		next := make([]ledger.Row, 0, len(rows)+1)
		for _, have := range rows {
			if have.Key != r.Key {
				next = append(next, have)
			}
		}
		if ref.Key != "" && r.Body != nil || ref.Key == "" && under(ref.Mark) {
			next = append(next, r)
		}
		k.rows[ref] = next
	}
}

// A reading is one of rows that are proved, and where it reads what is not: nil, where nothing is read that is not remembered.
type reading struct {
	proof.Reading
	conn *conn
}

// Load returns the rows that refs name, as they are now, and the version to compute a change from. Those under one mark come in
// no order; one that has ended or is not there does not come at all. Callers change nothing of them.
//
// What is proved comes only as far as it is: a row that Interlock has not written does not come, and where one was changed or taken
// away, that is a [ledger.Tampered] error. Either is told to Options.Noticed.
func (s *Store) Load(ctx context.Context, refs ...ledger.Ref) (rows []ledger.Row, version int64, err error) {
	var foreign []*ledger.Tampered
	err = s.read(ctx, "read the ledger", func(c *conn) error {
		// What is read is short, and a statement that can be stopped half-way costs half as much again.
		if err := ctx.Err(); err != nil {
			return err
		}
		ctx := context.WithoutCancel(ctx)
		known, err := s.look(ctx, c)
		if err != nil {
			return err
		}
		n := &reading{s.prover.Read(c, known), c}
		rows, version, err = s.load(ctx, n, refs)
		if errors.Is(err, proof.ErrUnsteady) {
			rows, version, foreign, err = s.loadSteadily(ctx, c, known, slices.Clone(refs))
		}
		return err
	})
	s.prover.Notice(foreign, err) // when nobody waits for this reading any more
	return rows, version, err
}

// loadSteadily is load in one transaction. Apart from Load it costs memory only where it is needed.
func (s *Store) loadSteadily(ctx context.Context, c *conn, known *proof.State, refs []ledger.Ref) (rows []ledger.Row,
	version int64, foreign []*ledger.Tampered, err error) {
	n := &reading{s.prover.Read(c, known), c}
	err = n.Steadily(ctx, func() (err error) {
		rows, version, err = s.load(ctx, n, refs)
		return err
	})
	return rows, version, n.Foreign, err
}

// Scan returns a span of the standing rows under a mark, in its order, and where the next page begins: the zero place
// where nothing follows. It reads the file and remembers nothing.
func (s *Store) Scan(ctx context.Context, mark ledger.Ref,
	span ledger.Span) (rows []ledger.Row, next ledger.Place, err error) {
	err = s.read(ctx, "read the ledger", func(c *conn) error {
		version, old, err := s.legacy(ctx, c, mark.Kind)
		if err != nil {
			return err
		}
		if old {
			rows, next, err = s.legacyScan(ctx, c, version, mark, span)
			return err
		}
		switch {
		case s.book.Filed(mark.Kind):
			rows, next, err = s.filedSpan(ctx, c, mark, span)
		case s.book.Swept(mark.Kind) && version >= passingSince:
			rows, next, err = s.scanPassing(ctx, c, version, mark, span)
		default:
			rows, next, err = s.scanMarked(ctx, c, mark, span)
		}
		for i := range rows {
			if err == nil {
				rows[i].Value, err = s.book.Value(rows[i])
			}
		}
		return err
	})
	return rows, next, err
}

// scanMarked reads a span of the standing rows under a mark. Rows that Interlock has not written do not come; that one is gone,
// or was put back to what it was, is for Load to find: nobody decides from pages.
func (s *Store) scanMarked(ctx context.Context, c *conn, mark ledger.Ref,
	span ledger.Span) (rows []ledger.Row, next ledger.Place, err error) {
	where, args := stretch(mark, span)
	order := " ORDER BY m.at, m.row LIMIT ?"
	if span.Newest {
		order = " ORDER BY m.at DESC, m.row DESC LIMIT ?"
	}
	proved, column := s.book.Proved(mark.Kind) && !s.options.ReadOnly, "NULL"
	if proved {
		column = "r.proof"
	}
	query := "SELECT r.key, r.version, r.body, " + column + ", m.at, m.row FROM marks m CROSS JOIN rows r ON r.id = m.row WHERE " +
		where + order
	var last ledger.Place
	read := 0
	err = c.each(ctx, query, append(args, span.Limit), func(scan func(...any) error) error {
		r := ledger.Row{Kind: mark.Kind}
		var proof []byte
		if err := scan(&r.Key, &r.Version, &r.Body, &proof, &last.At, &last.Row); err != nil {
			return err
		}
		read++
		if proved {
			if genuine := s.prover.Row(r); !bytes.Equal(proof, genuine[:]) {
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

// stretch is a span as a condition on marks m.
func stretch(mark ledger.Ref, span ledger.Span) (where string, args []any) {
	after := span.After
	if span.Newest {
		if after == (ledger.Place{}) {
			after = ledger.Place{At: span.UpTo, Row: math.MaxInt64}
		}
		return "m.kind = ? AND m.mark = ? AND m.at >= ? AND (m.at, m.row) < (?, ?)",
			[]any{mark.Kind, mark.Mark, span.From, after.At, after.Row}
	}
	if after == (ledger.Place{}) {
		after = ledger.Place{At: span.From, Row: -1}
	}
	return "m.kind = ? AND m.mark = ? AND m.at <= ? AND (m.at, m.row) > (?, ?)",
		[]any{mark.Kind, mark.Mark, span.UpTo, after.At, after.Row}
}

// Count is how many rows Scan would return. Without a limit it counts all.
func (s *Store) Count(ctx context.Context, mark ledger.Ref, span ledger.Span) (n int, err error) {
	err = s.read(ctx, "count rows of the ledger", func(c *conn) error {
		version, old, err := s.legacy(ctx, c, mark.Kind)
		if err != nil {
			return err
		}
		if old {
			rows, _, err := s.legacyScan(ctx, c, version, mark, span)
			n = len(rows)
			return err
		}
		if span.Limit <= 0 {
			span.Limit = -1 // which SQLite takes for none
		}
		switch {
		case s.book.Filed(mark.Kind):
			rows, _, err := s.filedSpan(ctx, c, mark, span)
			n = len(rows)
			return err
		case s.book.Swept(mark.Kind) && version >= passingSince:
			rows, _, err := s.scanPassing(ctx, c, version, mark, span)
			n = len(rows)
			return err
		}
		where, args := stretch(mark, span)
		_, err = c.row(ctx, "SELECT count(*) FROM (SELECT 1 FROM marks m WHERE "+where+" LIMIT ?)", append(args, span.Limit), &n)
		return err
	})
	return n, err
}

// Recall is Load from memory where this process has seen within [knownFor], by a commit of its own or by reading, that it was
// in force. It always holds what this process has committed. It is for computing a Change, whose Reads Commit holds against
// the file; a change that is refused is computed again from Load.
func (s *Store) Recall(ctx context.Context, refs ...ledger.Ref) ([]ledger.Row, int64, error) {
	if err := s.failed(); err != nil {
		return nil, 0, err
	}
	s.cache.Lock()
	if s.fresh() {
		if rows, known := s.find(refs); known {
			version := s.mind.version
			s.cache.Unlock()
			return rows, version, nil
		}
		if p := s.vouched; p != nil && p.Sound && p.At.Revision == s.mind.revision {
			s.cache.Unlock()
			rows, version, err := s.load(ctx, &reading{Reading: s.prover.Read(nil, p)}, refs)
			if !errors.Is(err, proof.ErrElsewhere) {
				return rows, version, err
			}
			return s.Load(ctx, refs...)
		}
	}
	s.cache.Unlock()
	return s.Load(ctx, refs...)
}

// fresh reports whether what is remembered was in force a moment ago. The cache is locked.
func (s *Store) fresh() bool {
	return s.mind.revision != 0 && s.mind.revision == s.current && time.Since(s.seen) < knownFor
}

// look reads which revision is in force, forgets what is of another, and returns what proves the rest. What the head's tag does not
// bear out is no revision to remember anything by.
func (s *Store) look(ctx context.Context, c *conn) (*proof.State, error) {
	var now proof.Stamp
	var size int64
	if s.options.ReadOnly {
		found, err := c.row(ctx, "SELECT version, revision, size FROM head WHERE one = 1", nil, &now.Version, &now.Revision, &size)
		if err == nil && !found {
			_, _, err = readHead(ctx, c) // says what is wrong
		}
		if err == nil {
			s.found(now, size, time.Now())
		}
		return nil, err
	}
	var vouched []byte
	at := time.Now() // before it is read: it may change right after
	found, err := c.row(ctx, "SELECT version, revision, size, tag FROM head WHERE one = 1", nil, &now.Version, &now.Revision, &size, &vouched)
	if err != nil || !found {
		if err == nil {
			_, _, err = readHead(ctx, c) // says what is wrong
		}
		return nil, err
	}
	s.cache.Lock()
	known := s.vouched
	s.cache.Unlock()
	if known == nil || known.At != now || known.Size != size || !bytes.Equal(known.Vouched, vouched) {
		if _, known, err = c.Head(ctx); err != nil {
			return nil, err
		}
		if !known.Sound {
			s.passing.forget(known.Size)
			s.forgetMind()
			return known, nil
		}
		s.remember(known)
	}
	s.found(known.At, known.Size, at)
	return known, nil
}

// forgetMind forgets all rows that decisions have named.
func (s *Store) forgetMind() {
	s.cache.Lock()
	defer s.cache.Unlock()
	s.mind = known{}
}

// remember keeps what proves the rest, as it was read or written.
func (s *Store) remember(p *proof.State) {
	s.cache.Lock()
	defer s.cache.Unlock()
	if k := s.vouched; k == nil || p.Size >= k.Size {
		s.vouched = p
	}
}

// vouchedFor takes over what a transaction of this process has left. The writer's lock is held.
func (s *Store) vouchedFor(p *proof.State) {
	s.proofs = p
	if p.Sound {
		s.remember(p)
	}
}

// found takes note of the versions and the size of the log at a time.
func (s *Store) found(now proof.Stamp, size int64, at time.Time) {
	s.passing.notice(size)
	s.saw(now.Revision, at)
	s.cache.Lock()
	defer s.cache.Unlock()
	if now.Revision >= s.mind.revision { // a reader that was overtaken must not bring back what was
		s.mind.at(now.Revision, now.Version)
	}
}

// unremembered is no revision.
const unremembered = -1

// load returns the rows of refs, from memory or the file. A row may be newer than the version that comes with it, which makes
// a change from it be computed again at worst.
func (s *Store) load(ctx context.Context, n *reading, refs []ledger.Ref) ([]ledger.Row, int64, error) {
	s.cache.Lock()
	revision, version := s.mind.revision, s.mind.version
	if n.Known != nil && n.Known.At.Revision != revision { // somebody has written meanwhile, and what is remembered is not of then
		revision, version = unremembered, n.Known.At.Version
	}
	remembered := make([][]ledger.Row, len(refs))
	known, epochs, looked := make([]bool, len(refs)), make([]int, len(refs)), time.Now()
	for i, ref := range refs {
		switch {
		case s.book.Noted(ref.Kind): // which change without anybody's noticing
		case s.book.Swept(ref.Kind):
			remembered[i], known[i], epochs[i] = s.passing.look(ref)
		case revision != unremembered:
			remembered[i], known[i] = s.mind.rows[ref]
		}
	}
	s.cache.Unlock()
	var rows []ledger.Row
	for i, ref := range refs {
		if !known[i] {
			var err error
			if remembered[i], err = s.fetch(ctx, n, ref); err != nil {
				return nil, 0, err
			}
		}
		rows = append(rows, remembered[i]...)
	}
	s.cache.Lock()
	defer s.cache.Unlock()
	if len(s.mind.rows) > maxRefs {
		clear(s.mind.rows)
	}
	for i, ref := range refs {
		switch {
		case known[i]:
		case s.book.Noted(ref.Kind):
			if len(remembered[i]) == 0 && ref.Key != "" {
				s.unheard.keep(ref, looked)
			}
		case s.book.Swept(ref.Kind):
			if ref.Key != "" {
				s.passing.keep(ref, remembered[i], epochs[i])
			}
		case s.mind.revision == revision && s.mind.rows != nil:
			s.mind.rows[ref] = remembered[i]
		}
	}
	return rows, version, nil
}

// fetch reads the rows of one ref, and what they say.
func (s *Store) fetch(ctx context.Context, n *reading, ref ledger.Ref) (rows []ledger.Row, err error) {
	if s.book.Proved(ref.Kind) && !s.options.ReadOnly {
		return n.Fetch(ctx, ref)
	}
	c := n.conn
	if c == nil && !(s.book.Swept(ref.Kind) && ref.Key != "") {
		return nil, proof.ErrElsewhere
	}
	version, old, err := s.legacy(ctx, c, ref.Kind)
	if err != nil || old {
		if old {
			rows, err = s.legacyFetch(ctx, c, version, ref)
		}
		return rows, err
	}
	var r ledger.Row
	passes := s.book.Swept(ref.Kind) && version >= passingSince
	switch {
	case s.book.Filed(ref.Kind) && ref.Key == "":
		rows, _, err = s.filedSpan(ctx, c, ref, ledger.Every(-1)) // which SQLite takes for all
	case s.book.Filed(ref.Kind):
		_, _, r, err = s.readFiled(ctx, c, ref.Kind, ref.Key)
	case passes && ref.Key == "":
		rows, _, err = s.scanPassing(ctx, c, version, ref, ledger.Every(-1))
	case passes && !s.options.ReadOnly:
		r, err = n.Passed(ctx, ref.Kind, ref.Key)
	case passes:
		r, err = readPassing(ctx, c, ref.Kind, ref.Key)
	case ref.Key == "":
		rows, err = c.Marked(ctx, ref.Kind, ref.Mark)
	default:
		r, err = readRow(ctx, c, ref.Kind, ref.Key)
	}
	if r.Body != nil {
		rows = []ledger.Row{r}
	}
	for i := range rows {
		if err == nil {
			rows[i].Value, err = s.book.Value(rows[i])
		}
	}
	return rows, err
}
