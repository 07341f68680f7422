package main

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"interlock"
	"interlock/cmd/interlock/cli"
	"interlock/cmd/interlock/serve"
	"interlock/embedded"
	"interlock/internal/config"
	"interlock/internal/ledger"
)

// TestLookoutSettings: a settings file that is made weaker while a server runs is recorded once and stands on every page until it is
// put back; and a server that runs under weaker settings than were ordered since says so.
func TestLookoutSettings(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	if err := os.Mkdir(home, 0o700); err != nil {
		t.Fatal(err)
	}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(home, "interlock.yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	key, user := governed(t, home), t.TempDir()
	settings, err := config.Load(home, "")
	if err != nil {
		t.Fatal(err)
	}
	backend, err := embedded.OpenConfig(t.Context(), settings)
	if err != nil {
		t.Fatal(err)
	}
	defer backend.Close()
	p := &cli.Program{Ctx: t.Context(), Getenv: func(name string) string {
		return map[string]string{"INTERLOCK_HOME": home, "HOME": user}[name]
	}, Stdout: &bytes.Buffer{}, Stderr: &bytes.Buffer{}}
	l := serve.NewLookout(p, backend, "", slog.New(slog.DiscardHandler))
	says := func(want string) {
		t.Helper()
		l.Look(t.Context())
		said := strings.Join(l.Warnings(), "\n")
		if want == "" && said != "" || !strings.Contains(said, want) {
			t.Errorf("the lookout says %q, want %q", said, want)
		}
	}
	says("")
	write("mode: monitoring\n")
	const without = `settings that are weaker than an admin has ordered have no effect: mode ("monitoring"; in force: "enforcing")`
	says(without)
	says(without)
	alerts, err := backend.Store.Entries(t.Context(), interlock.EventAlert, ledger.Before(-1, 10))
	if err != nil || len(alerts) != 1 {
		t.Errorf("%d alerts about one setting: %v", len(alerts), err)
	}
	write("mode: [\n")
	says("the settings can't be read, so nothing that starts now starts")
	write("profile: supervised\n")
	says("")
	if out, err := command(t, home, "settings", "adopt", "--reason", "more care", "--key", key).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	says("this process runs under weaker settings than are in force now (profile); start it again")
	backend.Close()
	write("")
	if backend, err = embedded.OpenConfig(t.Context(), settings); err != nil {
		t.Fatal(err)
	}
	defer backend.Close()
	if backend.Settings.Profile != "supervised" || len(backend.Settled.Refused) != 1 {
		t.Errorf("started anew it runs under %s, and %v has no effect", backend.Settings.Profile, backend.Settled.Refused)
	}
}
