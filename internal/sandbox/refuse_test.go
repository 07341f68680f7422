//go:build linux

package sandbox_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"interlock"
	"interlock/internal/sandbox"
	"interlock/test/wait"
)

// TestAHostThatCanBuildNoSandboxRunsNothing: where no user namespace can be made, the command does not run at all.
func TestAHostThatCanBuildNoSandboxRunsNothing(t *testing.T) {
	for _, kind := range []string{"workspace", "overlay"} {
		b := newBox(t)
		command := exec.Command("unshare", "-Ur", "sh", "-c", `echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"`, "sh",
			self(t), "run-and-be-killed", b.workspace, b.spec.State, "touch ran", kind)
		out, err := command.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "nothing was run") {
			t.Errorf("%s: %v\n%s", kind, err, out)
		}
		if exists(filepath.Join(b.workspace, "ran")) {
			t.Errorf("%s: the command ran", kind)
		}
		if left, err := os.ReadDir(filepath.Join(b.spec.State, "runs")); err != nil || len(left) > 0 {
			t.Errorf("%s: left behind: %v, %v", kind, left, err)
		}
	}
}

func TestWhatNoSandboxCanBeBuiltForIsRefused(t *testing.T) {
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	for name, edit := range map[string]func(*sandbox.Spec){
		"no command":               func(s *sandbox.Spec) { s.Argv = nil },
		"no limit":                 func(s *sandbox.Spec) { s.Limits.Memory = 0 },
		"the root":                 func(s *sandbox.Spec) { s.Workspace, s.Dir = "/", "/" },
		"a home":                   func(s *sandbox.Spec) { s.Workspace, s.Dir = home, home },
		"above a home":             func(s *sandbox.Spec) { s.Workspace, s.Dir = filepath.Dir(home), filepath.Dir(home) },
		"a system directory":       func(s *sandbox.Spec) { s.Workspace, s.Dir = "/usr/lib", "/usr/lib" },
		"all temporary files":      func(s *sandbox.Spec) { s.Workspace, s.Dir = "/tmp", "/tmp" },
		"outside the workspace":    func(s *sandbox.Spec) { s.Dir = filepath.Dir(s.Workspace) },
		"a relative path":          func(s *sandbox.Spec) { s.Workspace = "x" },
		"a path with dots":         func(s *sandbox.Spec) { s.Dir = s.Workspace + "/../workspace" },
		"a workspace over a link":  func(s *sandbox.Spec) { s.Workspace = s.Workspace + "-link"; s.Dir = s.Workspace },
		"a workspace not there":    func(s *sandbox.Spec) { s.Workspace += "-not"; s.Dir = s.Workspace },
		"a copy without a helper":  func(s *sandbox.Spec) { s.Overlay, s.Self = true, "" },
		"a command that is no one": func(s *sandbox.Spec) { s.Argv = []string{"no-such-command"} },
	} {
		b := newBox(t)
		if err := os.Symlink(b.workspace, b.workspace+"-link"); err != nil {
			t.Fatal(err)
		}
		b.spec.Argv = []string{"true"}
		edit(&b.spec)
		_, err := sandbox.Run(context.Background(), b.spec)
		var refusal *interlock.Error
		if !errors.As(err, &refusal) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestRunsInOneWorkspaceTakeTurns: two that write to it don't run at once, and both run.
func TestRunsInOneWorkspaceTakeTurns(t *testing.T) {
	b := newBox(t)
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			s := b.spec
			s.Stdout, s.Stderr = nil, nil
			s.Argv = []string{"sh", "-c", "mkdir turn && sleep 0.05 && rmdir turn && echo done >> log"}
			if r, err := sandbox.Run(context.Background(), s); err != nil || r.Exit != 0 {
				t.Errorf("%+v, %v", r, err)
			}
		})
	}
	all.Wait()
	if text := b.tree()["log"]; text != "done\ndone\ndone\n" {
		t.Errorf("the log holds %q", text)
	}
}

// TestACancelledRunEnds: whoever waits can stop waiting, and nothing goes on.
func TestACancelledRunEnds(t *testing.T) {
	b := newBox(t)
	ctx, cancel := context.WithCancel(context.Background())
	b.spec.Argv = []string{"sh", "-c", "touch begun; while :; do sleep 60; done"}
	go func() {
		wait.Holds(func() bool { return exists(filepath.Join(b.workspace, "begun")) })
		cancel()
	}()
	r, err := sandbox.Run(ctx, b.spec)
	if err != nil || r.Stopped != "cancelled" {
		t.Errorf("%+v, %v", r, err)
	}
}
