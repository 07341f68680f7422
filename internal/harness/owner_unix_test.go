//go:build unix

package harness

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

const somebody = 54321

// ownerOf is a file's owner, group and mode.
func ownerOf(t *testing.T, path string) (uid, gid uint32, mode os.FileMode) {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	s := info.Sys().(*syscall.Stat_t)
	return s.Uid, s.Gid, info.Mode().Perm()
}

// TestRootKeepsTheOwner: whoever installs as root for another user leaves every file and directory to that user, with its mode: the
// settings, the backup, and what was not there before. An ordinary user changes no owner.
func TestRootKeepsTheOwner(t *testing.T) {
	uid := uint32(os.Getuid())
	if uid == 0 {
		uid = somebody
	}
	home := t.TempDir()
	file := filepath.Join(home, ".claude", "settings.json")
	if err := os.Mkdir(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("{}\n"), 0o640); err != nil {
		t.Fatal(err)
	}
	gid := uint32(os.Getgid())
	if os.Getuid() == 0 {
		gid = somebody + 1
		for _, path := range []string{home, filepath.Dir(file), file} {
			if err := os.Lchown(path, int(uid), int(gid)); err != nil {
				t.Fatal(err)
			}
		}
	}
	check := func(path string, mode os.FileMode) {
		t.Helper()
		if u, g, m := ownerOf(t, path); u != uid || g != gid || m != mode {
			t.Errorf("%s belongs to %d:%d with mode %04o, want %d:%d and %04o", filepath.Base(path), u, g, m, uid, gid, mode)
		}
	}
	place := Place{Home: home, GOOS: "linux", Getenv: func(string) string { return "" }}
	command := func(event string) Command {
		return Command{Binary: "/usr/bin/interlock", Args: HookArgs("claude", event, "/h", false)}
	}
	plan, err := harnessNamed(t, "claude").Install(place, command)
	if err != nil {
		t.Fatal(err)
	}
	backup, err := plan.Apply(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	check(file, 0o640)
	check(backup, 0o640)

	plan, err = harnessNamed(t, "gemini").Install(place, command) // it has no settings yet, nor a directory for them
	if err != nil {
		t.Fatal(err)
	}
	if _, err := plan.Apply(time.Now()); err != nil {
		t.Fatal(err)
	}
	check(plan.Path, 0o600)
	check(filepath.Dir(plan.Path), 0o700)
}

// TestABackupFollowsNoLink: a link that waits where a backup goes is not written through.
func TestABackupFollowsNoLink(t *testing.T) {
	dir := t.TempDir()
	victim, trap := filepath.Join(dir, "victim"), filepath.Join(dir, "trap")
	if err := os.WriteFile(victim, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(victim, trap); err != nil {
		t.Fatal(err)
	}
	if err := create(trap, []byte("theirs"), nil); err == nil {
		t.Error("it was written through")
	}
	if text, err := os.ReadFile(victim); err != nil || string(text) != "mine" {
		t.Errorf("the file behind the link holds %q (%v)", text, err)
	}
}
