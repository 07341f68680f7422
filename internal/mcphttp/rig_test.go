package mcphttp_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/ledger"
	"interlock/internal/mcpgateway"
	"interlock/internal/mcphttp"
)

// fakeAdmission knows agents and what was refused. The front needs no more of it.
type fakeAdmission struct {
	mu      sync.Mutex
	agents  map[string]interlock.AgentRecord
	refused []string
}

func (*fakeAdmission) ProposeBy(context.Context, admission.Way, interlock.Proposal) interlock.Answer {
	return interlock.Answer{}
}
func (*fakeAdmission) Report(context.Context, interlock.Requester, interlock.Outcome) error {
	return nil
}
func (*fakeAdmission) Conclude(context.Context, ...admission.Concluded) error { return nil }

func (*fakeAdmission) Ended(interlock.Requester, interlock.Decision, interlock.OutcomeStatus) {}

func (*fakeAdmission) Weigh(context.Context, admission.Way, interlock.Proposal) (interlock.Answer, bool) {
	return interlock.Answer{}, false
}

func (f *fakeAdmission) Refuse(_ context.Context, r interlock.Requester, door string, cause error) interlock.Answer {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refused = append(f.refused, r.Agent+" at "+door+": "+cause.Error())
	return interlock.Answer{}
}
func (f *fakeAdmission) Ground(context.Context, ...ledger.Ref) (ledger.Standing, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return ledger.Standing{Agents: f.agents}, nil
}

// Watch tells of nothing: nothing here changes by itself.
func (f *fakeAdmission) Watch(context.Context, ledger.Watch) (<-chan struct{}, error) {
	return make(chan struct{}), nil
}

type scopeError struct{}

func (scopeError) Error() string { return "the token lacks a scope" }
func (scopeError) Scope() string { return "tools:call" }

// fakeCredentials take a token that is the agent's name.
type fakeCredentials struct{ certificates bool }

func (fakeCredentials) Bearer(_ context.Context, token string, _ *x509.Certificate) (interlock.AgentRecord, error) {
	switch token {
	case "ann", "bob":
		return interlock.AgentRecord{ID: token, Principal: "olga"}, nil
	case "ann-of-carl":
		return interlock.AgentRecord{ID: "ann", Principal: "carl"}, nil
	case "gone":
		return interlock.AgentRecord{ID: "gone"}, interlock.Errorf(interlock.CodeUnauthorized, "", "this agent token is revoked")
	case "narrow":
		return interlock.AgentRecord{}, scopeError{}
	case "later":
		return interlock.AgentRecord{}, interlock.Errorf(interlock.CodeUnavailable, "", "the issuer's keys can't be read now")
	case "broken":
		return interlock.AgentRecord{}, fmt.Errorf("the disk is gone")
	case "nameless":
		return interlock.AgentRecord{}, nil
	}
	return interlock.AgentRecord{}, interlock.Errorf(interlock.CodeUnauthorized, "", "unknown agent token")
}

func (f fakeCredentials) ByCertificate(_ context.Context, certificate *x509.Certificate) (interlock.AgentRecord, error) {
	if !f.certificates {
		return interlock.AgentRecord{}, interlock.Errorf(interlock.CodeUnauthorized, "", "send a token")
	}
	return interlock.AgentRecord{ID: "tls:" + certificate.Subject.CommonName, Principal: certificate.Subject.CommonName}, nil
}

// A talk is a session behind the front that does what the tools its client calls are named after.
type talk struct {
	rig    *httpRig
	caller mcpgateway.Caller
	peer   mcpgateway.Peer
	closed chan struct{}
	once   sync.Once
}

// Tool knows no definitions.
func (k *talk) Tool(string) json.RawMessage { return nil }

func (k *talk) Close() error {
	k.once.Do(func() { close(k.closed) })
	return nil
}

func (k *talk) Handle(ctx context.Context, message []byte, reply mcpgateway.Peer) {
	k.rig.note(message)
	var m struct {
		ID     json.RawMessage
		Method string
		Params struct {
			Name      string
			Arguments struct{ Text string }
		}
	}
	if err := json.Unmarshal(message, &m); err != nil || m.ID == nil || m.Method == "" {
		return
	}
	result := func(text string) {
		_ = reply.Send(ctx, fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":{"text":%q,"agent":%q,"shared":%v}}`, m.ID, text,
			k.caller.Agent, k.caller.Shared))
	}
	fault := func(code int) {
		_ = reply.Send(ctx, fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":"no"}}`, m.ID, code))
	}
	switch {
	case m.Method == "unknown":
		fault(-32601)
	case m.Method == "initialize" && m.Params.Name == "bad":
		fault(-32602)
	case m.Params.Name == "progress":
		for n := range 3 {
			_ = reply.Send(ctx, fmt.Appendf(nil, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\n\"params\":{\"progress\":%d}}", n))
		}
		result("done")
	case m.Params.Name == "steps" || m.Params.Name == "silent": // a step, and more of them when the test says so
		step := func(n int) {
			_ = reply.Send(ctx, fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":%d}}`, n))
		}
		step(0)
		k.rig.waiting <- struct{}{}
		<-k.rig.release
		for n := range k.rig.steps {
			step(n + 1)
		}
		if m.Params.Name == "steps" {
			result(k.rig.said)
		}
		k.rig.cancelled <- nil
	case m.Params.Name == "notice":
		if k.peer.Send(ctx, []byte(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)) == nil {
			result("told")
		} else {
			result("lost")
		}
	case m.Params.Name == "flood":
		line := []byte(`{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"` + strings.Repeat("x", 64<<10) + `"}}`)
		for reply.Send(ctx, line) == nil { // until the client is given up
		}
		k.rig.flooded <- ctx
	case m.Params.Name == "wait":
		k.rig.waiting <- struct{}{}
		select {
		case <-ctx.Done():
			k.rig.cancelled <- ctx.Err()
		case <-k.closed:
			k.rig.cancelled <- context.Canceled
		case <-k.rig.release:
			result("waited")
		}
	case m.Params.Name == "panic":
		panic("secret")
	default:
		result(m.Params.Arguments.Text)
	}
}

type httpRig struct {
	t         *testing.T
	url       string
	front     *mcphttp.Front
	admission *fakeAdmission
	stop      func() error

	mu        sync.Mutex
	now       time.Time
	opened    []*talk
	heard     []string
	waiting   chan struct{}
	release   chan struct{}
	cancelled chan error
	flooded   chan context.Context
	full      bool
	steps     int    // further steps of a call that has some
	said      string // at its end
}

func (r *httpRig) note(message []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.heard = append(r.heard, string(message))
}

func (r *httpRig) clock() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.now
}

type oneServer struct{ mcpgateway.Server }

func (oneServer) Name() string { return "one" }

// newHTTP serves a front, with conversations of the test behind it.
func newHTTP(t *testing.T, change func(*mcphttp.Config)) *httpRig {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return newHTTPOn(t, listener, nil, change)
}

// newHTTPOn serves it on a listener of the test's.
func newHTTPOn(t *testing.T, listener net.Listener, secure *tls.Config, change func(*mcphttp.Config)) *httpRig {
	t.Helper()
	r := &httpRig{t: t, admission: &fakeAdmission{agents: map[string]interlock.AgentRecord{}}, now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
		waiting: make(chan struct{}, 64), release: make(chan struct{}), cancelled: make(chan error, 64), flooded: make(chan context.Context, 1)}
	gateway, err := mcpgateway.New(mcpgateway.Config{Backend: r.admission, Servers: []mcpgateway.Server{oneServer{}}, Now: r.clock, Random: rand.Reader,
		Logger: slog.New(slog.NewTextHandler(testWriter{t}, nil)), Limits: mcpgateway.Limits{Message: 64 << 10}})
	if err != nil {
		t.Fatal(err)
	}
	config := mcphttp.Config{Gateway: gateway, Credentials: fakeCredentials{}}
	if change != nil {
		change(&config)
	}
	if r.front, err = mcphttp.New(config); err != nil {
		t.Fatal(err)
	}
	r.front.Behind(func(c mcpgateway.Caller, p mcpgateway.Peer) (mcphttp.Conversation, error) {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.full {
			return nil, interlock.Errorf(interlock.CodeLimited, "", "there are too many sessions")
		}
		k := &talk{rig: r, caller: c, peer: p, closed: make(chan struct{})}
		r.opened = append(r.opened, k)
		return k, nil
	})
	r.url = "http://" + listener.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- r.front.Serve(ctx, listener, secure) }()
	r.stop = sync.OnceValue(func() error { cancel(); return <-served })
	t.Cleanup(func() { _ = r.stop() })
	return r
}

type testWriter struct{ t *testing.T }

func (w testWriter) Write(p []byte) (int, error) { return len(p), nil }

// exchange is one request to /mcp and its answer.
type exchange struct {
	method, token, body string
	header              map[string]string
}

// do sends a request as ann unless it says otherwise.
func (r *httpRig) do(x exchange) *http.Response {
	r.t.Helper()
	response, err := http.DefaultClient.Do(r.request(context.Background(), x))
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { response.Body.Close() })
	return response
}

func (r *httpRig) request(ctx context.Context, x exchange) *http.Request {
	r.t.Helper()
	if x.method == "" {
		x.method = http.MethodPost
	}
	request, err := http.NewRequestWithContext(ctx, x.method, r.url+"/mcp", strings.NewReader(x.body))
	if err != nil {
		r.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	if x.token == "" {
		x.token = "ann"
	}
	request.Header.Set("Authorization", "Bearer "+x.token)
	for name, value := range x.header {
		if request.Header.Set(name, value); value == "" {
			request.Header.Del(name)
		}
	}
	return request
}

func (r *httpRig) text(response *http.Response) string {
	r.t.Helper()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return string(bytes.TrimSpace(text))
}

// begin opens a protocol session.
func (r *httpRig) begin(token string) (id string) {
	r.t.Helper()
	response := r.do(exchange{token: token, body: `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`})
	if id = response.Header.Get("Mcp-Session-Id"); response.StatusCode != http.StatusOK || len(id) != 43 {
		r.t.Fatalf("initialize: %s, session %q: %s", response.Status, id, r.text(response))
	}
	return id
}

func call(id int, name string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":{"text":"hi"}}}`, id, name)
}

// modern is a call as from 2026-07-28 on, and its headers.
func modern(id int, name string) exchange {
	return exchange{body: fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":{"text":"hi"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`, id, name),
		header: map[string]string{"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": name}}
}

// events reads server-sent events from a stream.
type events struct{ lines *bufio.Reader }

func (e events) next(t *testing.T) string {
	t.Helper()
	for {
		line, err := e.lines.ReadString('\n')
		if err != nil {
			return err.Error()
		}
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			return strings.TrimSpace(data)
		}
	}
}
