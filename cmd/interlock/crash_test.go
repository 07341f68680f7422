package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"interlock"
	"interlock/embedded"
	"interlock/internal/auditlog"
	"interlock/internal/config"
)

// TestKillKeepsEveryAllow runs the real server, has sixteen callers ask for decisions, kills it without warning in the
// middle, and holds every allow a caller was given against the log of the restarted store: the log verifies, and no allowed
// action is missing from it.
func TestKillKeepsEveryAllow(t *testing.T) {
	const callers, decisions, killAfter = 16, 10_000, 4_000
	home := t.TempDir()
	if err := os.Chmod(home, 0o700); err != nil {
		t.Fatal(err)
	}
	server := startServer(t, home)

	var mu sync.Mutex
	allowed := map[string]string{} // event id -> action digest
	var answered, asked atomic.Int64
	var wg sync.WaitGroup
	for caller := range callers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for asked.Add(1) <= decisions {
				answer, err := server.decide(fmt.Sprintf("echo caller %d", caller))
				if err != nil {
					return // the server is gone
				}
				if answer.Answer.Allowed() {
					mu.Lock()
					allowed[answer.Event] = string(answer.Action)
					mu.Unlock()
				}
				if answered.Add(1) == killAfter {
					server.process.Process.Kill()
				}
			}
		}()
	}
	wg.Wait()
	_ = server.process.Wait() // it was killed
	if len(allowed) < killAfter-callers {
		t.Fatalf("only %d of at least %d decisions were allowed: the test proves nothing", len(allowed), killAfter-callers)
	}

	backend, err := embedded.Open(t.Context(), embedded.Config{Home: home})
	if err != nil {
		t.Fatalf("opening the store after the kill: %v", err)
	}
	defer backend.Close()
	verifyLog(t, backend)
	missing := 0
	for id, digest := range allowed {
		entry, found, err := backend.Store.Entry(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if !found || !strings.Contains(string(entry.Body), digest) {
			missing++
		}
	}
	if missing > 0 {
		t.Fatalf("%d of %d allowed actions are missing from the log", missing, len(allowed))
	}
}

func verifyLog(t *testing.T, backend *embedded.Backend) {
	t.Helper()
	report, err := auditlog.Verify(t.Context(), backend.Store, backend.Key, auditlog.VerifyOptions{})
	if err != nil {
		t.Fatalf("verifying the log: %v", err)
	}
	if report.Problem != nil {
		t.Fatalf("the log does not verify: %v", report.Problem)
	}
}

// A testServer is a real `interlock up` in a process of its own.
type testServer struct {
	process *exec.Cmd
	client  *http.Client
}

// startServer starts `interlock up` on a home and waits until it says where it listens.
func startServer(t *testing.T, home string) *testServer {
	t.Helper()
	ready := filepath.Join(t.TempDir(), "ready")
	process := exec.Command(os.Args[0])
	process.Args = []string{"interlock", "up", "--listen", "off", "--ready", ready}
	process.Env = append(os.Environ(), "INTERLOCK_HOME="+home, "INTERLOCK_TEST_MAIN=1")
	stdout, err := process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	process.Stderr = &stderr
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { process.Process.Kill() })
	if !bufio.NewScanner(stdout).Scan() {
		t.Fatalf("the server ended before it was up: %s", stderr.String())
	}
	socket := config.Socket(home)
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", socket)
	}
	return &testServer{process: process, client: &http.Client{Transport: &http.Transport{DialContext: dial, MaxIdleConnsPerHost: 64}}}
}

// decide asks the server about one shell command.
func (s *testServer) decide(command string) (interlock.Answer, error) {
	body, err := json.Marshal(map[string]string{"kind": "shell", "input": command})
	if err != nil {
		return interlock.Answer{}, err
	}
	response, err := s.client.Post("http://interlock/v1/decide", "application/json", bytes.NewReader(body))
	if err != nil {
		return interlock.Answer{}, err
	}
	defer response.Body.Close()
	var answer interlock.Answer
	err = json.NewDecoder(response.Body).Decode(&answer)
	return answer, err
}
