package sse

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"
	"time"
)

// An Event is one server-sent event.
type Event struct {
	ID    string        // of this or the newest event before it that had one
	Data  []byte        // its lines, joined; nil where there were none
	Retry time.Duration // the server's wish; zero: none
}

// The errors of an event stream.
var (
	ErrTooLong = errors.New("an event is longer than the bound")
	errID      = errors.New("an event's id is longer than the bound")
)

// MaxID bounds an event's id, which goes into a header.
const MaxID = 1 << 10

// A Reader reads server-sent events as WHATWG HTML 9.2 says, and never holds more of one than the bound.
type Reader struct {
	in   *bufio.Reader
	most int
	id   string
	past bool // something has been read: a byte order mark is none any more

	returned bool // the last line ended with CR, and an LF may follow that belongs to it
}

// NewReader reads events of at most that many bytes. What comes before the first that names itself goes on from the id after,
// which may be empty.
func NewReader(in io.Reader, most int, after string) *Reader {
	return &Reader{in: bufio.NewReaderSize(in, 16<<10), most: most, id: after}
}

// Next returns the next event that has data, an id or a wish. An event that the stream ends within is none.
func (r *Reader) Next() (Event, error) {
	var e Event
	size := 0
	named := false
	for {
		line, err := r.line(r.most - size)
		if err != nil {
			return Event{}, err
		}
		size += len(line)
		if len(line) == 0 {
			if e.Data != nil || named || e.Retry > 0 {
				e.ID = r.id
				e.Data = bytes.TrimSuffix(e.Data, []byte("\n"))
				return e, nil
			}
			size = 0
			continue
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) {
		case "data":
			e.Data = append(append(e.Data, value...), '\n')
		case "id":
			if len(value) > MaxID {
				return Event{}, errID
			}
			if ValidHeader(value) {
				r.id, named = string(value), true
			}
		case "retry":
			if n, err := strconv.ParseUint(string(value), 10, 31); err == nil {
				e.Retry = time.Duration(n) * time.Millisecond
			}
		}
	}
}

// line returns a line without its end, which is CRLF, LF or CR.
func (r *Reader) line(most int) ([]byte, error) {
	var line []byte
	for {
		c, err := r.in.ReadByte()
		if err != nil {
			return nil, err
		}
		if after := r.returned; after {
			if r.returned = false; c == '\n' {
				continue // of a CRLF
			}
		}
		if c == '\n' || c == '\r' {
			r.returned = c == '\r'
			if !r.past {
				r.past = true
				line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
			}
			return line, nil
		}
		if line = append(line, c); len(line) > most {
			return nil, ErrTooLong
		}
		line = r.buffered(line, most)
	}
}

// buffered moves what is known to belong to the line without looking at single bytes.
func (r *Reader) buffered(line []byte, most int) []byte {
	have, _ := r.in.Peek(min(r.in.Buffered(), max(0, most-len(line))))
	if i := bytes.IndexAny(have, "\r\n"); i >= 0 {
		have = have[:i]
	}
	line = append(line, have...)
	_, _ = r.in.Discard(len(have))
	return line
}

// ValidHeader reports whether text can be sent as a header.
func ValidHeader(text []byte) bool {
	for _, c := range text {
		if c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}
