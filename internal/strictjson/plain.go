package strictjson

import (
	"bytes"
	"encoding/binary"
	"strings"
	"unicode/utf8"
)

// maxPlain is how deep plain canonical JSON may be nested here; what is deeper takes the long way.
const maxPlain = 32

// IsCanonical reports whether a text is certainly JSON in canonical form already, as most arguments and all payloads are: then
// nobody has to write it again, which takes several times as long. It knows the plain cases and says no to the rest: names of
// ASCII without escapes, in ascending order, whole numbers of few digits, strings in their shortest spelling, no white space.
// That true means canonical is held by a fuzz test.
func IsCanonical(data []byte) bool {
	if !utf8.Valid(data) {
		return false
	}
	p := plainReader{data: data}
	return p.value(0) && p.at == len(data)
}

type plainReader struct {
	data []byte
	at   int
}

// next consumes one byte if it is c.
func (p *plainReader) next(c byte) bool {
	if p.at < len(p.data) && p.data[p.at] == c {
		p.at++
		return true
	}
	return false
}

func (p *plainReader) literal(text string) bool {
	if len(p.data)-p.at < len(text) || string(p.data[p.at:p.at+len(text)]) != text {
		return false
	}
	p.at += len(text)
	return true
}

func (p *plainReader) value(depth int) bool {
	if p.at >= len(p.data) || depth > maxPlain {
		return false
	}
	switch c := p.data[p.at]; {
	case c == '{':
		return p.object(depth)
	case c == '[':
		return p.array(depth)
	case c == '"':
		return p.text()
	case c == 't':
		return p.literal("true")
	case c == 'f':
		return p.literal("false")
	case c == 'n':
		return p.literal("null")
	default:
		return p.integer()
	}
}

func (p *plainReader) object(depth int) bool {
	p.at++
	if p.next('}') {
		return true
	}
	var previous []byte
	for {
		key, ok := p.key()
		if !ok || previous != nil && bytes.Compare(previous, key) >= 0 {
			return false
		}
		previous = key
		if !p.next(':') || !p.value(depth+1) {
			return false
		}
		if p.next('}') {
			return true
		}
		if !p.next(',') {
			return false
		}
	}
}

func (p *plainReader) array(depth int) bool {
	p.at++
	if p.next(']') {
		return true
	}
	for {
		if !p.value(depth + 1) {
			return false
		}
		if p.next(']') {
			return true
		}
		if !p.next(',') {
			return false
		}
	}
}

// key consumes a member's name of printable ASCII without escapes, whose order is that of its bytes.
func (p *plainReader) key() (key []byte, ok bool) {
	start := p.at + 1
	if !p.next('"') {
		return nil, false
	}
	for ; p.at < len(p.data); p.at++ {
		switch c := p.data[p.at]; {
		case c == '"':
			p.at++
			return p.data[start : p.at-1 : p.at-1], true
		case c < ' ' || c > '~' || c == '\\':
			return nil, false
		}
	}
	return nil, false
}

// text consumes a string in its shortest spelling.
func (p *plainReader) text() bool {
	p.at++
	for p.at < len(p.data) {
		if len(p.data)-p.at >= 8 && unremarkable(binary.LittleEndian.Uint64(p.data[p.at:])) {
			p.at += 8
			continue
		}
		c := p.data[p.at]
		p.at++
		switch {
		case c == '"':
			return true
		case c < 0x20:
			return false
		case c == '\\':
			if p.at >= len(p.data) {
				return false
			}
			if strings.IndexByte(`"\bfnrt`, p.data[p.at]) < 0 {
				return false // \u and what JSON lacks: for the general encoder to judge
			}
			p.at++
		}
	}
	return false
}

// unremarkable reports whether none of eight bytes is a quote, a backslash or a control character: most of a payload is
// such bytes, and every payload is looked at.
func unremarkable(w uint64) bool {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	quote, escape := w^ones*'"', w^ones*'\\'
	// Of each term, the lowest byte whose top bit is set is one that was below a space or is zero.
	return ((w-ones*' ')&^w|(quote-ones)&^quote|(escape-ones)&^escape)&tops == 0
}

// integer consumes an integer of at most 15 digits.
func (p *plainReader) integer() bool {
	if p.next('0') {
		return p.ends()
	}
	p.next('-')
	start := p.at
	for p.at < len(p.data) && p.data[p.at] >= '0' && p.data[p.at] <= '9' {
		p.at++
	}
	return p.at > start && p.at-start <= 15 && p.data[start] != '0' && p.ends()
}

// ends reports whether a number ends here.
func (p *plainReader) ends() bool {
	if p.at >= len(p.data) {
		return true
	}
	c := p.data[p.at]
	return c == ',' || c == '}' || c == ']'
}
