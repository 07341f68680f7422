package httpapi_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"interlock/internal/httpapi"
	"interlock/internal/identity"
	"interlock/test/wait"
)

// open serves both doors of a house and returns their addresses.
func open(t *testing.T, h *house) (network, socket string) {
	t.Helper()
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	socket = filepath.Join(t.TempDir(), "s")
	unix, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- h.server.Serve(ctx, tcp, unix) }()
	t.Cleanup(func() {
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return tcp.Addr().String(), socket
}

const slowBody = `{"kind":"shell","input":"true"}`

// slowly begins a request and leaves its body unfinished.
func slowly(t *testing.T, network, path, token string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", network)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer %s\r\n"+
		"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n{",
		path, token, len(slowBody))
	return conn
}

// quickly sends a whole request on a connection of its own.
func quickly(t *testing.T, kind, address, method, path, token, body string) (*http.Response, string) {
	t.Helper()
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, kind, address)
	}, DisableKeepAlives: true}
	request, err := http.NewRequestWithContext(t.Context(), method, "http://127.0.0.1"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, string(text)
}

// underWay is how many requests the server says are under way, without the one that asks.
func underWay(t *testing.T, network string) string {
	t.Helper()
	_, page := quickly(t, "tcp", network, "GET", "/metrics", "", "")
	found := regexp.MustCompile(`interlock_http_in_flight (\d+)`).FindStringSubmatch(page)
	if found == nil {
		t.Fatalf("no count in %.200s", page)
	}
	return found[1]
}

// TestOneAgentCannotTakeAll: while one agent has as many unfinished requests under way as it may, every other caller is served,
// and the agent is told why it is not and when to come back.
func TestOneAgentCannotTakeAll(t *testing.T) {
	h := newHouse(t, httpapi.Limits{Concurrent: 128, PerAgent: 32, Pause: time.Hour, Read: time.Hour, Write: time.Hour})
	network, socket := open(t, h)
	const share = 32
	var held []net.Conn
	for range share {
		held = append(held, slowly(t, network, "/v1/decide", liveToken))
	}
	wait.Until(t, "so many are under way", func() bool { return underWay(t, network) == fmt.Sprint(share+1) })
	for _, path := range []string{"/v1/decide", "/v1/outcome", "/access/v1/evaluation"} {
		response, text := quickly(t, "tcp", network, "POST", path, liveToken, slowBody)
		if response.StatusCode != 429 || response.Header.Get("Retry-After") != "1" || !strings.Contains(text, `"code":"limited"`) ||
			!strings.Contains(text, "32 of your requests are under way") || strings.Contains(text, "allow") || strings.Contains(text, "true") {
			t.Errorf("%s of the agent that has all its own: %d %v %s", path, response.StatusCode, response.Header, text)
		}
	}
	// More than the server takes in all, of the same agent, must not matter to anybody.
	for range 256 {
		held = append(held, slowly(t, network, "/v1/decide", liveToken))
	}
	for _, other := range []struct{ who, kind, address, token string }{
		{"another agent", "tcp", network, otherToken}, {"the hook", "unix", socket, ""},
		{"another agent at the socket", "unix", socket, otherToken},
	} {
		response, text := quickly(t, other.kind, other.address, "POST", "/v1/decide", other.token, slowBody)
		if response.StatusCode != 200 || !strings.Contains(text, `"answer":"allow"`) {
			t.Errorf("%s: %d %s", other.who, response.StatusCode, text)
		}
	}
	for _, path := range []string{"/healthz", "/readyz", "/metrics"} {
		if response, text := quickly(t, "tcp", network, "GET", path, "", ""); response.StatusCode != 200 {
			t.Errorf("%s: %d %s", path, response.StatusCode, text)
		}
	}
	for _, conn := range held {
		conn.Close()
	}
	if lines := strings.Count(h.logged.String(), `"status":429`); lines == 0 || lines > 40 {
		t.Errorf("the server's log has %d lines about what it turned away", lines)
	}
	wait.Until(t, "so many are under way", func() bool { return underWay(t, network) == "1" })
	if response, text := quickly(t, "tcp", network, "POST", "/v1/decide", liveToken, slowBody); response.StatusCode != 200 {
		t.Errorf("the agent, after it let go: %d %s", response.StatusCode, text)
	}
}

// TestManyAgentsLeaveRoomForOne: agents that fill the server together can't take an agent's first few requests from it.
func TestManyAgentsLeaveRoomForOne(t *testing.T) {
	h := newHouse(t, httpapi.Limits{Concurrent: 128, PerAgent: 128, Pause: time.Hour, Read: time.Hour, Write: time.Hour})
	network, _ := open(t, h)
	for range 128 {
		slowly(t, network, "/v1/decide", liveToken)
	}
	wait.Until(t, "so many are under way", func() bool { return underWay(t, network) == "129" })
	if response, text := quickly(t, "tcp", network, "POST", "/v1/decide", otherToken, slowBody); response.StatusCode != 200 {
		t.Errorf("the other agent's first request: %d %s", response.StatusCode, text)
	}
	slowly(t, network, "/v1/decide", otherToken)
	slowly(t, network, "/v1/decide", otherToken)
	wait.Until(t, "so many are under way", func() bool { return underWay(t, network) == "131" })
	response, text := quickly(t, "tcp", network, "POST", "/v1/decide", otherToken, slowBody)
	if response.StatusCode != 503 || response.Header.Get("Retry-After") != "1" || !strings.Contains(text, `"code":"unavailable"`) {
		t.Errorf("beyond them: %d %v %s", response.StatusCode, response.Header, text)
	}
}

// TestReadingTheLogIsRationed: an agent that reads the log many times at once waits for itself, and nobody waits for it.
func TestReadingTheLogIsRationed(t *testing.T) {
	h := newHouse(t, httpapi.Limits{Readings: 1})
	h.backend.reading, h.backend.read = make(chan struct{}), make(chan struct{})
	handler, first := h.server.Handler(), make(chan int, 1)
	go func() { first <- h.do(handler, "GET", "/v1/events", liveToken, "").Code }()
	<-h.backend.reading
	for _, path := range []string{"/v1/events", "/v1/proof?index=0"} {
		got := h.do(handler, "GET", path, liveToken, "")
		if got.Code != 429 || got.Header().Get("Retry-After") != "1" {
			t.Errorf("%s while it reads: %d %s", path, got.Code, got.Body)
		}
	}
	if got := h.do(handler, "POST", "/v1/decide", liveToken, slowBody); got.Code != 200 {
		t.Errorf("its decisions: %d %s", got.Code, got.Body)
	}
	go func() {
		<-h.backend.reading
		h.backend.read <- struct{}{}
		h.backend.read <- struct{}{}
	}()
	if got := h.do(handler, "GET", "/v1/events", otherToken, ""); got.Code != 200 {
		t.Errorf("another agent: %d %s", got.Code, got.Body)
	}
	if code := <-first; code != 200 {
		t.Errorf("the first reading: %d", code)
	}
}

// TestSlowBodiesAreCut: whoever sends a body too slowly is answered 408 and loses the connection; who sends a large one at an
// honest pace is heard, and the connection serves on.
func TestSlowBodiesAreCut(t *testing.T) {
	h := newHouse(t, httpapi.Limits{Pause: 50 * time.Millisecond, Read: time.Hour, Write: time.Hour})
	network, _ := open(t, h)
	conn := slowly(t, network, "/v1/decide", liveToken)
	lines := bufio.NewReader(conn)
	response, err := http.ReadResponse(lines, nil)
	if err != nil {
		t.Fatal(err)
	}
	text, _ := io.ReadAll(response.Body)
	if response.StatusCode != 408 || !strings.Contains(string(text), "too slowly") || !strings.Contains(string(text), `"answer":"deny"`) {
		t.Errorf("a slow body: %d %s", response.StatusCode, text)
	}
	if len(h.backend.events) > 0 {
		t.Errorf("it left %q", h.backend.events)
	}
	if _, err := lines.ReadByte(); err != io.EOF {
		t.Errorf("the connection goes on: %v", err)
	}
	wait.Until(t, "so many are under way", func() bool { return underWay(t, network) == "1" })

	h = newHouse(t, httpapi.Limits{Pause: wait.Limit, Read: time.Hour, Write: time.Hour})
	network, _ = open(t, h)
	honest, err := net.Dial("tcp", network)
	if err != nil {
		t.Fatal(err)
	}
	defer honest.Close()
	lines = bufio.NewReader(honest)
	body := `{"kind":"shell","input":"echo ` + strings.Repeat("a", 64<<10) + `"}`
	for range 2 {
		fmt.Fprintf(honest, "POST /v1/decide HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer %s\r\n"+
			"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n",
			liveToken, len(body))
		for rest := body; rest != ""; rest = rest[min(len(rest), 8<<10):] {
			if _, err := io.WriteString(honest, rest[:min(len(rest), 8<<10)]); err != nil {
				t.Fatal(err)
			}
		}
		response, err := http.ReadResponse(lines, nil)
		if err != nil {
			t.Fatal(err)
		}
		if text, _ := io.ReadAll(response.Body); response.StatusCode != 200 {
			t.Errorf("a large body: %d %s", response.StatusCode, text)
		}
	}
}

// TestProofsAreOfOnesOwn: an agent gets no proof of another's event, by index or by id, and can't tell it from one that is not there;
// whoever holds the socket gets all.
func TestProofsAreOfOnesOwn(t *testing.T) {
	h := newHouse(t, httpapi.Limits{})
	for _, token := range []string{liveToken, otherToken} {
		h.do(h.server.Handler(), "POST", "/v1/decide", token, slowBody)
	}
	nothing := h.do(h.server.Handler(), "GET", "/v1/proof?event_id="+strings.Repeat("0", 64), liveToken, "").Body.String()
	for _, test := range []struct {
		token string
		local bool
		index int
		code  int
	}{{liveToken, false, 0, 200}, {liveToken, false, 1, 404}, {otherToken, false, 0, 404}, {otherToken, false, 1, 200}, {liveToken, true, 1, 404},
		{"", true, 0, 200}, {"", true, 1, 200}} {
		handler := h.server.Handler()
		if test.local {
			handler = h.server.LocalHandler()
		}
		for _, query := range []string{fmt.Sprintf("index=%d", test.index), "event_id=" + h.backend.entries[test.index].ID} {
			got := h.do(handler, "GET", "/v1/proof?"+query, test.token, "")
			if got.Code != test.code || test.code == 404 && got.Body.String() != nothing {
				t.Errorf("%+v %s: %d %s", test, query, got.Code, got.Body)
			}
		}
	}
}

// TestStrangersAndPages: callers without a token are counted apart, by address, so that they can't stand in an agent's way; the console's
// pages take no slots, and a form that stalls is cut there as well.
func TestStrangersAndPages(t *testing.T) {
	backend := newBackend(t)
	backend.standing = newHouse(t, httpapi.Limits{}).backend.standing
	begun, end := make(chan struct{}), make(chan struct{})
	stalled := make(chan error, 1)
	now := func() time.Time { return noon }
	server, err := httpapi.New(httpapi.Config{Backend: backend, Log: backend, Tokens: identity.NewTokens(backend.Ground, now), Now: now,
		User: "dana", Logger: slog.New(slog.DiscardHandler), Limits: httpapi.Limits{Concurrent: 4, PerAgent: 2, Pause: 50 * time.Millisecond},
		Ready: func(context.Context) error { begun <- struct{}{}; <-end; return nil },
		Pages: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, err := io.ReadAll(r.Body)
			if r.Method == http.MethodPost {
				stalled <- err
			}
		})})
	if err != nil {
		t.Fatal(err)
	}
	h := &house{backend: backend, server: server, logged: &page{}}
	network, _ := open(t, h)
	ready := make(chan int, 2)
	for range 2 {
		go func() {
			response, err := http.Get("http://" + network + "/readyz")
			if err != nil {
				ready <- 0
				return
			}
			response.Body.Close()
			ready <- response.StatusCode
		}()
		<-begun
	}
	if response, text := quickly(t, "tcp", network, "GET", "/readyz", "", ""); response.StatusCode != 429 ||
		response.Header.Get("Retry-After") != "1" {
		t.Errorf("a third stranger of the address: %d %s", response.StatusCode, text)
	}
	if response, text := quickly(t, "tcp", network, "POST", "/v1/decide", liveToken, slowBody); response.StatusCode != 200 {
		t.Errorf("an agent of the same address: %d %s", response.StatusCode, text)
	}
	if response, _ := quickly(t, "tcp", network, "GET", "/login", "", ""); response.StatusCode != 200 {
		t.Errorf("the console: %d", response.StatusCode)
	}
	slowly(t, network, "/login", liveToken)
	if err := <-stalled; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a form that stalls: %v", err)
	}
	close(end)
	for range 2 {
		if code := <-ready; code != 200 {
			t.Errorf("the first strangers: %d", code)
		}
	}
}
