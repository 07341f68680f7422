package strictjson

import (
	"bytes"
	"slices"
)

// sorted puts the members of every object in order in JSON text the encoder wrote, which is compact and has canonical
// strings already. It reports false where it leaves the text to the full algorithm: fractions, exponents, and names with
// escapes or beyond ASCII, whose order is not that of their bytes. It is a third of the price of that algorithm, which
// counts because every decision has three digests; a property test holds the two equal.
func sorted(data []byte) ([]byte, bool) {
	s := sorter{in: data, out: make([]byte, 0, len(data)), members: make([]span, 0, 32)}
	if !s.value() || s.at != len(data) {
		return nil, false
	}
	return s.out, true
}

type sorter struct {
	in      []byte
	at      int
	out     []byte
	members []span // of all open objects, innermost last
	scratch []byte
}

// A span is one member in the output, comma excluded, and its name.
type span struct{ name, start, end int }

func (s *sorter) value() bool {
	if s.at >= len(s.in) {
		return false
	}
	switch c := s.in[s.at]; {
	case c == '{':
		return s.object()
	case c == '[':
		return s.array()
	case c == '"':
		end := skipString(s.in, s.at)
		s.out = append(s.out, s.in[s.at:end]...)
		s.at = end
		return true
	default:
		start := s.at
		for s.at < len(s.in) && s.in[s.at] != ',' && s.in[s.at] != '}' && s.in[s.at] != ']' {
			s.at++
		}
		token := s.in[start:s.at]
		s.out = append(s.out, token...)
		if c == '-' || c >= '0' && c <= '9' {
			return !bytes.ContainsAny(token, ".eE") && string(token) != "-0"
		}
		return true
	}
}

func (s *sorter) array() bool {
	s.out = append(s.out, '[')
	for s.at++; s.at < len(s.in) && s.in[s.at] != ']'; {
		if !s.value() {
			return false
		}
		if s.at < len(s.in) && s.in[s.at] == ',' {
			s.out = append(s.out, ',')
			s.at++
		}
	}
	s.out = append(s.out, ']')
	s.at++
	return s.at <= len(s.in)
}

func (s *sorter) object() bool {
	s.out = append(s.out, '{')
	first, begin := len(s.members), len(s.out)
	inOrder := true
	for s.at++; s.at < len(s.in) && s.in[s.at] != '}'; {
		end := skipString(s.in, s.at)
		name := s.in[s.at:end]
		if !plainName(name) || end >= len(s.in) || s.in[end] != ':' {
			return false
		}
		start := len(s.out)
		s.out = append(append(s.out, name...), ':')
		s.at = end + 1
		if !s.value() {
			return false
		}
		s.members = append(s.members, span{name: start + len(name) - 1, start: start, end: len(s.out)})
		if n := len(s.members); n > first+1 && inOrder {
			inOrder = bytes.Compare(s.nameOf(s.members[n-2]), s.nameOf(s.members[n-1])) < 0
		}
		if s.at < len(s.in) && s.in[s.at] == ',' {
			s.out = append(s.out, ',')
			s.at++
		}
	}
	if !inOrder {
		s.reorder(s.members[first:], begin)
	}
	s.members = s.members[:first]
	s.out = append(s.out, '}')
	s.at++
	return s.at <= len(s.in)
}

// nameOf is a member's name without its quotes.
func (s *sorter) nameOf(m span) []byte { return s.out[m.start+1 : m.name] }

// reorder writes the members from begin on again, in order.
func (s *sorter) reorder(members []span, begin int) {
	slices.SortFunc(members, func(a, b span) int { return bytes.Compare(s.nameOf(a), s.nameOf(b)) })
	if cap(s.scratch) == 0 {
		s.scratch = make([]byte, 0, len(s.in))
	}
	s.scratch = s.scratch[:0]
	for n, m := range members {
		if n > 0 {
			s.scratch = append(s.scratch, ',')
		}
		s.scratch = append(s.scratch, s.out[m.start:m.end]...)
	}
	copy(s.out[begin:], s.scratch)
}

// plainName reports whether a quoted name is ASCII without escapes.
func plainName(quoted []byte) bool {
	for _, c := range quoted {
		if c == '\\' || c >= 0x80 {
			return false
		}
	}
	return len(quoted) >= 2
}
