package main

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"interlock/cmd/interlock/cli"
	"interlock/cmd/interlock/serve"
	"interlock/embedded"
	"interlock/internal/config"
)

// TestLookoutHistories: a server that goes on from an older store says on every page which entries two histories disagree on, and so
// it does of what a hook has found by itself.
func TestLookoutHistories(t *testing.T) {
	f := newHookFixture(t)
	calls := 0
	call := func() {
		t.Helper()
		calls++
		payload := strings.Replace(harmless, `"t1"`, fmt.Sprintf(`"t%d"`, calls), 1)
		if out := f.run(strings.NewReader(payload), "--agent", "claude"); out.Exit != 0 || len(out.Stdout) > 0 {
			t.Fatalf("%d %q %q", out.Exit, out.Stdout, out.Stderr)
		}
	}
	call()
	call()
	backup := filepath.Join(t.TempDir(), "backup")
	if err := os.CopyFS(backup, os.DirFS(f.home)); err != nil {
		t.Fatal(err)
	}
	call()
	if err := os.RemoveAll(f.home); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(f.home, os.DirFS(backup)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{".", "log.key", "inputs.key"} { // CopyFS widens rights
		mode := os.FileMode(0o600)
		if name == "." {
			mode = 0o700
		}
		if err := os.Chmod(filepath.Join(f.home, name), mode); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	settings, err := config.Load(f.home, "")
	if err != nil {
		t.Fatal(err)
	}
	backend, err := embedded.OpenConfig(t.Context(), settings)
	if err != nil {
		t.Fatal(err)
	}
	defer backend.Close()
	p := &cli.Program{Ctx: t.Context(), Getenv: func(name string) string {
		return map[string]string{"INTERLOCK_HOME": f.home, "HOME": f.user}[name]
	}, Stdout: &bytes.Buffer{}, Stderr: &bytes.Buffer{}}
	l := serve.NewLookout(p, backend, "", slog.New(slog.DiscardHandler))
	l.Look(t.Context())
	said := strings.Join(l.Warnings(), "\n")
	if !strings.Contains(said, "two histories disagree on entr") {
		t.Fatalf("the lookout says %q", said)
	}
	call() // a hook of another process finds it too
	l.Look(t.Context())
	if said := strings.Join(l.Warnings(), "\n"); !strings.Contains(said, "claude: two histories disagree on entr") {
		t.Errorf("the lookout does not pass on what a hook said: %q", said)
	}
}
