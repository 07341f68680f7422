package mcphttp_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"interlock/internal/mcphttp"
)

// answered fails the test unless another client is served as if it were alone.
func (r *httpRig) answered() {
	r.t.Helper()
	x := modern(9, "echo")
	x.token = "bob"
	if response := r.do(x); response.StatusCode != http.StatusOK {
		r.t.Errorf("another client: %s", response.Status)
	}
}

// raw writes text on a connection of its own and returns what the server says until it hangs up.
func (r *httpRig) raw(text string) (rest func() string) {
	r.t.Helper()
	connection, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { connection.Close() })
	if _, err := io.WriteString(connection, text); err != nil {
		r.t.Fatal(err)
	}
	return func() string {
		said, _ := io.ReadAll(connection) // what came before the connection was cut
		return string(said)
	}
}

// Clients that begin and don't go on are cut off, and nobody waits for them.
func TestHTTPSlowClients(t *testing.T) {
	r := newHTTP(t, func(c *mcphttp.Config) {
		c.Limits.ReadHeader, c.Limits.Read = time.Second, time.Second
	})
	head := "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: */*\r\n"
	var slow []func() string
	for range 50 {
		slow = append(slow, r.raw("POST /mcp HTTP/1.1\r\nHost: local"), r.raw(head+"Authorization: Bearer ann\r\nContent-Length: 100\r\n\r\n{"),
			r.raw(head+"Content-Length: 100\r\n\r\n{"), r.raw(head+"Authorization: Bearer ann\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n"))
	}
	r.answered()
	for n, rest := range slow {
		want := []string{"", "HTTP/1.1 400", "HTTP/1.1 401", "HTTP/1.1 400"}[n%4]
		if said := rest(); !strings.HasPrefix(said, want) {
			t.Errorf("slow client %d: %q", n, said)
		}
	}
	r.answered()
}

func TestHTTPTooLarge(t *testing.T) {
	r := newHTTP(t, nil)
	large := strings.Replace(modern(1, "echo").body, `"hi"`, `"`+strings.Repeat("x", 64<<10)+`"`, 1)
	x := modern(1, "echo")
	x.body = large
	if response := r.do(x); response.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("a large message: %s", response.Status)
	}
	request := r.request(context.Background(), x)
	request.Body, request.ContentLength = io.NopCloser(bytes.NewReader([]byte(large))), -1
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("a large message in pieces: %s", response.Status)
	}
	if said := r.raw("POST /mcp HTTP/1.1\r\nHost: localhost\r\nX: " + strings.Repeat("x", 64<<10) + "\r\n")(); !strings.HasPrefix(said, "HTTP/1.1 431") {
		t.Errorf("a large header: %q", said)
	}
	for _, said := range []string{r.raw("garbage\r\n\r\n")(), r.raw("POST /mcp HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n")()} {
		if !strings.HasPrefix(said, "HTTP/1.1 400") {
			t.Errorf("what is no HTTP: %q", said)
		}
	}
	r.answered()
	if len(r.heard) != 1 {
		t.Errorf("%d messages went on", len(r.heard))
	}
}

// An agent that fills its own room does not fill the others'.
func TestHTTPTooManyAtOnce(t *testing.T) {
	r := newHTTP(t, func(c *mcphttp.Config) { c.Limits.PerAgent = 4 })
	var calls sync.WaitGroup
	for n := range 4 {
		calls.Go(func() { r.do(modern(n, "wait")) })
	}
	for range 4 {
		<-r.waiting
	}
	if response := r.do(modern(5, "echo")); response.StatusCode != http.StatusTooManyRequests || response.Header.Get("Retry-After") == "" {
		t.Errorf("the fifth request: %s", response.Status)
	}
	r.answered()
	close(r.release)
	calls.Wait()
	if response := r.do(modern(6, "echo")); response.StatusCode != http.StatusOK {
		t.Errorf("afterwards: %s", response.Status)
	}
}

// An id that is under way is refused in a session, where answers could be confused, and stands for itself without one.
func TestHTTPSameIDTwice(t *testing.T) {
	r := newHTTP(t, nil)
	id := r.begin("ann")
	var calls sync.WaitGroup
	calls.Go(func() { r.do(exchange{body: call(1, "wait"), header: map[string]string{"Mcp-Session-Id": id}}) })
	<-r.waiting
	if got := r.text(r.do(exchange{body: call(1, "echo"), header: map[string]string{"Mcp-Session-Id": id}})); !strings.Contains(got, "is under way") {
		t.Errorf("the same id again: %s", got)
	}
	if got := r.text(r.do(exchange{body: call(1, "echo"), header: map[string]string{"Mcp-Session-Id": r.begin("ann")}})); !strings.Contains(got, "hi") {
		t.Errorf("the same id in another session: %s", got)
	}
	calls.Go(func() { r.do(modern(1, "wait")) })
	<-r.waiting
	if got := r.text(r.do(modern(1, "echo"))); !strings.Contains(got, "hi") {
		t.Errorf("the same id without a session: %s", got)
	}
	close(r.release)
	calls.Wait()
	if got := r.text(r.do(exchange{body: call(1, "echo"), header: map[string]string{"Mcp-Session-Id": id}})); !strings.Contains(got, "hi") {
		t.Errorf("the id again, afterwards: %s", got)
	}
}

// A client that does not read what it asked for is given up. Its server's messages are not kept for it, and others go on.
func TestHTTPClientThatDoesNotRead(t *testing.T) {
	r := newHTTP(t, func(c *mcphttp.Config) { c.Limits.Write, c.Limits.Queue = 50*time.Millisecond, 8 })
	x := modern(1, "flood")
	var head strings.Builder
	for name, value := range x.header {
		fmt.Fprintf(&head, "%s: %s\r\n", name, value)
	}
	r.raw("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAuthorization: Bearer ann\r\n" + head.String() + fmt.Sprintf("Content-Length: %d\r\n\r\n", len(x.body)) + x.body)
	ctx := <-r.flooded
	<-ctx.Done()
	r.answered()
}

func TestHTTPPanic(t *testing.T) {
	r := newHTTP(t, nil)
	response := r.do(modern(1, "panic"))
	if got := r.text(response); response.StatusCode != http.StatusInternalServerError || strings.Contains(got, "secret") {
		t.Errorf("%s %s", response.Status, got)
	}
	r.answered()
}

// A server that stops answers what is under way and ends streams, which would never end by themselves.
func TestHTTPStops(t *testing.T) {
	r := newHTTP(t, nil)
	id := r.begin("ann")
	stream := events{bufio.NewReader(r.do(exchange{method: "GET", header: map[string]string{"Mcp-Session-Id": id}}).Body)}
	answer := make(chan string, 1)
	go func() { answer <- r.text(r.do(modern(1, "wait"))) }()
	<-r.waiting
	stopped := make(chan error, 1)
	go func() { stopped <- r.stop() }()
	if line := stream.next(t); line != "EOF" {
		t.Errorf("the stream: %s", line)
	}
	close(r.release)
	if got := <-answer; !strings.Contains(got, "waited") {
		t.Errorf("what was under way: %s", got)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	for _, k := range r.opened {
		<-k.closed
	}
}

// FuzzHTTPHeaders: whatever a message and its headers are, a message that goes on says what its headers say.
func FuzzHTTPHeaders(f *testing.F) {
	good := modern(1, "echo")
	f.Add(good.body, "2026-07-28", "tools/call", "echo")
	f.Add(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","name":"b"}}`, "2026-07-28", "tools/call", "b")
	f.Add(`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"x"}}`, "", "", "")
	f.Fuzz(func(t *testing.T, body, version, method, name string) {
		mcphttp.CheckFront(t, body, http.Header{"Mcp-Protocol-Version": {version}, "Mcp-Method": {method}, "Mcp-Name": {name}})
	})
}

// An agent that begins one session after the other is stopped after a number of them, because each starts servers, and may go on
// a moment later. Others begin theirs.
func TestHTTPTooManySessionsBegun(t *testing.T) {
	r := newHTTP(t, func(c *mcphttp.Config) { c.Limits.Begins = 3 })
	initialize := exchange{body: `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`}
	for range 3 {
		r.begin("ann")
	}
	if response := r.do(initialize); response.StatusCode != http.StatusServiceUnavailable ||
		response.Header.Get("Retry-After") == "" || !strings.Contains(r.text(response), "too fast") {
		t.Errorf("the fourth session: %s", response.Status)
	}
	r.begin("bob")
	r.mu.Lock()
	r.now = r.now.Add(5 * time.Second)
	r.mu.Unlock()
	r.begin("ann")
	if response := r.do(initialize); response.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("another one at that moment: %s", response.Status)
	}
	if n := len(r.opened); n != 5 {
		t.Errorf("%d sessions were opened", n)
	}
}

// What is under way for longer than a stop waits is cut off, and the stop is one like any other.
func TestHTTPStopsWithoutAnAnswer(t *testing.T) {
	r := newHTTP(t, func(c *mcphttp.Config) { c.Limits.Drain = 20 * time.Millisecond })
	answer := make(chan string, 1)
	id := r.begin("ann")
	go func() {
		answer <- r.ask(r.from("127.0.0.1"), exchange{body: call(1, "wait"), header: map[string]string{"Mcp-Session-Id": id}})
	}()
	<-r.waiting
	if err := r.stop(); err != nil {
		t.Error(err)
	}
	<-r.cancelled
	<-answer // whatever it is, it waits no longer
}
