package sqlite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"interlock"
	"interlock/internal/ledger"
)

// Mending puts right what somebody else has done beside the log. What nobody believes is removed. What is missing, or was put back, is
// looked for among the rows that are there and those that the log says were written, and only one that the proofs bear out is put in
// its place: what stands afterwards is what stood before, and nothing is signed that was not. What the log can't say is left to a backup.
// What runs did and heard is of use for a while only: a part of it that was tampered with is emptied, because the order says so.

// backup is what is said where nothing can be done.
const backup = "can't be mended: the log does not say what was there; stop Interlock and put back a backup of the store"

// A mending is a plan under way, and what carries it out.
type mending struct {
	b     *batch
	conn  *conn
	plan  []ledger.Repair
	steps []func(ctx context.Context) error
}

// Repairs is what mending would do, and does nothing.
func (s *Store) Repairs(ctx context.Context, said []ledger.Row) (plan []ledger.Repair, err error) {
	if s.options.ReadOnly {
		return nil, errors.New("sqlite: the store is open for reading only")
	}
	err = s.alone(ctx, "look at what is to be mended", func(c *conn) error {
		n := &snapshot{store: s, conn: c}
		return n.steadily(ctx, func() error {
			if err := n.begin(ctx); err != nil {
				return err
			}
			m := &mending{b: &batch{store: s, proofs: n.proofs, sums: n.proofs.sums, parts: map[int][]claim{}, dirty: map[int]bool{}}, conn: c}
			err := m.look(ctx, said)
			plan = m.plan
			return err
		})
	})
	return plan, err
}

// mend carries a plan out, if it is the one that was signed. It comes before anything else of its change.
func (b *batch) mend(ctx context.Context, mend *ledger.Mend) (refusal, err error) {
	if mend == nil {
		return nil, nil
	}
	m := &mending{b: b, conn: b.store.writer}
	if err := m.look(ctx, mend.Said); err != nil {
		return nil, err
	}
	if ledger.PlanDigest(m.plan) != mend.Plan {
		return interlock.Errorf(interlock.CodeConflict, "detail", "what is wrong is not what the order was signed for; look at it again"), nil
	}
	b.mended = true
	for _, step := range m.steps {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	b.after.revision++ // nobody goes on from what was remembered
	b.store.passing.forget(b.store.newest.Size)
	return nil, nil
}

func (m *mending) add(wrong *ledger.Tampered, does string, step func(ctx context.Context) error) {
	m.plan = append(m.plan, ledger.Repair{Wrong: wrong.Name(), Does: does, Can: step != nil})
	if step != nil {
		m.steps = append(m.steps, step)
	}
}

// exec is a step that runs one statement.
func (m *mending) exec(query string, args ...any) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		_, err := m.conn.exec(ctx, query, args...)
		return err
	}
}

// look makes the plan.
func (m *mending) look(ctx context.Context, said []ledger.Row) error {
	n := &snapshot{store: m.b.store, conn: m.conn, proofs: m.b.proofs, steady: true}
	err := n.checkTables(ctx, func(t *ledger.Tampered) error {
		m.add(t, backup, nil)
		return nil
	})
	if err != nil {
		return err
	}
	if !n.proofs.sound {
		m.add(unsound(), backup, nil)
		return nil // nothing else can be told
	}
	for _, look := range []func(context.Context, *snapshot, []ledger.Row) error{m.lookRows, m.lookPassing, m.lookSums, m.lookFound} {
		if err := look(ctx, n, said); err != nil {
			return err
		}
	}
	return nil
}

// A placed row is one of what stands, where it is.
type placedRow struct {
	ledger.Row
	id      int64
	claim   *claim // nil: it is nobody's, and its proof says that it ended so
	genuine bool
}

// lookRows looks at what stands.
func (m *mending) lookRows(ctx context.Context, n *snapshot, said []ledger.Row) error {
	s := m.b.store
	parts, foreign := map[int][]placedRow{}, []placedRow(nil)
	err := m.conn.each(ctx, "SELECT id, kind, key, version, body, owner, proof FROM rows ORDER BY owner, proof", nil,
		func(scan func(...any) error) error {
			var r placedRow
			var number *int64
			var proof []byte
			if err := scan(&r.id, &r.Kind, &r.Key, &r.Version, &r.Body, &number, &proof); err != nil {
				return err
			}
			owner, wrong := s.book.Owner(r.Row)
			one := claim{proof: s.proofOf(r.Row)}
			if owner != "" {
				one.owner = ownerNumber(owner)
			}
			if wrong != nil || !s.book.Proved(r.Kind) || !bytes.Equal(proof, one.proof[:]) || (owner == "") != (number == nil) ||
				number != nil && *number != one.owner {
				foreign = append(foreign, r)
			} else if owner != "" {
				r.claim = &one
				parts[int(one.owner>>partShift)] = append(parts[int(one.owner>>partShift)], r)
			}
			return nil
		})
	if err != nil {
		return err
	}
	for _, r := range foreign {
		m.add(notWrittenIn("rows", r.Row), "is removed: nobody believes it", m.exec("DELETE FROM rows WHERE id = ?", r.id))
		said = append(said, r.Row) // whose place or version alone may be another
	}
	for part := range proofParts {
		var claims []claim
		for _, r := range parts[part] {
			claims = append(claims, *r.claim)
		}
		if tag := s.tagOf(part, claims); !bytes.Equal(tag[:], n.proofs.tag(part)) {
			m.restore(ctx, part, parts[part], said)
			continue
		}
		m.b.parts[part] = claims // what was put in counts for nothing
	}
	return nil
}

func notWrittenIn(table string, r ledger.Row) *ledger.Tampered {
	t := notWritten(r)
	t.Table = table
	return t
}

// restore looks for the one row that a part lacks, or has in an older version: with it the part's tag is what it was.
func (m *mending) restore(_ context.Context, part int, have []placedRow, said []ledger.Row) {
	s := m.b.store
	for _, r := range slices.Backward(said) {
		owner, err := s.book.Owner(r)
		if err != nil || owner == "" || int(ownerNumber(owner)>>partShift) != part {
			continue
		}
		var old *placedRow
		var others []claim
		for i := range have {
			if have[i].Kind == r.Kind && have[i].Key == r.Key {
				old = &have[i]
				continue
			}
			others = append(others, *have[i].claim)
		}
		for version := m.b.proofs.at.version; version >= 0; version-- { // which the log does not say
			r.Version = version
			one := claim{owner: ownerNumber(owner), proof: s.proofOf(r)}
			at, _ := slices.BinarySearchFunc(others, one, claim.compare)
			claims := slices.Insert(slices.Clone(others), at, one)
			if tag := s.tagOf(part, claims); !bytes.Equal(tag[:], m.b.proofs.tag(part)) {
				continue
			}
			found := r
			m.add(gone(part), fmt.Sprintf("the %s %.80q is put back as the log says it was, which its proof bears out", r.Kind, r.Key),
				func(ctx context.Context) error { return m.putBack(ctx, found, one, old, part, claims) })
			return
		}
	}
	m.add(gone(part), backup, nil)
}

// putBack writes a row as it was.
func (m *mending) putBack(ctx context.Context, r ledger.Row, one claim, old *placedRow, part int, claims []claim) error {
	if old != nil {
		if err := m.exec("DELETE FROM rows WHERE id = ?", old.id)(ctx); err != nil {
			return err
		}
	}
	m.b.parts[part] = claims
	return m.exec("INSERT OR REPLACE INTO rows (kind, key, version, body, owner, proof) VALUES (?, ?, ?, ?, ?, ?)", r.Kind, r.Key, r.Version,
		r.Body, one.owner, one.proof[:])(ctx)
}

// lookPassing looks at what passes.
func (m *mending) lookPassing(ctx context.Context, n *snapshot, _ []ledger.Row) error {
	s := m.b.store
	for part := proofParts; part < proofParts+passParts; part++ {
		var claims []claim
		err := s.eachPassing(ctx, m.conn, part, func(r ledger.Row, one claim, genuine bool) {
			if genuine {
				claims = append(claims, one)
				return
			}
			m.add(notWrittenIn("passing", r), "is removed: nobody believes it", m.exec("DELETE FROM passing WHERE owner = ?", one.owner))
		})
		if err != nil {
			return err
		}
		if tag := s.tagOf(part, claims); bytes.Equal(tag[:], n.proofs.tag(part)) {
			m.b.parts[part] = claims
			continue
		}
		_, from, upTo := spanOf(part)
		m.add(gone(part), fmt.Sprintf("all %d rows of that part are forgotten: the log does not say what runs did and heard", len(claims)),
			func(ctx context.Context) error {
				m.b.parts[part], m.b.dirty[part] = nil, true
				return m.exec("DELETE FROM passing WHERE owner BETWEEN ? AND ?", from, upTo)(ctx)
			})
	}
	if outside, err := m.conn.row(ctx, "SELECT 1 FROM passing WHERE owner < 0 LIMIT 1", nil, new(int)); err != nil || !outside {
		return err
	}
	m.add(&ledger.Tampered{Table: "passing", What: "rows lie where none can"}, "are removed", m.exec("DELETE FROM passing WHERE owner < 0"))
	return nil
}

// lookSums looks at calls and texts.
func (m *mending) lookSums(ctx context.Context, n *snapshot, _ []ledger.Row) error {
	wrong := func(does string, mend func(ctx context.Context) error) func(t *ledger.Tampered) error {
		done := false
		return func(t *ledger.Tampered) error {
			step := mend
			if done { // one step does it for all
				step = func(context.Context) error { return nil }
			}
			done = true
			m.add(t, does, step)
			return nil
		}
	}
	s := m.b.store
	err := n.checkCalls(ctx, wrong("what nobody believes is removed; a call that is gone is decided anew", func(ctx context.Context) error {
		var total sum
		var foreign []int64
		err := m.conn.each(ctx, s.filedQuery("id IS NOT NULL"), nil, func(scan func(...any) error) error {
			var f filedRow
			genuine, err := f.scan(s, scan)
			if genuine {
				total.add(f.adds)
			} else {
				foreign = append(foreign, f.id)
			}
			return err
		})
		for _, id := range foreign {
			if err == nil {
				err = m.exec("DELETE FROM calls WHERE id = ?", id)(ctx)
			}
		}
		m.b.sums[calls] = total
		return err
	}))
	if err != nil {
		return err
	}
	return n.checkBlobs(ctx, wrong("what is there is counted anew; a text that is gone only a backup has", func(ctx context.Context) error {
		m.b.sums[blobs] = sum{}
		return s.proveBlobs(ctx, &m.b.sums[blobs])
	}))
}

// lookFound looks at what only says where things are: marks, and where event ids stand. Both are made anew from what they are about.
func (m *mending) lookFound(ctx context.Context, n *snapshot, _ []ledger.Row) error {
	marks := false
	name := func(t *ledger.Tampered) error {
		if t.Table == "marks" || t.What == notFound {
			m.add(t, "the marks are made anew from the rows", func(context.Context) error { return nil })
			marks = true
		}
		return nil
	}
	if err := n.checkRows(ctx, map[int]bool{}, name); err != nil {
		return err
	}
	if err := n.checkMarks(ctx, name); err != nil {
		return err
	}
	if marks || len(m.steps) > 0 { // rows may have come or gone
		m.steps = append(m.steps, m.markAnew)
	}
	return n.checkNotes(ctx, func(t *ledger.Tampered) error {
		m.add(t, "is made anew from the entries", m.noteAnew)
		return nil
	})
}

// markAnew makes the marks of all rows.
func (m *mending) markAnew(ctx context.Context) error {
	if err := m.exec("DELETE FROM marks")(ctx); err != nil {
		return err
	}
	var kinds []string
	for _, k := range ledger.Kinds() {
		kinds = append(kinds, k.Name)
	}
	for _, kind := range kinds {
		if err := m.b.store.remarkAll(ctx, kind); err != nil {
			return err
		}
	}
	return nil
}

// noteAnew notes all ids.
func (m *mending) noteAnew(ctx context.Context) error {
	s := m.b.store
	if err := m.exec("DELETE FROM ids")(ctx); err != nil {
		return err
	}
	for first := int64(0); first+idBlock <= s.newest.Size; first += idBlock {
		notes, err := madeNotes(ctx, m.conn, first)
		if err != nil {
			return err
		}
		if err := m.exec("INSERT INTO ids (first, notes, proof) VALUES (?, ?, ?)", first, notes, s.notesProof(first, notes))(ctx); err != nil {
			return err
		}
	}
	return nil
}
