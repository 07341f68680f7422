//go:build linux

package sandbox_test

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// TestEverythingHoldsForAnOrdinaryUserToo runs this package's tests again as nobody. Root has cgroups and privileges that
// others have not, and nothing may depend on them; where the tests run as an ordinary user, that is what they have done.
func TestEverythingHoldsForAnOrdinaryUserToo(t *testing.T) {
	if os.Geteuid() != 0 {
		return
	}
	dir, err := os.MkdirTemp("/tmp", "interlock-nobody-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, "sandbox.test")
	copyFile(t, self(t), program)
	for path, mode := range map[string]os.FileMode{dir: 0o777, program: 0o755} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	command := exec.Command(program, "-test.run", "^(TestEscape|TestOverlay.*|TestKeep.*|TestRun.*)$")
	command.Dir = dir
	command.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "TMPDIR=" + dir}
	command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	if out, err := command.CombinedOutput(); err != nil {
		t.Errorf("as nobody: %v\n%s", err, out)
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	source, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer source.Close()
	target, err := os.Create(to)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(target, source); err != nil {
		t.Fatal(err)
	}
	if err := target.Close(); err != nil {
		t.Fatal(err)
	}
}
