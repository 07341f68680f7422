package proof

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"

	"interlock/internal/ledger"
)

// A Checker reads everything that is beside the log.
type Checker interface {
	Reader
	// Made visits what is wrong with what the store itself is made of, such as its tables.
	Made(ctx context.Context, visit func(*ledger.Tampered) error) error
	// Standing visits all standing rows, in the order of their places.
	Standing(ctx context.Context, visit func(*Stored) error) error
	// Marks visits all marks, with the place of the row that each is of, and whether there is a row of that kind.
	Marks(ctx context.Context, visit func(kind string, m ledger.Mark, row int64, there bool) error) error
	// Filed visits all calls, and BlobRows what is kept beside every blob, in the order of their places.
	Filed(ctx context.Context, visit func(*Filed) error) error
	BlobRows(ctx context.Context, visit func(*Blob) error) error
	// Notes visits, by its first entry, every list by which events are found that is missing, too much, or not as Interlock wrote it.
	Notes(ctx context.Context, visit func(first int64) error) error
}

// visiting is told of something that is not as Interlock wrote it.
type visiting func(*ledger.Tampered) error

// A checking is one look at everything.
type checking struct {
	p     *Prover
	in    Checker
	state *State
	wrong map[int]bool // parts in which a row was named
}

// Check visits everything beside the log that is not as Interlock wrote it: rows, the proofs of what there is of them, the marks by which
// they are found, and what the store is made of. It is called inside one transaction.
func (p *Prover) Check(ctx context.Context, in Checker, visit func(*ledger.Tampered) error) error {
	_, state, err := in.Head(ctx)
	if err != nil {
		return err
	}
	if !state.Sound {
		if err := visit(unsound()); err != nil {
			return err
		}
	}
	n := &checking{p, in, state, map[int]bool{}}
	for _, look := range []func(context.Context, visiting) error{
		func(ctx context.Context, visit visiting) error { return in.Made(ctx, visit) },
		n.rows, n.passing, n.parts, n.marks, n.calls, n.blobs, n.notes} {
		if err := look(ctx, visit); err != nil {
			return err
		}
	}
	return nil
}

// notFound is said of a row that has other marks than it should.
const notFound = "is not found where it should be"

// markSum is a mark as a number that can be added up in any order.
func markSum(kind string, m ledger.Mark) Sum {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %d", kind, m.Name, m.At))
	return sumOf(sum[:])
}

// rows looks at every standing row, and at the marks.
func (n *checking) rows(ctx context.Context, visit visiting) error {
	marks := map[int64]Sum{}
	err := n.in.Marks(ctx, func(kind string, m ledger.Mark, row int64, _ bool) error {
		total := marks[row]
		total.Add(markSum(kind, m))
		marks[row] = total
		return nil
	})
	if err != nil {
		return err
	}
	return n.in.Standing(ctx, func(r *Stored) error {
		row := r.Row
		row.Value, _ = n.p.book.Value(row) // once for both; what is wrong with it shows below
		owner, genuine := n.genuine(r, row)
		about, err := n.p.book.About(row)
		var found Sum
		for _, m := range about.Marks {
			found.Add(markSum(r.Kind, m))
		}
		what := ""
		switch {
		case err != nil || !genuine:
			what = foreign
		case (owner != "") != r.Owned || owner != "" && r.Owner != OwnerNumber(owner):
			what = "has lost its place among what stands"
		case found != marks[r.ID]:
			what = notFound
		default:
			return nil
		}
		if r.Owned {
			n.wrong[PartOf(r.Owner)%Parts] = true
		}
		if owner != "" {
			n.wrong[PartOf(OwnerNumber(owner))] = true
		}
		return visit(&ledger.Tampered{Table: "rows", Kind: r.Kind, Key: r.Key, What: what})
	})
}

// genuine reports whose a row is by what it says, and whether Interlock has written that.
func (n *checking) genuine(r *Stored, row ledger.Row) (owner string, genuine bool) {
	proof := n.p.Row(r.Row)
	owner, err := n.p.book.Owner(row)
	return owner, err == nil && n.p.book.Proved(r.Kind) && bytes.Equal(r.Proof, proof[:])
}

// passing looks at every row of what passes.
func (n *checking) passing(ctx context.Context, visit visiting) error {
	return n.in.Owners(ctx, Span{true, math.MinInt64, math.MaxInt64}, Everybody, func(r *Stored) error {
		if n.p.passes(r) {
			return nil
		}
		if r.Owner >= 0 {
			n.wrong[PassPart(r.Owner)] = true
		}
		n.wrong[PassPart(PassNumber(r.Kind, r.Key))] = true
		return visit(notWritten("passing", r.Row))
	})
}

// parts looks whether anything that was there is gone, or has come back.
func (n *checking) parts(ctx context.Context, visit visiting) error {
	for part := range Parts + PassParts {
		if !n.state.Sound {
			return nil
		}
		_, foreign, err := n.p.claims(ctx, n.in, n.state, part)
		tampered := (*ledger.Tampered)(nil)
		switch {
		case err == nil && len(foreign) == 0:
			continue
		case err != nil && !errors.As(err, &tampered):
			return err
		case n.wrong[part]:
			continue // and was named
		}
		if tampered == nil {
			tampered = foreign[0]
		}
		if err := visit(tampered); err != nil {
			return err
		}
	}
	return nil
}

// marks looks for marks of nothing.
func (n *checking) marks(ctx context.Context, visit visiting) error {
	return n.in.Marks(ctx, func(kind string, m ledger.Mark, _ int64, there bool) error {
		if there {
			return nil
		}
		return visit(&ledger.Tampered{Table: "marks", Kind: kind, Key: m.Name, What: "is a mark of nothing that is there"})
	})
}

// A counting looks at the rows of a table that has a sum, and whether one is gone.
type counting struct {
	*checking
	visit   visiting
	total   Sum
	foreign bool
}

// row looks at one row.
func (c *counting) row(r Summed, named ledger.Tampered) error {
	_, adds, genuine := c.p.Sum(r)
	if genuine {
		c.total.Add(adds)
		return nil
	}
	c.foreign = true
	return c.visit(&named)
}

// ended names the table if it lacks something and nothing of it was named.
func (c *counting) ended(err error, summed int, named ledger.Tampered) error {
	if err != nil || !c.state.Sound || c.foreign || c.total == c.state.Sums[summed] {
		return err
	}
	return c.visit(&named)
}

// calls looks at every call, and whether one is gone.
func (n *checking) calls(ctx context.Context, visit visiting) error {
	c := &counting{checking: n, visit: visit}
	err := n.in.Filed(ctx, func(f *Filed) error {
		return c.row(f, ledger.Tampered{Table: "calls", Kind: ledger.Call, Key: fmt.Sprint(f.ID), What: foreign})
	})
	return c.ended(err, Calls, ledger.Tampered{Table: "calls", What: "how a call was decided was taken away, or put back to what it was"})
}

// blobs looks at what is kept beside each blob, and whether one is gone. What they hold is for who knows what their digests mean.
func (n *checking) blobs(ctx context.Context, visit visiting) error {
	c := &counting{checking: n, visit: visit}
	err := n.in.BlobRows(ctx, func(b *Blob) error {
		return c.row(b, ledger.Tampered{Table: "blobs", Kind: "text", Key: b.Digest, What: "was not stored by Interlock as it is"})
	})
	return c.ended(err, Blobs, ledger.Tampered{Table: "blobs",
		What: "a text that decisions were made from was taken away, or put back to what it was"})
}

// notes looks whether ids are noted as they should be.
func (n *checking) notes(ctx context.Context, visit visiting) error {
	return n.in.Notes(ctx, func(first int64) error {
		return visit(&ledger.Tampered{Table: "ids", Kind: "list of ids", Key: fmt.Sprint("from entry ", first),
			What: "is missing or was not written by Interlock as it is"})
	})
}
