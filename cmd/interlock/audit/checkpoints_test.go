package audit

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"interlock/cmd/interlock/cli"
	"interlock/internal/ledger"
	"interlock/test/wait"
)

func TestCheckpointTargetsRefuse(t *testing.T) {
	for value, want := range map[string]string{
		"http://log.example.com/checkpoint":       "neither a file nor an HTTPS URL",
		"ftp://log.example.com/checkpoint":        "neither a file nor an HTTPS URL",
		"https://user:pass@log.example.com/store": "must not carry user information",
	} {
		_, err := CheckpointTargets([]string{value})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "pass@") {
			t.Errorf("%s: %v, want %q", value, err, want)
		}
	}
	if _, err := CheckpointTargets([]string{"relative/file", "/absolute/file", `C:\file`, "https://log.example.com/x", "http://127.0.0.1:1/x"}); err != nil {
		t.Error(err)
	}
}

// TestCheckpointsReachEveryTarget: each new head goes to every target, one that fails is tried again with the next tick,
// and the last head goes out when the server stops.
func TestCheckpointsReachEveryTarget(t *testing.T) {
	var mu sync.Mutex
	var received []string
	refusals := 1
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		if refusals > 0 {
			refusals--
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		received = append(received, string(body))
	}))
	defer server.Close()
	file := filepath.Join(t.TempDir(), "checkpoint")
	targets, err := CheckpointTargets([]string{file, server.URL})
	if err != nil {
		t.Fatal(err)
	}

	log := &growingLog{moved: make(chan struct{}, 1)}
	log.size.Store(1)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		ForwardCheckpoints(ctx, log, targets, time.Millisecond, slog.New(slog.DiscardHandler))
	}()
	arrived := func(want string) func() bool {
		return func() bool {
			mu.Lock()
			defer mu.Unlock()
			return len(received) > 0 && received[len(received)-1] == want
		}
	}
	eventually(t, arrived("head 1"))
	log.size.Store(2)
	log.moved <- struct{}{}
	eventually(t, arrived("head 2"))
	log.size.Store(3) // and nobody says so
	cancel()
	<-done
	if !arrived("head 3")() {
		t.Errorf("received %q, want the last head at the end", received)
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "head 3" {
		t.Errorf("the file holds %q, %v", text, err)
	}
}

// A growingLog has as many entries as a test says.
type growingLog struct {
	size  atomic.Int64
	moved chan struct{}
}

func (l *growingLog) Head(context.Context) (ledger.Head, error) {
	size := l.size.Load()
	return ledger.Head{Size: size, Checkpoint: []byte("head " + string(rune('0'+size)))}, nil
}

func (l *growingLog) Watch(context.Context, ledger.Watch) (<-chan struct{}, error) {
	return l.moved, nil
}

func TestCheckpointFileThatCannotBeWritten(t *testing.T) {
	err := cli.ReplaceFile(filepath.Join(t.TempDir(), "missing", "checkpoint"), []byte("head"))
	if err == nil || strings.Contains(err.Error(), "missing") || errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v, want one sentence without a path", err)
	}
}

// eventually waits until a condition holds that other goroutines bring about.
func eventually(t *testing.T, holds func() bool) {
	t.Helper()
	wait.Until(t, "it comes", holds)
}
