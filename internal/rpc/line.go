package rpc

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// ReadLine reads to the end of a line, into memory of its own, its end included. Of a line with more than that many bytes
// before its end nothing is returned; it is read on to its end, and its pieces are shown to dropped, which may be nil.
func ReadLine(in *bufio.Reader, most int, dropped func(part []byte)) (line []byte, over bool, err error) {
	for {
		part, err := in.ReadSlice('\n')
		if !over && len(line)+len(part) <= most+1 {
			line = append(line, part...)
		} else {
			if dropped != nil {
				dropped(line)
				dropped(part)
			}
			line, over = nil, true
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, over, err
		}
	}
}

// A LineReader reads a server's messages, one to a line, and never holds more of one than the bound.
type LineReader struct {
	in   *bufio.Reader
	most int
	find idFinder             // of the line that is dropped
	drop func(dropped []byte) // writes to find
}

// NewLineReader reads messages of at most that many bytes.
func NewLineReader(in io.Reader, most int) *LineReader {
	r := &LineReader{in: bufio.NewReaderSize(in, 64<<10), most: most}
	r.drop = r.find.write
	return r
}

// Next returns the next line that is not empty, without its end. It belongs to the caller. A line over the bound is read to its
// end and dropped; if it was the answer to a request, what is returned instead is an error for that request. A line that the
// stream ends within is no message.
func (r *LineReader) Next() ([]byte, error) {
	for {
		line, over, err := ReadLine(r.in, r.most, r.drop)
		if err != nil {
			return nil, err
		}
		if over { // a notification or a request nobody waits for leaves nothing behind
			id := r.find.answered()
			if r.find = (idFinder{}); id != nil {
				return TooLong(id, r.most), nil
			}
			continue
		}
		if line = bytes.Trim(line, Space); len(line) > 0 {
			return line, nil
		}
	}
}

// droppedMark is what the data of an error says that takes the place of an answer nobody has read.
const droppedMark = "answer_dropped"

// TooLong is the answer to a request whose real one was over the bound. Its data tells it from an error of the server's own.
func TooLong(id []byte, most int) []byte {
	return AppendFault(nil, id, FaultObject(CodeInternal,
		fmt.Sprintf("the server's answer is longer than %d bytes and was dropped", most), []byte(`{"interlock":"`+droppedMark+`"}`)))
}

// Dropped reports whether the link has put an error in the place of an answer longer than it takes. Nobody has read that answer, so
// what it was an answer to has ended nobody knows how.
func Dropped(e Envelope) bool {
	return e.Fault != nil && Unquoted(Member(Member(e.Fault, "data"), "interlock")) == droppedMark
}
