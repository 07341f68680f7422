package strictjson

// maxPlain is how deep plain canonical JSON may be nested here; what is deeper takes the long way.
const maxPlain = 32

// IsCanonical reports whether a text is JSON in canonical form already, as most arguments are: then nobody has to write it
// anew. It knows the plain cases and says no to the rest: text of printable ASCII without escapes, whole numbers of few
// digits, names in ascending order, no white space.
func IsCanonical(data []byte) bool {
	p := plainReader{data: data}
	return p.value(0) && p.at == len(data)
}

type plainReader struct {
	data []byte
	at   int
}

func (p *plainReader) next() byte {
	if p.at >= len(p.data) {
		return 0
	}
	return p.data[p.at]
}

func (p *plainReader) take(c byte) bool {
	if p.next() != c {
		return false
	}
	p.at++
	return true
}

func (p *plainReader) value(depth int) bool {
	switch c := p.next(); {
	case depth > maxPlain:
		return false
	case c == '"':
		_, ok := p.text()
		return ok
	case c == '{':
		return p.object(depth)
	case c == '[':
		return p.array(depth)
	case c == 't':
		return p.word("true")
	case c == 'f':
		return p.word("false")
	case c == 'n':
		return p.word("null")
	default:
		return p.number()
	}
}

func (p *plainReader) word(word string) bool {
	if len(p.data)-p.at < len(word) || string(p.data[p.at:p.at+len(word)]) != word {
		return false
	}
	p.at += len(word)
	return true
}

// text reads a string that stands for itself.
func (p *plainReader) text() (text []byte, ok bool) {
	if !p.take('"') {
		return nil, false
	}
	from := p.at
	for ; p.at < len(p.data); p.at++ {
		switch c := p.data[p.at]; {
		case c == '"':
			p.at++
			return p.data[from : p.at-1], true
		case c < ' ' || c > '~' || c == '\\':
			return nil, false
		}
	}
	return nil, false
}

func (p *plainReader) number() bool {
	p.take('-')
	from := p.at
	for p.at < len(p.data) && p.data[p.at] >= '0' && p.data[p.at] <= '9' {
		p.at++
	}
	digits := p.data[from:p.at]
	switch {
	case len(digits) == 0 || len(digits) > 15:
		return false
	case digits[0] == '0' && (len(digits) > 1 || from > 0 && p.data[from-1] == '-'):
		return false // 007, -0
	}
	c := p.next()
	return c == 0 || c == ',' || c == '}' || c == ']'
}

func (p *plainReader) object(depth int) bool {
	p.at++
	if p.take('}') {
		return true
	}
	var last []byte
	for first := true; ; first = false {
		name, ok := p.text()
		if !ok || !first && string(name) <= string(last) || !p.take(':') || !p.value(depth+1) {
			return false
		}
		last = name
		if !p.take(',') {
			return p.take('}')
		}
	}
}

func (p *plainReader) array(depth int) bool {
	p.at++
	if p.take(']') {
		return true
	}
	for {
		if !p.value(depth + 1) {
			return false
		}
		if !p.take(',') {
			return p.take(']')
		}
	}
}
