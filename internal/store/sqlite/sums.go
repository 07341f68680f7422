package sqlite

import (
	"encoding/binary"
	"math/bits"
)

// Of calls there are too many to prove what is there of them whenever one is looked for, and of a blob its digest proves all that
// decisions rest on. Each has a proof, and is counted into a sum over its table, so that looking through the table shows whether one
// was taken away or put back to what it was. What is added is the other half of the row's tag, which is stored nowhere; the sums stand
// in the head under a mask that is another at each commit, so that nobody who watches them can tell what a row adds.

// summed is a table with a sum.
type summed int

const (
	calls summed = iota
	blobs
	summedTables
)

// A sum is a number of 128 bits.
type sum struct{ high, low uint64 }

func (s *sum) add(o sum) {
	var carry uint64
	s.low, carry = bits.Add64(s.low, o.low, 0)
	s.high, _ = bits.Add64(s.high, o.high, carry)
}

func (s *sum) take(o sum) {
	var borrow uint64
	s.low, borrow = bits.Sub64(s.low, o.low, 0)
	s.high, _ = bits.Sub64(s.high, o.high, borrow)
}

type sums [summedTables]sum

const sumsSize = int(summedTables) * proofSize

// text is the sums as bytes.
func (s *sums) text() []byte {
	text := make([]byte, 0, sumsSize)
	for _, one := range s {
		text = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(text, one.high), one.low)
	}
	return text
}

// mask is the sums as they stand in the file under a head's tag.
func (s *Store) mask(vouched []byte, plain sums) []byte {
	mask, text := s.options.Sealer.Tag([]byte("mask"), vouched), plain.text()
	for i := range text {
		text[i] ^= mask[i]
	}
	return text
}

// unmask is the sums that stand in the file under a head's tag.
func (s *Store) unmask(vouched, masked []byte) (plain sums, ok bool) {
	if len(masked) != sumsSize {
		return plain, false
	}
	mask := s.options.Sealer.Tag([]byte("mask"), vouched)
	var text [sumsSize]byte
	for i := range text {
		text[i] = masked[i] ^ mask[i]
	}
	for n := range plain {
		plain[n] = sumOf(text[n*proofSize:])
	}
	return plain, true
}

func sumOf(text []byte) sum {
	return sum{binary.BigEndian.Uint64(text), binary.BigEndian.Uint64(text[8:])}
}

// tagged splits the tag of a row into its proof and what it adds to the sum of its table.
func tagged(tag [32]byte) (proof [proofSize]byte, adds sum) {
	copy(proof[:], tag[:])
	return proof, sumOf(tag[proofSize:])
}
