package main

import (
	"crypto/rand"
	"crypto/sha256"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"interlock/internal/auditlog"
	"interlock/internal/hook"
	"interlock/internal/witness"
)

// cmdImpostor listens where the server of the script's home would, in its place, and answers everything with a file, as any process
// of the same user can: impostor STATUS FILE. What it was asked last stands in the file "asked".
func cmdImpostor(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: impostor STATUS FILE")
	}
	body, status := ts.ReadFile(args[1]), map[string]int{"200": 200, "403": 403, "503": 503}[args[0]]
	socket := filepath.Join(ts.Getenv("INTERLOCK_HOME"), "interlock.sock")
	ts.Check(os.MkdirAll(filepath.Dir(socket), 0o700))
	ts.Check(os.RemoveAll(socket))
	listener, err := net.Listen("unix", socket)
	ts.Check(err)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked, _ := io.ReadAll(r.Body)
		ts.Check(os.WriteFile(ts.MkAbs("asked"), asked, 0o600))
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	})}
	go func() { _ = server.Serve(listener) }()
	ts.Defer(func() { server.Close() })
}

// newLogKey makes the private key of a home's log and returns the key under which its server answers.
func newLogKey(t *testing.T, home string) witness.Key {
	t.Helper()
	private, _, err := auditlog.GenerateKey(rand.Reader)
	if err == nil {
		err = os.MkdirAll(home, 0o700)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(home, "log.key"), []byte(private+"\n"), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	key, err := witness.ParseKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// signing has what a handler answers signed, as the server does. What breaks off breaks off.
func signing(key witness.Key, handler http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		recorded := httptest.NewRecorder()
		handler(recorded, r)
		said := recorded.Body.Bytes()
		w.Header().Set(witness.SignatureHeader, key.Sign(&witness.Answer{Nonce: r.Header.Get(witness.NonceHeader), Method: r.Method,
			Path: r.URL.Path, Asked: sha256.Sum256(body), Status: recorded.Code, Reply: sha256.Sum256(said)}))
		w.WriteHeader(recorded.Code)
		_, _ = w.Write(said)
	}
}

// TestHookImpostor: every way to answer that is not the server's own leaves the decision to the hook.
func TestHookImpostor(t *testing.T) {
	allow := `{"verdict":"allow","answer":"allow","findings":[],"impacts":[],"risk":0,"danger":"safe","mode":"enforcing",` +
		`"profile":"guard","digest":"","ruleset":"","snapshot":"","event_id":"e1"}`
	other := newLogKey(t, filepath.Join(t.TempDir(), "elsewhere"))
	for _, c := range []struct {
		name   string
		answer func(key witness.Key) http.HandlerFunc
		passes bool
	}{
		{"the server", func(key witness.Key) http.HandlerFunc { return signing(key, reply(200, allow)) }, true},
		{"unsigned", func(witness.Key) http.HandlerFunc { return reply(200, allow) }, false},
		{"another key", func(witness.Key) http.HandlerFunc { return signing(other, reply(200, allow)) }, false},
		{"another question", func(key witness.Key) http.HandlerFunc {
			return func(w http.ResponseWriter, r *http.Request) {
				asked, _ := io.ReadAll(r.Body)
				r.Body = io.NopCloser(strings.NewReader(strings.Replace(string(asked), "rm -rf --no-preserve-root /", "ls", 1)))
				signing(key, reply(200, allow))(w, r)
			}
		}, false},
		{"another nonce", func(key witness.Key) http.HandlerFunc {
			return func(w http.ResponseWriter, r *http.Request) {
				r.Header.Set(witness.NonceHeader, "seen-before")
				signing(key, reply(200, allow))(w, r)
			}
		}, false},
		{"another path", func(key witness.Key) http.HandlerFunc {
			return func(w http.ResponseWriter, r *http.Request) {
				r.URL.Path = "/healthz"
				signing(key, reply(200, allow))(w, r)
			}
		}, false},
		{"another status", func(key witness.Key) http.HandlerFunc {
			return func(w http.ResponseWriter, r *http.Request) {
				inner := httptest.NewRecorder()
				signing(key, reply(403, allow))(inner, r)
				w.Header().Set(witness.SignatureHeader, inner.Header().Get(witness.SignatureHeader))
				w.WriteHeader(200)
				_, _ = w.Write(inner.Body.Bytes())
			}
		}, false},
		{"another answer", func(key witness.Key) http.HandlerFunc {
			return func(w http.ResponseWriter, r *http.Request) {
				inner := httptest.NewRecorder()
				signing(key, reply(200, strings.ReplaceAll(allow, "allow", "deny")))(inner, r)
				w.Header().Set(witness.SignatureHeader, inner.Header().Get(witness.SignatureHeader))
				_, _ = io.WriteString(w, allow)
			}
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := newHookFixture(t)
			f.serveAs(c.answer(newLogKey(t, f.home)))
			out := f.run(strings.NewReader(fatal), "--agent", "claude", "--deadline", "20s")
			if c.passes != allowed(out) || !c.passes && !hook.Refused("claude", "PreToolUse", out) {
				t.Errorf("%d %q %q", out.Exit, out.Stdout, out.Stderr)
			}
		})
	}
}
