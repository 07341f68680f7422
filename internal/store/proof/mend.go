package proof

import (
	"context"
	"fmt"
	"math"
	"slices"

	"interlock"
	"interlock/internal/ledger"
)

// Mending puts right what somebody else has done beside the log. What nobody believes is removed. What is missing, or was put back, is
// looked for among the rows that are there and those that the log says were written, and only one that the proofs bear out is put in
// its place: what is there afterwards is what was there before, and nothing is signed that was not. What the log can't say is
// left to a backup. What runs did and heard is of use for a while only: a part of it that was tampered with is emptied, because
// the order says so.

// A Mender changes what is beside the log.
type Mender interface {
	Checker
	RemoveRow(ctx context.Context, id int64) error
	RemovePassing(ctx context.Context, from, upTo int64) error
	RemoveFiled(ctx context.Context, id int64) error
	// PutBack writes a standing row, with what proves it.
	PutBack(ctx context.Context, r ledger.Row, c Claim) error
	// ProveBlobs gives what is kept beside each blob the proof of what it says, and returns their sum.
	ProveBlobs(ctx context.Context) (Sum, error)
	// Remark makes all marks from the rows, Renote all lists by which events are found from the entries.
	Remark(ctx context.Context) error
	Renote(ctx context.Context) error
}

// backup is what is said where nothing can be done.
const backup = "can't be mended: the log does not say what was there; stop Interlock and put back a backup of the store"

// A mending is a plan under way, and what carries it out.
type mending struct {
	checking
	c     *Change
	in    Mender
	said  []ledger.Row
	plan  []ledger.Repair
	steps []func(ctx context.Context) error
}

// Repairs is what mending would do, and does nothing. It is called inside one transaction.
func (p *Prover) Repairs(ctx context.Context, in Mender, said []ledger.Row) ([]ledger.Repair, error) {
	_, state, err := in.Head(ctx)
	if err != nil {
		return nil, err
	}
	m, err := p.Change(in, state).look(ctx, in, said)
	return m.plan, err
}

// Mend carries a plan out, if it is the one that was signed. It comes before anything else of its change.
func (c *Change) Mend(ctx context.Context, in Mender, mend *ledger.Mend) (refusal, err error) {
	m, err := c.look(ctx, in, mend.Said)
	if err != nil {
		return nil, err
	}
	if ledger.PlanDigest(m.plan) != mend.Plan {
		return interlock.Errorf(interlock.CodeConflict, "detail", "what is wrong is not what the order was signed for; look at it again"), nil
	}
	c.mended = true
	for _, step := range m.steps {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// Mended reports whether the transaction has put anything right.
func (c *Change) Mended() bool { return c.mended }

func (m *mending) add(wrong *ledger.Tampered, does string, step func(ctx context.Context) error) {
	m.plan = append(m.plan, ledger.Repair{Wrong: wrong.Name(), Does: does, Can: step != nil})
	if step != nil {
		m.steps = append(m.steps, step)
	}
}

// look makes the plan.
func (c *Change) look(ctx context.Context, in Mender, said []ledger.Row) (*mending, error) {
	m := &mending{checking: checking{c.p, in, c.before, map[int]bool{}}, c: c, in: in, said: said}
	err := in.Made(ctx, func(t *ledger.Tampered) error {
		m.add(t, backup, nil)
		return nil
	})
	if err != nil {
		return m, err
	}
	if !m.state.Sound {
		m.add(unsound(), backup, nil)
		return m, nil // nothing else can be told
	}
	for _, look := range []func(context.Context) error{m.lookStanding, m.lookPassing, m.lookSums, m.lookFound} {
		if err := look(ctx); err != nil {
			return m, err
		}
	}
	return m, nil
}

// lookStanding looks at the standing rows.
func (m *mending) lookStanding(ctx context.Context) error {
	parts, said := map[int][]Stored{}, m.said
	err := m.in.Standing(ctx, func(r *Stored) error {
		owner, genuine := m.genuine(r, r.Row)
		one := Claim{Proof: m.p.Row(r.Row)}
		if owner != "" {
			one.Owner = OwnerNumber(owner)
		}
		if !genuine || (owner != "") != r.Owned || r.Owned && r.Owner != one.Owner {
			id := r.ID
			m.add(notWritten("rows", r.Row), "is removed: nobody believes it", func(ctx context.Context) error { return m.in.RemoveRow(ctx, id) })
			said = append(said, r.Row) // whose place or version alone may be another
		} else if owner != "" {
			parts[PartOf(one.Owner)] = append(parts[PartOf(one.Owner)], Stored{Row: r.Row, ID: r.ID, claim: &one})
		}
		return nil
	})
	if err != nil {
		return err
	}
	for part := range Parts {
		var claims []Claim
		for _, r := range parts[part] {
			claims = append(claims, *r.claim)
		}
		if slices.SortFunc(claims, Claim.Compare); m.p.fits(m.state, part, claims) {
			m.c.parts[part] = claims // what was put in counts for nothing
			continue
		}
		m.restore(part, parts[part], said)
	}
	return nil
}

// restore looks for the one row that a part lacks, or has in an older version: with it the part's tag is what it was.
func (m *mending) restore(part int, have []Stored, said []ledger.Row) {
	for _, r := range slices.Backward(said) {
		owner, err := m.p.book.Owner(r)
		if err != nil || owner == "" || PartOf(OwnerNumber(owner)) != part {
			continue
		}
		var old *Stored
		var others []Claim
		for i := range have {
			if have[i].Kind == r.Kind && have[i].Key == r.Key {
				old = &have[i]
				continue
			}
			others = append(others, *have[i].claim)
		}
		slices.SortFunc(others, Claim.Compare)
		for version := m.state.At.Version; version >= 0; version-- { // which the log does not say
			r.Version = version
			one := Claim{Owner: OwnerNumber(owner), Proof: m.p.Row(r)}
			at, _ := slices.BinarySearchFunc(others, one, Claim.Compare)
			claims := slices.Insert(slices.Clone(others), at, one)
			if !m.p.fits(m.state, part, claims) {
				continue
			}
			found := r
			m.add(gone(part), fmt.Sprintf("the %s %.80q is put back as the log says it was, which its proof bears out", r.Kind, r.Key),
				func(ctx context.Context) error {
					if old != nil {
						if err := m.in.RemoveRow(ctx, old.ID); err != nil {
							return err
						}
					}
					m.c.parts[part] = claims
					return m.in.PutBack(ctx, found, one)
				})
			return
		}
	}
	m.add(gone(part), backup, nil)
}

// lookPassing looks at what passes.
func (m *mending) lookPassing(ctx context.Context) error {
	remove := func(from, upTo int64) func(context.Context) error {
		return func(ctx context.Context) error { return m.in.RemovePassing(ctx, from, upTo) }
	}
	for part := Parts; part < Parts+PassParts; part++ {
		var claims []Claim
		err := m.p.sift(ctx, m.in, part, func(r *Stored, genuine bool) {
			if genuine {
				claims = append(claims, r.stands())
				return
			}
			m.add(notWritten("passing", r.Row), "is removed: nobody believes it", remove(r.Owner, r.Owner))
		})
		if err != nil {
			return err
		}
		if m.p.fits(m.state, part, claims) {
			m.c.parts[part] = claims
			continue
		}
		m.add(gone(part), fmt.Sprintf("all %d rows of that part are forgotten: the log does not say what runs did and heard", len(claims)),
			func(ctx context.Context) error {
				m.c.parts[part], m.c.dirty[part] = nil, true
				span := SpanOf(part)
				return m.in.RemovePassing(ctx, span.From, span.UpTo)
			})
	}
	outside := false
	err := m.in.Owners(ctx, Span{true, math.MinInt64, -1}, Nobody, func(*Stored) error {
		outside = true
		return nil
	})
	if outside {
		m.add(&ledger.Tampered{Table: "passing", What: "rows lie where none can"}, "are removed", remove(math.MinInt64, -1))
	}
	return err
}

// lookSums looks at calls and texts.
func (m *mending) lookSums(ctx context.Context) error {
	wrong := func(does string, mend func(ctx context.Context) error) visiting {
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
	err := m.calls(ctx, wrong("what nobody believes is removed; a call that is gone is decided anew", func(ctx context.Context) error {
		var total Sum
		var foreign []int64
		err := m.in.Filed(ctx, func(f *Filed) error {
			if _, adds, genuine := m.p.Sum(f); genuine {
				total.Add(adds)
			} else {
				foreign = append(foreign, f.ID)
			}
			return nil
		})
		for _, id := range foreign {
			if err == nil {
				err = m.in.RemoveFiled(ctx, id)
			}
		}
		m.c.Sums[Calls] = total
		return err
	}))
	if err != nil {
		return err
	}
	return m.blobs(ctx, wrong("what is there is counted anew; a text that is gone only a backup has", func(ctx context.Context) (err error) {
		m.c.Sums[Blobs], err = m.in.ProveBlobs(ctx)
		return err
	}))
}

// lookFound looks at what only says where things are: marks, and where events are. Both are made again from what they are about.
func (m *mending) lookFound(ctx context.Context) error {
	marks := false
	name := func(t *ledger.Tampered) error {
		if t.Table == "marks" || t.What == notFound {
			m.add(t, "the marks are made anew from the rows", func(context.Context) error { return nil })
			marks = true
		}
		return nil
	}
	if err := m.rows(ctx, name); err != nil {
		return err
	}
	if err := m.marks(ctx, name); err != nil {
		return err
	}
	if marks || len(m.steps) > 0 { // rows may have come or gone
		m.steps = append(m.steps, m.in.Remark)
	}
	return m.notes(ctx, func(t *ledger.Tampered) error {
		m.add(t, "is made anew from the entries", m.in.Renote)
		return nil
	})
}
