package rpc

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// The bounds on a message's shape. Its length is the transport's to bound.
const (
	maxNesting = 100
	maxMembers = 20_000
)

// A scanner checks JSON in one pass: its grammar, its depth, and that no object has a name twice. UTF-8 is checked before. It
// builds nothing, so that a message costs no more than its length; values are pieces of the text.
type scanner struct {
	data  []byte
	at    int
	depth int
	bad   string   // what is wrong; empty: nothing yet
	known bool     // the text was scanned before, so that no name needs a look
	names [][]byte // names of the open objects, innermost last, while an object has few
	many  map[string]struct{}
}

// code is the JSON-RPC code for what is wrong: text that is JSON, but not such as this door reads, is an invalid request.
func (s *scanner) code() int {
	if s.bad == badSyntax {
		return CodeParse
	}
	return CodeInvalidRequest
}

const (
	badSyntax = "the message is not valid JSON"
	badTwice  = "a member name stands twice in one object; keep one"
	badDeep   = "objects and arrays are nested too deep"
	badMany   = "an object has too many members"
)

func (s *scanner) fail(why string) {
	if s.bad == "" {
		s.bad = why
	}
	s.at = len(s.data) // nothing more is read
}

func (s *scanner) space() {
	for s.at < len(s.data) {
		switch s.data[s.at] {
		case ' ', '\t', '\r', '\n':
			s.at++
		default:
			return
		}
	}
}

// next is the byte that comes next, after white space; 0 at the end.
func (s *scanner) next() byte {
	s.space()
	if s.at >= len(s.data) {
		return 0
	}
	return s.data[s.at]
}

// value reads one value and returns it.
func (s *scanner) value() []byte {
	c := s.next()
	from := s.at
	switch {
	case c == '{':
		s.object(nil)
	case c == '[':
		s.array(nil)
	case c == '"':
		s.text()
	case c == '-' || c >= '0' && c <= '9':
		s.number()
	case c == 't':
		s.word("true")
	case c == 'f':
		s.word("false")
	case c == 'n':
		s.word("null")
	default:
		s.fail(badSyntax)
	}
	if s.bad != "" {
		return nil
	}
	return s.data[from:s.at:s.at]
}

func (s *scanner) word(word string) {
	if !bytes.HasPrefix(s.data[s.at:], []byte(word)) {
		s.fail(badSyntax)
		return
	}
	s.at += len(word)
}

// text reads a string, quotes included, and reports whether it holds an escape.
func (s *scanner) text() (escaped bool) {
	data, i := s.data, s.at+1
	for i < len(data) {
		switch c := data[i]; {
		case c == '"':
			s.at = i + 1
			return escaped
		case c < ' ':
			s.fail(badSyntax)
			return escaped
		case c != '\\':
			i++
		default:
			escaped = true
			if i+1 >= len(data) {
				s.fail(badSyntax)
				return escaped
			}
			switch data[i+1] {
			case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
				i += 2
			case 'u':
				if i+6 > len(data) || !hexadecimal(data[i+2:i+6]) {
					s.fail(badSyntax)
					return escaped
				}
				i += 6
			default:
				s.fail(badSyntax)
				return escaped
			}
		}
	}
	s.fail(badSyntax)
	return escaped
}

func hexadecimal(digits []byte) bool {
	for _, c := range digits {
		if !(c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F') {
			return false
		}
	}
	return true
}

func (s *scanner) number() {
	if s.data[s.at] == '-' {
		s.at++
	}
	switch {
	case s.at < len(s.data) && s.data[s.at] == '0':
		s.at++
	case !s.digits():
		s.fail(badSyntax)
		return
	}
	if s.at < len(s.data) && s.data[s.at] == '.' {
		s.at++
		if !s.digits() {
			s.fail(badSyntax)
			return
		}
	}
	if s.at < len(s.data) && (s.data[s.at] == 'e' || s.data[s.at] == 'E') {
		s.at++
		if s.at < len(s.data) && (s.data[s.at] == '+' || s.data[s.at] == '-') {
			s.at++
		}
		if !s.digits() {
			s.fail(badSyntax)
		}
	}
}

// digits reads at least one digit.
func (s *scanner) digits() bool {
	from := s.at
	for s.at < len(s.data) && s.data[s.at] >= '0' && s.data[s.at] <= '9' {
		s.at++
	}
	return s.at > from
}

// object reads an object and hands over its members; each may be nil.
func (s *scanner) object(each func(name, value []byte)) {
	if s.next() != '{' {
		s.fail(badSyntax)
		return
	}
	if s.depth++; s.depth > maxNesting {
		s.fail(badDeep)
		return
	}
	base, outer := len(s.names), s.many
	s.many = nil
	s.at++
	if s.next() == '}' {
		s.at++
	} else {
		for s.bad == "" {
			name := s.name(base)
			if s.next() != ':' {
				s.fail(badSyntax)
				break
			}
			s.at++
			value := s.value()
			if s.bad == "" && each != nil {
				each(name, value)
			}
			c := s.next()
			s.at++
			if c == '}' {
				break
			}
			if c != ',' {
				s.fail(badSyntax)
			}
		}
	}
	s.names, s.many = s.names[:base], outer
	s.depth--
}

// few is how many names of an object are compared one by one.
const few = 24

// name reads a member name and refuses one that this object has already; base is where its names begin.
func (s *scanner) name(base int) []byte {
	if s.next() != '"' {
		s.fail(badSyntax)
		return nil
	}
	from := s.at
	escaped := s.text()
	if s.bad != "" {
		return nil
	}
	name := s.data[from+1 : s.at-1]
	if escaped {
		var text string
		if json.Unmarshal(s.data[from:s.at], &text) != nil {
			s.fail(badSyntax)
			return nil
		}
		name = []byte(text)
	}
	if s.known {
		return name
	}
	if s.many != nil {
		if _, twice := s.many[string(name)]; twice {
			s.fail(badTwice)
		} else if s.many[string(name)] = struct{}{}; len(s.many) > maxMembers {
			s.fail(badMany)
		}
		return name
	}
	for _, have := range s.names[base:] {
		if bytes.Equal(have, name) {
			s.fail(badTwice)
			return name
		}
	}
	if s.names = append(s.names, name); len(s.names)-base > few {
		s.many = make(map[string]struct{}, 2*few)
		for _, have := range s.names[base:] {
			s.many[string(have)] = struct{}{}
		}
	}
	return name
}

// array reads an array and hands over its elements; each may be nil.
func (s *scanner) array(each func(value []byte)) {
	if s.next() != '[' {
		s.fail(badSyntax)
		return
	}
	if s.depth++; s.depth > maxNesting {
		s.fail(badDeep)
		return
	}
	s.at++
	if s.next() == ']' {
		s.at++
	} else {
		for s.bad == "" {
			value := s.value()
			if s.bad == "" && each != nil {
				each(value)
			}
			c := s.next()
			s.at++
			if c == ']' {
				break
			}
			if c != ',' {
				s.fail(badSyntax)
			}
		}
	}
	s.depth--
}

// Members hands over the members of an object that was scanned before; anything else has none.
func Members(object []byte, each func(name, value []byte)) {
	if len(object) == 0 || object[0] != '{' {
		return
	}
	s := scanner{data: object, known: true}
	s.object(each)
}

// Elements hands over the elements of an array that was scanned before; anything else has none.
func Elements(array []byte, each func(value []byte)) {
	if len(array) == 0 || array[0] != '[' {
		return
	}
	s := scanner{data: array, known: true}
	s.array(each)
}

// Member is one member of an object that was scanned before, or nil.
func Member(object []byte, name string) []byte {
	var found []byte
	Members(object, func(n, value []byte) {
		if string(n) == name {
			found = value
		}
	})
	return found
}

// Value is the JSON value that a text consists of, without the blanks around it; nil: it is none such as this door reads.
func Value(text []byte) []byte {
	s := scanner{data: text}
	value := s.value()
	if s.next() != 0 || s.bad != "" || !utf8.Valid(text) {
		return nil
	}
	return value
}

// IsTrue reports whether a value is the literal true.
func IsTrue(value []byte) bool { return string(value) == "true" }

// Empty reports whether an object that was scanned before has no members.
func Empty(object []byte) bool { return (&scanner{data: object, at: 1}).next() == '}' }
