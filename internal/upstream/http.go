package upstream

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"interlock"
	"interlock/internal/rpc"
	"interlock/internal/sse"
)

// An httpLink speaks streamable HTTP: the revisions from 2025-03-26 on with a session and a stream of their own for what the
// server has to say, 2026-07-28 without either. Which of them is spoken shows in the messages it carries.
type httpLink struct {
	server   *Server
	headers  map[string]string
	conceal  concealer
	incoming chan []byte
	ctx      context.Context // ends with the link
	end      context.CancelFunc
	finish   sync.Once
	streams  sync.WaitGroup

	mu        sync.Mutex
	version   string // negotiated, or of the newest request; empty before
	session   string
	listening bool
	closing   bool
	forgotten bool                 // the server no longer knows the session
	repeated  map[string][]binding // arguments that headers repeat, by tool
}

// queued bounds messages that nobody has received yet; a server that sends more waits.
const queued = 16

func newHTTPLink(s *Server, headers map[string]string, conceal concealer) *httpLink {
	l := &httpLink{server: s, headers: headers, conceal: conceal, incoming: make(chan []byte, queued),
		repeated: map[string][]binding{}}
	l.ctx, l.end = context.WithCancel(context.Background())
	return l
}

// Send posts one message.
func (l *httpLink) Send(ctx context.Context, message []byte) error {
	message = bytes.Clone(message) // the caller may use its own again when it is written
	e, err := envelopeOf(message)
	if err != nil {
		return interlock.Errorf(interlock.CodeInvalid, "", "a message to a server must be one JSON-RPC object")
	}
	if l.ctx.Err() != nil {
		return l.server.unavailable("is no longer connected")
	}
	if err := l.server.leftAlone(); err != nil {
		return err
	}
	if !e.IsRequest() {
		return l.exchange(ctx, e, message, func() {})
	}
	result := make(chan error, 1) // of handing it over; what comes later is told to the receiver
	first := func(err error) {
		select {
		case result <- err:
		default:
		}
	}
	if !l.spawn(func() { first(l.exchange(ctx, e, message, func() { first(nil) })) }) {
		return l.server.unavailable("is no longer connected")
	}
	return <-result
}

// spawn runs f beside its caller, unless the link is being closed.
func (l *httpLink) spawn(f func()) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closing {
		return false
	}
	l.streams.Go(f)
	return true
}

// exchange posts a message and takes what comes back. For a request it calls written as soon as the message may have arrived;
// whatever happens then is told to the receiver, and before then it is the error.
func (l *httpLink) exchange(ctx context.Context, e *envelope, message []byte, written func()) error {
	caller := ctx
	ctx, cancel := context.WithCancel(context.WithoutCancel(caller))
	defer cancel()
	defer context.AfterFunc(l.ctx, cancel)()
	unhook := context.AfterFunc(caller, cancel)
	defer unhook()
	e.settle = func() { unhook() }
	var handed atomic.Bool
	response, err := l.post(ctx, e, message, func() { handed.Store(true); written() })
	if err != nil {
		if handed.Load() && errors.Is(err, errLost) {
			l.lose(ctx, e)
		}
		return err
	}
	defer response.Body.Close()
	l.server.answered()
	rest, err := l.take(ctx, e, response)
	switch {
	case err == nil:
	case !e.IsRequest():
		return err
	case errors.Is(err, errLost):
		l.lose(ctx, e)
	default:
		_ = l.deliver(ctx, refusal(e.ID, err))
	}
	if l.forgets() {
		l.stop()
	}
	if rest { // nothing but the end of the stream; waiting for that keeps the connection for the next message
		timer := time.AfterFunc(time.Second, cancel)
		_, _ = io.CopyN(io.Discard, response.Body, 4<<10)
		timer.Stop()
	}
	return nil
}

// lose answers a request whose answer was lost with neither a result nor an error, unless nobody waits any more.
func (l *httpLink) lose(ctx context.Context, e *envelope) {
	if e.IsRequest() && ctx.Err() == nil {
		_ = l.deliver(ctx, append(append([]byte(`{"jsonrpc":"2.0","id":`), e.ID...), '}'))
	}
}

// refusal is the answer to a request that an HTTP server refused. -32000 is the first code JSON-RPC leaves to servers.
func refusal(id json.RawMessage, err error) []byte {
	text, encodeErr := json.Marshal(err.Error())
	if encodeErr != nil {
		text = []byte(`""`) // unreachable: any text can be quoted
	}
	return append(append(append(append([]byte(`{"jsonrpc":"2.0","id":`), id...), `,"error":{"code":-32000,"message":`...),
		text...), '}', '}')
}

// post sends a message. It is sent once: if it may have arrived, the error says so.
func (l *httpLink) post(ctx context.Context, e *envelope, message []byte, written func()) (*http.Response, error) {
	var wrote atomic.Bool
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		WroteHeaders: func() { wrote.Store(true) },
		WroteRequest: func(info httptrace.WroteRequestInfo) {
			if info.Err == nil {
				written()
			}
		},
	})
	request, err := http.NewRequestWithContext(traced, http.MethodPost, l.server.config.URL, bytes.NewReader(message))
	if err != nil {
		return nil, l.server.unavailable("has no usable address")
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	l.address(request, e)
	response, err := l.server.client.Do(request)
	switch {
	case err == nil:
		return response, nil
	case errors.Is(err, errRedirect):
		err = l.server.failed(errRedirect.Error(), true,
			interlock.Errorf(interlock.CodeInvalid, "", "the server %s redirects to another place", l.server.config.Name))
		if e.IsRequest() {
			_ = l.deliver(ctx, refusal(e.ID, err))
		}
		return nil, err
	case ctx.Err() == nil && !wrote.Load():
		return nil, l.server.failed(l.reason(err), false, l.server.unavailable("can't be reached"))
	case !wrote.Load():
		return nil, l.server.unavailable("was not waited for")
	case ctx.Err() == nil:
		return nil, l.server.failed(l.reason(err), true, l.lostAnswer())
	default:
		return nil, l.lostAnswer()
	}
}

// reason is why an address was not reached, for operators: without the address, whose query is nobody's business.
func (l *httpLink) reason(err error) string {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	return l.conceal.line([]byte(err.Error()), 200)
}

func (l *httpLink) lostAnswer() error {
	return lost("the answer of the server " + l.server.config.Name + " was lost")
}

// address sets the headers that MCP wants, and those of the settings.
func (l *httpLink) address(request *http.Request, e *envelope) {
	for name, value := range l.headers {
		request.Header.Set(name, value)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if e == nil || e.Method != "initialize" {
		if e != nil && e.version != "" {
			l.version = e.version
		}
		if l.version != "" {
			request.Header.Set(headerVersion, l.version)
		}
		if l.session != "" {
			request.Header.Set(headerSession, l.session)
		}
	}
	if e == nil || e.Method == "" || l.version < stateless {
		return
	}
	request.Header.Set(headerMethod, headerText(e.Method))
	if name := e.named(); name != "" {
		request.Header.Set(headerName, headerText(name))
	}
	if e.Method == "tools/call" {
		for _, b := range l.repeated[e.param("name")] {
			if text, ok := b.headerOf(rpc.Member(e.Params, "arguments")); ok {
				request.Header.Set(headerParam+b.header, text)
			}
		}
	}
}

// take reads what a server answers to a message. rest says that the body may still hold the end of a stream.
func (l *httpLink) take(ctx context.Context, e *envelope, response *http.Response) (rest bool, err error) {
	if response.StatusCode/100 != 2 {
		return false, l.refused(e, response)
	}
	if e.Method == "initialize" {
		if session := response.Header.Get(headerSession); session != "" && len(session) <= sse.MaxID &&
			sse.ValidHeader([]byte(session)) {
			l.mu.Lock()
			l.session = session
			l.mu.Unlock()
		}
	}
	if !e.IsRequest() {
		if e.Method == "notifications/initialized" {
			l.startListening()
		}
		return true, nil
	}
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	switch kind {
	case "application/json":
		return true, l.takeBody(ctx, e, response.Body)
	case "text/event-stream":
		return true, l.takeStream(ctx, e, response.Body)
	default:
		return false, lost("the server " + l.server.config.Name + " answered in a form that is not MCP's")
	}
}

// takeBody reads an answer that is one JSON object.
func (l *httpLink) takeBody(ctx context.Context, e *envelope, body io.Reader) error {
	most := l.server.config.MaxMessage
	text, err := io.ReadAll(io.LimitReader(body, int64(most)+1))
	switch {
	case len(text) > most:
		return l.deliver(ctx, rpc.TooLong(e.ID, most))
	case err != nil:
		return l.lostAnswer()
	case !answers(text, e.ID):
		return lost("the server " + l.server.config.Name + " answered something else")
	}
	l.learn(e, text)
	e.settle()
	return l.deliver(ctx, text)
}

// resumptions bounds how often the answer of one request is asked for again after its stream broke. It is the answer that is
// asked for: the request is not sent again.
const resumptions = 3

// takeStream reads events until one is the answer.
func (l *httpLink) takeStream(ctx context.Context, e *envelope, body io.Reader) error {
	last := sse.Event{}
	for tries := 0; ; tries++ {
		done, err := l.takeEvents(ctx, e, body, &last)
		if done || err != nil {
			return err
		}
		l.mu.Lock()
		resumable := last.ID != "" && l.version < stateless && tries < resumptions
		l.mu.Unlock()
		if !resumable || !pause(ctx, within(last.Retry)) {
			return l.lostAnswer()
		}
		response, err := l.open(ctx, last.ID)
		if err != nil {
			return l.lostAnswer()
		}
		if response.StatusCode != http.StatusOK {
			response.Body.Close()
			return l.lostAnswer()
		}
		defer response.Body.Close() // a few at most
		body = response.Body
	}
}

// takeEvents reads the events of one stream. done says that the answer was among them; neither done nor an error, that the
// stream broke.
func (l *httpLink) takeEvents(ctx context.Context, e *envelope, body io.Reader, last *sse.Event) (done bool, err error) {
	reader := sse.NewReader(body, l.server.config.MaxMessage, last.ID)
	for {
		next, err := reader.Next()
		if errors.Is(err, sse.ErrTooLong) {
			return true, l.deliver(ctx, rpc.TooLong(e.ID, l.server.config.MaxMessage))
		}
		if err != nil {
			return false, nil
		}
		last.ID = next.ID
		if next.Retry > 0 {
			last.Retry = next.Retry
		}
		if len(next.Data) == 0 {
			continue
		}
		if answers(next.Data, e.ID) {
			l.learn(e, next.Data)
			e.settle()
			return true, l.deliver(ctx, next.Data)
		}
		if err := l.deliver(ctx, next.Data); err != nil {
			return false, err
		}
	}
}

// learn takes from an answer what later headers are made of.
func (l *httpLink) learn(e *envelope, text []byte) {
	switch {
	case e.Method == "initialize":
		var a struct {
			Result struct {
				Version string `json:"protocolVersion"`
			} `json:"result"`
		}
		if json.Unmarshal(text, &a) == nil && sse.ValidHeader([]byte(a.Result.Version)) && len(a.Result.Version) <= 64 {
			l.mu.Lock()
			l.version = a.Result.Version
			l.mu.Unlock()
		}
	case e.Method == "tools/list" && e.version >= stateless:
		var a struct {
			Result struct {
				Tools []struct {
					Name   string          `json:"name"`
					Schema json.RawMessage `json:"inputSchema"`
				} `json:"tools"`
			} `json:"result"`
		}
		if json.Unmarshal(text, &a) != nil {
			return
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		for _, tool := range a.Result.Tools {
			if list := bindings(tool.Schema); len(list) > 0 {
				l.repeated[tool.Name] = list
			} else {
				delete(l.repeated, tool.Name)
			}
		}
	}
}

// refused reads an answer that is not 2xx.
func (l *httpLink) refused(e *envelope, response *http.Response) error {
	name, status := l.server.config.Name, response.StatusCode
	text, _ := io.ReadAll(io.LimitReader(response.Body, 64<<10)) // cut or not: what can't be read is no answer
	var a refusedAnswer
	if json.Unmarshal(text, &a) == nil && a.Error != nil {
		if e.IsRequest() && sameID(a.ID, e.ID) && !l.expired(status) {
			return l.deliver(response.Request.Context(), text)
		}
		l.server.noted("HTTP status " + strconv.Itoa(status) + ": " + l.conceal.line([]byte(a.Error.Message), 200))
	} else {
		l.server.noted("HTTP status " + strconv.Itoa(status))
	}
	switch {
	case l.expired(status):
		l.forget()
		return l.server.unavailable("no longer knows this session")
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return interlock.Errorf(interlock.CodeUnauthorized, "", "the server %s does not accept the gateway's credentials", name)
	case status == http.StatusTooManyRequests:
		return interlock.Errorf(interlock.CodeLimited, "", "the server %s takes no more requests now", name)
	case status >= 500:
		return l.lostAnswer()
	default:
		return interlock.Errorf(interlock.CodeInvalid, "", "the server %s refused the message with HTTP status %d", name, status)
	}
}

// expired reports whether a status says that the session is gone (MCP 2025-11-25, session management, 3 and 4).
func (l *httpLink) expired(status int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return status == http.StatusNotFound && l.session != ""
}

// forget notes that the server has ended the session.
func (l *httpLink) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forgotten = true
}

func (l *httpLink) forgets() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.forgotten
}

// deliver hands a message to Receive, on one line and without secrets.
func (l *httpLink) deliver(ctx context.Context, text []byte) error {
	if bytes.ContainsAny(text, "\r\n") {
		var line bytes.Buffer
		if json.Compact(&line, text) != nil {
			return nil // no JSON, no message
		}
		text = line.Bytes()
	}
	select {
	case l.incoming <- l.conceal.message(text):
		return nil
	case <-l.ctx.Done():
	case <-ctx.Done():
	}
	return l.lostAnswer()
}

// Receive returns the next message of any of the streams.
func (l *httpLink) Receive() ([]byte, error) {
	select {
	case text := <-l.incoming:
		return text, nil
	default:
	}
	select {
	case text := <-l.incoming:
		return text, nil
	case <-l.ctx.Done():
		return nil, io.EOF
	}
}

// stop ends everything under way.
func (l *httpLink) stop() {
	l.finish.Do(func() {
		l.end()
		l.server.closed()
	})
}

// Close ends the session, if the server knows one, and everything under way.
func (l *httpLink) Close() error {
	l.mu.Lock()
	session := l.session != "" && !l.forgotten
	l.forgotten, l.closing = true, true
	l.mu.Unlock()
	if session && l.ctx.Err() == nil {
		ctx, cancel := context.WithTimeout(context.Background(), l.server.config.Stop)
		if request, err := http.NewRequestWithContext(ctx, http.MethodDelete, l.server.config.URL, nil); err == nil {
			l.address(request, nil)
			if response, err := l.server.client.Do(request); err == nil { // a server may refuse; it has timeouts of its own
				response.Body.Close()
			}
		}
		cancel()
	}
	l.stop()
	l.streams.Wait()
	return nil
}
