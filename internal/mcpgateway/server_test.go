package mcpgateway_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/ledger"
	"interlock/internal/mcpgateway"
	"interlock/test/wait"
)

// A message is a JSON-RPC message as a test reads it.
type message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *rpcError       `json:"error,omitempty"`
}

type rpcError struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// A fakeServer is an MCP server in memory. It remembers what it was sent.
type fakeServer struct {
	name    string
	answers map[string]string // results by method; what is not there is unknown
	on      func(l *fakeLink, m message) bool
	down    func() error // why it can't be reached now

	mu    sync.Mutex
	heard []string
	links []*fakeLink
}

const toolsResult = `{"tools":[{"name":"read_note","description":"Read a note","inputSchema":{"type":"object"}},{"name":"write_note","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":false}}]}`

func newFakeServer(name string) *fakeServer {
	return &fakeServer{name: name, answers: map[string]string{
		"initialize": `{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"fake","version":"1"}}`,
		"tools/list": toolsResult,
		"tools/call": `{"content":[{"type":"text","text":"done"}]}`,
	}}
}

func (f *fakeServer) Name() string               { return f.name }
func (f *fakeServer) Local() bool                { return true }
func (f *fakeServer) Trouble() string            { return "" }
func (f *fakeServer) Identity() interlock.Digest { return interlock.Digest("sha256:" + f.name) }

func (f *fakeServer) Dial(context.Context) (mcpgateway.Link, error) {
	if f.down != nil {
		if err := f.down(); err != nil {
			return nil, err
		}
	}
	l := &fakeLink{server: f, out: make(chan string, 1000), ended: make(chan struct{})}
	f.mu.Lock()
	f.links = append(f.links, l)
	f.mu.Unlock()
	return l, nil
}

// sent is every message of that method the server was sent.
func (f *fakeServer) sent(method string) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []string
	for _, text := range f.heard {
		if strings.Contains(text, `"method":"`+method+`"`) {
			all = append(all, text)
		}
	}
	return all
}

func (f *fakeServer) last() *fakeLink {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.links[len(f.links)-1]
}

type fakeLink struct {
	server *fakeServer
	out    chan string
	once   sync.Once
	ended  chan struct{}
}

func (l *fakeLink) Send(_ context.Context, text []byte) error {
	select {
	case <-l.ended:
		return io.ErrClosedPipe
	default:
	}
	f := l.server
	f.mu.Lock()
	f.heard = append(f.heard, string(text))
	f.mu.Unlock()
	var m message
	if err := json.Unmarshal(text, &m); err != nil {
		return err
	}
	if f.on != nil && f.on(l, m) || m.ID == nil || m.Method == "" {
		return nil
	}
	if result, known := f.answers[m.Method]; known {
		l.say(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
	} else {
		l.say(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"unknown"}}`, m.ID)
	}
	return nil
}

// say has the server send a message.
func (l *fakeLink) say(format string, args ...any) { l.out <- fmt.Sprintf(format, args...) }

func (l *fakeLink) Receive() ([]byte, error) {
	select {
	case text := <-l.out:
		return []byte(text), nil
	default:
	}
	select {
	case text := <-l.out:
		return []byte(text), nil
	case <-l.ended:
		return nil, io.EOF
	}
}

func (l *fakeLink) Close() error {
	l.once.Do(func() { close(l.ended) })
	return nil
}

// A client is one client of the gateway, in memory.
type client struct {
	t       *testing.T
	session *mcpgateway.Session

	mu   sync.Mutex
	came []message
	news chan struct{} // replaced whenever something came
	next int
	// answer answers the gateway's requests; nil: they stay unanswered.
	answer func(m message) string
}

func (c *client) Send(_ context.Context, text []byte) error {
	var m message
	if err := json.Unmarshal(text, &m); err != nil {
		c.t.Errorf("the client was sent %q: %v", text, err)
		return err
	}
	c.mu.Lock()
	c.came = append(c.came, m)
	close(c.news)
	c.news = make(chan struct{})
	answer := c.answer
	c.mu.Unlock()
	if m.Method != "" && m.ID != nil && answer != nil {
		if text := answer(m); text != "" {
			go c.send(text)
		}
	}
	return nil
}

func (c *client) send(text string) { c.session.Handle(c.t.Context(), []byte(text), c) }

// until waits for a message that fits, whenever it came.
func (c *client) until(fits func(m message) bool) message {
	c.t.Helper()
	for {
		c.mu.Lock()
		for _, m := range c.came {
			if fits(m) {
				c.mu.Unlock()
				return m
			}
		}
		news := c.news
		c.mu.Unlock()
		select {
		case <-news:
		case <-c.t.Context().Done():
			c.t.Fatal("the message never came")
		case <-time.After(wait.Limit):
			c.t.Fatalf("the message never came; there are %+v", c.came)
		}
	}
}

// call makes a request and waits for its answer.
func (c *client) call(method, params string) message {
	c.t.Helper()
	id := c.begin(method, params)
	return c.until(func(m message) bool { return m.Method == "" && string(m.ID) == id })
}

// begin makes a request and returns its id.
func (c *client) begin(method, params string) string {
	c.mu.Lock()
	c.next++
	id := fmt.Sprintf(`"q%d"`, c.next)
	c.mu.Unlock()
	if params == "" {
		params = "{}"
	}
	go c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, method, params))
	return id
}

func (c *client) notice(method string) message {
	c.t.Helper()
	return c.until(func(m message) bool { return m.Method == method })
}

const anyCapabilities = `{"sampling":{},"roots":{"listChanged":true},"elicitation":{"form":{},"url":{}}}`

// shake makes the handshake and returns its result.
func (c *client) shake(capabilities string) string {
	c.t.Helper()
	a := c.call("initialize", `{"protocolVersion":"2025-11-25","capabilities":`+capabilities+`,"clientInfo":{"name":"t","version":"1"}}`)
	if a.Error != nil {
		c.t.Fatalf("initialize: %+v", a.Error)
	}
	c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return string(a.Result)
}

// newGateway is a gateway over a backend and servers.
func newGateway(t *testing.T, backend mcpgateway.Backend, change func(*mcpgateway.Config), servers ...*fakeServer) *mcpgateway.Gateway {
	t.Helper()
	c := mcpgateway.Config{Backend: backend, Now: time.Now, Random: rand.Reader, Logger: slog.New(slog.DiscardHandler), Version: "test"}
	for _, s := range servers {
		c.Servers = append(c.Servers, s)
	}
	if change != nil {
		change(&c)
	}
	g, err := mcpgateway.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	return g
}

// join opens a session of a client that has not said anything yet.
func join(t *testing.T, g *mcpgateway.Gateway) *client {
	t.Helper()
	c := &client{t: t, news: make(chan struct{})}
	session, err := g.Open(mcpgateway.Caller{Agent: "tester", Principal: "alice", Connection: "memory", Dir: t.TempDir()}, c)
	if err != nil {
		t.Fatal(err)
	}
	c.session = session
	return c
}

// A fakeLog is a backend that allows what it is not told to refuse, and remembers everything.
type fakeLog struct {
	refuse  func(p interlock.Proposal) *interlock.Finding
	within  time.Duration // that what it lets through may take
	version atomic.Int64  // of the standing
	moved   atomic.Pointer[chan struct{}]

	mu        sync.Mutex
	proposals []admission.Case
	outcomes  []interlock.Outcome
	reported  []interlock.Requester
	refusals  int
	came      chan struct{}
}

func newFakeLog() *fakeLog { return &fakeLog{came: make(chan struct{}, 100_000)} }

func (l *fakeLog) ProposeBy(_ context.Context, way admission.Way, p interlock.Proposal) interlock.Answer {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.proposals = append(l.proposals, admission.Case{Proposal: p, Way: way})
	a := interlock.Answer{Event: fmt.Sprintf("event-%d", len(l.proposals)), Within: l.within,
		Decision: interlock.Decision{Verdict: interlock.Allow, Answer: interlock.Allow, Action: interlock.Digest(p.Action.Arguments)}}
	if l.refuse != nil {
		if f := l.refuse(p); f != nil {
			a.Verdict, a.Answer, a.Findings = interlock.Deny, interlock.Deny, []interlock.Finding{*f}
		}
	}
	return a
}

func (l *fakeLog) Report(_ context.Context, r interlock.Requester, o interlock.Outcome) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	o.Duration = 0
	l.outcomes, l.reported = append(l.outcomes, o), append(l.reported, r)
	l.came <- struct{}{}
	return nil
}

func (l *fakeLog) Conclude(ctx context.Context, ended ...admission.Concluded) error {
	for _, e := range ended {
		if err := l.Report(ctx, e.Requester, e.Outcome); err != nil {
			return err
		}
	}
	return nil
}

func (l *fakeLog) Ended(interlock.Requester, interlock.Decision, interlock.OutcomeStatus) {}

func (l *fakeLog) Weigh(context.Context, admission.Way, interlock.Proposal) (interlock.Answer, bool) {
	return interlock.Answer{}, false
}

func (l *fakeLog) Refuse(context.Context, interlock.Requester, string, error) interlock.Answer {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refusals++
	return interlock.Refusal("invalid", "refused")
}

func (l *fakeLog) Ground(context.Context, ...ledger.Ref) (ledger.Standing, error) {
	return ledger.Standing{Version: l.version.Load()}, nil
}

func (l *fakeLog) Watch(context.Context, ledger.Watch) (<-chan struct{}, error) {
	moved := make(chan struct{}, 1)
	l.moved.Store(&moved)
	return moved, nil
}

// move moves the standing, and tells the gateway, which watches it.
func (l *fakeLog) move() {
	l.version.Add(1)
	select {
	case *l.moved.Load() <- struct{}{}:
	default:
	}
}

func (l *fakeLog) proposed() []admission.Case {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]admission.Case(nil), l.proposals...)
}

// outcome waits for the nth outcome.
func (l *fakeLog) outcome(t *testing.T, n int) interlock.Outcome {
	t.Helper()
	for {
		l.mu.Lock()
		if len(l.outcomes) > n {
			defer l.mu.Unlock()
			return l.outcomes[n]
		}
		l.mu.Unlock()
		select {
		case <-l.came:
		case <-time.After(wait.Limit):
			t.Fatal("the outcome was never reported")
		}
	}
}
