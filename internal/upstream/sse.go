package upstream

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"
	"time"
)

// An event is one server-sent event.
type event struct {
	id    string        // of this or the newest event before it that had one
	data  []byte        // its lines, joined; nil where there were none
	retry time.Duration // the server's wish; zero: none
}

// The errors of an event stream.
var (
	errEventTooLong = errors.New("an event is longer than the bound")
	errEventID      = errors.New("an event's id is longer than the bound")
)

// maxEventID bounds an event's id, which goes into a header.
const maxEventID = 1 << 10

// An eventReader reads server-sent events as WHATWG HTML 9.2 says, and never holds more of one than the bound.
type eventReader struct {
	in   *bufio.Reader
	most int
	id   string
	past bool // something has been read: a byte order mark is none any more

	returned bool // the last line ended with CR, and an LF may follow that belongs to it
}

func newEventReader(in io.Reader, most int) *eventReader {
	return &eventReader{in: bufio.NewReaderSize(in, 16<<10), most: most}
}

// next returns the next event that has data, an id or a wish. An event that the stream ends within is none.
func (r *eventReader) next() (event, error) {
	var e event
	size := 0
	named := false
	for {
		line, err := r.line(r.most - size)
		if err != nil {
			return event{}, err
		}
		size += len(line)
		if len(line) == 0 {
			if e.data != nil || named || e.retry > 0 {
				e.id = r.id
				e.data = bytes.TrimSuffix(e.data, []byte("\n"))
				return e, nil
			}
			size = 0
			continue
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) {
		case "data":
			e.data = append(append(e.data, value...), '\n')
		case "id":
			if len(value) > maxEventID {
				return event{}, errEventID
			}
			if validHeaderValue(value) {
				r.id, named = string(value), true
			}
		case "retry":
			if n, err := strconv.ParseUint(string(value), 10, 31); err == nil {
				e.retry = time.Duration(n) * time.Millisecond
			}
		}
	}
}

// line returns a line without its end, which is CRLF, LF or CR.
func (r *eventReader) line(most int) ([]byte, error) {
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
			return nil, errEventTooLong
		}
		line = r.buffered(line, most)
	}
}

// buffered moves what is known to belong to the line without looking at single bytes.
func (r *eventReader) buffered(line []byte, most int) []byte {
	have, _ := r.in.Peek(min(r.in.Buffered(), max(0, most-len(line))))
	if i := bytes.IndexAny(have, "\r\n"); i >= 0 {
		have = have[:i]
	}
	line = append(line, have...)
	_, _ = r.in.Discard(len(have))
	return line
}
