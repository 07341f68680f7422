package pack

import (
	"bytes"
	"encoding/hex"
	"slices"
)

// Half of an event is hashes in hexadecimal, in which compression finds nothing. They are written as bytes, behind one that
// occurs in no UTF-8 text.
const (
	longMark   = 0xff // 32 bytes follow
	shortMark  = 0xfe // 16 bytes follow
	longBytes  = 32
	shortBytes = 16
)

// fold writes hashes as bytes, behind what is in out. A text with a mark in it can't be folded.
//
// A hash is at least 32 digits long, so one look at every 32nd byte finds it: most of a text is passed over without being read.
func fold(out, text []byte) ([]byte, bool) {
	if bytes.IndexByte(text, longMark) >= 0 || bytes.IndexByte(text, shortMark) >= 0 {
		return nil, false
	}
	copied := 0
	for at := 2 * shortBytes; at < len(text); at += 2 * shortBytes {
		if !digits[text[at]] {
			continue
		}
		first, end := at, at+1
		for first > copied && digits[text[first-1]] {
			first--
		}
		for end < len(text) && digits[text[end]] {
			end++
		}
		at = end - 1 // whatever follows begins behind it
		mark, n := byte(longMark), longBytes
		switch {
		case first == copied || text[first-1] != ':' && text[first-1] != '"': // a hash comes behind a colon or a quote
			continue
		case end-first < 2*shortBytes:
			continue
		case end-first < 2*longBytes:
			mark, n = shortMark, shortBytes
		}
		out = append(append(out, text[copied:first]...), mark)
		room := len(out)
		out = append(out, text[first:first+n]...) // room for as many bytes, written next
		if _, err := hex.Decode(out[room:], text[first:first+2*n]); err != nil {
			return nil, false // unreachable: the digits were looked at
		}
		copied = first + 2*n
	}
	return append(out, text[copied:]...), true
}

// digits are the lower-case hexadecimal ones.
var digits = func() (is [256]bool) {
	for _, c := range []byte("0123456789abcdef") {
		is[c] = true
	}
	return is
}()

// unfold undoes fold behind what is in out, which is nothing, for a text within a bound in bytes.
func unfold(out, folded []byte, most int) ([]byte, error) {
	out = slices.Grow(out, len(folded)+len(folded)/2)
	long, short := next(folded, longMark, 0), next(folded, shortMark, 0)
	for i := 0; ; {
		at, n := long, longBytes
		if short < long {
			at, n = short, shortBytes
		}
		out = append(out, folded[i:at]...)
		if at == len(folded) {
			break
		}
		if at+n >= len(folded) {
			return nil, errUnreadable
		}
		if out, i = hex.AppendEncode(out, folded[at+1:at+1+n]), at+1+n; len(out) > most {
			return nil, tooLong(len(out), most)
		}
		if long < i {
			long = next(folded, longMark, i)
		}
		if short < i {
			short = next(folded, shortMark, i)
		}
	}
	if len(out) > most {
		return nil, tooLong(len(out), most)
	}
	return out, nil
}

// next is where a mark is, from a place on, or the text's end.
func next(text []byte, mark byte, from int) int {
	if n := bytes.IndexByte(text[from:], mark); n >= 0 {
		return from + n
	}
	return len(text)
}
