// Package pack makes small texts smaller before they are stored: events, calls and what decisions were made from are JSON of
// a few hundred bytes to a few kilobytes and look alike, so they are compressed against a dictionary of such texts.
//
// What is packed is only a way to store. Hashes, signatures and exports are over the text itself.
package pack

import (
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/klauspost/compress/s2"
)

// The first byte of what is stored says what follows. JSON texts begin with a brace, so what was stored before there was
// this package is read as it is.
const (
	plain   = 0 // the text
	first   = 1 // folded, then compressed against the first dictionary
	copied  = 2 // copies of what is stored beside it in place of its own bytes, then one of the others
	bare    = 3 // an event without the hashes that can be computed from it, as one of the first two
	checked = 4 // one of the first two, or a text that begins with a brace, and a checksum behind it
	braced  = '{'
)

// dictionary1 is what stored texts are compressed against. It can never change: another one would get another number.
//
//go:embed dictionary1.txt
var dictionary1 []byte

var dictionary = sync.OnceValue(func() *s2.Dict { return s2.MakeDict(dictionary1, nil) })

// smallest is the length, in bytes, under which nothing is gained.
const smallest = 64

// Pack returns a text as it is stored. It does not change the text.
func Pack(text []byte) []byte { return Append(nil, text) }

// Append appends a text as it is stored.
func Append(out, text []byte) []byte {
	if len(text) >= smallest {
		b := rooms.Get().(*room)
		defer rooms.Put(b)
		folded, ok := fold(b.folded[:0], text)
		if ok {
			b.folded = folded[:0]
			if len(folded) <= shortText {
				b.packed = b.compress(b.packed[:0], folded)
			} else {
				b.packed = dictionary().Encode(b.packed, folded)
			}
			if len(b.packed) < len(text) {
				return append(append(out, first), b.packed...)
			}
		}
	}
	if len(text) == 0 || text[0] != braced {
		out = append(out, plain)
	}
	return append(out, text...)
}

// A room is what packing works in; it is used again.
type room struct {
	folded, packed, copied, whole []byte
	base                          uint32
	seen                          [1 << seenBits]uint32 // where a text has what begins with some bytes, from base on
}

var rooms = sync.Pool{New: func() any { return new(room) }}

// errUnreadable says that what is stored is no packed text.
var errUnreadable = errors.New("pack: what is stored is damaged")

// Unpack returns the text of what [Pack] made, or an error if it is damaged or over a bound in bytes. It may return a part of
// what it is given.
func Unpack(stored []byte, most int) ([]byte, error) { return new(Unpacker).Unpack(stored, most) }

// An Unpacker unpacks one text after another into the same memory: what it returns is good until it is asked again.
type Unpacker struct{ folded, text, whole, beside []byte }

// Unpack is [Unpack] into the memory of the text before.
func (u *Unpacker) Unpack(stored []byte, most int) ([]byte, error) {
	text := stored
	switch {
	case len(stored) == 0:
		return nil, errUnreadable
	case stored[0] == plain:
		text = stored[1:]
	case stored[0] == first:
		length, err := s2.DecodedLen(stored[1:])
		if err != nil {
			return nil, errUnreadable
		}
		if length > most {
			return nil, tooLong(length, most)
		}
		folded, err := dictionary().Decode(u.folded, stored[1:])
		if err != nil {
			return nil, errUnreadable
		}
		u.folded = folded[:cap(folded)]
		if text, err = unfold(u.text[:0], folded, most); err != nil {
			return nil, err
		}
		u.text = text
	case stored[0] == bare:
		if len(stored) == 1 || stored[1] == bare || stored[1] == checked {
			return nil, errUnreadable
		}
		bared, err := u.Unpack(stored[1:], most)
		if err != nil {
			return nil, err
		}
		if text, err = complete(slices.Grow(u.whole[:0], len(bared)+4*longBytes), bared); err != nil {
			return nil, err
		}
		u.whole = text
	case stored[0] == checked:
		end := len(stored) - sha256.Size
		if end <= 1 || stored[1] == checked || stored[1] == bare {
			return nil, errUnreadable
		}
		return u.Unpack(stored[1:end], most)
	case stored[0] != braced:
		return nil, errUnreadable
	}
	if len(text) > most {
		return nil, tooLong(len(text), most)
	}
	return text, nil
}

func tooLong(length, most int) error {
	return fmt.Errorf("pack: a stored text of %d bytes is over the bound of %d", length, most)
}
