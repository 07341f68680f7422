package sqlite

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"sync"

	"interlock/internal/ledger"
)

// What a process has read of what stands it remembers by parts: the claims of each, and as far as it has seen them the rows they are
// claims of, packed. As long as a part has the tag it was read with, these are its claims, and a claim is a tag over the whole of its
// row; so what is remembered needs no looking at the file, whoever else writes it, and nothing of it is ever wrong, only of no use any
// more. That is what decisions about very many agents are made from: reading one row costs more than deciding.

// The bounds of what is remembered.
const (
	maxClaims  = 1 << 20  // 24 bytes each
	maxTexts   = 80 << 20 // bytes of packed rows
	aboutText  = 512      // bytes that a row takes, about
	maxDecoded = 4096     // rows that are remembered as they were read, besides
)

// parts are the parts that a process has read, each under the tag it was read with.
type parts struct {
	guard   sync.Mutex
	read    map[int]readPart
	count   int // claims
	size    int // bytes of texts
	decoded map[claim]believed
}

// A readPart is one part as it was read. Nothing of it is ever changed.
type readPart struct {
	tag    [partTag]byte
	claims []claim
	texts  []string // of each claim the row, packed; empty where it is not known; nil: none is
	known  int      // how many of them are
	asked  bool     // something of it had to be read from the file
}

// A believed row is one that was proved, read, and whose it is.
type believed struct {
	row   ledger.Row
	owner string
}

// errElsewhere says that something is not remembered and has to be read.
var errElsewhere = errors.New("sqlite: not remembered")

// get returns a part, if it is remembered as it is.
func (p *parts) get(part int, tag []byte) (readPart, bool) {
	p.guard.Lock()
	defer p.guard.Unlock()
	have, known := p.read[part]
	return have, known && bytes.Equal(have.tag[:], tag)
}

// keep remembers the claims of a part, and of its rows what is known already or is given.
func (p *parts) keep(part int, tag [partTag]byte, claims []claim, fresh map[claim]string) {
	p.guard.Lock()
	defer p.guard.Unlock()
	before := p.read[part]
	if before.tag == tag {
		return // it may be known with its rows
	}
	next := readPart{tag: tag, claims: claims, asked: before.asked}
	if before.known > 0 || part >= proofParts && len(fresh) > 0 {
		next.texts, next.known = before.carried(claims, fresh)
	}
	p.put(part, next)
}

// learn remembers rows of a part, which have been held against its claims.
func (p *parts) learn(part int, tag []byte, rows []stored) {
	p.guard.Lock()
	defer p.guard.Unlock()
	have, known := p.read[part]
	if !known || !bytes.Equal(have.tag[:], tag) {
		return
	}
	have.asked = true
	if have.texts = slices.Clone(have.texts); have.texts == nil {
		have.texts = make([]string, len(have.claims))
	}
	for _, r := range rows {
		if at, found := slices.BinarySearchFunc(have.claims, *r.claim, claim.compare); found && have.texts[at] == "" {
			have.texts[at] = string(packRow(nil, r.Row))
			have.known++
		}
	}
	p.put(part, have)
}

// put takes a part in. Too many claims are forgotten all at once, too many rows some parts at a time, whichever.
func (p *parts) put(part int, next readPart) {
	before := p.read[part]
	p.size += textsSize(next.texts) - textsSize(before.texts)
	if p.count += len(next.claims) - len(before.claims); p.read == nil || p.count > maxClaims {
		p.read, p.count, p.size = map[int]readPart{}, len(next.claims), textsSize(next.texts)
	}
	p.read[part] = next
	if p.size <= maxTexts {
		return
	}
	for other, have := range p.read { // in any order: none is worth more than another
		if other == part || have.known == 0 {
			continue
		}
		p.size -= textsSize(have.texts)
		have.texts, have.known = nil, 0
		p.read[other] = have
		if p.size <= maxTexts-maxTexts/8 {
			return
		}
	}
}

// worth reports whether a part is better read whole: something of it was read before, most of it is not known, and there is room.
func (p *parts) worth(have *readPart) bool {
	p.guard.Lock()
	defer p.guard.Unlock()
	return have.asked && 2*have.known < len(have.claims) && p.size+len(have.claims)*aboutText <= maxTexts
}

func textsSize(texts []string) (size int) {
	for _, text := range texts {
		size += len(text)
	}
	return size
}

// carried are the rows of other claims as far as they are known or given.
func (r *readPart) carried(claims []claim, fresh map[claim]string) (texts []string, known int) {
	texts = make([]string, len(claims))
	at := 0
	for n, c := range claims { // both are in order
		for at < len(r.claims) && r.claims[at].compare(c) < 0 {
			at++
		}
		same := at < len(r.claims) && r.claims[at] == c
		if same && r.texts != nil {
			texts[n] = r.texts[at]
		} else if !same && len(fresh) > 0 {
			texts[n] = fresh[c]
		}
		if texts[n] != "" {
			known++
		}
	}
	return texts, known
}

// span is where the claims of an owner are.
func (r *readPart) span(number int64) (from, upTo int) {
	from, _ = slices.BinarySearchFunc(r.claims, claim{owner: number}, claim.compare)
	for upTo = from; upTo < len(r.claims) && r.claims[upTo].owner == number; {
		upTo++
	}
	return from, upTo
}

// recall returns a row that was read before.
func (p *parts) recall(c claim) (believed, bool) {
	p.guard.Lock()
	defer p.guard.Unlock()
	b, known := p.decoded[c]
	return b, known
}

// reads remembers a row as it was read, so that one that many decisions read is not read from its text each time.
func (p *parts) reads(c claim, b believed) {
	p.guard.Lock()
	defer p.guard.Unlock()
	if p.decoded == nil || len(p.decoded) >= maxDecoded {
		p.decoded = map[claim]believed{}
	}
	p.decoded[c] = b
}

// remembered returns all that stands of an owner, if it is remembered.
func (n *snapshot) remembered(owner string, number int64) (rows []ledger.Row, known bool) {
	if !n.proofs.sound || n.steady {
		return nil, false
	}
	s, part := n.store, int(number>>partShift)
	have, known := s.parts.get(part, n.proofs.tag(part))
	if !known {
		return nil, false
	}
	from, upTo := have.span(number)
	for at := from; at < upTo; at++ {
		one, read := s.parts.recall(have.claims[at])
		if !read {
			if have.texts == nil || have.texts[at] == "" {
				return nil, false
			}
			r, whole := unpackRow(have.texts[at])
			var err error
			if one, err = s.believe(r); err != nil || !whole {
				return nil, false // reading the file says what is wrong
			}
			s.parts.reads(have.claims[at], one)
		}
		if one.owner == owner { // and not another's with the same number
			rows = append(rows, one.row)
		}
	}
	return rows, true
}

// believe reads what a row says, and whose it is.
func (s *Store) believe(r ledger.Row) (one believed, err error) {
	if r.Value, err = s.book.Value(r); err != nil {
		return one, err
	}
	one.row = r
	one.owner, err = s.book.Owner(r)
	return one, err
}

// readWhole reads a part with all its rows, of which there are many, and returns those of an owner.
func (n *snapshot) readWhole(ctx context.Context, part int, number int64, many int) (rows []stored, claims []claim, err error) {
	_, from, upTo := spanOf(part)
	packed, ends := make([]byte, 0, many*aboutText), make([]int, 0, many)
	err = n.conn.each(ctx, "SELECT owner, proof, kind, key, version, body FROM rows WHERE owner BETWEEN ? AND ? ORDER BY owner, proof",
		[]any{from, upTo}, func(scan func(...any) error) error {
			var one claim
			var proof []byte
			var r ledger.Row
			if err := scan(&one.owner, &proof, &r.Kind, &r.Key, &r.Version, &r.Body); err != nil {
				return err
			}
			copy(one.proof[:], proof)
			claims = append(claims, one)
			if n.store.proofOf(r) == one.proof { // else reading it by itself says what is wrong
				packed = packRow(packed, r)
			}
			ends = append(ends, len(packed))
			if one.owner == number {
				rows = append(rows, stored{Row: r, claim: &one})
			}
			return nil
		})
	if err != nil {
		return nil, nil, err
	}
	s := n.store
	tag := s.tagOf(part, claims)
	if !bytes.Equal(tag[:], n.proofs.tag(part)) {
		return nil, nil, errUnsteady
	}
	next := readPart{tag: tag, claims: claims, texts: make([]string, len(claims)), asked: true}
	all, begins := string(packed), 0
	for n, end := range ends {
		if next.texts[n] = all[begins:end]; end > begins {
			next.known++
		}
		begins = end
	}
	s.parts.guard.Lock()
	defer s.parts.guard.Unlock()
	s.parts.put(part, next)
	return rows, claims, nil
}

// packRow appends a row as it is remembered.
func packRow(to []byte, r ledger.Row) []byte {
	to = binary.AppendUvarint(to, uint64(r.Version))
	for _, text := range []string{r.Kind, r.Key} {
		to = append(binary.AppendUvarint(to, uint64(len(text))), text...)
	}
	return append(to, r.Body...)
}

// unpackRow is a row that packRow has packed.
func unpackRow(text string) (r ledger.Row, whole bool) {
	number := func() uint64 {
		n, shift := uint64(0), 0
		for ; len(text) > 0; shift += 7 {
			b := text[0]
			text = text[1:]
			n |= uint64(b&0x7f) << shift
			if b < 0x80 {
				break
			}
		}
		return n
	}
	r.Version = int64(number())
	for _, part := range []*string{&r.Kind, &r.Key} {
		length := number()
		if length > uint64(len(text)) {
			return ledger.Row{}, false
		}
		*part, text = text[:length], text[length:]
	}
	r.Body = []byte(text)
	return r, true
}
