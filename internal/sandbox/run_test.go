//go:build linux

package sandbox_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"interlock/internal/sandbox"
)

func TestMain(m *testing.M) {
	if sandbox.Stage(os.Args) {
		return
	}
	if len(os.Args) > 2 && os.Args[1] == attemptWord {
		attempt(os.Args[2:])
		return
	}
	if len(os.Args) > 4 && os.Args[1] == "run-and-be-killed" {
		_, err := sandbox.Run(context.Background(),
			sandbox.Spec{Argv: []string{"sh", "-c", os.Args[4]}, Workspace: os.Args[2], Dir: os.Args[2], State: os.Args[3], Limits: defaults(),
				Self: os.Args[0], Overlay: len(os.Args) > 5 && os.Args[5] == "overlay"})
		fmt.Fprintln(os.Stderr, "it was not killed:", err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// A box is one workspace and what a run in it printed.
type box struct {
	t         testing.TB
	spec      sandbox.Spec
	workspace string
	out, err  bytes.Buffer
}

func defaults() sandbox.Limits {
	return sandbox.Limits{Time: time.Minute, Memory: 512 << 20, Disk: 100 << 20, Processes: 64, Files: 100, Output: 1 << 20}
}

func newBox(t testing.TB) *box {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	workspace := filepath.Join(dir, "workspace")
	if err := os.Mkdir(workspace, 0o755); err != nil {
		t.Fatal(err)
	}
	b := &box{t: t, workspace: workspace}
	b.spec = sandbox.Spec{Workspace: workspace, Dir: workspace, State: filepath.Join(dir, "state"), Startup: sandbox.Startup(),
		Limits: defaults(),
		Stdout: &b.out, Stderr: &b.err}
	return b
}

// sh runs a shell script in the box and fails the test if it could not be run.
func (b *box) sh(script string) sandbox.Result {
	b.t.Helper()
	return b.run("sh", "-c", script)
}

func (b *box) run(argv ...string) sandbox.Result {
	b.t.Helper()
	b.out.Reset()
	b.err.Reset()
	b.spec.Argv = argv
	result, err := sandbox.Run(context.Background(), b.spec)
	if err != nil {
		b.t.Fatalf("the sandbox did not run %q: %v\n%s", argv, err, b.err.String())
	}
	return result
}

func TestRunPassesOnWhatTheCommandSays(t *testing.T) {
	b := newBox(t)
	r := b.sh("echo out; echo err >&2; echo made > file; exit 7")
	if r.Exit != 7 || b.out.String() != "out\n" || b.err.String() != "err\n" || r.Stopped != "" {
		t.Errorf("exit %d, stdout %q, stderr %q, stopped %q", r.Exit, b.out.String(), b.err.String(), r.Stopped)
	}
	if text, err := os.ReadFile(filepath.Join(b.workspace, "file")); err != nil || string(text) != "made\n" {
		t.Errorf("the file in the workspace: %q, %v", text, err)
	}
	t.Logf("setup %v, whole %v, walls %+v", r.Setup, r.Duration, r.Walls)
}
