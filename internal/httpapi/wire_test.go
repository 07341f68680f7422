package httpapi_test

import (
	"bufio"
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"interlock"
	"interlock/internal/httpapi"
	"interlock/internal/identity"
	"interlock/internal/ledger"
)

var update = flag.Bool("update", false, "write the responses that came")

// Tokens of the test agents. They open nothing.
const (
	liveToken    = "ilk_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
	otherToken   = "ilk_AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE"
	revokedToken = "ilk_AgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgI"
	unknownToken = "ilk_AwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwM"
)

// A house is a server with its two doors and what it wrote to its log.
type house struct {
	backend *fakeBackend
	server  *httpapi.Server
	logged  *page
}

// A page is a buffer for several writers.
type page struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (p *page) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.Write(b)
}

func (p *page) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String()
}

func newHouse(t testing.TB, limits httpapi.Limits, edit ...func(*httpapi.Config)) *house {
	t.Helper()
	backend := newBackend(t)
	backend.standing = ledger.Standing{Version: 1, Agents: map[string]interlock.AgentRecord{
		"builder": {ID: "builder", Principal: "dana", TokenHash: identity.HashToken(liveToken)},
		"other":   {ID: "other", TokenHash: identity.HashToken(otherToken)},
		"gone":    {ID: "gone", TokenHash: identity.HashToken(revokedToken), Revoked: noon.Add(-time.Hour)},
	}, Requests: map[string]interlock.ApprovalRequest{
		"apr_0123456789ab": {ID: "apr_0123456789ab", Status: interlock.RequestPending, Expires: noon.Add(time.Hour)},
		"apr_000000000000": {ID: "apr_000000000000", Status: interlock.RequestPending, Expires: noon},
	}}
	now := func() time.Time { return noon }
	logged := &page{}
	config := httpapi.Config{
		Backend: backend, Log: backend, Tokens: identity.NewTokens(backend.Ground, now), Now: now, User: "dana", Limits: limits,
		Logger: slog.New(slog.NewJSONHandler(logged, nil)),
		Build:  httpapi.Build{Version: "1.2.3", Revision: "abc", Go: "go1"},
		Rules:  func() httpapi.InForce { return httpapi.InForce{Ruleset: "sha256:beef"} },
		Waits:  backend, Runs: backend, Telemetry: backend,
		UsageAgent: func(token string) (string, bool) { return "claude", token == "ilu_claude" }, Messages: backend, Reports: backend, Actions: backend,
		Texts: backend, Personal: backend, Memory: backend,
	}
	for _, change := range edit {
		change(&config)
	}
	server, err := httpapi.New(config)
	if err != nil {
		t.Fatal(err)
	}
	return &house{backend: backend, server: server, logged: logged}
}

// TestWire runs the exchanges of testdata/*.txtar: "request" sections go to the network door and "request local" ones to
// the socket, each followed by its "response", and "events" holds what was recorded up to there. -update writes what came.
func TestWire(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no exchanges: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			h := newHouse(t, httpapi.Limits{})
			got := &txtar.Archive{Comment: archive.Comment}
			var response string
			told := 0
			for _, section := range archive.Files {
				switch section.Name {
				case "request", "request local":
					handler := h.server.Handler()
					if section.Name == "request local" {
						handler = h.server.LocalHandler()
					}
					response = exchange(t, handler, string(section.Data))
				case "response":
					section.Data = []byte(response)
				case "events":
					section.Data = []byte(strings.Join(append(append([]string(nil), h.backend.events[told:]...), ""), "\n"))
					told = len(h.backend.events)
				default:
					t.Fatalf("unknown section %q", section.Name)
				}
				got.Files = append(got.Files, section)
			}
			if told != len(h.backend.events) {
				t.Errorf("recorded beyond the last events section:\n%s", strings.Join(h.backend.events[told:], "\n"))
			}
			checkLog(t, h.logged.String())
			if *update {
				if err := os.WriteFile(file, txtar.Format(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(txtar.Format(archive)), string(txtar.Format(got))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// checkLog holds what the server logged against the rule that it holds no token and no action.
func checkLog(t *testing.T, logged string) {
	t.Helper()
	for _, secret := range []string{"ilk_", "SECRET", "quotes"} {
		if strings.Contains(logged, secret) {
			t.Errorf("the server's log holds %q:\n%s", secret, logged)
		}
	}
}

var fill = regexp.MustCompile(`<<(.*?)\*(\d+)>>`)
var raw = regexp.MustCompile(`<<([0-9a-f]{2})>>`)

// exchange sends one request as it is written and returns the response as the files show it. <<xx>> is a byte in
// hexadecimal and <<text*n>> is text n times; $LIVE and its siblings are tokens; the length is added if it is missing.
func exchange(t *testing.T, handler http.Handler, text string) string {
	t.Helper()
	text = strings.NewReplacer("$LIVE", liveToken, "$OTHER", otherToken, "$REVOKED", revokedToken, "$UNKNOWN", unknownToken).Replace(text)
	head, body, _ := strings.Cut(text, "\n\n")
	body = strings.TrimSuffix(body, "\n")
	body = fill.ReplaceAllStringFunc(body, func(s string) string {
		parts := fill.FindStringSubmatch(s)
		n, _ := strconv.Atoi(parts[2])
		return strings.Repeat(parts[1], n)
	})
	body = raw.ReplaceAllStringFunc(body, func(s string) string {
		n, _ := strconv.ParseUint(s[2:4], 16, 8)
		return string([]byte{byte(n)})
	})
	head = fill.ReplaceAllStringFunc(head, func(s string) string {
		parts := fill.FindStringSubmatch(s)
		n, _ := strconv.Atoi(parts[2])
		return strings.Repeat(parts[1], n)
	})
	if !strings.Contains(head, "Content-Length:") && !strings.Contains(head, "Transfer-Encoding:") {
		head += fmt.Sprintf("\nContent-Length: %d", len(body))
	}
	server := httptest.NewUnstartedServer(handler)
	server.Config.MaxHeaderBytes = 12 << 10
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	server.Start()
	defer server.Close()
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	written := make(chan struct{})
	go func() {
		defer close(written)
		_, _ = io.WriteString(conn, strings.ReplaceAll(head, "\n", "\r\n")+"\r\n\r\n"+body) // the server may hang up on the 10 MB
	}()
	method, _, _ := strings.Cut(head, " ")
	response, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		t.Fatalf("reading the response: %v", err)
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatalf("reading the response's body: %v", err)
	}
	conn.Close()
	<-written
	return render(response, content, server.Listener.Addr().String())
}

// render shows status, the headers that are part of the contract, and the body.
func render(response *http.Response, content []byte, address string) string {
	var b strings.Builder
	fmt.Fprintln(&b, response.StatusCode)
	var names []string
	for name := range response.Header {
		switch name {
		case "Date", "Content-Length", "Cache-Control", "X-Content-Type-Options":
		default:
			names = append(names, name)
		}
	}
	sort.Strings(names)
	for _, name := range names {
		fmt.Fprintf(&b, "%s: %s\n", name, strings.Join(response.Header[name], ", "))
	}
	if response.Close {
		b.WriteString("Connection: close\n")
	}
	b.WriteString("\n")
	b.WriteString(strings.ReplaceAll(string(content), address, "ADDRESS"))
	if len(content) == 0 || content[len(content)-1] != '\n' {
		b.WriteString("\n")
	}
	return b.String()
}

// do sends a request without a wire.
func (h *house) do(handler http.Handler, method, target, token, body string) *httptest.ResponseRecorder {
	request := httptest.NewRequestWithContext(context.Background(), method, target, strings.NewReader(body))
	request.Host = "127.0.0.1:7433"
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, request)
	return recorder
}
