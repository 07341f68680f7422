package pack

import (
	"encoding/binary"
	"math/bits"
	"sync"
)

const (
	seenBits  = 10       // of the table of what a text holds
	wordBits  = 13       // of the table of what the dictionary holds
	shortText = 16 << 10 // bytes up to which a text is compressed here: no place is too far away for a copy
	wordBytes = 8        // bytes that are looked at together
	leastSeen = 4        // bytes that are worth a copy out of a text; six are one out of the dictionary, which is farther away
)

// words are where the dictionary has what begins with some bytes.
var words = sync.OnceValue(func() *[1 << wordBits]uint16 {
	var at [1 << wordBits]uint16
	for i := 0; i+wordBytes <= len(dictionary1); i++ {
		at[placeOf(binary.LittleEndian.Uint64(dictionary1[i:]), wordBits)] = uint16(i)
	}
	return &at
})

// placeOf is a place in a table for what begins with six bytes.
func placeOf(word uint64, size int) int { return int(word << 16 * 0xcf1bbcdcbf9b >> (64 - size)) }

// compress appends a text as a block of S2 against the dictionary. The package's own encoder clears 64 KB on its caller's stack each
// time, which takes longer than to compress a short text: here the table is kept, and what other texts have left in it is below base.
func (b *room) compress(out, text []byte) []byte {
	if b.base += shortText; b.base < shortText {
		b.base = shortText // it has gone round
		clear(b.seen[:])
	}
	out = binary.AppendUvarint(out, uint64(len(text)))
	words, written, last := words(), 0, len(dictionary1) // the distance that a decoder begins with
	for i := 0; i+wordBytes <= len(text); {
		word := binary.LittleEndian.Uint64(text[i:])
		seen := &b.seen[placeOf(word, seenBits)]
		source, at, n := text, 0, 0
		if *seen >= b.base {
			if at = int(*seen - b.base); uint32(word) == binary.LittleEndian.Uint32(text[at:]) {
				n = alike(text[i:], text[at:])
			}
		}
		*seen = b.base + uint32(i)
		if n < wordBytes {
			w := int(words[placeOf(word, wordBits)])
			if (word^binary.LittleEndian.Uint64(dictionary1[w:]))<<16 == 0 {
				source, at, n = dictionary1, w, alike(text[i:], dictionary1[w:])
			}
		}
		if n < leastSeen {
			switch text[i] { // a hash is like nothing
			case longMark:
				i += 1 + longBytes
			case shortMark:
				i += 1 + shortBytes
			default:
				i += 1 + (i-written)>>5
			}
			continue
		}
		for i > written && at > 0 && text[i-1] == source[at-1] {
			i, at, n = i-1, at-1, n+1
		}
		distance := i - at
		if &source[0] == &dictionary1[0] {
			distance += len(dictionary1)
		}
		out = appendBlockCopy(appendLiteral(out, text[written:i]), distance, n, distance == last)
		i += n
		written, last = i, distance
	}
	return appendLiteral(out, text[written:])
}

// What follows in a block, by the lowest bits of its first byte.
const (
	tagLiteral = 0
	tagNear    = 1 // a copy of 4 to 11 bytes from less than nearBy away; from 0 away: from as far away as the one before
	tagFar     = 2 // a copy of up to 64 bytes
	nearBy     = 2048
	mostFar    = 64
)

func appendLiteral(out, text []byte) []byte {
	switch n := len(text) - 1; {
	case n < 0:
		return out
	case n < 60:
		out = append(out, byte(n)<<2|tagLiteral)
	case n < 1<<8:
		out = append(out, 60<<2|tagLiteral, byte(n))
	default:
		out = append(out, 61<<2|tagLiteral, byte(n), byte(n>>8))
	}
	return append(out, text...)
}

// appendBlockCopy writes a copy of n bytes, 4 or more, from so far away; again says that the one before is from as far away.
func appendBlockCopy(out []byte, distance, n int, again bool) []byte {
	if !again && n < 12 && distance < nearBy {
		return append(out, byte(distance>>8)<<5|byte(n-4)<<2|tagNear, byte(distance))
	}
	if !again {
		part := n
		if n > mostFar {
			part = mostFar - 4 // so that 4 are left
		}
		out = append(out, byte(part-1)<<2|tagFar, byte(distance), byte(distance>>8))
		if n -= part; n == 0 {
			return out
		}
	}
	switch {
	case n <= 8:
		return append(out, byte(n-4)<<2|tagNear, 0)
	case n < 8+1<<8:
		return append(out, 5<<2|tagNear, 0, byte(n-8))
	default:
		n -= 4 + 1<<8
		return append(out, 6<<2|tagNear, 0, byte(n), byte(n>>8))
	}
}

// alike is how many bytes two texts begin with alike.
func alike(a, b []byte) int {
	n := 0
	for ; n+wordBytes <= len(a) && n+wordBytes <= len(b); n += wordBytes {
		if differ := binary.LittleEndian.Uint64(a[n:]) ^ binary.LittleEndian.Uint64(b[n:]); differ != 0 {
			return n + bits.TrailingZeros64(differ)>>3
		}
	}
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
