package proof

import (
	"bytes"
	"context"
	"encoding/binary"
	"slices"
	"sync"

	"interlock/internal/ledger"
)

// What a process has read of standing rows it remembers by parts: the claims of each, and as far as it has seen them the rows
// they are claims of, packed. As long as a part has the tag it was read with, these are its claims, and a claim is a tag over the
// whole of its row; so what is remembered needs no looking at the store, even if others write it, and nothing of it is ever
// wrong, only of no use any more. That is what decisions about very many agents are made from: reading one row costs more than
// deciding.

// The bounds of what is remembered.
const (
	maxClaims  = 1 << 20  // 24 bytes each
	maxTexts   = 80 << 20 // bytes of packed rows
	aboutText  = 512      // bytes that a row takes, about
	maxDecoded = 4096     // rows that are remembered as they were read, besides
)

// A memory is the parts that a process has read, each under the tag it was read with.
type memory struct {
	guard   sync.Mutex
	read    map[int]readPart
	count   int // claims
	size    int // bytes of texts
	decoded map[Claim]believed
}

// A readPart is one part as it was read. Nothing of it is ever changed.
type readPart struct {
	tag    [TagSize]byte
	claims []Claim
	texts  []string // of each claim the row, packed; empty where it is not known; nil: none is
	known  int      // how many of them are
	asked  bool     // something of it had to be read from the store
}

// A believed row is one that was proved, read, and whose it is.
type believed struct {
	row   ledger.Row
	owner string
}

// get returns a part, if it is remembered as it is.
func (m *memory) get(part int, tag []byte) (readPart, bool) {
	m.guard.Lock()
	defer m.guard.Unlock()
	have, known := m.read[part]
	return have, known && bytes.Equal(have.tag[:], tag)
}

// keep remembers the claims of a part, and of its rows what is known already or is given.
func (m *memory) keep(part int, tag [TagSize]byte, claims []Claim, fresh map[Claim]string) {
	m.guard.Lock()
	defer m.guard.Unlock()
	before := m.read[part]
	if before.tag == tag {
		return // it may be known with its rows
	}
	next := readPart{tag: tag, claims: claims, asked: before.asked}
	if before.known > 0 || part >= Parts && len(fresh) > 0 {
		next.texts, next.known = before.carried(claims, fresh)
	}
	m.put(part, next)
}

// learn remembers rows of a part, which have been held against its claims.
func (m *memory) learn(part int, tag []byte, rows []Stored) {
	m.guard.Lock()
	defer m.guard.Unlock()
	have, known := m.read[part]
	if !known || !bytes.Equal(have.tag[:], tag) {
		return
	}
	have.asked = true
	if have.texts = slices.Clone(have.texts); have.texts == nil {
		have.texts = make([]string, len(have.claims))
	}
	for _, r := range rows {
		if at, found := slices.BinarySearchFunc(have.claims, *r.claim, Claim.Compare); found && have.texts[at] == "" {
			have.texts[at] = string(packRow(nil, r.Row))
			have.known++
		}
	}
	m.put(part, have)
}

// put takes a part in. Too many claims are forgotten all at once, too many rows some parts at a time.
func (m *memory) put(part int, next readPart) {
	before := m.read[part]
	m.size += textsSize(next.texts) - textsSize(before.texts)
	if m.count += len(next.claims) - len(before.claims); m.read == nil || m.count > maxClaims {
		m.read, m.count, m.size = map[int]readPart{}, len(next.claims), textsSize(next.texts)
	}
	m.read[part] = next
	if m.size <= maxTexts {
		return
	}
	for n := range Parts + PassParts - 1 { // from the next on, in a circle: none is worth more than another
		other := (part + 1 + n) % (Parts + PassParts)
		have := m.read[other]
		if have.known == 0 {
			continue
		}
		m.size -= textsSize(have.texts)
		have.texts, have.known = nil, 0
		m.read[other] = have
		if m.size <= maxTexts-maxTexts/8 {
			return
		}
	}
}

// worth reports whether a part is better read whole: something of it was read before, most of it is not known, and there is room.
func (m *memory) worth(have *readPart) bool {
	m.guard.Lock()
	defer m.guard.Unlock()
	return have.asked && 2*have.known < len(have.claims) && m.size+len(have.claims)*aboutText <= maxTexts
}

// Known is of how many rows what they say is remembered.
func (p *Prover) Known() (rows int) {
	p.known.guard.Lock()
	defer p.known.guard.Unlock()
	for _, part := range p.known.read { // any order: they are counted
		rows += part.known
	}
	return rows
}

func textsSize(texts []string) (size int) {
	for _, text := range texts {
		size += len(text)
	}
	return size
}

// carried are the rows of other claims as far as they are known or given.
func (r *readPart) carried(claims []Claim, fresh map[Claim]string) (texts []string, known int) {
	texts = make([]string, len(claims))
	at := 0
	for n, c := range claims { // both are in order
		for at < len(r.claims) && r.claims[at].Compare(c) < 0 {
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
	from, _ = slices.BinarySearchFunc(r.claims, Claim{Owner: number}, Claim.Compare)
	for upTo = from; upTo < len(r.claims) && r.claims[upTo].Owner == number; {
		upTo++
	}
	return from, upTo
}

// recall returns a row that was read before.
func (m *memory) recall(c Claim) (believed, bool) {
	m.guard.Lock()
	defer m.guard.Unlock()
	b, known := m.decoded[c]
	return b, known
}

// reads remembers a row as it was read, so that one that many decisions read is not read from its text each time.
func (m *memory) reads(c Claim, b believed) {
	m.guard.Lock()
	defer m.guard.Unlock()
	if m.decoded == nil || len(m.decoded) >= maxDecoded {
		m.decoded = map[Claim]believed{}
	}
	m.decoded[c] = b
}

// remembered returns all standing rows of an owner, if it is remembered.
func (n *Reading) remembered(owner string, number int64) (rows []ledger.Row, known bool) {
	if !n.state.Sound || n.steady {
		return nil, false
	}
	m, part := &n.p.known, PartOf(number)
	have, known := m.get(part, n.state.Tag(part))
	if !known {
		return nil, false
	}
	from, upTo := have.span(number)
	for at := from; at < upTo; at++ {
		one, read := m.recall(have.claims[at])
		if !read {
			if have.texts == nil || have.texts[at] == "" {
				return nil, false
			}
			r, whole := unpackRow(have.texts[at])
			var err error
			if one, err = n.p.believe(r); err != nil || !whole {
				return nil, false // reading the store says what is wrong
			}
			m.reads(have.claims[at], one)
		}
		if one.owner == owner { // and not another's with the same number
			rows = append(rows, one.row)
		}
	}
	return rows, true
}

// believe reads what a row says, and whose it is.
func (p *Prover) believe(r ledger.Row) (one believed, err error) {
	if r.Value, err = p.book.Value(r); err != nil {
		return one, err
	}
	one.row = r
	one.owner, err = p.book.Owner(r)
	return one, err
}

// passed returns the row under a key of what passes as it is remembered: as not there, where nobody claims it.
func (r *readPart) passed(row ledger.Row) (found ledger.Row, known bool) {
	from, upTo := r.span(PassNumber(row.Kind, row.Key))
	if from == upTo {
		return row, true
	}
	if r.texts == nil || r.texts[from] == "" {
		return row, false
	}
	found, whole := unpackRow(r.texts[from])
	return found, whole && found.Kind == row.Kind && found.Key == row.Key
}

// whole reads a part with all its rows, which are many, and returns those of an owner.
func (n *Reading) whole(ctx context.Context, part int, number int64, many int) (rows []Stored, claims []Claim, err error) {
	p, packed, ends := n.p, make([]byte, 0, many*aboutText), make([]int, 0, many)
	err = n.from.Owners(ctx, SpanOf(part), Everybody, func(r *Stored) error {
		one := r.stands()
		claims = append(claims, one)
		if p.Row(r.Row) == one.Proof { // else reading it by itself says what is wrong
			packed = packRow(packed, r.Row)
		}
		ends = append(ends, len(packed))
		if one.Owner == number {
			rows = append(rows, Stored{Row: r.Row, claim: &one})
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	tag := p.Part(part, claims)
	if !bytes.Equal(tag[:], n.state.Tag(part)) {
		return nil, nil, ErrUnsteady
	}
	next := readPart{tag: tag, claims: claims, texts: make([]string, len(claims)), asked: true}
	all, begins := string(packed), 0
	for n, end := range ends {
		if next.texts[n] = all[begins:end]; end > begins {
			next.known++
		}
		begins = end
	}
	p.known.guard.Lock()
	defer p.known.guard.Unlock()
	p.known.put(part, next)
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
