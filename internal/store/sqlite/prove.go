package sqlite

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"slices"

	"interlock/internal/ledger"
)

// begin gets the proofs that the transaction goes on from: those of the head it found, which has this tag.
func (b *batch) begin(ctx context.Context, vouched []byte) (err error) {
	b.parts, b.dirty = map[int][]claim{}, map[int]bool{}
	b.proofs = b.store.proofs
	if p := b.proofs; p == nil || p.at != b.before || !bytes.Equal(p.vouched, vouched) {
		_, b.proofs, err = b.store.readHeadProved(ctx, b.store.writer)
	}
	if err == nil {
		b.sums = b.proofs.sums
	}
	return err
}

// part returns the claims of a part as the transaction leaves them so far.
func (b *batch) part(ctx context.Context, number int) ([]claim, error) {
	if claims, read := b.parts[number]; read {
		return claims, nil
	}
	if b.proofs.sound {
		if have, known := b.store.parts.get(number, b.proofs.tag(number)); known {
			b.parts[number] = have.claims
			return have.claims, nil
		}
	}
	claims, _, err := b.store.readPart(ctx, b.store.writer, b.proofs, number)
	if err == nil {
		b.parts[number] = claims
	}
	return claims, err
}

// read reads a row and whether it is believed.
func (b *batch) read(ctx context.Context, kind, key string) (stored, error) {
	if !b.store.book.Proved(kind) {
		return readRow(ctx, b.store.writer, kind, key)
	}
	r := stored{Row: ledger.Row{Kind: kind, Key: key}}
	var number *int64
	var proof []byte
	found, err := b.store.writer.row(ctx, "SELECT id, version, body, owner, proof FROM rows WHERE kind = ? AND key = ?",
		[]any{kind, key}, &r.id, &r.Version, &r.Body, &number, &proof)
	if err != nil || !found {
		return r, err
	}
	one := claim{proof: b.store.proofOf(r.Row)}
	owner, err := b.store.book.Owner(r.Row)
	if err != nil || string(proof) != string(one.proof[:]) || (owner == "") != (number == nil) {
		r.foreign = true
		return r, nil
	}
	if owner == "" {
		return r, nil
	}
	one.owner = ownerNumber(owner)
	claims, err := b.part(ctx, int(one.owner>>partShift))
	if err != nil {
		return r, err
	}
	if _, claimed := slices.BinarySearchFunc(claims, one, claim.compare); !claimed {
		r.foreign = true
		return r, nil
	}
	r.claim = &one
	return r, nil
}

// ready reads the parts that rows are going to change, so that whatever is wrong with them refuses the change before any of it
// is written.
func (b *batch) ready(ctx context.Context, rows []ledger.Row) (refusal, err error) {
	for _, r := range rows {
		var err error
		switch {
		case b.store.book.Swept(r.Kind) && b.proofs.sound:
			_, err = b.part(ctx, passPart(passNumber(r.Kind, r.Key)))
		case b.store.book.Proved(r.Kind):
			var owner string
			if owner, err = b.store.book.Owner(r); err == nil && owner != "" {
				_, err = b.part(ctx, int(ownerNumber(owner)>>partShift))
			}
			if err == nil {
				_, err = b.read(ctx, r.Kind, r.Key)
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

// prove is what a row stands by from now on, and under which owner; nil for kinds without proofs.
func (b *batch) prove(before stored, r ledger.Row) (owner, proof any, err error) {
	if !b.store.book.Proved(r.Kind) {
		return nil, nil, nil
	}
	if before.claim != nil {
		b.move(*before.claim, false)
	}
	tag := b.store.proofOf(r)
	name, err := b.store.book.Owner(r)
	if err != nil || name == "" {
		return nil, tag[:], err
	}
	one := claim{owner: ownerNumber(name), proof: tag}
	b.move(one, true)
	return one.owner, tag[:], nil
}

// move adds a claim to its part, which was read, or takes it away.
func (b *batch) move(one claim, in bool) {
	b.moveIn(int(one.owner>>partShift), one, in)
}

func (b *batch) moveIn(part int, one claim, in bool) {
	claims := b.parts[part]
	if !b.dirty[part] { // until now they are everybody's
		claims = append(make([]claim, 0, len(claims)+8), claims...)
	}
	at, found := slices.BinarySearchFunc(claims, one, claim.compare)
	switch {
	case in && !found:
		claims = slices.Insert(claims, at, one)
	case !in && found:
		claims = slices.Delete(claims, at, at+1)
	}
	b.parts[part], b.dirty[part] = claims, true
}

// saveProofs makes what proves all that the transaction leaves, and writes the tags of the parts of what stands, if they have changed;
// the others are the head's to write.
func (b *batch) saveProofs(ctx context.Context, head ledger.Head) error {
	p := *b.proofs
	p.size, p.at, p.sums = head.Size, b.after, b.sums
	var stands, passes bool
	for part := range b.dirty { // any order: they don't depend on each other
		if part >= proofParts && !passes {
			p.passing, passes = slices.Clone(p.passing), true
		}
		if part < proofParts && !stands {
			p.tags, stands = slices.Clone(p.tags), true
		}
		tag := b.store.tagOf(part, b.parts[part])
		copy(p.tag(part), tag[:])
		b.store.parts.keep(part, tag, b.parts[part], b.texts) // which nobody finds if this does not happen: the file has another tag then
	}
	if passes {
		p.passed = sha256.Sum256(p.passing)
	}
	if stands {
		p.sum = sha256.Sum256(p.tags)
		if err := b.one(b.store.writer.exec(ctx, "UPDATE proofs SET tags = ? WHERE one = 1", p.tags)); err != nil {
			return err
		}
	}
	p.vouched = b.store.headTag(head, &p)
	b.next = &p
	return nil
}

// notice tells of rows that are not believed, each once.
func (s *Store) notice(foreign []*ledger.Tampered, err error) {
	if tampered := (*ledger.Tampered)(nil); errors.As(err, &tampered) {
		foreign = append(foreign, tampered)
	}
	for _, t := range foreign {
		if _, told := s.noticed.LoadOrStore(t.Name(), true); !told && s.options.Noticed != nil {
			s.options.Noticed(t)
		}
	}
}
