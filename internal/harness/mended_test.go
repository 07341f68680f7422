//go:build unix

package harness

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestALineSaysHowToMendIt runs what is registered as a harness's shell does: with a program that is gone it refuses and says
// what to do, and with one that refuses by itself it adds nothing.
func TestALineSaysHowToMendIt(t *testing.T) {
	for _, name := range []string{"inter lock", "it's"} {
		program := filepath.Join(t.TempDir(), name)
		c := Command{program, HookArgs("claude", "PreToolUse", "/h", false)}
		line := c.closed("linux", true)
		if got := (Registration{Shell: line}).Line(); got != c.posix() {
			t.Errorf("what is run of %s is read as %s", line, got)
		}
		run := func() (int, string) {
			out, err := exec.Command("sh", "-c", line).CombinedOutput()
			if err == nil {
				return 0, string(out)
			}
			return err.(*exec.ExitError).ExitCode(), string(out)
		}
		if code, said := run(); code != 2 || !strings.Contains(said, "[hook.gone]") || !strings.Contains(said, program) ||
			!strings.Contains(said, "interlock setup") {
			t.Errorf("gone: exit %d, %s", code, said)
		}
		for script, want := range map[string]int{"exit 0": 0, "echo refused >&2; exit 2": 2, "kill -9 $$": 2} {
			if err := os.WriteFile(program, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			if code, said := run(); code != want || strings.Contains(said, "hook.gone") {
				t.Errorf("%s: exit %d, %s", script, code, said)
			}
		}
	}
}
