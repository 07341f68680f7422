package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"interlock"
	"interlock/internal/bubblewrap"
)

// Probe tries on this host what sandboxes need, by building some. self is this program; state as in [Spec].
func Probe(ctx context.Context, state, self string) Features {
	f := Features{System: kernel(), Landlock: landlock()}
	path, found := bubblewrap.Find(os.Getenv("PATH"))
	if !found {
		f.Missing = notInstalled
		return f
	}
	f.Bubblewrap = path
	if out, err := exec.CommandContext(ctx, path, "--version").Output(); err == nil {
		f.Bubblewrap += ", " + strings.TrimSpace(string(out))
	}
	if _, err := filterFor(runtime.GOARCH, false); err != nil {
		f.Missing = err.Error()
		return f
	}
	result, err := trial(ctx, state, self, func(*Spec) {})
	if err != nil {
		f.Missing = reason(err)
		return f
	}
	f.Works, f.Walls = true, result.Walls
	if _, err := trial(ctx, state, self, func(s *Spec) { s.Overlay = true }); err != nil {
		f.NoOverlay = reason(err)
	}
	refuse := &Network{Decide: func(context.Context, string, int) error { return errors.New("nothing is reached in a trial") }}
	if _, err := trial(ctx, state, self, func(s *Spec) { s.Network = refuse }); err != nil {
		f.NoNetwork = reason(err)
	}
	return f
}

// trial runs a program that does nothing in an empty workspace.
func trial(ctx context.Context, state, self string, with func(*Spec)) (Result, error) {
	if err := os.MkdirAll(state, 0o700); err != nil {
		return Result{}, err
	}
	dir, err := os.MkdirTemp(state, "trial-")
	if err != nil {
		return Result{}, err
	}
	defer os.RemoveAll(dir)
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return Result{}, err
	}
	var stderr bytes.Buffer
	s := Spec{Argv: []string{"true"}, Workspace: dir, Dir: dir, State: state, Self: self, Stderr: &stderr,
		Limits: Limits{Time: 10 * time.Second, Memory: 256 << 20, Disk: 10 << 20, Processes: 32, Files: 64, Output: 64 << 10}}
	with(&s)
	result, err := Run(ctx, s)
	if err == nil && result.Exit != 0 {
		err = fmt.Errorf("a program that does nothing ended with %d: %.200s", result.Exit, strings.TrimSpace(stderr.String()))
	}
	return result, err
}

func reason(err error) string {
	var e *interlock.Error
	if errors.As(err, &e) {
		return strings.TrimSuffix(e.Message, "; nothing was run")
	}
	return err.Error()
}

func kernel() string {
	var name syscall.Utsname
	if syscall.Uname(&name) != nil {
		return "Linux"
	}
	var release []byte
	for _, c := range name.Release {
		if c == 0 {
			break
		}
		release = append(release, byte(c))
	}
	return "Linux " + string(release) + ", " + runtime.GOARCH
}

// landlock is the version of the kernel's Landlock, or 0.
func landlock() int {
	const createRuleset, onlyVersion = 444, 1
	version, _, errno := syscall.RawSyscall(createRuleset, 0, 0, onlyVersion)
	if errno != 0 {
		return 0
	}
	return int(version)
}
