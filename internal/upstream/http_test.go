package upstream_test

import (
	"context"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"interlock"
	"interlock/internal/upstream"
)

const (
	initialize  = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
)

// seen is what a server saw of a request.
type seen struct {
	Method, Body string
	Headers      map[string]string
}

// A fake is an HTTP server that answers as it is told and remembers what it was asked.
type fake struct {
	mu   sync.Mutex
	seen []seen
}

func (f *fake) start(t *testing.T, answer http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		s := seen{Method: r.Method, Body: string(body), Headers: map[string]string{}}
		for name := range r.Header {
			if strings.HasPrefix(name, "Mcp-") || name == "Accept" || name == "Content-Type" || name == "Last-Event-Id" || name == "Authorization" {
				s.Headers[name] = r.Header.Get(name)
			}
		}
		f.mu.Lock()
		f.seen = append(f.seen, s)
		f.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func (f *fake) all() []seen {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]seen(nil), f.seen...)
}

func says(status int, kind, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func address(url string) upstream.Config { return upstream.Config{Name: "s", URL: url} }

// exchange sends a request and returns the next message.
func exchange(t *testing.T, l upstream.Link, message string) string {
	t.Helper()
	send(t, l, message)
	return receive(t, l)
}

func TestASessionOverHTTP(t *testing.T) {
	listening := make(chan struct{})
	f := &fake{}
	url := f.start(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch {
		case r.Method == http.MethodDelete:
			w.WriteHeader(http.StatusNoContent)
		case r.Method == http.MethodGet:
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "id: 7\ndata: {\"jsonrpc\":\"2.0\",\ndata:  \"method\":\"notifications/tools/list_changed\"}\n\n")
			w.(http.Flusher).Flush()
			close(listening)
			<-r.Context().Done()
		case strings.Contains(string(body), `"initialize"`):
			w.Header().Set("Mcp-Session-Id", "abc")
			says(200, "application/json; charset=utf-8", "{\"jsonrpc\":\"2.0\",\n \"id\":1, \"result\":{\"protocolVersion\":\"2025-11-25\"}}\n")(w, r)
		case strings.Contains(string(body), `"id"`):
			says(200, "text/event-stream",
				": hello\r\n\r\nevent: message\r\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\"}\r\n\r\ndata: {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"token\":\"se\\\"cret-value\"}}\r\n\r\n")(w, r)
		default:
			w.WriteHeader(http.StatusAccepted)
		}
	})
	c := address(url)
	c.Headers = map[string]string{"Authorization": "Bearer env:T"}
	s := server(t, c, upstream.Options{Getenv: func(string) string { return `se"cret-value` }})
	l := dial(t, s)
	got := []string{exchange(t, l, initialize)}
	send(t, l, initialized)
	<-listening
	got = append(got, receive(t, l), exchange(t, l, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"x"}}`), receive(t, l))
	want := []string{
		`{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25"}}`,
		`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`,
		`{"jsonrpc":"2.0","method":"notifications/progress"}`,
		`{"jsonrpc":"2.0","id":2,"result":{"token":"[redacted]"}}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Receive(); err != io.EOF {
		t.Error(err)
	}
	const both = "application/json, text/event-stream"
	post := func(body string, more ...string) seen {
		s := seen{"POST", body, map[string]string{"Accept": both, "Content-Type": "application/json", "Authorization": `Bearer se"cret-value`}}
		for i := 0; i < len(more); i += 2 {
			s.Headers[more[i]] = more[i+1]
		}
		return s
	}
	session := []string{"Mcp-Session-Id", "abc", "Mcp-Protocol-Version", "2025-11-25"}
	inSession := map[string]string{"Mcp-Session-Id": "abc", "Mcp-Protocol-Version": "2025-11-25", "Authorization": `Bearer se"cret-value`}
	stream := map[string]string{"Accept": "text/event-stream"}
	for name, value := range inSession {
		stream[name] = value
	}
	wantSeen := []seen{post(initialize), post(initialized, session...), {"GET", "", stream},
		post(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"x"}}`, session...), {"DELETE", "", inSession}}
	if diff := cmp.Diff(wantSeen, f.all()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(upstream.Health{State: upstream.StateIdle}, s.Health()); diff != "" {
		t.Error(diff)
	}
}

// Under 2026-07-28 there is no session, and headers repeat what the body says.
func TestStatelessRequests(t *testing.T) {
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}`
	f := &fake{}
	url := f.start(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Mcp-Method") == "tools/list" {
			says(200, "application/json", `{"jsonrpc":"2.0","id":1,"result":{"tools":[
				{"name":"query","inputSchema":{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},"deep":{"type":"object","properties":{"n":{"type":"integer","x-mcp-header":"N"}}}}}},
				{"name":"wrong","inputSchema":{"properties":{"a":{"x-mcp-header":"A"},"b":{"x-mcp-header":"a"}}}}]}}`)(w, r)
			return
		}
		says(200, "application/json", `{"jsonrpc":"2.0","id":2,"result":{}}`)(w, r)
	})
	l := dial(t, server(t, address(url), upstream.Options{}))
	exchange(t, l, `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{`+meta+`}}`)
	want := []map[string]string{{"Mcp-Method": "tools/list"}}
	for _, test := range []struct {
		method, params string
		headers        map[string]string
	}{
		{"tools/call", `"name":"query","arguments":{"region":"Zürich","deep":{"n":9007199254740991}}`,
			map[string]string{"Mcp-Name": "query", "Mcp-Param-Region": "=?base64?WsO8cmljaA==?=", "Mcp-Param-N": "9007199254740991"}},
		{"tools/call", `"name":"query","arguments":{"region":"=?base64?eA==?=","deep":{"n":1.5}}`,
			map[string]string{"Mcp-Name": "query", "Mcp-Param-Region": "=?base64?PT9iYXNlNjQ/ZUE9PT89?="}},
		{"tools/call", `"name":"wrong","arguments":{"a":"1","b":"2"}`, map[string]string{"Mcp-Name": "wrong"}},
		{"resources/read", `"uri":"file:///a b"`, map[string]string{"Mcp-Name": "file:///a b"}},
		{"prompts/get", `"name":" p"`, map[string]string{"Mcp-Name": "=?base64?IHA=?="}},
		{"server/discover", `"x":1`, map[string]string{}},
	} {
		exchange(t, l, `{"jsonrpc":"2.0","id":2,"method":"`+test.method+`","params":{`+meta+`,`+test.params+`}}`)
		test.headers["Mcp-Method"] = test.method
		want = append(want, test.headers)
	}
	l.Close()
	var got []map[string]string
	for _, s := range f.all() {
		if s.Headers["Mcp-Protocol-Version"] != "2026-07-28" {
			t.Errorf("%+v", s)
		}
		delete(s.Headers, "Mcp-Protocol-Version")
		delete(s.Headers, "Accept")
		delete(s.Headers, "Content-Type")
		got = append(got, s.Headers)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// What a server refuses over HTTP is answered with an error; where nobody knows what came of a request, with neither an error
// nor a result. Either way it was sent once.
func TestWhatAServerRefuses(t *testing.T) {
	const request = `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"x"}}`
	const unknown = `{"jsonrpc":"2.0","id":5}`
	refused := func(why string) string {
		return `{"jsonrpc":"2.0","id":5,"error":{"code":-32000,"message":"the server s ` + why + `"}}`
	}
	for _, test := range []struct {
		name   string
		answer http.HandlerFunc
		want   string
	}{
		{"credentials", says(401, "text/plain", "no"), refused("does not accept the gateway's credentials")},
		{"too many", says(429, "text/plain", "no"), refused("takes no more requests now")},
		{"no such page", says(404, "text/html", "no"), refused("refused the message with HTTP status 404")},
		{"an error without an id", says(400, "application/json",
			`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no"}}`), refused("refused the message with HTTP status 400")},
		{"an error with its id", says(400, "application/json", `{"jsonrpc":"2.0","id":5,"error":{"code":-32602,"message":"no"}}`),
			`{"jsonrpc":"2.0","id":5,"error":{"code":-32602,"message":"no"}}`},
		{"a defect", says(500, "text/plain", "no"), unknown},
		{"another form", says(200, "text/html", "no"), unknown},
		{"another answer", says(200, "application/json", `{"jsonrpc":"2.0","id":6,"result":{}}`), unknown},
		{"half an answer", says(200, "application/json", `{"jsonrpc":"2.0","id":5,"resu`), unknown},
		{"a stream without an answer", says(200, "text/event-stream", "data: {\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{}}\n"), unknown},
		{"a cut connection", func(w http.ResponseWriter, _ *http.Request) {
			connection, _, _ := w.(http.Hijacker).Hijack()
			connection.Close()
		}, unknown},
		{"elsewhere", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:1/other", http.StatusTemporaryRedirect)
		}, refused("redirects to another place")},
		{"as another request", func(w http.ResponseWriter,
			r *http.Request) {
			http.Redirect(w, r, "/other", http.StatusSeeOther)
		}, refused("redirects to another place")},
	} {
		f := &fake{}
		l := dial(t, server(t, address(f.start(t, test.answer)), upstream.Options{}))
		if got := exchange(t, l, request); got != test.want {
			t.Errorf("%s: %s", test.name, got)
		}
		if n := len(f.all()); n != 1 {
			t.Errorf("%s: it was sent %d times", test.name, n)
		}
		l.Close()
	}
	for status, want := range map[int]interlock.Code{401: interlock.CodeUnauthorized, 429: interlock.CodeLimited, 400: interlock.CodeInvalid, 500: ""} {
		f := &fake{}
		l := dial(t, server(t, address(f.start(t, says(status, "text/plain", "no"))), upstream.Options{}))
		if err := l.Send(t.Context(), []byte(initialized)); code(err) != want || errors.Is(err, io.ErrUnexpectedEOF) != (want == "") {
			t.Errorf("a notification and status %d: %v", status, err)
		}
	}
}

func TestAForgottenSessionEndsTheLink(t *testing.T) {
	f := &fake{}
	url := f.start(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Mcp-Session-Id") != "" {
			says(404, "application/json", `{"jsonrpc":"2.0","id":2,"error":{"code":-32001,"message":"Session not found"}}`)(w, r)
			return
		}
		w.Header().Set("Mcp-Session-Id", "abc")
		says(200, "application/json", `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25"}}`)(w, r)
	})
	s := server(t, address(url), upstream.Options{})
	l := dial(t, s)
	exchange(t, l, initialize)
	if got := exchange(t, l, `{"jsonrpc":"2.0","id":2,"method":"tools/call"}`); got != `{"jsonrpc":"2.0","id":2,"error":{"code":-32000,"message":"the server s no longer knows this session"}}` {
		t.Error(got)
	}
	if _, err := l.Receive(); err != io.EOF {
		t.Error(err)
	}
	if _, err := s.Dial(t.Context()); err != nil {
		t.Errorf("it can be dialed again at once: %v", err)
	}
}

func TestAServerThatIsNotReachedIsLeftAlone(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + listener.Addr().String()
	listener.Close()
	at := &clock{at: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)}
	s := server(t, address(url), upstream.Options{Now: at.now, Random: func() float64 { return 1 }})
	l := dial(t, s)
	var callers sync.WaitGroup
	for range 8 {
		callers.Go(func() {
			if err := l.Send(t.Context(), []byte(initialize)); code(err) != interlock.CodeUnavailable {
				t.Error(err)
			}
		})
	}
	callers.Wait()
	h := s.Health()
	if h.State != upstream.StateBacking || h.Failures != 1 || h.Retry.Sub(at.now()) != 250*time.Millisecond || !strings.Contains(h.LastError, "refused") {
		t.Errorf("%+v", h)
	}
	if _, err := s.Dial(t.Context()); code(err) != interlock.CodeUnavailable {
		t.Error(err)
	}
	at.move(time.Second)
	if err := l.Send(t.Context(), []byte(initialize)); code(err) != interlock.CodeUnavailable || s.Health().Failures != 2 {
		t.Errorf("%v %+v", err, s.Health())
	}
}

// A stream that breaks is taken up where it broke, and the request is not sent again.
func TestABrokenStreamIsResumed(t *testing.T) {
	f := &fake{}
	url := f.start(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			says(200, "text/event-stream", "id: 2\ndata: {\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{}}\n\n")(w, r)
			return
		}
		says(200, "text/event-stream", "id: 1\nretry: 1\ndata:\n\n")(w, r)
	})
	l := dial(t, server(t, address(url), upstream.Options{}))
	if got := exchange(t, l, `{"jsonrpc":"2.0","id":5,"method":"tools/call"}`); got != `{"jsonrpc":"2.0","id":5,"result":{}}` {
		t.Error(got)
	}
	all := f.all()
	if len(all) != 2 || all[1].Method != "GET" || all[1].Headers["Last-Event-Id"] != "1" {
		t.Errorf("%+v", all)
	}
}

func TestBoundsOverHTTP(t *testing.T) {
	long := `{"jsonrpc":"2.0","id":5,"result":"` + strings.Repeat("x", 20_000) + `"}`
	for _, answer := range []http.HandlerFunc{says(200, "application/json", long),
		says(200, "text/event-stream", "data: "+long+"\n\n"), says(200, "text/event-stream", strings.Repeat("data: x\n", 5000))} {
		f := &fake{}
		c := address(f.start(t, answer))
		c.MaxMessage = 10_000
		l := dial(t, server(t, c, upstream.Options{}))
		if got := exchange(t, l, `{"jsonrpc":"2.0","id":5,"method":"tools/call"}`); got != `{"jsonrpc":"2.0","id":5,"error":{"code":-32603,"message":"the server's answer is longer than 10000 bytes and was dropped","data":{"interlock":"answer_dropped"}}}` {
			t.Errorf("%.200s", got)
		}
	}
}

// The context of Send ends the exchange, and Close ends all of them.
func TestAnExchangeCanBeEnded(t *testing.T) {
	arrived, left := make(chan struct{}, 2), make(chan struct{}, 2)
	f := &fake{}
	url := f.start(t, func(_ http.ResponseWriter, r *http.Request) {
		arrived <- struct{}{}
		<-r.Context().Done()
		left <- struct{}{}
	})
	l := dial(t, server(t, address(url), upstream.Options{}))
	ctx, cancel := context.WithCancel(t.Context())
	if err := l.Send(ctx, []byte(`{"jsonrpc":"2.0","id":5,"method":"tools/call"}`)); err != nil {
		t.Error(err)
	}
	<-arrived
	cancel()
	<-left
	send(t, l, `{"jsonrpc":"2.0","id":6,"method":"tools/call"}`)
	<-arrived
	l.Close()
	<-left
	if err := l.Send(t.Context(), []byte(initialize)); code(err) != interlock.CodeUnavailable {
		t.Error(err)
	}
}

// A stream that goes on for a moment after its answer does not cost a connection, even though its caller is gone by then.
func TestConnectionsAreUsedAgain(t *testing.T) {
	var mu sync.Mutex
	connections := map[string]bool{}
	f := &fake{}
	ended := make(chan struct{})
	url := f.start(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		connections[r.RemoteAddr] = true
		mu.Unlock()
		says(200, "text/event-stream", "data: {\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{}}\n\n")(w, r)
		w.(http.Flusher).Flush()
		<-ended
	})
	l := dial(t, server(t, address(url), upstream.Options{}))
	const calls = 30
	for range calls {
		ctx, cancel := context.WithCancel(t.Context())
		if err := l.Send(ctx, []byte(`{"jsonrpc":"2.0","id":5,"method":"tools/call"}`)); err != nil {
			t.Fatal(err)
		}
		receive(t, l)
		cancel()
		ended <- struct{}{}
	}
	_ = l.Close()
	mu.Lock()
	defer mu.Unlock()
	if len(connections) == calls { // a call may come before the connection is back, but not each of them
		t.Errorf("every call took a connection of its own")
	}
}

func TestCertificatesAreVerified(t *testing.T) {
	s := httptest.NewUnstartedServer(says(200, "application/json", `{"jsonrpc":"2.0","id":1,"result":{}}`))
	s.Config.ErrorLog = nil
	s.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	s.StartTLS()
	defer s.Close()
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	c := address(s.URL)
	if err := dial(t, server(t, c, upstream.Options{})).Send(t.Context(), []byte(initialize)); code(err) != interlock.CodeUnavailable {
		t.Errorf("a certificate of nobody's: %v", err)
	}
	c.CA = file
	if got := exchange(t, dial(t, server(t, c, upstream.Options{})), initialize); got != `{"jsonrpc":"2.0","id":1,"result":{}}` {
		t.Error(got)
	}
	c.CA = filepath.Join(t.TempDir(), "none.pem")
	if _, err := upstream.New(c, upstream.Options{}); err == nil || err.Error() != "ca: the file of certificates can't be read" {
		t.Error(err)
	}
}

// The SDK's server understands us in both revisions, with and without streams.
func TestTheSDKsServer(t *testing.T) {
	for _, options := range []*mcp.StreamableHTTPOptions{{}, {JSONResponse: true}, {Stateless: true}, {Stateless: true, JSONResponse: true}} {
		s := mcp.NewServer(&mcp.Implementation{Name: "real", Version: "1"}, nil)
		mcp.AddTool(s, &mcp.Tool{Name: "greet"}, func(_ context.Context, _ *mcp.CallToolRequest, in struct{ Name string }) (*mcp.CallToolResult, any, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "hello " + in.Name}}}, nil, nil
		})
		h := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, options))
		l := dial(t, server(t, address(h.URL), upstream.Options{}))
		exchange(t, l, initialize)
		send(t, l, initialized)
		if got := exchange(t, l, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"greet","arguments":{"Name":"you"}}}`); !strings.Contains(got, "hello you") {
			t.Errorf("%+v: %s", options, got)
		}
		fresh := dial(t, server(t, address(h.URL), upstream.Options{}))
		const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"}}`
		for id, method := range []string{"server/discover", "tools/list", "tools/call"} {
			if id > 0 && !options.Stateless {
				break // the SDK's server has sessions then and speaks no revision without
			}
			got := exchange(t, fresh, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"%s","params":{"name":"greet","arguments":{"Name":"you"},%s}}`, id, method, meta))
			if strings.Contains(got, `"error"`) {
				t.Errorf("%+v: %s: %s", options, method, got)
			}
		}
		l.Close()
		fresh.Close()
		h.Close()
	}
}
