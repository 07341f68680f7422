package main

import (
	"os"
	"path/filepath"
	"testing"

	"interlock"
)

// TestServerTellsOfRequests: a channel whose floor is confirm is told of a request that waits, once, and gets no code.
func TestServerTellsOfRequests(t *testing.T) {
	home := t.TempDir()
	if err := os.Chmod(home, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TEST_WEBHOOK_KEY", "0123456789abcdef")
	receiver := newReceiver(t)
	settings := "channels:\n  - {kind: webhook, floor: confirm, url: \"" + receiver.address + "\", key: env:TEST_WEBHOOK_KEY}\n"
	if err := os.WriteFile(filepath.Join(home, "interlock.yaml"), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	server := startServer(t, home)
	for _, command := range []string{"git push --force origin first", "git push --force origin second"} {
		answer, err := server.decide(command)
		if err != nil || answer.Verdict != interlock.Ask || answer.Request == "" {
			t.Fatalf("%s: %v, request %q, %v", command, answer.Verdict, answer.Request, err)
		}
		notice := <-receiver.notices // the test's own deadline bounds this
		if want := (told{Kind: "request", Severity: "confirm", Request: answer.Request}); notice != want {
			t.Errorf("told %+v, want %+v: the first request again, or something else", notice, want)
		}
	}
}
