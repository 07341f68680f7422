package auditlog

import (
	"bytes"
	"encoding/binary"
	"errors"
	"unicode/utf8"

	"interlock/internal/strictjson"
)

// checkPayload refuses a payload that is not one JSON object in canonical form: what is hashed must have one spelling.
func checkPayload(payload []byte) error {
	if len(payload) == 0 || payload[0] != '{' {
		return errors.New("auditlog: the payload is not a JSON object")
	}
	if plainlyCanonical(payload) {
		return nil
	}
	canonical, err := strictjson.Canonical(payload)
	if err != nil {
		return errors.New("auditlog: the payload is not valid JSON")
	}
	if !bytes.Equal(canonical, payload) {
		return errors.New("auditlog: the payload is not in canonical form")
	}
	return nil
}

// plainlyCanonical reports whether data is certainly a JSON object in canonical form. It knows the shapes Interlock's own
// payloads are made of: ASCII keys without escapes, integers, strings, and leaves everything else to the general encoder,
// which takes several times as long. That true means canonical is held by a fuzz test.
func plainlyCanonical(data []byte) bool {
	if !utf8.Valid(data) {
		return false
	}
	p := plainScan{data: data}
	return p.value(0) && p.at == len(data)
}

// maxPlainDepth bounds the recursion; deeper values go to the general encoder.
const maxPlainDepth = 32

type plainScan struct {
	data []byte
	at   int
}

// next consumes one byte if it is c.
func (p *plainScan) next(c byte) bool {
	if p.at < len(p.data) && p.data[p.at] == c {
		p.at++
		return true
	}
	return false
}

func (p *plainScan) literal(text string) bool {
	if len(p.data)-p.at < len(text) || string(p.data[p.at:p.at+len(text)]) != text {
		return false
	}
	p.at += len(text)
	return true
}

func (p *plainScan) value(depth int) bool {
	if p.at >= len(p.data) || depth > maxPlainDepth {
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

func (p *plainScan) object(depth int) bool {
	p.at++
	if p.next('}') {
		return true
	}
	var previous []byte
	for {
		start := p.at
		if !p.key() {
			return false
		}
		key := p.data[start:p.at]
		if previous != nil && bytes.Compare(previous, key) >= 0 {
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

func (p *plainScan) array(depth int) bool {
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

// key consumes a member name of letters, digits and the signs in use. The closing quote sorts before all of these, so that
// names compare as their strings do.
func (p *plainScan) key() bool {
	if !p.next('"') {
		return false
	}
	for p.at < len(p.data) {
		c := p.data[p.at]
		p.at++
		switch {
		case c == '"':
			return true
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '-', c == '.':
		default:
			return false
		}
	}
	return false
}

// text consumes a string in its shortest spelling.
func (p *plainScan) text() bool {
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
			if _, known := unescape(p.data[p.at]); !known {
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
func (p *plainScan) integer() bool {
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
func (p *plainScan) ends() bool {
	if p.at >= len(p.data) {
		return true
	}
	c := p.data[p.at]
	return c == ',' || c == '}' || c == ']'
}
