package strictjson

import (
	"encoding/json"
	"unicode/utf8"
)

// deepestTree is how deep what [Tree] reads may be nested.
const deepestTree = 64

// Tree reads JSON into what encoding/json would make of it for an any, in a third of the time: every call of a tool has its
// arguments and its result read so. number makes a value of a number as it is written, or says that it can't. Where ok is false,
// encoding/json has to be asked: the text is none, or is not UTF-8, has a name twice in one object, or is nested very deep.
func Tree(data []byte, number func(text string) (any, bool)) (value any, ok bool) {
	if !utf8.Valid(data) {
		return nil, false
	}
	r := treeReader{text: string(data), number: number} // one copy, which all texts are pieces of
	value, ok = r.value(0)
	return value, ok && r.next() == 0 && r.at == len(r.text)
}

type treeReader struct {
	text   string
	at     int
	number func(string) (any, bool)
}

// next is the byte that comes next, after white space; 0 at the end.
func (r *treeReader) next() byte {
	for ; r.at < len(r.text); r.at++ {
		switch c := r.text[r.at]; c {
		case ' ', '\t', '\r', '\n':
		default:
			return c
		}
	}
	return 0
}

func (r *treeReader) value(depth int) (any, bool) {
	switch c := r.next(); {
	case depth > deepestTree:
		return nil, false
	case c == '"':
		return r.string()
	case c == '{':
		return r.object(depth)
	case c == '[':
		return r.array(depth)
	case c == 't':
		return true, r.word("true")
	case c == 'f':
		return false, r.word("false")
	case c == 'n':
		return nil, r.word("null")
	default:
		return r.figure()
	}
}

func (r *treeReader) word(word string) bool {
	if len(r.text)-r.at < len(word) || r.text[r.at:r.at+len(word)] != word {
		return false
	}
	r.at += len(word)
	return true
}

func (r *treeReader) string() (string, bool) {
	from, escaped := r.at, false
	for r.at++; r.at < len(r.text); r.at++ {
		switch c := r.text[r.at]; {
		case c == '"':
			r.at++
			if !escaped {
				return r.text[from+1 : r.at-1], true
			}
			var text string
			err := json.Unmarshal([]byte(r.text[from:r.at]), &text)
			return text, err == nil
		case c == '\\':
			escaped = true
			r.at++
		case c < ' ':
			return "", false
		}
	}
	return "", false
}

// figure reads a number by the grammar of JSON.
func (r *treeReader) figure() (any, bool) {
	from := r.at
	if r.at < len(r.text) && r.text[r.at] == '-' {
		r.at++
	}
	whole := r.digits()
	if len(whole) == 0 || len(whole) > 1 && whole[0] == '0' {
		return nil, false
	}
	if r.at < len(r.text) && r.text[r.at] == '.' {
		r.at++
		if r.digits() == "" {
			return nil, false
		}
	}
	if r.at < len(r.text) && (r.text[r.at] == 'e' || r.text[r.at] == 'E') {
		r.at++
		if r.at < len(r.text) && (r.text[r.at] == '+' || r.text[r.at] == '-') {
			r.at++
		}
		if r.digits() == "" {
			return nil, false
		}
	}
	return r.number(r.text[from:r.at])
}

func (r *treeReader) digits() string {
	from := r.at
	for r.at < len(r.text) && r.text[r.at] >= '0' && r.text[r.at] <= '9' {
		r.at++
	}
	return r.text[from:r.at]
}

func (r *treeReader) object(depth int) (any, bool) {
	r.at++
	object := map[string]any{}
	if r.next() == '}' {
		r.at++
		return object, true
	}
	for {
		if r.next() != '"' {
			return nil, false
		}
		name, ok := r.string()
		if !ok || r.next() != ':' {
			return nil, false
		}
		r.at++
		value, ok := r.value(depth + 1)
		if _, twice := object[name]; !ok || twice {
			return nil, false
		}
		object[name] = value
		switch r.next() {
		case ',':
			r.at++
		case '}':
			r.at++
			return object, true
		default:
			return nil, false
		}
	}
}

func (r *treeReader) array(depth int) (any, bool) {
	r.at++
	array := []any{}
	if r.next() == ']' {
		r.at++
		return array, true
	}
	for {
		value, ok := r.value(depth + 1)
		if !ok {
			return nil, false
		}
		array = append(array, value)
		switch r.next() {
		case ',':
			r.at++
		case ']':
			r.at++
			return array, true
		default:
			return nil, false
		}
	}
}
