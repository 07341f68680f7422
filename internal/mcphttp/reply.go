package mcphttp

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"sync"
	"time"

	"interlock/internal/mcpgateway"
	"interlock/internal/rpc"
)

// An httpReply takes what belongs to one request. If that is the answer alone, it is a JSON body. If something comes before it,
// all of it is an event stream, which a goroutine of its own writes, so that a client that reads slowly holds nobody up.
type httpReply struct {
	front     *Front
	w         http.ResponseWriter
	control   *http.ResponseController
	stateless bool
	owner     *httpSession
	id        json.RawMessage // of the request
	header    http.Header     // of the request
	session   string          // the id of the session that a good answer begins
	cancel    context.CancelFunc

	mu      sync.Mutex
	stream  *eventStream
	kept    *resumable    // the stream's other half in a session
	slow    bool          // under way for a while
	written chan struct{} // closed when the stream is written
	done    bool          // answered, or over
	failed  bool          // the answer is an error
}

// Send takes one message of the core.
func (p *httpReply) Send(_ context.Context, message []byte) error {
	kind := rpc.KindOf(message)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.done {
		return mcpgateway.ErrClientGone
	}
	if kind != rpc.KindOther {
		p.done = true
		p.failed = kind == rpc.KindFault
	}
	if p.stream != nil {
		return p.pushLocked(message)
	}
	if kind == rpc.KindOther {
		p.openLocked()
		return p.pushLocked(message)
	}
	return p.answerLocked(message, kind)
}

// answerLocked sends the answer as a JSON body.
func (p *httpReply) answerLocked(message []byte, kind rpc.Kind) error {
	status := http.StatusOK
	if kind == rpc.KindFault && p.stateless {
		status = statusOf(message)
	}
	header := p.w.Header()
	header["Content-Type"] = []string{"application/json"}
	header["Content-Length"] = []string{strconv.Itoa(len(message))}
	if p.session != "" && kind == rpc.KindResult {
		header["Mcp-Session-Id"] = []string{p.session}
	}
	_ = p.control.SetWriteDeadline(p.front.writeDeadline(len(message))) // a connection without deadlines has the server's own
	p.w.WriteHeader(status)
	if _, err := p.w.Write(message); err != nil {
		return mcpgateway.ErrClientGone
	}
	return nil
}

// openLocked begins the stream.
func (p *httpReply) openLocked() {
	if p.session != "" {
		p.w.Header()["Mcp-Session-Id"] = []string{p.session}
	}
	if p.stateless {
		p.stream = newEventStream(p.front.limits)
	} else {
		p.kept, p.stream = p.owner.openStream(p.id)
	}
	p.written = make(chan struct{})
	beginEvents(p.w)
	go func() {
		defer close(p.written)
		switch gone := p.stream.write(context.Background(), p.w, p.control, p.front) != nil; {
		case gone && p.stateless:
			p.cancel()
		case gone:
			p.owner.detach(p.kept, p.stream)
		}
	}()
}

// prime begins the stream of a request that was under way already when it was called last.
func (p *httpReply) prime() {
	if !primes(p.header) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.done || p.stream != nil:
	case !p.slow:
		p.slow = true
	default:
		p.openLocked()
		p.owner.prime(p.kept)
	}
}

func (p *httpReply) pushLocked(message []byte) error {
	if p.kept != nil { // a client that is gone may come back for it
		p.owner.sendOn(p.kept, message)
		return nil
	}
	if p.stream.push(message) {
		return nil
	}
	if p.stateless {
		p.cancel()
	}
	return mcpgateway.ErrClientGone
}

// finish ends the exchange: nothing of it is written afterwards.
func (p *httpReply) finish() {
	p.mu.Lock()
	answered := p.done
	p.done = true
	stream, kept := p.stream, p.kept
	p.mu.Unlock()
	switch {
	case kept != nil:
		var farewell []byte
		if !answered {
			farewell = rpc.AppendFault(nil, p.id, rpc.FaultObject(rpc.CodeInternal, "the request was cancelled, and has no answer", nil))
		}
		p.owner.finishStream(kept, farewell)
		<-p.written
	case stream != nil:
		stream.end()
		<-p.written
	case !answered: // cancelled by its client: a stream without an answer says that none comes
		p.failed = true
		beginEvents(p.w)
		p.w.WriteHeader(http.StatusOK)
	}
}

// writeDeadline is when a client must have taken so many bytes.
func (h *Front) writeDeadline(size int) time.Time {
	return time.Now().Add(h.limits.Write + time.Duration(size/slowest)*time.Second)
}

// slowest is how many bytes a second a client takes at least.
const slowest = 64 << 10

// statusOf is the HTTP status of an error under 2026-07-28: there the transport says what the protocol refuses.
func statusOf(message []byte) int {
	code, err := strconv.Atoi(string(rpc.Member(rpc.Member(message, "error"), "code")))
	if err != nil {
		return http.StatusOK
	}
	switch code {
	case rpc.CodeMethodNotFound:
		return http.StatusNotFound
	case rpc.CodeInvalidParams, rpc.CodeInvalidRequest, rpc.CodeParse, rpc.CodeVersion, rpc.CodeHeaderMismatch,
		rpc.CodeMissingCapability:
		return http.StatusBadRequest
	}
	return http.StatusOK
}
