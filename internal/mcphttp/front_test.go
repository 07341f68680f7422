package mcphttp_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"interlock"
	"interlock/internal/mcpgateway"
	"interlock/internal/mcphttp"
)

func TestHTTPSession(t *testing.T) {
	r := newHTTP(t, nil)
	id := r.begin("ann")
	in := map[string]string{"Mcp-Session-Id": id, "MCP-Protocol-Version": "2025-11-25"}
	for _, test := range []struct {
		name string
		x    exchange
		want string
	}{
		{"a call", exchange{body: call(1, "echo"), header: in},
			`200 application/json {"jsonrpc":"2.0","id":1,"result":{"text":"hi","agent":"ann","shared":false}}`},
		{"an error of the protocol", exchange{body: `{"jsonrpc":"2.0","id":"x","method":"unknown"}`, header: in},
			`200 application/json {"jsonrpc":"2.0","id":"x","error":{"code":-32601,"message":"no"}}`},
		{"a notification", exchange{body: `{"jsonrpc":"2.0","method":"notifications/initialized"}`, header: in}, `202  `},
		{"a response", exchange{body: `{"jsonrpc":"2.0","id":7,"result":{}}`, header: in}, `202  `},
		{"an older revision", exchange{body: call(1, "echo"),
			header: map[string]string{"Mcp-Session-Id": id, "MCP-Protocol-Version": "2025-03-26"}},
			`200 application/json {"jsonrpc":"2.0","id":1,"result":{"text":"hi","agent":"ann","shared":false}}`},
		{"no session", exchange{body: call(1, "echo")},
			`400 application/json {"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"send the Mcp-Session-Id of your session; initialize begins one"}}`},
		{"a session nobody has", exchange{body: call(1, "echo"), header: map[string]string{"Mcp-Session-Id": "x"}},
			`404 text/plain; charset=utf-8 no such session; initialize begins a new one`},
		{"another agent's session", exchange{token: "bob", body: call(1, "echo"), header: in},
			`404 text/plain; charset=utf-8 no such session; initialize begins a new one`},
		{"another principal's session", exchange{token: "ann-of-carl", body: call(1, "echo"), header: in},
			`404 text/plain; charset=utf-8 no such session; initialize begins a new one`},
		{"a session in a session", exchange{body: `{"jsonrpc":"2.0","id":1,"method":"initialize"}`, header: in},
			`400 application/json {"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"a session begins without an Mcp-Session-Id"}}`},
		{"a revision nobody speaks", exchange{body: call(1, "echo"),
			header: map[string]string{"Mcp-Session-Id": id, "MCP-Protocol-Version": "1"}},
			`400 application/json {"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"this revision of the protocol is not spoken here","data":{"supported":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"],"requested":"1"}}}`},
		{"a batch", exchange{body: `[` + call(1, "echo") + `]`, header: in},
			`400 application/json {"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"batches of messages are not part of the protocol; send one message at a time"}}`},
		{"no JSON", exchange{body: `{"jsonrpc":`, header: in},
			`400 application/json {"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"the message is not valid JSON"}}`},
		{"nothing", exchange{header: in}, `400 application/json {"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"the message is empty"}}`},
		{"another type", exchange{body: call(1, "echo"),
			header: map[string]string{"Mcp-Session-Id": id, "Content-Type": "text/plain"}},
			`415 text/plain; charset=utf-8 Content-Type: send application/json in UTF-8`},
		{"a client of JSON alone", exchange{body: call(1, "echo"),
			header: map[string]string{"Mcp-Session-Id": id, "Accept": "application/json"}},
			`406 text/plain; charset=utf-8 Accept: name both application/json and text/event-stream`},
		{"another method", exchange{method: "PUT", header: in}, `405 text/plain; charset=utf-8 this path takes POST, GET and DELETE`},
		{"a stream without a session", exchange{method: "GET"}, `400 text/plain; charset=utf-8 Mcp-Session-Id: send that of your session`},
		{"a stream of another's session", exchange{method: "GET", token: "bob", header: in},
			`404 text/plain; charset=utf-8 no such session; initialize begins a new one`},
		{"the end by another", exchange{method: "DELETE", token: "bob", header: in},
			`404 text/plain; charset=utf-8 no such session; initialize begins a new one`},
		{"the end", exchange{method: "DELETE", header: in}, `204  `},
		{"after the end", exchange{body: call(1, "echo"), header: in}, `404 text/plain; charset=utf-8 no such session; initialize begins a new one`},
	} {
		response := r.do(test.x)
		if got := fmt.Sprint(response.StatusCode, " ", response.Header.Get("Content-Type"), " ", r.text(response)); got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", test.name, got, test.want)
		}
	}
	<-r.opened[0].closed
}

func TestHTTPSessionThatDoesNotBegin(t *testing.T) {
	r := newHTTP(t, nil)
	response := r.do(exchange{body: `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"name":"bad"}}`})
	if id := response.Header.Get("Mcp-Session-Id"); id != "" || response.StatusCode != http.StatusOK {
		t.Errorf("a failed handshake: %s, session %q", response.Status, id)
	}
	<-r.opened[0].closed
	r.full = true
	response = r.do(exchange{body: `{"jsonrpc":"2.0","id":0,"method":"initialize"}`})
	if got := r.text(response); response.StatusCode != http.StatusServiceUnavailable || !strings.Contains(got, "-32005") {
		t.Errorf("no room: %s %s", response.Status, got)
	}
}

func TestHTTPWithoutSession(t *testing.T) {
	r := newHTTP(t, nil)
	change := func(x exchange, header map[string]string) exchange {
		made := map[string]string{}
		for _, from := range []map[string]string{x.header, header} {
			for name, value := range from {
				made[name] = value
			}
		}
		x.header = made
		return x
	}
	good := modern(1, "echo")
	notMeant := `400 {"jsonrpc":"2.0","id":1,"error":{"code":-32020,"message":`
	resource := exchange{body: strings.ReplaceAll(strings.ReplaceAll(good.body, `"name":"echo"`, `"uri":"file:///ü"`), "tools/call", "resources/read"),
		header: map[string]string{"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "resources/read", "Mcp-Name": "=?base64?ZmlsZTovLy/DvA==?="}}
	for _, test := range []struct {
		name string
		x    exchange
		want string
	}{
		{"a call", good, `200 {"jsonrpc":"2.0","id":1,"result":{"text":"hi","agent":"ann","shared":true}}`},
		{"white space around", change(good, map[string]string{"Mcp-Name": "  echo  "}), `200 {`},
		{"a name that is encoded", resource, `200 {`},
		{"another name encoded", change(resource, map[string]string{"Mcp-Name": "=?base64?ZmlsZTovLy8=?="}), notMeant},
		{"another method", change(good, map[string]string{"Mcp-Method": "tools/list"}), notMeant},
		{"a method in another case", change(good, map[string]string{"Mcp-Method": "Tools/Call"}), notMeant},
		{"no method", change(good, map[string]string{"Mcp-Method": ""}), notMeant},
		{"another tool", change(good, map[string]string{"Mcp-Name": "other"}), notMeant},
		{"no tool", change(good, map[string]string{"Mcp-Name": ""}), notMeant},
		{"another revision in the header", change(good, map[string]string{"MCP-Protocol-Version": "2025-11-25"}), notMeant},
		{"no revision in the header", change(good, map[string]string{"MCP-Protocol-Version": ""}), notMeant},
		{"no revision in the body", change(exchange{body: call(1, "echo")}, good.header), `400 {"jsonrpc":"2.0","id":1,"error":{"code":-32602,`},
		{"a revision nobody speaks", change(exchange{body: strings.ReplaceAll(good.body, "2026-07-28", "v9")},
			change(good, map[string]string{"MCP-Protocol-Version": "v9"}).header),
			`400 {"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"this revision of the protocol is not spoken here","data":{"supported":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"],"requested":"v9"}}}`},
		{"a method nobody knows", change(exchange{body: strings.ReplaceAll(good.body, "tools/call", "unknown")},
			change(good, map[string]string{"Mcp-Method": "unknown"}).header),
			`404 {"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}`},
		{"a stream of its own", change(exchange{method: "GET"}, good.header), `405 in this revision there is no stream of its own; send subscriptions/listen`},
		{"a notification", change(exchange{body: `{"jsonrpc":"2.0","method":"notifications/x"}`},
			change(good, map[string]string{"Mcp-Method": "notifications/x"}).header), `202 `},
		{"a response", change(exchange{body: `{"jsonrpc":"2.0","id":1,"result":{}}`}, good.header), `400 {"jsonrpc":"2.0","id":1,"error":{"code":-32600,`},
	} {
		response := r.do(test.x)
		if got := fmt.Sprint(response.StatusCode, " ", r.text(response)); !strings.HasPrefix(got, test.want) {
			t.Errorf("%s:\n got %s\nwant %s", test.name, got, test.want)
		}
	}
	if n := len(r.opened); n != 1 {
		t.Errorf("one agent's requests opened %d sessions", n)
	}
	bob := modern(1, "echo")
	bob.token = "bob"
	if r.do(bob); len(r.opened) != 2 || r.opened[1].caller.Agent != "bob" {
		t.Error("two agents share a session")
	}
}

func TestHTTPStreams(t *testing.T) {
	r := newHTTP(t, nil)
	id := r.begin("ann")
	in := map[string]string{"Mcp-Session-Id": id}
	want := []string{`{"jsonrpc":"2.0","method":"notifications/progress", "params":{"progress":0}}`,
		`{"jsonrpc":"2.0","method":"notifications/progress", "params":{"progress":1}}`,
		`{"jsonrpc":"2.0","method":"notifications/progress", "params":{"progress":2}}`,
		`{"jsonrpc":"2.0","id":3,"result":{"text":"done","agent":"ann","shared":false}}`, "EOF"}
	response := r.do(exchange{body: call(3, "progress"), header: in})
	stream, got := events{bufio.NewReader(response.Body)}, []string{}
	for range want {
		got = append(got, stream.next(t))
	}
	if diff := cmp.Diff(want, got); diff != "" || response.Header.Get("Content-Type") != "text/event-stream" {
		t.Errorf("%s (-want +got):\n%s", response.Header.Get("Content-Type"), diff)
	}
	first := r.do(exchange{method: "GET", header: in})
	second := r.do(exchange{method: "GET", header: in})
	if line := (events{bufio.NewReader(first.Body)}).next(t); line != "EOF" {
		t.Errorf("a stream that another took the place of: %s", line)
	}
	r.do(exchange{body: call(4, "notice"), header: in})
	listening := events{bufio.NewReader(second.Body)}
	if line := listening.next(t); line != `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}` {
		t.Errorf("on the session's stream: %s", line)
	}
	r.do(exchange{method: "DELETE", header: in})
	if line := listening.next(t); line != "EOF" {
		t.Errorf("after the session's end: %s", line)
	}
}

func TestHTTPAuthentication(t *testing.T) {
	r := newHTTP(t, func(c *mcphttp.Config) {
		c.Issuers, c.Scopes = []string{"https://login.example"}, []string{"tools"}
	})
	about := `resource_metadata="` + r.url + `/.well-known/oauth-protected-resource/mcp"`
	for _, test := range []struct {
		token, header string
		status        int
		challenge     string
	}{
		{token: "ann", status: 200},
		{token: "unknown", status: 401, challenge: `Bearer error="invalid_token", scope="tools", ` + about},
		{token: "gone", status: 401, challenge: `Bearer error="invalid_token", scope="tools", ` + about},
		{token: "nameless", status: 401, challenge: `Bearer error="invalid_token", scope="tools", ` + about},
		{token: "narrow", status: 403, challenge: `Bearer error="insufficient_scope", scope="tools:call", ` + about},
		{token: "later", status: 503},
		{token: "broken", status: 500},
		{header: "-", status: 401, challenge: `Bearer scope="tools", ` + about},
		{header: "Basic YW5uOg==", status: 401, challenge: `Bearer scope="tools", ` + about},
		{header: "ann", status: 401, challenge: `Bearer scope="tools", ` + about},
	} {
		x := modern(1, "echo")
		x.token = test.token
		request := r.request(context.Background(), x)
		if test.header != "" {
			request.Header.Set("Authorization", test.header)
			request.AddCookie(&http.Cookie{Name: "interlock_session", Value: "ann"})
			request.URL.RawQuery = "access_token=ann"
		}
		if test.header == "-" {
			request.Header.Del("Authorization")
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != test.status || response.Header.Get("WWW-Authenticate") != test.challenge {
			t.Errorf("%s%s: %s, %q", test.token, test.header, response.Status, response.Header.Get("WWW-Authenticate"))
		}
	}
	twice := r.request(context.Background(), modern(1, "echo"))
	twice.Header.Add("Authorization", "Bearer bob")
	if response, err := http.DefaultClient.Do(twice); err != nil || response.StatusCode != http.StatusUnauthorized {
		t.Errorf("two credentials: %v, %v", response, err)
	}
	if diff := cmp.Diff([]string{"gone at gateway: this agent token is revoked"}, r.admission.refused); diff != "" {
		t.Errorf("recorded (-want +got):\n%s", diff)
	}
}

func TestHTTPMetadata(t *testing.T) {
	get := func(r *httpRig, path string) string {
		response, err := http.Get(r.url + path)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(response.StatusCode, " ", strings.TrimSpace(string(text)))
	}
	r := newHTTP(t, func(c *mcphttp.Config) {
		c.Issuers, c.Scopes = []string{"https://login.example"}, []string{"tools"}
	})
	for path, want := range map[string]string{
		"/.well-known/oauth-protected-resource":     `200 {"resource":"` + r.url + `/mcp","authorization_servers":["https://login.example"],"scopes_supported":["tools"],"bearer_methods_supported":["header"],"resource_name":"Interlock gateway"}`,
		"/.well-known/oauth-protected-resource/mcp": `200 {"resource":"` + r.url + `/mcp","authorization_servers":["https://login.example"],"scopes_supported":["tools"],"bearer_methods_supported":["header"],"resource_name":"Interlock gateway"}`,
		"/.well-known/oauth-protected-resource/x":   "404 no such path; the gateway is at /mcp",
	} {
		if got := get(r, path); got != want {
			t.Errorf("%s: %s", path, got)
		}
	}
	r = newHTTP(t, func(c *mcphttp.Config) {
		c.Issuers, c.URL = []string{"https://login.example"}, "https://tools.example.com/team/mcp"
	})
	if got := get(r, "/.well-known/oauth-protected-resource/team/mcp"); !strings.Contains(got, `"resource":"https://tools.example.com/team/mcp"`) {
		t.Errorf("behind another name: %s", got)
	}
	if got := get(newHTTP(t, nil), "/.well-known/oauth-protected-resource"); !strings.HasPrefix(got, "404") {
		t.Errorf("without an issuer: %s", got)
	}
}

func TestHTTPOrigins(t *testing.T) {
	r := newHTTP(t, func(c *mcphttp.Config) {
		c.Hosts, c.Origins = []string{"tools.internal"}, []string{"https://app.example.com"}
	})
	for _, test := range []struct {
		host, origin string
		status       int
	}{
		{"", "", 200}, {"localhost:7433", "", 200}, {"[::1]:1", "", 200}, {"tools.internal:9", "", 200}, {"Tools.Internal", "", 200},
		{"evil.example", "", 403}, {"127.0.0.1.evil.example", "", 403}, {"localhost.", "", 403},
		{"", "https://app.example.com", 200}, {"", "https://evil.example", 403}, {"", "null", 403}, {"", "http://localhost:3000", 403},
		{"evil.example", "https://app.example.com", 403},
		{"localhost:7", "http://localhost:7", 200}, {"localhost:7", "http://localhost:8", 403}, {"localhost:7", "https://localhost:7", 403},
		{"evil.example", "http://evil.example", 403},
	} {
		request := r.request(context.Background(), modern(1, "echo"))
		if test.host != "" {
			request.Host = test.host
		}
		if test.origin != "" {
			request.Header.Set("Origin", test.origin)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if allowed := response.Header.Get("Access-Control-Allow-Origin"); response.StatusCode != test.status || test.status == 200 && allowed != test.origin {
			t.Errorf("host %q, origin %q: %s, allowed %q", test.host, test.origin, response.Status, allowed)
		}
	}
	if response := r.do(exchange{method: "OPTIONS",
		header: map[string]string{"Origin": "https://app.example.com", "Authorization": ""}}); response.StatusCode != http.StatusNoContent {
		t.Errorf("a preflight: %s", response.Status)
	}
	for _, bad := range []mcphttp.Config{{URL: "tools.example.com/mcp"}, {URL: "https://tools.example.com/mcp?x"},
		{Origins: []string{"app.example.com"}}} {
		if _, err := mcphttp.New(mcphttp.Config{Gateway: &mcpgateway.Gateway{}, Credentials: fakeCredentials{},
			URL: bad.URL, Origins: bad.Origins}); err == nil {
			t.Errorf("%+v was taken", bad)
		}
	}
}

// A client that goes away cancels what stands for itself, and not what belongs to a session.
func TestHTTPAbandoned(t *testing.T) {
	r := newHTTP(t, nil)
	ctx, leave := context.WithCancel(context.Background())
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_, _ = http.DefaultClient.Do(r.request(ctx, modern(1, "wait"))) // it is left before it is answered
	}()
	<-r.waiting
	leave()
	<-gone
	if err := <-r.cancelled; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	id := r.begin("ann")
	ctx, leave = context.WithCancel(context.Background())
	gone = make(chan struct{})
	go func() {
		defer close(gone)
		_, _ = http.DefaultClient.Do(r.request(ctx, exchange{body: call(1, "wait"), header: map[string]string{"Mcp-Session-Id": id}}))
	}()
	<-r.waiting
	leave()
	<-gone
	r.do(exchange{body: call(2, "echo"), header: map[string]string{"Mcp-Session-Id": id}})
	select {
	case <-r.cancelled:
		t.Error("a client that went away cancelled a request of its session")
	default:
	}
	r.do(exchange{method: "DELETE", header: map[string]string{"Mcp-Session-Id": id}})
	<-r.cancelled
}

func TestHTTPIdleAndRevokedSessions(t *testing.T) {
	r := newHTTP(t, func(c *mcphttp.Config) { c.Limits.Idle, c.Limits.Sessions = time.Minute, 2 })
	first, second := r.begin("ann"), r.begin("ann")
	r.do(exchange{body: call(1, "echo"), header: map[string]string{"Mcp-Session-Id": first}})
	status := func(id, token string) int {
		return r.do(exchange{token: token, body: call(1, "echo"), header: map[string]string{"Mcp-Session-Id": id}}).StatusCode
	}
	r.mu.Lock()
	r.now = r.now.Add(time.Second)
	r.mu.Unlock()
	status(first, "ann")
	third := r.begin("ann")
	if got := []int{status(first, "ann"), status(second, "ann"), status(third, "ann")}; !cmp.Equal(got, []int{200, 404, 200}) {
		t.Errorf("the session that was used least recently makes room: %v", got)
	}
	bob := r.begin("bob")
	r.admission.mu.Lock()
	r.admission.agents["bob"] = interlock.AgentRecord{ID: "bob", Revoked: r.now}
	r.admission.mu.Unlock()
	r.front.Sweep(context.Background())
	if got := []int{status(first, "ann"), status(bob, "bob")}; !cmp.Equal(got, []int{200, 404}) {
		t.Errorf("after bob was revoked: %v", got)
	}
	r.mu.Lock()
	r.now = r.now.Add(2 * time.Minute)
	r.mu.Unlock()
	r.front.Sweep(context.Background())
	if got := []int{status(first, "ann"), status(third, "ann")}; !cmp.Equal(got, []int{404, 404}) {
		t.Errorf("idle sessions: %v", got)
	}
}

func TestHTTPParamHeaders(t *testing.T) {
	const tool = `{"name":"s.t","inputSchema":{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},
		"n":{"type":"integer","x-mcp-header":"n"},"on":{"type":"boolean","x-mcp-header":"On"},
		"deep":{"type":"object","properties":{"x":{"type":"string","x-mcp-header":"Deep"}}},"free":{"type":"string"}}}}`
	for _, test := range []struct {
		arguments string
		header    map[string]string
		ok        bool
	}{
		{`{}`, nil, true},
		{`{"free":"x"}`, nil, true},
		{`{"region":"eu"}`, map[string]string{"Region": "eu"}, true},
		{`{"region":"eu"}`, map[string]string{"Region": "=?base64?ZXU=?="}, true},
		{`{"region":"=?base64?x"}`, map[string]string{"Region": "=?base64?x"}, true},
		{`{"region":"eu"}`, nil, false},
		{`{"region":"eu"}`, map[string]string{"Region": "us"}, false},
		{`{"region":"eu"}`, map[string]string{"Region": "=?base64?ZXU?="}, false},
		{`{"region":"=?base64?ZXU?="}`, map[string]string{"Region": "=?base64?ZXU?="}, false},
		{`{}`, map[string]string{"Region": "eu"}, false},
		{`{"region":null}`, map[string]string{"Region": "null"}, false},
		{`{"region":["eu"]}`, map[string]string{"Region": `["eu"]`}, false},
		{`{"n":7}`, map[string]string{"N": "7"}, true},
		{`{"n":7}`, map[string]string{"N": "7.0"}, true},
		{`{"n":7.5}`, map[string]string{"N": "7.5"}, false},
		{`{"n":9007199254740993}`, map[string]string{"N": "9007199254740992"}, false},
		{`{"on":true}`, map[string]string{"On": "true"}, true},
		{`{"on":true}`, map[string]string{"On": "false"}, false},
		{`{"deep":{"x":"a"}}`, map[string]string{"Deep": "a"}, true},
		{`{"deep":{"x":"a"}}`, nil, false},
		{`{"x":"a"}`, map[string]string{"Deep": "a"}, false},
	} {
		header := http.Header{}
		for name, value := range test.header {
			header.Set("Mcp-Param-"+name, value)
		}
		if got := mcphttp.ParamMismatch(header, tool, test.arguments); (got == "") != test.ok {
			t.Errorf("%s with %v: %q", test.arguments, test.header, got)
		}
	}
}
