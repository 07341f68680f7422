package proof

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// Of calls there are too many to prove what is there of them whenever one is looked for, and of a blob its digest proves all that
// decisions rest on. Each has a proof, and is counted into a sum over its table, so that looking through the table shows whether one
// was taken away or put back to what it was. What is added is the other half of the row's tag, which is stored nowhere; the sums stand
// in the head under a mask that is another at each commit, so that nobody who watches them can tell what a row adds.

// The tables that have a sum.
const (
	Calls = iota
	Blobs
	summed
)

// A Sum is a number of 128 bits.
type Sum struct{ high, low uint64 }

// Add counts a row in, Take out.
func (s *Sum) Add(o Sum) {
	var carry uint64
	s.low, carry = bits.Add64(s.low, o.low, 0)
	s.high, _ = bits.Add64(s.high, o.high, carry)
}

// Take is the reverse of Add.
func (s *Sum) Take(o Sum) {
	var borrow uint64
	s.low, borrow = bits.Sub64(s.low, o.low, 0)
	s.high, _ = bits.Sub64(s.high, o.high, borrow)
}

// Sums are those of all tables that have one.
type Sums [summed]Sum

const sumsSize = summed * Size

// text is the sums as bytes.
func (s *Sums) text() []byte {
	text := make([]byte, 0, sumsSize)
	for _, one := range s {
		text = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(text, one.high), one.low)
	}
	return text
}

// Mask is the sums as they are stored under a head's tag.
func (p *Prover) Mask(vouched []byte, plain Sums) []byte {
	mask, text := p.key.Tag([]byte("mask"), vouched), plain.text()
	for i := range text {
		text[i] ^= mask[i]
	}
	return text
}

// Unmask is the sums that are stored under a head's tag.
func (p *Prover) Unmask(vouched, masked []byte) (plain Sums, ok bool) {
	if len(masked) != sumsSize {
		return plain, false
	}
	mask := p.key.Tag([]byte("mask"), vouched)
	var text [sumsSize]byte
	for i := range text {
		text[i] = masked[i] ^ mask[i]
	}
	for n := range plain {
		plain[n] = sumOf(text[n*Size:])
	}
	return plain, true
}

func sumOf(text []byte) Sum {
	return Sum{binary.BigEndian.Uint64(text), binary.BigEndian.Uint64(text[8:])}
}

// A Summed row is one that is counted into the sum of its table.
type Summed interface {
	// tagged are the texts that its tag is over.
	tagged() [][]byte
	// proof is the proof that it is stored with.
	proof() []byte
}

// Sum is the proof of a row, what it adds to the sum of its table, and whether it is stored with that proof.
func (p *Prover) Sum(r Summed) (proof [Size]byte, adds Sum, genuine bool) {
	tag := p.key.Tag(r.tagged()...)
	copy(proof[:], tag[:])
	return proof, sumOf(tag[Size:]), bytes.Equal(proof[:], r.proof())
}

// A Filed row is one of those that come with most actions, as it is stored: where, under which short hashes, and what it says.
type Filed struct {
	ID, Event, At  int64
	Action, Called *int64
	Body           []byte
	Proof          []byte
}

func (f *Filed) proof() []byte { return f.Proof }

func (f *Filed) tagged() [][]byte {
	text := make([]byte, 0, 48)
	for _, n := range []int64{f.ID, f.Event, f.At} {
		text = binary.BigEndian.AppendUint64(text, uint64(n))
	}
	for _, n := range []*int64{f.Action, f.Called} {
		if n == nil {
			text = append(text, 0)
			continue
		}
		text = binary.BigEndian.AppendUint64(append(text, 1), uint64(*n))
	}
	return [][]byte{[]byte("call 10"), text, f.Body}
}

// A Blob is what is kept beside a blob: when it came, and when it was last named.
type Blob struct {
	Digest   string
	At, Used int64
	Proof    []byte
}

func (b *Blob) proof() []byte { return b.Proof }

func (b *Blob) tagged() [][]byte {
	times := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, uint64(b.At)), uint64(b.Used))
	return [][]byte{[]byte("blob 10"), []byte(b.Digest), times}
}
