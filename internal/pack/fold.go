package pack

import (
	"bytes"
	"encoding/hex"
)

// Half of an event is hashes in hexadecimal, in which compression finds nothing. They are written as bytes, behind one that
// stands in no UTF-8 text.
const (
	longMark   = 0xff // 32 bytes follow
	shortMark  = 0xfe // 16 bytes follow
	longBytes  = 32
	shortBytes = 16
)

// fold writes hashes as bytes, behind what is in out. A text in which a mark stands can't be folded.
func fold(out, text []byte) ([]byte, bool) {
	if bytes.IndexByte(text, longMark) >= 0 || bytes.IndexByte(text, shortMark) >= 0 {
		return nil, false
	}
	copied := 0
	for i := 0; i+2*shortBytes < len(text); i++ {
		// A hash stands behind a colon or a quote; most of what stands there is too short to be one.
		if c := text[i]; c != ':' && c != '"' || !digits[text[i+2*shortBytes]] {
			continue
		}
		n := hexadecimal(text[i+1:])
		mark := byte(longMark)
		switch {
		case n >= 2*longBytes:
			n = longBytes
		case n >= 2*shortBytes:
			mark, n = shortMark, shortBytes
		default:
			continue
		}
		out = append(append(out, text[copied:i+1]...), mark)
		at := len(out)
		out = append(out, text[i+1:i+1+n]...) // room for as many bytes, written next
		if _, err := hex.Decode(out[at:], text[i+1:i+1+2*n]); err != nil {
			return nil, false // unreachable: the digits were looked at
		}
		i += 2 * n
		copied = i + 1
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

// hexadecimal is how many lower-case hexadecimal digits a text begins with, up to those of the longest hash.
func hexadecimal(text []byte) int {
	n := 0
	for n < len(text) && n < 2*longBytes && digits[text[n]] {
		n++
	}
	return n
}

// unfold undoes fold, for a text within a bound in bytes.
func unfold(folded []byte, most int) ([]byte, error) {
	out := make([]byte, 0, len(folded)+len(folded)/2)
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

// next is where a mark stands from a place on, or the text's end.
func next(text []byte, mark byte, from int) int {
	if n := bytes.IndexByte(text[from:], mark); n >= 0 {
		return from + n
	}
	return len(text)
}
