package pack

import "encoding/hex"

// Half of an event is hashes in hexadecimal, in which compression finds nothing. They are written as bytes, behind one that
// stands in no UTF-8 text.
const (
	longMark   = 0xff // 32 bytes follow
	shortMark  = 0xfe // 16 bytes follow
	longBytes  = 32
	shortBytes = 16
)

// fold writes hashes as bytes. A text in which a mark stands can't be folded.
func fold(text []byte) ([]byte, bool) {
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); {
		c := text[i]
		if c >= shortMark {
			return nil, false
		}
		out = append(out, c)
		i++
		if c != ':' && c != '"' { // what a hash stands behind
			continue
		}
		n := hexadecimal(text[i:])
		switch {
		case n >= 2*longBytes:
			out = append(out, longMark)
			n = longBytes
		case n >= 2*shortBytes:
			out = append(out, shortMark)
			n = shortBytes
		default:
			continue
		}
		at := len(out)
		out = out[:at+n]
		if _, err := hex.Decode(out[at:], text[i:i+2*n]); err != nil {
			return nil, false // unreachable: the digits were looked at
		}
		i += 2 * n
	}
	return out, true
}

// hexadecimal is how many lower-case hexadecimal digits a text begins with, up to those of the longest hash.
func hexadecimal(text []byte) int {
	n := 0
	for n < len(text) && n < 2*longBytes && (text[n] >= '0' && text[n] <= '9' || text[n] >= 'a' && text[n] <= 'f') {
		n++
	}
	return n
}

// unfold undoes fold, for a text within a bound in bytes.
func unfold(folded []byte, most int) ([]byte, error) {
	out := make([]byte, 0, len(folded)+len(folded)/2)
	for i := 0; i < len(folded); i++ {
		n := 0
		switch folded[i] {
		case longMark:
			n = longBytes
		case shortMark:
			n = shortBytes
		default:
			out = append(out, folded[i])
		}
		if i+n >= len(folded) && n > 0 {
			return nil, errUnreadable
		}
		if n > 0 {
			out = hex.AppendEncode(out, folded[i+1:i+1+n])
			i += n
		}
		if len(out) > most {
			return nil, tooLong(len(out), most)
		}
	}
	return out, nil
}
