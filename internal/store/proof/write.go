package proof

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"slices"

	"interlock/internal/ledger"
)

// A Change is what one transaction makes of what is proved.
type Change struct {
	Sums Sums // as the transaction leaves them

	p      *Prover
	from   Reader
	before *State
	parts  map[int][]Claim  // as the transaction leaves them, of those it has read
	dirty  map[int]bool     // those it has changed
	texts  map[Claim]string // rows that pass and that it writes, packed
	mended bool             // something beside the log was put right
}

// Change begins a transaction that goes on from a state.
func (p *Prover) Change(from Reader, before *State) *Change {
	return &Change{Sums: before.Sums, p: p, from: from, before: before, parts: map[int][]Claim{}, dirty: map[int]bool{}}
}

// Sound reports whether the proofs that the transaction goes on from are those of this log.
func (c *Change) Sound() bool { return c.before.Sound }

// part returns the claims of a part as the transaction leaves them so far.
func (c *Change) part(ctx context.Context, number int) ([]Claim, error) {
	if claims, read := c.parts[number]; read {
		return claims, nil
	}
	if c.before.Sound {
		if have, known := c.p.known.get(number, c.before.Tag(number)); known {
			c.parts[number] = have.claims
			return have.claims, nil
		}
	}
	claims, _, err := c.p.claims(ctx, c.from, c.before, number)
	if err == nil {
		c.parts[number] = claims
	}
	return claims, err
}

// Read reads a row and whether it is believed.
func (c *Change) Read(ctx context.Context, kind, key string) (Stored, error) {
	r, err := c.from.Row(ctx, kind, key)
	if err != nil || r.ID == 0 || !c.p.book.Proved(kind) {
		return r, err
	}
	one := Claim{Proof: c.p.Row(r.Row)}
	owner, err := c.p.book.Owner(r.Row)
	if err != nil || !bytes.Equal(r.Proof, one.Proof[:]) || (owner != "") != r.Owned {
		r.Foreign = true
		return r, nil
	}
	if owner == "" {
		return r, nil
	}
	one.Owner = OwnerNumber(owner)
	claims, err := c.part(ctx, PartOf(one.Owner))
	if err != nil {
		return r, err
	}
	if _, claimed := slices.BinarySearchFunc(claims, one, Claim.Compare); !claimed {
		r.Foreign = true
		return r, nil
	}
	r.claim = &one
	return r, nil
}

// Ready reads the parts that rows are going to change, so that whatever is wrong with them refuses the change before any of it
// is written.
func (c *Change) Ready(ctx context.Context, rows []ledger.Row) (refusal, err error) {
	for _, r := range rows {
		var err error
		switch {
		case c.p.book.Swept(r.Kind) && c.before.Sound:
			_, err = c.part(ctx, PassPart(PassNumber(r.Kind, r.Key)))
		case c.p.book.Proved(r.Kind):
			var owner string
			if owner, err = c.p.book.Owner(r); err == nil && owner != "" {
				_, err = c.part(ctx, PartOf(OwnerNumber(owner)))
			}
			if err == nil {
				_, err = c.Read(ctx, r.Kind, r.Key)
			}
		}
		if tampered := (*ledger.Tampered)(nil); errors.As(err, &tampered) {
			return tampered, nil
		}
		if err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// Prove is what proves a row from now on, and under which owner: nil of what is nobody's, and of kinds without proofs.
func (c *Change) Prove(before Stored, r ledger.Row) (owner, proof any, err error) {
	if !c.p.book.Proved(r.Kind) {
		return nil, nil, nil
	}
	if before.claim != nil {
		c.move(PartOf(before.claim.Owner), *before.claim, false)
	}
	tag := c.p.Row(r)
	name, err := c.p.book.Owner(r)
	if err != nil || name == "" {
		return nil, tag[:], err
	}
	one := Claim{Owner: OwnerNumber(name), Proof: tag}
	c.move(PartOf(one.Owner), one, true)
	return one.Owner, tag[:], nil
}

// move adds a claim to its part, which was read, or takes it away.
func (c *Change) move(part int, one Claim, in bool) {
	claims := c.parts[part]
	if !c.dirty[part] { // until now they are everybody's
		claims = append(make([]Claim, 0, len(claims)+8), claims...)
	}
	at, found := slices.BinarySearchFunc(claims, one, Claim.Compare)
	switch {
	case in && !found:
		claims = slices.Insert(claims, at, one)
	case !in && found:
		claims = slices.Delete(claims, at, at+1)
	}
	c.parts[part], c.dirty[part] = claims, true
}

// Passed is the row under a key of what passes as the transaction found it. Where the proofs are none of this log's, nothing that passes
// is known.
func (c *Change) Passed(ctx context.Context, kind, key string) (ledger.Row, error) {
	r := ledger.Row{Kind: kind, Key: key}
	if !c.before.Sound {
		return r, nil
	}
	part := PassPart(PassNumber(kind, key))
	if have, known := c.p.known.get(part, c.before.Tag(part)); known && !c.dirty[part] {
		if found, is := have.passed(r); is && found.Body != nil {
			return found, nil
		}
	}
	if _, read := c.parts[part]; !read { // mostly row and part in one go
		n := c.p.Read(c.from, c.before)
		if found, err := n.Passed(ctx, kind, key); !errors.Is(err, ErrUnsteady) {
			return found, err
		}
	}
	claims, err := c.part(ctx, part)
	if err != nil {
		return r, err
	}
	return c.p.claimedPass(ctx, c.from, r, claims, nil)
}

// Pass is the proof of a row that passes and is about to be written. It is claimed in the place of whichever was claimed there before;
// its part was read.
func (c *Change) Pass(r ledger.Row, owner, until int64) (proof [Size]byte) {
	one := Claim{Owner: owner, Proof: c.p.Pass(r, until)}
	if c.before.Sound {
		c.unclaim(owner)
		c.move(PassPart(owner), one, true)
	}
	if !c.p.brief {
		if c.texts == nil {
			c.texts = map[Claim]string{}
		}
		c.texts[one] = string(packRow(nil, r))
	}
	return one.Proof
}

// unclaim takes away what is claimed of an owner of what passes, which is one row.
func (c *Change) unclaim(owner int64) {
	claims := c.parts[PassPart(owner)]
	at, _ := slices.BinarySearchFunc(claims, Claim{Owner: owner}, Claim.Compare)
	if at < len(claims) && claims[at].Owner == owner {
		c.move(PassPart(owner), claims[at], false)
	}
}

// ReadPass reads the part of a row that passes, which is due before it is written.
func (c *Change) ReadPass(ctx context.Context, owner int64) error {
	_, err := c.part(ctx, PassPart(owner))
	return err
}

// Forget says that a row that passes is about to be deleted.
func (c *Change) Forget(ctx context.Context, owner int64) error {
	if !c.before.Sound {
		return nil
	}
	err := c.ReadPass(ctx, owner)
	if err == nil {
		c.unclaim(owner)
	}
	return err
}

// End makes what proves all that the transaction leaves, and says whether tags of parts of standing rows have changed: those
// of passing rows are in the head.
func (c *Change) End(head ledger.Head, after Stamp) (next *State, stands bool) {
	passes := false
	s := *c.before
	s.Size, s.At, s.Sums = head.Size, after, c.Sums
	for _, part := range slices.Sorted(maps.Keys(c.dirty)) {
		if part >= Parts && !passes {
			s.Passing, passes = slices.Clone(s.Passing), true
		}
		if part < Parts && !stands {
			s.Tags, stands = slices.Clone(s.Tags), true
		}
		tag := c.p.Part(part, c.parts[part])
		copy(s.Tag(part), tag[:])
		c.p.known.keep(part, tag, c.parts[part], c.texts) // which nobody finds if this does not happen: the store has another tag then
	}
	s.Summarize(stands, passes)
	s.Vouched = c.p.head(head, &s)
	return &s, stands
}
