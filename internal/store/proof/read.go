package proof

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"interlock/internal/ledger"
)

// A Stored row is one as a store has it.
type Stored struct {
	ledger.Row
	ID    int64  // its place among the standing rows; 0: it is not there
	Owner int64  // whose it is, where it is somebody's
	Owned bool   //
	Until int64  // when it is over, of what passes
	Proof []byte // that it is stored with

	claim   *Claim // what proves it
	Foreign bool   // Interlock has not written it so: it counts for nothing, and is written over
}

// stands is what proves a row.
func (r *Stored) stands() Claim {
	c := Claim{Owner: r.Owner}
	copy(c.Proof[:], r.Proof)
	return c
}

// Everybody is whom rows are read of with all that they say, where that is everybody; Nobody, where it is nobody.
const (
	Everybody int64 = -1
	Nobody    int64 = -2
)

// A Reader reads from one store what is there, and judges nothing.
type Reader interface {
	// Head reads the head of the log and what proves the rest, judged.
	Head(ctx context.Context) (ledger.Head, *State, error)
	// Owners visits the rows of a span of owners, in the order of their claims: with all that they say where they are whole's, of the
	// others owner and proof alone. The row is the visitor's until it returns, and what it says for good.
	Owners(ctx context.Context, span Span, whole int64, visit func(*Stored) error) error
	// Row reads the standing row under a key.
	Row(ctx context.Context, kind, key string) (Stored, error)
	// Marked reads the standing rows under a mark, in its order.
	Marked(ctx context.Context, kind, mark string) ([]ledger.Row, error)
	// Steadily has step read in one transaction.
	Steadily(ctx context.Context, step func() error) error
}

// claims reads the claims of a part and holds them against its tag.
func (p *Prover) claims(ctx context.Context, from Reader, s *State, part int) (claims []Claim, foreign []*ledger.Tampered, err error) {
	if !s.Sound {
		return nil, nil, unsound()
	}
	err = from.Owners(ctx, SpanOf(part), Nobody, func(r *Stored) error {
		claims = append(claims, r.stands())
		return nil
	})
	if err != nil || p.fits(s, part, claims) {
		return claims, nil, err
	}
	// What in it is not Interlock's? Without that the rest is believed, if nothing else was done to it.
	claims = nil
	err = p.sift(ctx, from, part, func(r *Stored, genuine bool) {
		if genuine {
			claims = append(claims, r.stands())
			return
		}
		foreign = append(foreign, notWritten("", r.Row))
	})
	switch {
	case err != nil:
		return nil, nil, err
	case p.fits(s, part, claims):
		return claims, foreign, nil
	case len(foreign) > 0:
		return nil, foreign, foreign[0] // most likely it was changed
	}
	return nil, nil, gone(part)
}

// sift reads the rows of a part, and whether Interlock has written them so.
func (p *Prover) sift(ctx context.Context, from Reader, part int, visit func(r *Stored, genuine bool)) error {
	return from.Owners(ctx, SpanOf(part), Everybody, func(r *Stored) error {
		if part >= Parts {
			visit(r, p.passes(r))
			return nil
		}
		owner, wrong := p.book.Owner(r.Row)
		visit(r, wrong == nil && owner != "" && OwnerNumber(owner) == r.Owner && p.Row(r.Row) == r.stands().Proof)
		return nil
	})
}

// passes reports whether a row of what passes is in its place and as Interlock has written it.
func (p *Prover) passes(r *Stored) bool {
	genuine := p.Pass(r.Row, r.Until)
	return PassNumber(r.Kind, r.Key) == r.Owner && bytes.Equal(genuine[:], r.Proof)
}

// Why a reading is to be made otherwise.
var (
	// ErrUnsteady says that what was read one after another does not fit together: somebody has written in between, or there is
	// something wrong. Reading it in one transaction tells.
	ErrUnsteady = errors.New("store: read again in one transaction")
	// ErrElsewhere says that something is not remembered and has to be read.
	ErrElsewhere = errors.New("store: not remembered")
)

// A Reading is one reading of rows that are proved: first without a transaction, which costs less and fails where anything is not
// as it should be; then in one.
type Reading struct {
	p       *Prover
	from    Reader             // nil: nothing is read that is not remembered
	Known   *State             // as it was when it began; nil: it has to be read
	Foreign []*ledger.Tampered // what was found that is not Interlock's
	steady  bool               // in a transaction
	state   *State
	owners  map[string][]ledger.Row
}

// Read begins a reading.
func (p *Prover) Read(from Reader, known *State) Reading {
	return Reading{p: p, from: from, Known: known}
}

// Steadily makes the reading again in one transaction.
func (n *Reading) Steadily(ctx context.Context, step func() error) error {
	return n.from.Steadily(ctx, func() error {
		n.steady, n.state, n.owners, n.Foreign = true, nil, nil, nil
		return step()
	})
}

// begin reads the proofs, unless they are known.
func (n *Reading) begin(ctx context.Context) (err error) {
	if n.state != nil {
		return nil
	}
	n.owners = map[string][]ledger.Row{}
	if n.Known != nil && !n.steady {
		n.state = n.Known
		return nil
	}
	_, n.state, err = n.from.Head(ctx)
	return err
}

// owned returns all standing rows of an owner.
func (n *Reading) owned(ctx context.Context, owner string) ([]ledger.Row, error) {
	if rows, read := n.owners[owner]; read {
		return rows, nil
	}
	number := OwnerNumber(owner)
	if rows, known := n.remembered(owner, number); known {
		n.owners[owner] = rows
		return rows, nil
	}
	if n.from == nil {
		return nil, ErrElsewhere
	}
	rows, claims, sifted, err := n.claimed(ctx, number)
	if err != nil {
		return nil, err
	}
	var believed []ledger.Row
	for _, r := range rows {
		one := Claim{Owner: number, Proof: n.p.Row(r.Row)}
		if _, claimed := slices.BinarySearchFunc(claims, one, Claim.Compare); !claimed || one.Proof != r.claim.Proof {
			switch {
			case sifted:
				continue // it was found to be another's
			case !n.steady:
				return nil, ErrUnsteady
			}
			return nil, &ledger.Tampered{Kind: r.Kind, Key: r.Key, What: "was changed"}
		}
		whose, err := n.p.believe(r.Row)
		if err != nil {
			return nil, err
		}
		if whose.owner == owner { // and not another's with the same number
			believed = append(believed, whose.row)
		}
	}
	if part := PartOf(number); n.state.Sound && !n.steady {
		n.p.known.learn(part, n.state.Tag(part), rows)
	}
	n.owners[owner] = believed
	return believed, nil
}

// claimed reads the rows of an owner and the claims of its part, which are its tag's. sifted says that there are rows besides which
// are not Interlock's. A part that was read before and still has its tag is not read again.
func (n *Reading) claimed(ctx context.Context, number int64) (rows []Stored, claims []Claim, sifted bool, err error) {
	p, part := n.p, PartOf(number)
	if n.state.Sound && !n.steady {
		if have, known := p.known.get(part, n.state.Tag(part)); known {
			if !p.brief && p.known.worth(&have) {
				rows, claims, err = n.whole(ctx, part, number, len(have.claims))
				return rows, claims, false, err
			}
			from, upTo := have.span(number)
			rows, _, err = n.rows(ctx, number, Span{From: number, UpTo: number})
			if err == nil && len(rows) != upTo-from {
				err = ErrUnsteady
			}
			return rows, have.claims, false, err
		}
	}
	if rows, claims, err = n.rows(ctx, number, SpanOf(part)); err != nil {
		return nil, nil, false, err
	}
	if tag := p.Part(part, claims); n.state.Sound && bytes.Equal(tag[:], n.state.Tag(part)) {
		p.known.keep(part, tag, claims, nil)
		return rows, claims, false, nil
	}
	if !n.steady {
		return nil, nil, false, ErrUnsteady
	}
	claims, foreign, err := p.claims(ctx, n.from, n.state, part)
	n.Foreign = append(n.Foreign, foreign...)
	return rows, claims, true, err
}

// rows reads the rows of an owner, and the claims of a span of owners, in one go.
func (n *Reading) rows(ctx context.Context, number int64, span Span) (rows []Stored, claims []Claim, err error) {
	err = n.from.Owners(ctx, span, number, func(r *Stored) error {
		one := r.stands()
		claims = append(claims, one)
		if r.Owner == number {
			rows = append(rows, Stored{Row: r.Row, Until: r.Until, claim: &one})
		}
		return nil
	})
	return rows, claims, err
}

// Fetch returns the rows of a ref that are proved.
func (n *Reading) Fetch(ctx context.Context, ref ledger.Ref) (rows []ledger.Row, err error) {
	if err := n.begin(ctx); err != nil {
		return nil, err
	}
	book := n.p.book
	owner, err := book.OwnerOf(ref)
	if err != nil {
		return nil, err
	}
	if owner != "" {
		owned, err := n.owned(ctx, owner)
		if err != nil {
			return nil, err
		}
		for _, r := range owned {
			named, err := book.Names(ref, r)
			if err != nil {
				return nil, err
			}
			if named {
				rows = append(rows, r)
			}
		}
		return rows, nil
	}
	if n.from == nil {
		return nil, ErrElsewhere
	}
	found, err := n.unproved(ctx, ref)
	for _, r := range found {
		if err != nil {
			break
		}
		var proved bool
		if named, wrong := book.Names(ref, r); wrong == nil && !named { // somebody has put the mark there
			continue
		}
		if proved, err = n.holds(ctx, r); proved {
			rows = append(rows, r)
		}
	}
	return rows, err
}

// unproved reads the rows of a ref as they are stored.
func (n *Reading) unproved(ctx context.Context, ref ledger.Ref) (rows []ledger.Row, err error) {
	if ref.Key == "" {
		rows, err = n.from.Marked(ctx, ref.Kind, ref.Mark)
	} else {
		var r Stored
		if r, err = n.from.Row(ctx, ref.Kind, ref.Key); r.Body != nil {
			rows = []ledger.Row{r.Row}
		}
	}
	for i := range rows {
		if err == nil {
			rows[i].Value, err = n.p.book.Value(rows[i])
		}
	}
	return rows, err
}

// holds reports whether a row is believed: it is there, and is among what its owner has, or nothing rests on it any more.
func (n *Reading) holds(ctx context.Context, r ledger.Row) (bool, error) {
	owner, err := n.p.book.Owner(r)
	if err != nil || owner == "" {
		return err == nil, err
	}
	owned, err := n.owned(ctx, owner)
	if err != nil {
		return false, err
	}
	for _, o := range owned {
		if o.Kind == r.Kind && o.Key == r.Key && bytes.Equal(o.Body, r.Body) {
			return true, nil
		}
	}
	if !n.steady {
		return false, ErrUnsteady
	}
	n.Foreign = append(n.Foreign, notWritten("", r))
	return false, nil
}

// Passed returns the row under a key of what passes, which has no body if it is not there, as far as it is proved.
func (n *Reading) Passed(ctx context.Context, kind, key string) (r ledger.Row, err error) {
	r = ledger.Row{Kind: kind, Key: key}
	if err := n.begin(ctx); err != nil {
		return r, err
	}
	p, owner := n.p, PassNumber(kind, key)
	part := PassPart(owner)
	if n.state.Sound && !n.steady {
		have, known := p.known.get(part, n.state.Tag(part))
		if found, is := have.passed(r); known && is {
			return found, nil
		}
		if known && n.from != nil {
			return p.claimedPass(ctx, n.from, r, have.claims, ErrUnsteady)
		}
	}
	if n.from == nil {
		return r, ErrElsewhere
	}
	if n.steady || !n.state.Sound {
		claims, foreign, err := p.claims(ctx, n.from, n.state, part)
		n.Foreign = append(n.Foreign, foreign...)
		if err != nil {
			return r, err
		}
		return p.claimedPass(ctx, n.from, r, claims, nil)
	}
	// All of it in one go: the claims of the part, and the row.
	rows, claims, err := n.rows(ctx, owner, SpanOf(part))
	if err != nil {
		return r, err
	}
	found := r
	for i := range rows {
		if found = rows[i].Row; found.Kind != r.Kind || found.Key != r.Key || p.Pass(found, rows[i].Until) != rows[i].claim.Proof {
			return r, ErrUnsteady
		}
	}
	if tag := p.Part(part, claims); bytes.Equal(tag[:], n.state.Tag(part)) {
		p.known.keep(part, tag, claims, nil)
		return found, nil
	}
	return r, ErrUnsteady
}

// claimedPass reads the row under a key and holds it against the claims of its part. otherwise is what is said of a row that is not as
// it is claimed; nil: what is wrong with it. A row that nobody claims is as if it were not there.
func (p *Prover) claimedPass(ctx context.Context, from Reader, r ledger.Row, claims []Claim, otherwise error) (ledger.Row, error) {
	owner, found := PassNumber(r.Kind, r.Key), (*Stored)(nil)
	err := from.Owners(ctx, Span{true, owner, owner}, owner, func(is *Stored) error {
		found = new(*is)
		return nil
	})
	if err != nil {
		return r, err
	}
	at, _ := slices.BinarySearchFunc(claims, Claim{Owner: owner}, Claim.Compare)
	claimed := at < len(claims) && claims[at].Owner == owner
	switch {
	case !claimed && (found == nil || otherwise == nil):
		return r, nil
	case claimed && found != nil && found.Kind == r.Kind && found.Key == r.Key && found.stands() == claims[at] && p.passes(found):
		return found.Row, nil
	case otherwise != nil:
		return r, otherwise
	case found != nil:
		return r, &ledger.Tampered{Kind: r.Kind, Key: r.Key, What: "was changed"}
	}
	return r, gone(PassPart(owner))
}
