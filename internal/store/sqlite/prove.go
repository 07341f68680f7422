package sqlite

import (
	"context"
	"crypto/sha256"
	"errors"
	"slices"

	"interlock/internal/ledger"
)

// begin gets the proofs that the transaction goes on from: those of the head it found.
func (b *batch) begin(ctx context.Context) (err error) {
	b.parts, b.dirty = map[int][]claim{}, map[int]bool{}
	if b.proofs = b.store.proofs; b.proofs == nil {
		_, b.proofs, err = b.store.readHeadProved(ctx, b.store.writer)
	}
	return err
}

// part returns the claims of a part as the transaction leaves them so far.
func (b *batch) part(ctx context.Context, number int) ([]claim, error) {
	if claims, read := b.parts[number]; read {
		return claims, nil
	}
	if b.proofs.sound {
		if claims, known := b.store.parts.get(number, b.proofs.tag(number)); known {
			b.parts[number] = claims
			return claims, nil
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
		if !b.store.book.Proved(r.Kind) {
			continue
		}
		owner, err := b.store.book.Owner(r)
		if err == nil && owner != "" {
			_, err = b.part(ctx, int(ownerNumber(owner)>>partShift))
		}
		if err == nil {
			_, err = b.read(ctx, r.Kind, r.Key)
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
	part := int(one.owner >> partShift)
	claims := slices.Clone(b.parts[part])
	at, found := slices.BinarySearchFunc(claims, one, claim.compare)
	switch {
	case in && !found:
		claims = slices.Insert(claims, at, one)
	case !in && found:
		claims = slices.Delete(claims, at, at+1)
	}
	b.parts[part], b.dirty[part] = claims, true
}

// saveProofs writes the tags of the parts that have changed.
func (b *batch) saveProofs(ctx context.Context) error {
	if len(b.dirty) == 0 {
		return nil
	}
	next := &proofs{tags: slices.Clone(b.proofs.tags), sound: b.proofs.sound, size: b.proofs.size}
	for part := range b.dirty { // any order: they don't depend on each other
		tag := b.store.tagOf(part, b.parts[part])
		copy(next.tags[part*partTag:], tag[:])
		b.store.parts.keep(part, tag, b.parts[part]) // which nobody finds if this does not happen: the file has another tag then
	}
	next.sum = sha256.Sum256(next.tags)
	b.proofs = next
	return b.one(b.store.writer.exec(ctx, "UPDATE proofs SET tags = ? WHERE one = 1", next.tags))
}

// provedSince is the version from which rows are proved.
const provedSince = 9

// proveAll gives every row that is there its proof. It runs in the transaction of the migration: what stands then is what was
// believed until then.
func (s *Store) proveAll(ctx context.Context) error {
	head, _, err := s.soundHead(ctx)
	if err != nil {
		return err
	}
	for _, statement := range []string{
		"INSERT INTO rows (kind, key, version, body) SELECT kind, key, 0, body FROM passing WHERE kind = ?1",
		"DELETE FROM passing WHERE kind = ?1",
	} {
		if _, err := s.writer.exec(ctx, statement, ledger.Carried); err != nil {
			return err
		}
	}
	if err := s.proveRows(ctx); err != nil {
		return err
	}
	p := &proofs{tags: make([]byte, proofParts*partTag), sound: true}
	parts := map[int][]claim{}
	err = s.writer.each(ctx, "SELECT owner, proof FROM rows WHERE owner IS NOT NULL ORDER BY owner, proof", nil,
		func(scan func(...any) error) error {
			var one claim
			var proof []byte
			if err := scan(&one.owner, &proof); err != nil {
				return err
			}
			copy(one.proof[:], proof)
			part := int(one.owner >> partShift)
			parts[part] = append(parts[part], one)
			return nil
		})
	if err != nil {
		return err
	}
	for part, claims := range parts { // any order: they don't depend on each other
		tag := s.tagOf(part, claims)
		copy(p.tags[part*partTag:], tag[:])
	}
	p.sum = sha256.Sum256(p.tags)
	if _, err := s.writer.exec(ctx, "INSERT INTO proofs (one, tags) VALUES (1, ?)", p.tags); err != nil {
		return err
	}
	return (&batch{}).one(s.writer.exec(ctx, "UPDATE head SET proved = ? WHERE one = 1", s.headTag(head, p)))
}

// proveRows proves the rows of every kind that needs it, a page at a time.
func (s *Store) proveRows(ctx context.Context) error {
	type placed struct {
		id  int64
		row ledger.Row
	}
	for from := int64(0); ; {
		var page []placed // read first: a statement that reads must not see what another writes
		err := s.writer.each(ctx, "SELECT id, kind, key, body FROM rows WHERE id > ? ORDER BY id LIMIT 1000", []any{from},
			func(scan func(...any) error) error {
				var p placed
				if err := scan(&p.id, &p.row.Kind, &p.row.Key, &p.row.Body); err != nil {
					return err
				}
				page = append(page, p)
				return nil
			})
		if err != nil || len(page) == 0 {
			return err
		}
		for _, p := range page {
			from = p.id
			if !s.book.Proved(p.row.Kind) {
				continue
			}
			name, err := s.book.Owner(p.row)
			if err != nil {
				return err
			}
			var owner any
			if name != "" {
				owner = ownerNumber(name)
			}
			proof := s.proofOf(p.row)
			if _, err := s.writer.exec(ctx, "UPDATE rows SET owner = ?, proof = ? WHERE id = ?", owner, proof[:], p.id); err != nil {
				return err
			}
		}
	}
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
