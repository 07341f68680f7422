package rpc

import "bytes"

// maxID bounds the id of an answer, in bytes. The gateway's own are short, and nobody waits for others.
const maxID = 64

// An idFinder reads a JSON object piece by piece and keeps the value of its member "id", so that an answer that is too long to
// keep still ends the request it belongs to. What is no JSON object has no id.
type idFinder struct {
	depth          int
	quoted, escape bool
	key, value     []byte // the member's, at depth 1; nil while none is being read
	inValue        bool
	id             []byte
	call           bool // there is a member "method": not an answer
	reply          bool // there is a member "result" or "error"
	bad            bool
}

func (f *idFinder) write(text []byte) {
	for _, c := range text {
		if f.depth <= 1 {
			f.outer(c)
			continue
		}
		switch { // deep inside: only where it ends matters
		case f.escape:
			f.escape = false
		case f.quoted && c == '\\':
			f.escape = true
		case c == '"':
			f.quoted = !f.quoted
		case f.quoted:
		case c == '{' || c == '[':
			f.depth++
		case c == '}' || c == ']':
			f.depth--
		}
	}
}

// outer reads a byte of the object itself.
func (f *idFinder) outer(c byte) {
	switch {
	case f.escape:
		f.escape = false
		f.keep(c)
	case f.quoted && c == '\\':
		f.escape = true
		f.keep(c)
	case c == '"':
		f.quoted = !f.quoted
		f.keep(c)
	case f.quoted:
		f.keep(c)
	case c == '{' || c == '[':
		if f.depth++; f.depth == 1 && c == '[' {
			f.bad = true
		} else if f.depth == 2 {
			f.value = append(f.value[:0], '{') // not an id
		}
	case c == '}' || c == ']':
		f.member()
		f.depth--
	case f.depth == 1 && c == ':':
		f.inValue = true
	case f.depth == 1 && c == ',':
		f.member()
	case c == ' ' || c == '\t' || c == '\r' || c == '\n':
	default:
		f.keep(c)
	}
}

func (f *idFinder) keep(c byte) {
	switch {
	case f.inValue && len(f.value) <= maxID:
		f.value = append(f.value, c)
	case !f.inValue && len(f.key) <= maxID:
		f.key = append(f.key, c)
	}
}

// member ends a member of the object.
func (f *idFinder) member() {
	switch string(f.key) {
	case `"id"`:
		if len(f.value) > 0 && len(f.value) <= maxID && f.value[0] != '{' && f.id == nil {
			f.id = bytes.Clone(f.value)
		} else {
			f.bad = true // twice, or no id
		}
	case `"method"`:
		f.call = true
	case `"result"`, `"error"`:
		f.reply = true
	}
	f.key, f.value, f.inValue = f.key[:0], f.value[:0], false
}

// answered returns the id of the request that was answered, or nil.
func (f *idFinder) answered() []byte {
	if f.bad || f.call || f.depth != 0 || f.quoted || !validID(f.id) {
		return nil
	}
	return f.id
}

// meant is the id of the request that a text was meant to answer which breaks off or breaks the rules of JSON: it says so before.
func (f *idFinder) meant() []byte {
	replies := f.reply || f.inValue && (string(f.key) == `"result"` || string(f.key) == `"error"`)
	if f.bad || f.call || !replies || !validID(f.id) {
		return nil
	}
	return f.id
}

// validID reports whether a text is a number without fraction or a plain string.
func validID(id []byte) bool {
	if len(id) > 2 && id[0] == '"' && id[len(id)-1] == '"' {
		for _, c := range id[1 : len(id)-1] {
			if c < ' ' || c == '"' || c == '\\' || c >= 0x7f {
				return false
			}
		}
		return true
	}
	digits := bytes.TrimPrefix(id, []byte("-"))
	return len(digits) > 0 && len(bytes.Trim(digits, "0123456789")) == 0
}
