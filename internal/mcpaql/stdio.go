package mcpaql

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// sweepEvery is how often a serving process looks for what nobody has touched.
const sweepEvery = time.Minute

// RunStdio serves one client on a pair of streams, one JSON-RPC message per line, until the input ends.
func (s *Server) RunStdio(ctx context.Context, c Caller, in io.Reader, out io.Writer) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go s.SweepEvery(ctx, sweepEvery)
	// A request's arguments may grow when they are written as JSON in JSON; what is longer than this is no call at all.
	frame := 4*s.config.Limits.Request + 64<<10
	writer := &lineWriter{out: out, answered: make(chan struct{}, 1)}
	return s.Run(ctx, c, &mcp.IOTransport{Reader: newLineReader(in, writer, frame, s.config.Timeout), Writer: writer, MaxLineLength: -1})
}

// A lineWriter lets the protocol's answers and the reader's refusals share one stream, and counts what is owed: to the
// protocol's own reader the end of the input is the end of the connection, whatever has not been answered yet.
type lineWriter struct {
	mu       sync.Mutex
	out      io.Writer
	owed     int
	answered chan struct{} // holds one value after every answer
}

func (w *lineWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, err := w.out.Write(p)
	if !bytes.HasPrefix(p, []byte(`{"jsonrpc":"2.0","method"`)) {
		w.owed--
		select {
		case w.answered <- struct{}{}:
		default:
		}
	}
	return n, err
}

// owe counts a call that is to be answered.
func (w *lineWriter) owe() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.owed++
}

// settle waits until every call is answered, or for as long as an answer may take.
func (w *lineWriter) settle(longest time.Duration) {
	late := time.NewTimer(longest)
	defer late.Stop()
	for {
		w.mu.Lock()
		owed := w.owed
		w.mu.Unlock()
		if owed <= 0 {
			return
		}
		select {
		case <-w.answered:
		case <-late.C:
			return
		}
	}
}

func (w *lineWriter) Close() error { return nil }

// A lineReader hands on the lines that are JSON-RPC messages. What is not is refused on the spot: to the protocol's own
// reader one bad line is the end of the connection.
type lineReader struct {
	in    *bufio.Reader
	out   *lineWriter
	frame int
	wait  time.Duration // for answers that are owed when the input ends
	left  []byte        // of the line being handed on
	close func() error
}

func newLineReader(in io.Reader, out *lineWriter, frame int, wait time.Duration) *lineReader {
	r := &lineReader{in: bufio.NewReaderSize(in, 64<<10), out: out, frame: frame, wait: wait, close: func() error { return nil }}
	if closer, ok := in.(io.Closer); ok {
		r.close = closer.Close
	}
	return r
}

func (r *lineReader) Close() error { return r.close() }

func (r *lineReader) Read(p []byte) (int, error) {
	for len(r.left) == 0 {
		line, over, err := r.line()
		switch {
		case over:
			r.refuse(nil, jsonrpc.CodeInvalidRequest, "the message is longer than this server reads")
		case len(bytes.TrimSpace(line)) > 0:
			r.left = r.checked(line)
		}
		if err != nil && len(r.left) == 0 {
			r.out.settle(r.wait)
			return 0, err
		}
	}
	n := copy(p, r.left)
	r.left = r.left[n:]
	return n, nil
}

// line reads to the end of a line. What is over the bound is read and dropped.
func (r *lineReader) line() (line []byte, over bool, err error) {
	for {
		part, err := r.in.ReadSlice('\n')
		if over = over || len(line)+len(part) > r.frame; !over {
			line = append(line, part...)
		} else {
			line = nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, over, err
		}
	}
}

// checked returns a line that is one JSON-RPC message, with its end, and answers any other.
func (r *lineReader) checked(line []byte) []byte {
	line = bytes.TrimSpace(line)
	if !json.Valid(line) {
		r.refuse(nil, jsonrpc.CodeParseError, "the line is not valid JSON; send one JSON-RPC message per line")
		return nil
	}
	if line[0] != '{' {
		r.refuse(nil, jsonrpc.CodeInvalidRequest, "send one JSON-RPC message per line; batches of messages are not part of the protocol")
		return nil
	}
	message, err := jsonrpc.DecodeMessage(line)
	if err != nil {
		var named struct {
			ID json.RawMessage `json:"id"`
		}
		_ = json.Unmarshal(line, &named) // an id that can't be read is null
		r.refuse(named.ID, jsonrpc.CodeInvalidRequest, "the line is no JSON-RPC 2.0 message")
		return nil
	}
	if call, ok := message.(*jsonrpc.Request); ok && call.IsCall() {
		r.out.owe()
	}
	return append(line, '\n')
}

// refuse answers a line that goes no further.
func (r *lineReader) refuse(id json.RawMessage, code int, message string) {
	if len(id) == 0 || id[0] == '{' || id[0] == '[' {
		id = json.RawMessage("null")
	}
	type detail struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}
	text, err := encode(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   detail          `json:"error"`
	}{"2.0", id, detail{code, message}})
	if err == nil {
		r.out.owe()
		_, _ = r.out.Write(append(text, '\n')) // a client that is gone misses nothing
	}
}
