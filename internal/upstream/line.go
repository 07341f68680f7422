package upstream

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// A lineReader reads messages, one to a line, and never holds more of one than the bound.
type lineReader struct {
	in   *bufio.Reader
	most int
}

func newLineReader(in io.Reader, most int) *lineReader {
	return &lineReader{in: bufio.NewReaderSize(in, 64<<10), most: most}
}

// next returns the next line that is not empty, without its end. It belongs to the caller. A line over the bound is read to its
// end and dropped; if it was the answer to a request, what is returned instead is an error for that request. A line that the
// stream ends within is no message.
func (r *lineReader) next() ([]byte, error) {
	for {
		line, err := r.line()
		if err != nil {
			return nil, err
		}
		if line = bytes.Trim(line, " \t\r\n"); len(line) > 0 { // what JSON may stand between
			return line, nil
		}
	}
}

func (r *lineReader) line() ([]byte, error) {
	var line []byte
	for {
		part, err := r.in.ReadSlice('\n')
		switch {
		case err == nil && len(line)+len(part) <= r.most+1:
			return append(line, part...), nil
		case err != nil && !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		case len(line)+len(part) > r.most:
			return r.drop(line, part, err == nil)
		default:
			line = append(line, part...)
		}
	}
}

// drop reads the rest of a line that is too long and finds out which request it was the answer to.
func (r *lineReader) drop(line, part []byte, ended bool) ([]byte, error) {
	var find idFinder
	find.write(line)
	find.write(part)
	for !ended {
		part, err := r.in.ReadSlice('\n')
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return nil, err
		}
		find.write(part)
		ended = err == nil
	}
	id := find.answered()
	if id == nil {
		return nil, nil // a notification or a request nobody waits for
	}
	return tooLong(id, r.most), nil
}

// tooLong is the answer to a request whose real one was over the bound. -32603 is JSON-RPC's internal error; data
// tells it from an error of the server's own.
func tooLong(id []byte, most int) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"the server's answer is longer than %d bytes and was dropped","data":{"interlock":"answer_dropped"}}}`, id, most)
}

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
