package pack

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// What a decision was made from repeats much of the event that is stored beside it: the action, its impacts, what the run did
// before. Such parts are written as a place in the event's text and a length, behind a byte that occurs in no UTF-8 text.
const (
	copyMark  = 0xfd
	fewest    = 24    // bytes that are worth a copy
	longest   = 4095  // bytes of one copy
	maxBeside = 65535 // bytes of a text whose places are noted
	slots     = 256
	known     = 8 // bytes by which a place is found

	// A copy is its mark and two numbers in digits of six bits, which are letters and signs: what is folded next has no room for others.
	zero        = '0'
	digitBits   = 6
	placeDigits = 3
	digitsCopy  = placeDigits + 2
)

// AppendBeside appends a text as it is stored beside another, or beside a text that has that one in it from a place on. The whole
// must be there again to read it.
func AppendBeside(out, text, beside []byte, from int) []byte {
	if len(text) < smallest || from+len(beside) > maxBeside || bytes.IndexByte(text, copyMark) >= 0 {
		return Append(out, text)
	}
	b := rooms.Get().(*room)
	defer rooms.Put(b)
	b.copied = copies(b.copied[:0], text, beside, from)
	if len(b.copied) == len(text) {
		return Append(out, text)
	}
	at := len(out)
	out = Append(append(out, copied), b.copied)
	if len(out)-at <= len(text) {
		return out
	}
	return Append(out[:at], text)
}

// copies writes a text with what is stored beside it, from a place on, as copies.
func copies(out, text, beside []byte, place int) []byte {
	// Both are canonical JSON, so what is the same begins with the same brace. The first place with some beginning is kept; the very
	// first is the whole object's.
	var places [slots]uint16
	for i := brace(beside, 1); i+fewest <= len(beside); i = brace(beside, i+1) {
		if slot := &places[slotOf(beside[i:])]; *slot == 0 {
			*slot = uint16(i)
		}
	}
	from := 0
	for i := brace(text, 0); i+fewest <= len(text); i = brace(text, i+1) {
		at := int(places[slotOf(text[i:])])
		if at == 0 {
			continue
		}
		n := min(alike(text[i:], beside[at:]), longest)
		if n < fewest {
			continue
		}
		out = appendCopy(append(out, text[from:i]...), place+at, n)
		i += n - 1
		from = i + 1
	}
	return append(out, text[from:]...)
}

// brace is where the next object begins from a place on, or the text's end.
func brace(text []byte, from int) int {
	if from >= len(text) {
		return len(text)
	}
	if n := bytes.IndexByte(text[from:], '{'); n >= 0 {
		return from + n
	}
	return len(text)
}

// appendCopy writes where a copy is found, and its length.
func appendCopy(out []byte, at, n int) []byte {
	const mask = 1<<digitBits - 1
	return append(out, copyMark, zero+byte(at>>(2*digitBits)), zero+byte(at>>digitBits&mask), zero+byte(at&mask), zero+byte(n>>digitBits), zero+byte(n&mask))
}

// copyOf reads what appendCopy has written behind the mark.
func copyOf(text []byte) (at, n int, ok bool) {
	if len(text) < digitsCopy {
		return 0, 0, false
	}
	for i, c := range text[:digitsCopy] {
		digit := int(c) - zero
		if digit < 0 || digit >= 1<<digitBits {
			return 0, 0, false
		}
		if i < placeDigits {
			at = at<<digitBits | digit
		} else {
			n = n<<digitBits | digit
		}
	}
	return at, n, true
}

// slotOf is where the place of a text is noted, by how it begins: longer than what many objects begin with.
func slotOf(text []byte) byte {
	h := binary.LittleEndian.Uint64(text)*0x9e3779b97f4a7c15 ^ binary.LittleEndian.Uint64(text[fewest-known:])
	return byte(h * 0x9e3779b97f4a7c15 >> 56)
}

// UnpackBeside is [Unpack] for what [AppendBeside] made, with the text that it stood beside.
func UnpackBeside(stored, beside []byte, most int) ([]byte, error) {
	return new(Unpacker).UnpackBeside(stored, beside, most)
}

// UnpackBeside is [UnpackBeside] into the memory of the text before. What it stood beside is none that this one has unpacked.
func (u *Unpacker) UnpackBeside(stored, beside []byte, most int) ([]byte, error) {
	if len(stored) == 0 || stored[0] != copied {
		return u.Unpack(stored, most)
	}
	text, err := u.Unpack(stored[1:], most)
	if err != nil {
		return nil, err
	}
	out := slices.Grow(u.beside[:0], 2*len(text))
	for {
		i := bytes.IndexByte(text, copyMark)
		if i < 0 {
			break
		}
		out, text = append(out, text[:i]...), text[i+1:]
		at, n, ok := copyOf(text)
		if !ok || at+n > len(beside) {
			return nil, errUnreadable
		}
		if len(out)+n > most {
			return nil, tooLong(len(out)+n, most)
		}
		out, text = append(out, beside[at:at+n]...), text[digitsCopy:]
	}
	if out = append(out, text...); len(out) > most {
		return nil, tooLong(len(out), most)
	}
	u.beside = out
	return out, nil
}
