//go:build unix

package harness

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestHostileSettings: what is no settings file ends in one sentence, for installing, for taking out and for looking, and nothing is
// written. None of it waits, runs out of memory or of stack.
func TestHostileSettings(t *testing.T) {
	text := func(content string) func(path string) error {
		return func(path string) error { return os.WriteFile(path, []byte(content), 0o600) }
	}
	for name, test := range map[string]struct {
		put  func(path string) error
		want string
	}{
		"a pipe":             {func(path string) error { return syscall.Mkfifo(path, 0o600) }, "no ordinary file"},
		"a device":           {func(path string) error { return os.Symlink("/dev/zero", path) }, "no ordinary file"},
		"a directory":        {func(path string) error { return os.Mkdir(path, 0o700) }, "no ordinary file"},
		"3,000,000 brackets": {text(strings.Repeat("[", 3_000_000)), "nested too deep"},
		"3,000,000 objects":  {text(strings.Repeat(`{"a":`, 600_000)), "nested too deep"},
		"nested TOML":        {text("a = " + strings.Repeat("[", 3_000_000)), "nested too deep"},
		"more than anybody's": {func(path string) error {
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				return err
			}
			return os.Truncate(path, 1<<40)
		}, "longer than"},
	} {
		for _, harness := range []string{"claude", "codex", "gemini"} {
			place := Place{Home: t.TempDir(), GOOS: "linux", Getenv: func(string) string { return "" }}
			h := harnessNamed(t, harness)
			path := h.Settings(place)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := test.put(path); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(name, "TOML") && !strings.HasSuffix(path, ".toml") {
				continue
			}
			said := func(what string, err error) {
				t.Helper()
				if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") || len(err.Error()) > 400 {
					t.Errorf("%s of %s with %s: %.300v", what, harness, name, err)
				}
			}
			_, err := h.Install(place, func(event string) Command {
				return Command{Binary: "/usr/bin/interlock", Args: HookArgs(harness, event, "/h", false)}
			})
			said("installing", err)
			_, err = h.Uninstall(place, "/usr/bin/interlock")
			said("uninstalling", err)
			_, err = h.inSettings(path, "/usr/bin/interlock")
			said("looking", err)
		}
	}
}
