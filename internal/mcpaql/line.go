package mcpaql

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"interlock/internal/rpc"
)

// lines is the transport of a pair of streams, one JSON-RPC message per line. Each line is decoded once, and what is no
// message is answered here: to the protocol's own transport one bad line is the end of the connection.
type lines struct {
	in    io.Reader
	out   io.Writer
	frame int           // bytes of the longest line
	wait  time.Duration // for answers that are owed when the input ends
}

// Connect begins to read.
func (l lines) Connect(context.Context) (mcp.Connection, error) {
	writer := &lineWriter{out: l.out, answered: make(chan struct{}, 1)}
	c := &lineConnection{reader: newLineReader(l.in, writer, l.frame), writer: writer, wait: l.wait,
		messages: make(chan jsonrpc.Message), closed: make(chan struct{})}
	if closer, ok := l.in.(io.Closer); ok {
		c.closer = closer
	}
	go c.read()
	return c, nil
}

// A lineConnection is one connection over a pair of streams.
type lineConnection struct {
	reader   *lineReader
	writer   *lineWriter
	wait     time.Duration
	closer   io.Closer
	messages chan jsonrpc.Message // closed when the input has ended, and ended says how
	ended    error
	closed   chan struct{}
	once     sync.Once
}

// read hands on messages until the input ends or the connection is closed. It has a goroutine of its own because nothing but
// its end interrupts a read of standard input; after a close it may stay in one until the process ends.
func (c *lineConnection) read() {
	defer close(c.messages)
	for {
		message, err := c.reader.next()
		if err != nil {
			c.writer.settle(c.wait) // to the protocol the end of the input is the end, whatever has not been answered yet
			c.ended = err
			return
		}
		select {
		case c.messages <- message:
		case <-c.closed:
			c.ended = io.EOF
			return
		}
		// The next read keeps this processor until the scheduler notices; the one that was handed the message goes first.
		runtime.Gosched()
	}
}

// Read returns the next message.
func (c *lineConnection) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case message, open := <-c.messages:
		if !open {
			return nil, c.ended
		}
		return message, nil
	case <-c.closed:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Write writes one message.
func (c *lineConnection) Write(ctx context.Context, message jsonrpc.Message) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	text, err := jsonrpc.EncodeMessage(message)
	if err != nil {
		return fmt.Errorf("encoding a message: %w", err)
	}
	_, isAnswer := message.(*jsonrpc.Response)
	return c.writer.write(append(text, '\n'), isAnswer)
}

// Close ends the connection.
func (c *lineConnection) Close() (err error) {
	c.once.Do(func() {
		close(c.closed)
		if c.closer != nil {
			err = c.closer.Close()
		}
	})
	return err
}

// SessionID is empty: a pair of streams is one session.
func (c *lineConnection) SessionID() string { return "" }

// A lineWriter lets the protocol's answers and the reader's refusals share one stream, and counts what is owed: to the
// protocol the end of the input is the end of the connection, whatever has not been answered yet.
type lineWriter struct {
	mu       sync.Mutex
	out      io.Writer
	owed     int
	answered chan struct{} // holds one value after every answer
}

// write writes one line, which may be an answer that was owed.
func (w *lineWriter) write(line []byte, isAnswer bool) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, err := w.out.Write(line)
	if isAnswer {
		w.owed--
		select {
		case w.answered <- struct{}{}:
		default:
		}
	}
	return err
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

// A lineReader reads messages and answers lines that are none.
type lineReader struct {
	in    *bufio.Reader
	out   *lineWriter
	frame int
	over  error // of the input, after its last line
}

func newLineReader(in io.Reader, out *lineWriter, frame int) *lineReader {
	return &lineReader{in: bufio.NewReaderSize(in, 64<<10), out: out, frame: frame}
}

// next returns the next message, or how the input ended.
func (r *lineReader) next() (jsonrpc.Message, error) {
	for r.over == nil {
		line, tooLong, err := rpc.ReadLine(r.in, r.frame-1, nil) // the bound counts the end of the line
		r.over = err
		switch {
		case tooLong:
			r.refuse(nil, jsonrpc.CodeInvalidRequest, "the message is longer than this server reads")
		case len(bytes.TrimSpace(line)) > 0:
			if message := r.checked(line); message != nil {
				return message, nil
			}
		}
	}
	return nil, r.over
}

// checked returns the JSON-RPC message that a line is, and answers any other.
func (r *lineReader) checked(line []byte) jsonrpc.Message {
	line = bytes.TrimSpace(line)
	if !json.Valid(line) {
		r.refuse(nil, jsonrpc.CodeParseError, "the line is not valid JSON; send one JSON-RPC message per line")
		return nil
	}
	if line[0] != '{' {
		r.refuse(nil, jsonrpc.CodeInvalidRequest,
			"send one JSON-RPC message per line; batches of messages are not part of the protocol")
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
	return message
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
		_ = r.out.write(append(text, '\n'), true) // a client that is gone misses nothing
	}
}
