package sqlite

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"slices"
	"sync"

	"interlock/internal/ledger"
)

// What is beside the log is believed as far as the log's key proves it. Three things together do that:
//
//   - A row has a proof, a tag over what it says: nobody without the key can make a row, or change one.
//   - A part, one of 1,024 of what stands and one of 256 of what passes, has a tag over the proofs of all rows of the owners in it:
//     nobody can take one away, or bring one back.
//   - The head has a tag over the parts, the sums of what is only added up (see [sums]), the versions and the size of the log: nobody
//     can put all of it back without putting the log back.
//
// A decision reads what stands of its owners, each owner whole, with the proofs of its part, and remembers it, so that the next one
// costs nothing. A commit checks the parts it changes before it writes them: what somebody else has done is never signed for.
//
// Accepted: whoever can read the log's private key can write rows that are believed; then operators' signatures are what holds.
// Whoever can write the file can make an owner's standing unbelievable, which refuses what rests on it.

const (
	proofParts = 1024 // of what stands
	passParts  = 256  // of what passes; they are numbered after the others
	partTag    = 8    // bytes
	proofSize  = 16   // bytes
	partShift  = 63 - 10
	passShift  = 63 - 8
)

// spanOf is the table that a part is of, and the owners in it.
func spanOf(part int) (table string, from, upTo int64) {
	if part >= proofParts {
		from = int64(part-proofParts) << passShift
		return "passing", from, from + 1<<passShift - 1
	}
	from = int64(part) << partShift
	return "rows", from, from + 1<<partShift - 1
}

// passPart is the part of an owner of what passes.
func passPart(owner int64) int { return proofParts + int(owner>>passShift) }

// A claim is that a row stands: whose, and its proof.
type claim struct {
	owner int64
	proof [proofSize]byte
}

func (c claim) compare(o claim) int {
	if c.owner != o.owner {
		if c.owner < o.owner {
			return -1
		}
		return 1
	}
	return bytes.Compare(c.proof[:], o.proof[:])
}

// proofs are what proves all that is beside the log, at one state of it. What they say is never changed, but for the next state's.
type proofs struct {
	tags    []byte // of the parts of what stands
	sum     [sha256.Size]byte
	passing []byte // of the parts of what passes
	passed  [sha256.Size]byte
	sums    sums
	size    int64  // of the log
	at      stamp  // the versions beside it
	vouched []byte // the head's tag: as long as the file has this one, all of this is so
	sound   bool   // it is the tag of this
}

// tag is the tag of a part.
func (p *proofs) tag(part int) []byte {
	if part >= proofParts {
		part -= proofParts
		return p.passing[part*partTag : (part+1)*partTag]
	}
	return p.tags[part*partTag : (part+1)*partTag]
}

// ownerNumber is an owner as it stands in the file. Two owners may share one.
func ownerNumber(owner string) int64 {
	sum := sha256.Sum256([]byte(owner))
	return int64(binary.BigEndian.Uint64(sum[:]) >> 1)
}

// proofOf is the proof of a row, of one that has ended too.
func (s *Store) proofOf(r ledger.Row) (proof [proofSize]byte) {
	version := binary.BigEndian.AppendUint64(nil, uint64(r.Version))
	tag := s.options.Sealer.Tag([]byte("row 10"), []byte(r.Kind), []byte(r.Key), version, r.Body)
	copy(proof[:], tag[:])
	return proof
}

// tagOf is the tag of a part. Nobody's claims have none.
func (s *Store) tagOf(part int, claims []claim) (tag [partTag]byte) {
	if len(claims) == 0 {
		return tag
	}
	room := tagging.Get().(*[]byte)
	text := binary.BigEndian.AppendUint64(slices.Grow((*room)[:0], 8+len(claims)*(8+proofSize)), uint64(part))
	for _, c := range claims {
		text = append(binary.BigEndian.AppendUint64(text, uint64(c.owner)), c.proof[:]...)
	}
	sum := s.options.Sealer.Tag([]byte("part"), text)
	copy(tag[:], sum[:])
	*room = text
	tagging.Put(room)
	return tag
}

// tagging is room for what tags of parts are made of.
var tagging = sync.Pool{New: func() any { return new([]byte) }}

// headTag binds the proofs to a head. Where they were not sound before they never are again by themselves: what is written then is
// no tag, and differs from commit to commit.
func (s *Store) headTag(head ledger.Head, p *proofs) []byte {
	number := func(n int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(n)) }
	if !p.sound {
		return number(head.Size)
	}
	tag := s.options.Sealer.Tag([]byte("head 10"), number(head.Size), []byte(head.Last), number(p.at.version), number(p.at.revision),
		p.sum[:], p.passed[:], p.sums.text())
	return tag[:]
}

// readHeadProved reads the head of the log and what proves the rest, in one go.
func (s *Store) readHeadProved(ctx context.Context, c *conn) (ledger.Head, *proofs, error) {
	p, head := &proofs{}, ledger.Head{}
	var masked []byte
	found, err := c.row(ctx, "SELECT h.size, h.last, h.edge, h.checkpoint, h.version, h.revision, h.tag, h.passing, h.sums, p.tags "+
		"FROM head h LEFT JOIN proofs p ON p.one = 1 WHERE h.one = 1", nil, &head.Size, &head.Last, &head.Edge, &head.Checkpoint,
		&p.at.version, &p.at.revision, &p.vouched, &p.passing, &masked, &p.tags)
	if err == nil && !found {
		_, _, err = readHead(ctx, c) // says what is wrong
	}
	if err != nil {
		return head, nil, err
	}
	p.sum, p.passed, p.size = sha256.Sum256(p.tags), sha256.Sum256(p.passing), head.Size
	p.sums, p.sound = s.unmask(p.vouched, masked)
	p.sound = p.sound && len(p.tags) == proofParts*partTag && len(p.passing) == passParts*partTag
	p.sound = p.sound && bytes.Equal(p.vouched, s.headTag(head, p))
	return head, p, nil
}

func unsound() *ledger.Tampered {
	return &ledger.Tampered{What: "the proofs of what stands are not those of this log as it is", Table: "head or proofs"}
}

// readPart reads the claims of a part and holds them against its tag.
func (s *Store) readPart(ctx context.Context, c *conn, p *proofs, part int) (claims []claim, foreign []*ledger.Tampered, err error) {
	if !p.sound {
		return nil, nil, unsound()
	}
	table, from, upTo := spanOf(part)
	err = c.each(ctx, "SELECT owner, proof FROM "+table+" WHERE owner BETWEEN ? AND ? ORDER BY owner, proof", []any{from, upTo},
		func(scan func(...any) error) error {
			var one claim
			var proof []byte
			if err := scan(&one.owner, &proof); err != nil {
				return err
			}
			copy(one.proof[:], proof)
			claims = append(claims, one)
			return nil
		})
	if err != nil {
		return nil, nil, err
	}
	want := p.tag(part)
	if tag := s.tagOf(part, claims); bytes.Equal(tag[:], want) {
		return claims, nil, nil
	}
	return s.sift(ctx, c, part, want)
}

// sift finds what in a part is not Interlock's. Without that the rest is believed, if nothing else was done to it.
func (s *Store) sift(ctx context.Context, c *conn, part int, want []byte) (claims []claim, foreign []*ledger.Tampered, err error) {
	each := s.eachStanding
	if part >= proofParts {
		each = s.eachPassing
	}
	err = each(ctx, c, part, func(r ledger.Row, one claim, genuine bool) {
		if genuine {
			claims = append(claims, one)
			return
		}
		foreign = append(foreign, notWritten(r))
	})
	if err != nil {
		return nil, nil, err
	}
	if tag := s.tagOf(part, claims); bytes.Equal(tag[:], want) {
		return claims, foreign, nil
	}
	if len(foreign) > 0 {
		return nil, foreign, foreign[0] // most likely it was changed
	}
	return nil, nil, gone(part)
}

func notWritten(r ledger.Row) *ledger.Tampered {
	return &ledger.Tampered{Kind: r.Kind, Key: r.Key, What: "was not written by Interlock as it is"}
}

// gone says of a part that it lacks something, or has something that was.
func gone(part int) *ledger.Tampered {
	if part >= proofParts {
		return &ledger.Tampered{What: "something of what runs did or heard was taken away, or put back to what it was", Table: "passing", Part: part}
	}
	return &ledger.Tampered{What: "something that stood was taken away, or put back to what it was", Table: "rows", Part: part}
}

// eachStanding reads the rows of a part of what stands, and whether Interlock has written them so.
func (s *Store) eachStanding(ctx context.Context, c *conn, part int, visit func(r ledger.Row, one claim, genuine bool)) error {
	_, from, upTo := spanOf(part)
	return c.each(ctx, "SELECT kind, key, version, body, owner, proof FROM rows WHERE owner BETWEEN ? AND ? ORDER BY owner, proof",
		[]any{from, upTo}, func(scan func(...any) error) error {
			r, one := ledger.Row{}, claim{}
			var proof []byte
			if err := scan(&r.Kind, &r.Key, &r.Version, &r.Body, &one.owner, &proof); err != nil {
				return err
			}
			copy(one.proof[:], proof)
			owner, wrong := s.book.Owner(r)
			visit(r, one, wrong == nil && owner != "" && ownerNumber(owner) == one.owner && s.proofOf(r) == one.proof)
			return nil
		})
}

// errUnsteady says that what was read one after another does not fit together: somebody has written in between, or there is
// something wrong. Reading it in one transaction tells.
var errUnsteady = errors.New("sqlite: read again in one transaction")

// A snapshot is one reading of rows that are proved: first without a transaction, which costs less and fails where anything is not
// as it should be; then in one.
type snapshot struct {
	store   *Store
	conn    *conn   // nil: nothing is read that is not remembered
	known   *proofs // as they were when it began
	steady  bool    // in a transaction
	proofs  *proofs
	owners  map[string][]ledger.Row
	foreign []*ledger.Tampered
}

// steadily has step read in one transaction. One that can't be ended on the writer's connection would be everybody's.
func (n *snapshot) steadily(ctx context.Context, step func() error) error {
	if _, err := n.conn.exec(ctx, "BEGIN"); err != nil {
		return err
	}
	n.steady, n.proofs, n.owners, n.foreign = true, nil, nil, nil
	err := step()
	ctx = context.WithoutCancel(ctx)
	_, ended := n.conn.exec(ctx, "COMMIT")
	if ended == nil {
		return err
	}
	if _, undo := n.conn.exec(ctx, "ROLLBACK"); undo != nil && n.conn == n.store.writer {
		return n.store.fail(ended)
	}
	return errors.Join(err, ended)
}

// begin reads the proofs, unless they are known.
func (n *snapshot) begin(ctx context.Context) (err error) {
	if n.proofs != nil {
		return nil
	}
	n.owners = map[string][]ledger.Row{}
	if n.known != nil && !n.steady {
		n.proofs = n.known
		return nil
	}
	_, n.proofs, err = n.store.readHeadProved(ctx, n.conn)
	return err
}

// owned returns all that stands of an owner.
func (n *snapshot) owned(ctx context.Context, owner string) ([]ledger.Row, error) {
	if rows, read := n.owners[owner]; read {
		return rows, nil
	}
	number := ownerNumber(owner)
	if rows, known := n.remembered(owner, number); known {
		n.owners[owner] = rows
		return rows, nil
	}
	if n.conn == nil {
		return nil, errElsewhere
	}
	rows, claims, sifted, err := n.claimed(ctx, number)
	if err != nil {
		return nil, err
	}
	var believed []ledger.Row
	for _, r := range rows {
		one := claim{owner: number, proof: n.store.proofOf(r.Row)}
		if _, claimed := slices.BinarySearchFunc(claims, one, claim.compare); !claimed || one.proof != r.claim.proof {
			switch {
			case sifted:
				continue // it was found to be another's
			case !n.steady:
				return nil, errUnsteady
			}
			return nil, &ledger.Tampered{Kind: r.Kind, Key: r.Key, What: "was changed"}
		}
		whose, err := n.store.believe(r.Row)
		if err != nil {
			return nil, err
		}
		if whose.owner == owner { // and not another's with the same number
			believed = append(believed, whose.row)
		}
	}
	if part := int(number >> partShift); n.proofs.sound && !n.steady {
		n.store.parts.learn(part, n.proofs.tag(part), rows)
	}
	n.owners[owner] = believed
	return believed, nil
}

// claimed reads the rows of an owner and the claims of its part, which are its tag's. sifted says that there are rows besides which
// are not Interlock's. A part that was read before and still has its tag is not read again.
func (n *snapshot) claimed(ctx context.Context, number int64) (rows []stored, claims []claim, sifted bool, err error) {
	s, part := n.store, int(number>>partShift)
	if n.proofs.sound && !n.steady {
		if have, known := s.parts.get(part, n.proofs.tag(part)); known {
			if !s.options.Brief && s.parts.worth(&have) {
				rows, claims, err = n.readWhole(ctx, part, number, len(have.claims))
				return rows, claims, false, err
			}
			from, upTo := have.span(number)
			rows, _, err = n.readOwned(ctx, number, number, number)
			if err == nil && len(rows) != upTo-from {
				err = errUnsteady
			}
			return rows, have.claims, false, err
		}
	}
	from := int64(part) << partShift
	if rows, claims, err = n.readOwned(ctx, number, from, from+1<<partShift-1); err != nil {
		return nil, nil, false, err
	}
	if tag := s.tagOf(part, claims); n.proofs.sound && bytes.Equal(tag[:], n.proofs.tag(part)) {
		s.parts.keep(part, tag, claims, nil)
		return rows, claims, false, nil
	}
	if !n.steady {
		return nil, nil, false, errUnsteady
	}
	claims, foreign, err := s.readPart(ctx, n.conn, n.proofs, part)
	n.foreign = append(n.foreign, foreign...)
	return rows, claims, true, err
}

// readOwned reads the rows of an owner, and the claims of owners from one number to another, in one go.
func (n *snapshot) readOwned(ctx context.Context, number, from, upTo int64) (rows []stored, claims []claim, err error) {
	err = n.conn.each(ctx, "SELECT owner, proof, iif(owner = ?1, kind, NULL), iif(owner = ?1, key, NULL), iif(owner = ?1, version, NULL), "+
		"iif(owner = ?1, body, NULL) FROM rows WHERE owner BETWEEN ?2 AND ?3 ORDER BY owner, proof", []any{number, from, upTo},
		func(scan func(...any) error) error {
			var one claim
			var proof []byte
			var kind, key *string
			var version *int64
			var body []byte
			if err := scan(&one.owner, &proof, &kind, &key, &version, &body); err != nil {
				return err
			}
			copy(one.proof[:], proof)
			claims = append(claims, one)
			if one.owner == number {
				rows = append(rows, stored{Row: ledger.Row{Kind: *kind, Key: *key, Version: *version, Body: body}, claim: &one})
			}
			return nil
		})
	return rows, claims, err
}

// fetch returns the rows of a ref that are proved.
func (n *snapshot) fetch(ctx context.Context, ref ledger.Ref) (rows []ledger.Row, err error) {
	if err := n.begin(ctx); err != nil {
		return nil, err
	}
	book := n.store.book
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
	if n.conn == nil {
		return nil, errElsewhere
	}
	found, err := n.unproved(ctx, ref)
	for _, r := range found {
		if err != nil {
			break
		}
		var proved bool
		if named, wrong := book.Names(ref, r); wrong == nil && !named { // whoever has put the mark there
			continue
		}
		if proved, err = n.holds(ctx, r); proved {
			rows = append(rows, r)
		}
	}
	return rows, err
}

// unproved reads the rows of a ref as they are in the file.
func (n *snapshot) unproved(ctx context.Context, ref ledger.Ref) (rows []ledger.Row, err error) {
	if ref.Key == "" {
		rows, err = readMarked(ctx, n.conn, ref.Kind, ref.Mark)
	} else {
		var r stored
		if r, err = readRow(ctx, n.conn, ref.Kind, ref.Key); r.Body != nil {
			rows = []ledger.Row{r.Row}
		}
	}
	for i := range rows {
		if err == nil {
			rows[i].Value, err = n.store.book.Value(rows[i])
		}
	}
	return rows, err
}

// holds reports whether a row is believed: it stands, and is among what its owner has, or nothing rests on it any more.
func (n *snapshot) holds(ctx context.Context, r ledger.Row) (bool, error) {
	owner, err := n.store.book.Owner(r)
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
		return false, errUnsteady
	}
	n.foreign = append(n.foreign, &ledger.Tampered{Kind: r.Kind, Key: r.Key, What: "was not written by Interlock as it is"})
	return false, nil
}
