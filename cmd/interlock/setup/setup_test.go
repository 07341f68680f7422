package setup

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"interlock/cmd/interlock/cli"
	"interlock/internal/harness"
)

// tree is everything below a directory: names, modes and contents, or the digest of what is large.
func tree(t *testing.T, root string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s %s", strings.TrimPrefix(path, root), info.Mode())
		if entry.Type().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			if len(data) > 1<<20 { // this program
				data = fmt.Appendf(nil, "%x", sha256.Sum256(data))
			}
			fmt.Fprintf(&b, " %q", data)
		}
		b.WriteString("\n")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestASetupThatFailsAtAnyStepLeavesNoTrace takes the first steps, each number of them, and takes them back: in a home that is
// made and in one that was there, with the settings of an agent that are linked to and with those that there are not.
func TestASetupThatFailsAtAnyStepLeavesNoTrace(t *testing.T) {
	for _, old := range []bool{false, true} {
		for steps := 1; steps <= 3; steps++ {
			root := t.TempDir()
			env := map[string]string{"HOME": filepath.Join(root, "user"), "PATH": os.Getenv("PATH")}
			t.Setenv("HOME", env["HOME"])
			for dir, file := range map[string]string{"user/.claude": "", "user/.gemini": "", "dotfiles": "settings.json"} {
				if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
					t.Fatal(err)
				}
				if file != "" {
					if err := os.WriteFile(filepath.Join(root, dir, file), []byte(`{"model": "opus"}`), 0o640); err != nil {
						t.Fatal(err)
					}
				}
			}
			linked := filepath.Join(root, "user/.claude/settings.json")
			if err := os.Symlink(filepath.Join(root, "dotfiles/settings.json"), linked); err != nil {
				t.Fatal(err)
			}
			if old {
				for name, text := range map[string]string{"home/interlock.yaml": "profile: guard\n", "bin/interlock": "an older one"} {
					path := filepath.Join(root, name)
					if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
						t.Fatal(err)
					}
				}
			}
			before := tree(t, root)
			s := setupIn(t, root, env)
			s.remember()
			for _, step := range []func() error{s.makeHome, s.copyPrograms, s.register}[:steps] {
				if err := step(); err != nil {
					t.Fatal(err)
				}
			}
			if tree(t, root) == before {
				t.Fatalf("after %d steps nothing has changed", steps)
			}
			if err := s.journal.back(); err != nil {
				t.Fatal(err)
			}
			if after := tree(t, root); after != before {
				t.Errorf("after %d steps, taken back (a home that was there: %v):\n%.2000s\nbefore:\n%.2000s", steps, old, after, before)
			}
		}
	}
}

// setupIn is a setup below a directory, of this very program.
func setupIn(t *testing.T, root string, env map[string]string) *setup {
	t.Helper()
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(root, "home")
	p := &cli.Program{Ctx: context.Background(), Getenv: func(name string) string { return env[name] }, Stdin: strings.NewReader(""),
		Stdout: &bytes.Buffer{}, Stderr: &bytes.Buffer{}, Globals: cli.Globals{Home: home}}
	s := &setup{Program: p, command: &SetupCommand{}, home: home, bin: filepath.Join(root, "bin")}
	s.copies = []programCopy{{from: own, to: filepath.Join(s.bin, programName("interlock"))}}
	for _, name := range []string{"claude", "gemini"} {
		h, _ := harness.ByName(name)
		plan, err := h.Install(s.Place(""), func(event string) harness.Command {
			return harness.Command{Binary: s.hookProgram(), Args: harness.HookArgs(name, event, home, false)}
		})
		if err != nil {
			t.Fatal(err)
		}
		s.agents = append(s.agents, agentPlan{h, plan})
	}
	return s
}
