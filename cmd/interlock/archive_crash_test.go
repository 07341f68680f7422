package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"interlock/embedded"
	"interlock/internal/archive"
	"interlock/internal/auditlog"
	"interlock/test/wait"
)

// TestKillDuringArchive kills archiving without warning, ever later: the log verifies at once, nothing that it held is lost, and
// doing it again finishes it.
func TestKillDuringArchive(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	if err := aged(t.Context(), home, time.Now().Add(-2400*time.Hour), 1600, "old"); err != nil {
		t.Fatal(err)
	}
	before := logLines(t, home)
	for delay := time.Duration(0); ; delay += 35 * time.Millisecond {
		round := filepath.Join(t.TempDir(), "home")
		if err := os.CopyFS(round, os.DirFS(home)); err != nil {
			t.Fatal(err)
		}
		private(t, round)
		to := filepath.Join(t.TempDir(), "archive")
		process := exec.Command(os.Args[0])
		process.Args = []string{"interlock", "audit", "archive", "--before", "90d", "--to", to}
		process.Env = append(os.Environ(), "INTERLOCK_HOME="+round, "INTERLOCK_TEST_MAIN=1")
		if err := process.Start(); err != nil {
			t.Fatal(err)
		}
		wait.Chance(delay)
		_ = process.Process.Kill() // or it has ended
		ended := process.Wait() == nil
		backend, err := embedded.Open(t.Context(), embedded.Config{Home: round})
		if err != nil {
			t.Fatal(err)
		}
		verifyLog(t, backend)
		if _, err := backend.Archive(t.Context(), to, time.Now().Add(-2160*time.Hour), nil); err != nil {
			t.Fatalf("after %v: doing it again: %v", delay, err)
		}
		archives, err := archive.Open(to)
		if err == nil {
			err = archives.Check(t.Context(), backend.Key)
		}
		if err != nil {
			t.Fatalf("after %v: %v", delay, err)
		}
		var now bytes.Buffer
		if err := auditlog.WriteLines(t.Context(), &now, archives.Over(backend.Store)); err != nil {
			t.Fatalf("after %v: %v", delay, err)
		}
		if !bytes.HasPrefix(now.Bytes(), before) {
			t.Fatalf("after %v: what the log held is not what it holds with its archive", delay)
		}
		report, err := auditlog.Verify(t.Context(), backend.Store, backend.Key, auditlog.VerifyOptions{})
		if err != nil || report.Problem != nil || report.Released < 1500 {
			t.Fatalf("after %v: %+v, %v", delay, report, err)
		}
		backend.Close()
		if ended {
			if delay == 0 {
				t.Error("nothing was killed")
			}
			return
		}
	}
}

// logLines is a home's log as lines.
func logLines(t *testing.T, home string) []byte {
	t.Helper()
	backend, err := embedded.Open(t.Context(), embedded.Config{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	defer backend.Close()
	var lines bytes.Buffer
	if err := auditlog.WriteLines(t.Context(), &lines, backend.Store); err != nil {
		t.Fatal(err)
	}
	return lines.Bytes()
}

// private makes a home its owner's alone, as copying it does not.
func private(t *testing.T, home string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(home, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if err := os.Chmod(file, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(home, 0o700); err != nil {
		t.Fatal(err)
	}
}
