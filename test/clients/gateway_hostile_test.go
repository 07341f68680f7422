package clients

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"interlock/test/wait"
)

// hostileSettings puts the journal server, and every hostile one, behind the gateway.
func hostileSettings(t *testing.T, home, journal string, addresses map[string]string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	fmt.Fprintf(&text, "gateway:\n  trust_on_first_use: true\n  servers:\n")
	for _, kind := range slices.Sorted(maps.Keys(hostileServers)) {
		fmt.Fprintf(&text, "  - {name: %s, command: %q, args: [%q, %q]}\n", kind, self, hostileFlag, kind)
	}
	for _, kind := range slices.Sorted(maps.Keys(addresses)) {
		fmt.Fprintf(&text, "  - {name: %s, url: %q}\n", kind, addresses[kind])
	}
	fmt.Fprintf(&text, "  - {name: box, command: %q, args: [%q, %q]}\n", self, journalFlag, journal)
	if err := os.WriteFile(filepath.Join(home, "interlock.yaml"), []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

// hostileAddresses are servers over HTTP that don't keep to the protocol, by name.
func hostileAddresses(t *testing.T) map[string]string {
	t.Helper()
	over := make(chan struct{})
	hostile := func(call http.HandlerFunc) string {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			var m heardMessage
			if err != nil || r.Method != http.MethodPost || json.Unmarshal(body, &m) != nil {
				w.WriteHeader(http.StatusMethodNotAllowed)
				return
			}
			if m.ID == nil {
				w.WriteHeader(http.StatusAccepted)
				return
			}
			var answer strings.Builder
			if (&hostileServer{out: &answer}).behave(m) {
				call(w, r.WithContext(context.WithValue(r.Context(), callID{}, string(m.ID))))
				return
			}
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, answer.String())
		}))
		t.Cleanup(server.Close)
		return server.URL
	}
	drip := func(kind, begin string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", kind)
			io.WriteString(w, begin)
			for tick := time.NewTicker(20 * time.Millisecond); ; {
				select {
				case <-over:
					return
				case <-r.Context().Done():
					return
				case <-tick.C:
					io.WriteString(w, "x")
					http.NewResponseController(w).Flush()
				}
			}
		}
	}
	addresses := map[string]string{
		"web-silent": hostile(func(_ http.ResponseWriter, r *http.Request) {
			select {
			case <-over:
			case <-r.Context().Done():
			}
		}),
		"web-drip":   hostile(drip("application/json", `{"jsonrpc":"2.0","id":`)),
		"web-events": hostile(drip("text/event-stream", "data: {")),
		"web-huge": hostile(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"%s"}]}}`,
				r.Context().Value(callID{}), strings.Repeat("x", 20<<20))
		}),
		"web-other": hostile(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			for n := range 200 {
				fmt.Fprintf(w, "data: "+done+"\n\n", fmt.Sprint(1000+n))
			}
			io.WriteString(w, "id: \x00\nretry: 999999999999999999999\nevent: \xff\n\ndata: {\"jsonrpc\":\n\n")
		}),
		"web-cut": hostile(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100000")
			io.WriteString(w, `{"jsonrpc"`)
		}),
	}
	t.Cleanup(func() { close(over) }) // before the servers are closed, which wait for what is under way
	return addresses
}

type callID struct{}

// hostileKinds is every server behind the gateway that has a tool called t.
func hostileKinds(addresses map[string]string) []string {
	kinds := slices.Concat(slices.Collect(maps.Keys(hostileServers)), slices.Collect(maps.Keys(addresses)))
	return slices.DeleteFunc(kinds, func(kind string) bool {
		return kind == "silent" || kind == "garbage" || kind == "strange" || kind == "wide" || kind == "endless"
	})
}

// TestGatewayAmongTheHostile has one client work while others, and servers behind the gateway, break every rule of the protocol
// and of HTTP. Its calls are answered, each once, and the log is whole.
func TestGatewayAmongTheHostile(t *testing.T) {
	t.Parallel()
	home, env := newHome(t)
	journal := home + "/journal.txt"
	addresses := hostileAddresses(t)
	hostileSettings(t, home, journal, addresses)
	good, bad := addAgent(t, env, "good"), addAgent(t, env, "bad")
	endpoint := started(t, env, "mcp     ", "gateway", "--listen", "127.0.0.1:0")
	address := strings.TrimSuffix(strings.TrimPrefix(endpoint, "http://"), "/mcp")
	var clients [3]*webClient // they wait for the servers to start at the same time
	var opening sync.WaitGroup
	for n, token := range []string{bad, good, good} {
		opening.Go(func() { clients[n] = newWebClient(t, endpoint, token, n == 2) })
	}
	opening.Wait()
	ctx, stop := context.WithCancel(t.Context())
	var hostile, working sync.WaitGroup
	for n, kind := range hostileKinds(addresses) {
		for again := range 2 {
			hostile.Go(func() { _, _ = clients[0].call(1000+2*n+again, kind+".t", "{}") })
		}
	}
	for _, attack := range attacks(address, bad, clients[0].session) {
		hostile.Go(func() { attack(ctx) })
	}
	working.Go(func() { work(t, clients[1].note, 0) })
	working.Go(func() { work(t, clients[2].note, 400) })
	working.Wait()
	stop()
	clients[0].cut()
	hostile.Wait()
	checkGood(t, env, journal, 800)
}

// TestGatewayAmongTheHostileOnStandardStreams has a client work that sends what is no message in between, before the same servers.
func TestGatewayAmongTheHostileOnStandardStreams(t *testing.T) {
	t.Parallel()
	home, env := newHome(t)
	journal := home + "/journal.txt"
	addresses := hostileAddresses(t)
	hostileSettings(t, home, journal, addresses)
	life := startThrough(t, env)
	for n, kind := range hostileKinds(addresses) {
		life.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":"h%d","method":"tools/call","params":{"name":"%s.t","arguments":{}}}`, n, kind))
	}
	lines := hostileLines()
	work(t, func(n int) (string, error) {
		life.say(lines[n%len(lines)])
		return life.note(n)
	}, 0)
	_ = life.gateway.Process.Signal(os.Interrupt) // or it waits for answers that never come
	life.end(t)
	checkGood(t, env, journal, 400)
}

// hostileLines are lines of a client that are no requests anybody could answer.
func hostileLines() []string {
	return []string{"", "\r", "\x00", "\xff\xfe", "{", "[]", "null", "7", strings.Repeat("[", 1<<20),
		strings.Repeat(`{"a":`, 1<<18), strings.Repeat("x", 5<<20),
		`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, `{"jsonrpc":"1.0","id":"a","method":"ping"}`, `{"jsonrpc":"2.0","id":"b","id":"c","method":"ping"}`,
		`{"jsonrpc":"2.0","id":{},"method":"ping"}`, `{"jsonrpc":"2.0","id":1e400,"method":"ping"}`,
		`{"jsonrpc":"2.0","id":"` + strings.Repeat("x", 1<<20) + `","method":"ping"}`,
		`{"jsonrpc":"2.0","id":"d","method":"initialize","params":{}}`, `{"jsonrpc":"2.0","id":"h0","method":"tools/call","params":{"name":"box.read_note"}}`,
		`{"jsonrpc":"2.0","id":77,"result":{}}`, `{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":""}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":-1}}`,
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":[],"progress":"x"}}`,
		`{"jsonrpc":"2.0","method":"notifications/roots/list_changed","params":[]}`,
		`{"jsonrpc":"2.0","id":"e","method":"tools/list","params":{"cursor":7}}`,
		`{"jsonrpc":"2.0","id":"f","method":"tools/call","params":{"name":"box.read_note","_meta":{"io.modelcontextprotocol/protocolVersion":"2999-01-01"}}}`,
		`{"jsonrpc":"2.0","id":"g","method":"tools/call","params":{"name":"box.read_note","_meta":{"progressToken":{}}}}`}
}

// work makes 400 calls, 8 at a time, each of which has to be answered well.
func work(t *testing.T, call func(n int) (string, error), first int) {
	t.Helper()
	var line string
	var err error
	if !wait.Holds(func() bool { // its server is being started
		line, err = call(first)
		return err == nil && strings.Contains(line, "noted "+noteOf(first))
	}) {
		t.Errorf("the good server does not answer: %v %.300s", err, line)
		return
	}
	var wg sync.WaitGroup
	left := newLot(first+1, first+400)
	for range 8 {
		wg.Go(func() {
			for n, ok := left.take(); ok; n, ok = left.take() {
				if line, err := call(n); err != nil || !strings.Contains(line, "noted "+noteOf(n)) {
					t.Errorf("call %d: %v %.300s", n, err, line)
				}
			}
		})
	}
	wg.Wait()
}

// checkGood holds the log and the journal to what the good client did.
func checkGood(t *testing.T, env []string, journal string, calls int) {
	t.Helper()
	output(t, env, "audit", "verify")
	text, err := os.ReadFile(journal)
	if err != nil {
		t.Fatal(err)
	}
	for n := range calls {
		if times := strings.Count(string(text), "call "+noteOf(n)+" "); times != 1 {
			t.Errorf("%s reached its server %d times", noteOf(n), times)
		}
	}
}

// attacks are clients that do what none may, over and over until ctx ends.
func attacks(address, token, session string) []func(ctx context.Context) {
	head := "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: */*\r\nAuthorization: Bearer " + token + "\r\n"
	head += "Mcp-Session-Id: " + session + "\r\n"
	message := func(text string) string { return fmt.Sprintf("%sContent-Length: %d\r\n\r\n%s", head, len(text), text) }
	call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"box.read_note","arguments":{}}}`
	texts := []string{
		"\x16\x03\x01\x02\x00\x01\x00", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\xff", strings.Repeat("\xff", 100_000), "GET / HTTP/9.9\r\n\r\n",
		"POST /mcp HTTP/1.1\r\nHost: localhost\r\nX: " + strings.Repeat("x", 64<<10), head, head + "Content-Length: 100\r\n\r\n{",
		head + "Content-Length: 100\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n",
		head + "Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n", head + "Content-Length: -1\r\n\r\n",
		message("{"), message("[" + call + "]"), message(strings.Repeat("[", 1<<20)), message(strings.Repeat(`{"a":`, 1<<18)),
		message("\xff\xfe"), message(`{"jsonrpc":"1.0","id":1,"method":"ping"}`),
		message(`{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}`),
		message(`{"jsonrpc":"2.0","id":` + strings.Repeat("9", 1000) + `,"method":"ping"}`), message(`{"jsonrpc":"2.0","id":77,"result":{}}`),
		message(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`),
		message(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":-1}}`),
		message(`{"jsonrpc":"2.0","id":5,"method":"initialize","params":{"protocolVersion":7}}`),
		message(`{"jsonrpc":"2.0","id":5,"method":"tools/list","params":{"cursor":"` + strings.Repeat("x", 100_000) + `"}}`),
		strings.Repeat(message(call), 200), // many at once, all with one id, and nobody reads what is answered
		message(`{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"box.read_note","arguments":{"note":"` + strings.Repeat("x", 5<<20) + `"}}}`),
		strings.Replace(head, "POST", "GET", 1) + "Last-Event-ID: 99999999999999999999-1\r\n\r\n", strings.Replace(head, "POST", "GET", 1) + "\r\n",
	}
	var all []func(ctx context.Context)
	for _, text := range texts {
		all = append(all, func(ctx context.Context) {
			var open []net.Conn
			for n := 0; ctx.Err() == nil; n++ {
				connection, err := net.DialTimeout("tcp", address, time.Second)
				if err != nil {
					continue
				}
				_ = connection.SetDeadline(time.Now().Add(time.Second))
				_, _ = io.WriteString(connection, text)
				if open = append(open, connection); len(open) > 20 { // left lying for a while
					open[0].Close()
					open = open[1:]
				}
				wait.Chance(100 * time.Millisecond)
			}
			for _, connection := range open {
				connection.Close()
			}
		})
	}
	return append(all, func(ctx context.Context) { // TLS where none is spoken
		for ctx.Err() == nil {
			if connection, err := (&tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}}).DialContext(ctx, "tcp", address); err == nil {
				connection.Close()
			}
			wait.Chance(100 * time.Millisecond)
		}
	})
}
