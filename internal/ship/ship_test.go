package ship_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/ship"
	"interlock/internal/store/driver"
	"interlock/internal/store/sqlite"
	"interlock/internal/store/storagetest"
	"interlock/spec"
)

// A memory is a log that grows, with entries as a real store writes them.
type memory struct {
	t       *testing.T
	store   *sqlite.Store
	archive map[int64]bool // whose content is gone
}

func grown(t *testing.T, n int) *memory {
	t.Helper()
	private, _, err := auditlog.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	sealer, err := auditlog.NewSealer(private)
	if err != nil {
		t.Fatal(err)
	}
	store, err := sqlite.Open(filepath.Join(t.TempDir(), "interlock.db"), driver.Options{Sealer: sealer})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	m := &memory{t: t, store: store, archive: map[int64]bool{}}
	m.add(n)
	return m
}

func (m *memory) add(n int) {
	m.t.Helper()
	change := ledger.Change{}
	for range n {
		change.Events = append(change.Events, storagetest.Decision("a").Events...)
	}
	if _, err := m.store.Commit(m.t.Context(), change); err != nil {
		m.t.Fatal(err)
	}
}

// ids are those of the log's events, in order.
func (m *memory) ids() (ids []string) {
	m.t.Helper()
	entries, err := m.store.Entries(m.t.Context(), "", ledger.Every(1000))
	if err != nil {
		m.t.Fatal(err)
	}
	for n := range entries {
		event, err := auditlog.ParseEvent(entries[n].Body)
		if err != nil {
			m.t.Fatal(err)
		}
		ids = append(ids, event.ID)
	}
	return ids
}

func (m *memory) Entries(ctx context.Context, kind interlock.EventType, span ledger.Span) ([]interlock.Entry, error) {
	entries, err := m.store.Entries(ctx, kind, span)
	for n := range entries {
		if m.archive[entries[n].Index] {
			entries[n].Body, entries[n].Hashes = nil, make([]byte, 64)
		}
	}
	return entries, err
}

func shipper(t *testing.T, log ship.Log, dir string, c ship.Config) *ship.Shipper {
	t.Helper()
	target, err := ship.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return &ship.Shipper{Log: log, Origin: "interlock/1", Target: target, Dir: dir, Logger: slog.New(slog.DiscardHandler), Pause: time.Millisecond}
}

// all sends until nothing is left.
func all(t *testing.T, s *ship.Shipper) {
	t.Helper()
	for {
		sent, err := s.Some(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if !sent {
			return
		}
	}
}

// TestFile: every entry reaches a file, in order and once, over a restart, in each format.
func TestFile(t *testing.T) {
	spec.Covers(t, "ASA-14.3-3")
	for format, wants := range map[ship.Format]string{"": `"specversion":"1.0"`, ship.CloudEvents: `"source":"/log/interlock/1"`,
		ship.OCSF: `"class_uid":6003`, ship.JSONL: `"event_id":"`} {
		log, dir, path := grown(t, 450), t.TempDir(), filepath.Join(t.TempDir(), "log.jsonl")
		all(t, shipper(t, log, dir, ship.Config{To: path, Format: format}))
		log.add(3)
		all(t, shipper(t, log, dir, ship.Config{To: path, Format: format})) // another process
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		if len(lines) != 453 {
			t.Fatalf("%s: %d lines", format, len(lines))
		}
		ids := log.ids()
		for n, line := range lines {
			if !json.Valid([]byte(line)) || !strings.Contains(line, wants) || !strings.Contains(line, `"`+ids[n]+`"`) {
				t.Fatalf("%s: line %d: %s", format, n, line)
			}
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("others may read it: %v, %v", info.Mode(), err)
		}
	}
}

// TestAPositionNobodyCanRead has everything sent again rather than anything missed.
func TestAPositionNobodyCanRead(t *testing.T) {
	log, dir, path := grown(t, 2), t.TempDir(), filepath.Join(t.TempDir(), "log.jsonl")
	s := shipper(t, log, dir, ship.Config{To: path, Format: ship.JSONL})
	all(t, s)
	names, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(names) != 1 {
		t.Fatalf("%q, %v", names, err)
	}
	for _, spoiled := range []string{"", "{", `{"target":"elsewhere","next":2}`, fmt.Sprintf(`{"target":%q,"next":-1}`, path)} {
		if err := os.WriteFile(names[0], []byte(spoiled), 0o600); err != nil {
			t.Fatal(err)
		}
		if next, err := s.Next(); next != 0 || err != nil {
			t.Errorf("%q: %d, %v", spoiled, next, err)
		}
	}
}

// TestWeb: a server that fails gets the same batch again, and nothing counts as sent until it has said so.
func TestWeb(t *testing.T) {
	var guard sync.Mutex
	got, failures, header := []string{}, 3, http.Header{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		guard.Lock()
		defer guard.Unlock()
		body, _ := io.ReadAll(r.Body)
		if failures > 0 {
			failures--
			w.WriteHeader([]int{500, 302, 404}[failures])
			return
		}
		var events []struct {
			ID string `json:"id"`
		}
		if err := json.Unmarshal(body, &events); err != nil {
			t.Error(err)
		}
		for _, e := range events {
			got = append(got, e.ID)
		}
		header = r.Header
	}))
	defer server.Close()
	log := grown(t, 3)
	s := shipper(t, log, t.TempDir(), ship.Config{To: server.URL, Token: func() (string, error) { return "hunter2", nil }})
	ctx, cancel := context.WithCancel(t.Context())
	changed, done := make(chan struct{}), make(chan struct{})
	go func() { defer close(done); s.Run(ctx, changed) }()
	changed <- struct{}{} // it has sent all and waits
	log.add(1)
	changed <- struct{}{}
	changed <- struct{}{}
	cancel()
	<-done
	if !slices.Equal(got, log.ids()) || header.Get("Authorization") != "Bearer hunter2" ||
		!strings.HasPrefix(header.Get("Content-Type"), "application/cloudevents-batch+json") {
		t.Errorf("%v, %v", got, header)
	}
}

// TestAFailingTokenSendsNothing: without what it is to show nothing is sent.
func TestAFailingTokenSendsNothing(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("something was sent") }))
	defer server.Close()
	log := grown(t, 1)
	s := shipper(t, log, t.TempDir(), ship.Config{To: server.URL, Token: func() (string, error) { return "", errors.New("no such variable") }})
	if sent, err := s.Some(t.Context()); sent || err == nil {
		t.Errorf("%v, %v", sent, err)
	}
	if next, _ := s.Next(); next != 0 {
		t.Errorf("%d", next)
	}
}

// TestSyslog: messages are framed by their length, over TLS too, and what a closed connection may have lost is sent again.
func TestSyslog(t *testing.T) {
	web := httptest.NewTLSServer(nil) // for its certificate
	web.Close()
	trust := &tls.Config{RootCAs: web.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs, ServerName: "example.com"}
	for _, secure := range []bool{false, true} {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		scheme := "syslog+tcp://"
		if secure {
			listener, scheme = tls.NewListener(listener, &tls.Config{Certificates: web.TLS.Certificates}), "syslog+tls://"
		}
		messages := make(chan string, 8)
		go func() {
			for n := 0; ; n++ {
				conn, err := listener.Accept()
				if err != nil {
					return
				}
				if n == 0 { // takes nothing
					if c, ok := conn.(*tls.Conn); ok {
						_ = c.Handshake()
					}
					conn.Close()
					continue
				}
				go func() {
					for in := bufio.NewReader(conn); ; {
						length, err := in.ReadString(' ')
						if err != nil {
							return
						}
						size, _ := strconv.Atoi(strings.TrimSpace(length))
						text := make([]byte, size)
						if _, err := io.ReadFull(in, text); err != nil {
							return
						}
						messages <- string(text)
					}
				}()
			}
		}()
		log := grown(t, 2)
		s := shipper(t, log, t.TempDir(), ship.Config{To: scheme + listener.Addr().String(), Format: ship.JSONL, Host: "here", Trust: trust})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); s.Run(ctx, make(chan struct{})) }()
		for n, want := range log.ids() {
			text := <-messages
			if !strings.HasPrefix(text, "<109>1 20") || !strings.Contains(text, "Z here interlock - DECISION - {") || !strings.Contains(text, want) {
				t.Errorf("secure %v, message %d: %s", secure, n, text)
			}
		}
		cancel()
		<-done
		listener.Close()
	}
}

// TestOneThatFailsKeepsItsPlace: a directory in a file's place is an error each time, and nothing counts as sent.
func TestOneThatFailsKeepsItsPlace(t *testing.T) {
	log, path := grown(t, 1), t.TempDir()
	s := shipper(t, log, t.TempDir(), ship.Config{To: path})
	if sent, err := s.Some(t.Context()); sent || err == nil || strings.Contains(err.Error(), path) {
		t.Errorf("%v, %v", sent, err)
	}
	if next, _ := s.Next(); next != 0 {
		t.Errorf("%d", next)
	}
}

// TestWhatIsArchivedIsSkipped, and said.
func TestWhatIsArchivedIsSkipped(t *testing.T) {
	log, path := grown(t, 3), filepath.Join(t.TempDir(), "log.jsonl")
	log.archive[1] = true
	var said bytes.Buffer
	s := shipper(t, log, t.TempDir(), ship.Config{To: path, Format: ship.JSONL})
	s.Logger = slog.New(slog.NewTextHandler(&said, nil))
	all(t, s)
	text, err := os.ReadFile(path)
	if err != nil || bytes.Count(text, []byte("\n")) != 2 || !strings.Contains(said.String(), "archived before it could be sent") {
		t.Errorf("%s, %s, %v", text, said.String(), err)
	}
}

// TestTargets: what can't be a target is refused by the name of its field.
func TestTargets(t *testing.T) {
	for to, field := range map[string]string{"": "to", "ftp://example.com": "to", "http://example.com/": "to", "https://user:pass@example.com/": "to",
		"syslog+tcp://example.com:514": "to", "syslog+tls://example.com": "to", "syslog+udp://127.0.0.1:514": "to"} {
		_, err := ship.New(ship.Config{To: to})
		var known *interlock.Error
		if !errors.As(err, &known) || known.Field != field || strings.Contains(err.Error(), "pass") {
			t.Errorf("%q: %v", to, err)
		}
	}
	if _, err := ship.New(ship.Config{To: "/var/log/x", Format: "xml"}); err == nil {
		t.Error("a format nobody knows is taken")
	}
	for _, to := range []string{"/var/log/x", `C:\log`, "https://example.com/in", "http://127.0.0.1:9/", "syslog+tls://example.com:6514"} {
		if target, err := ship.New(ship.Config{To: to}); err != nil || target.Name() != to {
			t.Errorf("%q: %v", to, err)
		}
	}
}
