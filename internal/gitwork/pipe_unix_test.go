//go:build unix

package gitwork

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestWhatIsNoFile: a pipe or a device in the place of any file that git keeps, or would read, is not waited for, whatever takes its
// place between a look and the reading.
func TestWhatIsNoFile(t *testing.T) {
	const id = "0123456789012345678901234567890123456789"
	for _, name := range []string{".git", ".git/HEAD", ".git/index", ".git/config", ".git/commondir", ".git/packed-refs", ".git/info/exclude",
		".git/refs/heads/main", ".git/objects/01/" + id[2:], ".gitignore", "file"} {
		for kind, put := range map[string]func(path string) error{
			"pipe":   func(path string) error { return syscall.Mkfifo(path, 0o600) },
			"device": func(path string) error { return os.Symlink("/dev/zero", path) },
			"linked": func(path string) error {
				pipe := filepath.Join(t.TempDir(), "pipe")
				if err := syscall.Mkfifo(pipe, 0o600); err != nil {
					return err
				}
				return os.Symlink(pipe, path)
			},
		} {
			root := t.TempDir()
			for path, text := range map[string]string{".git/HEAD": "ref: refs/heads/main\n", ".git/refs/heads/main": id + "\n",
				".git/config": "[core]\n", "file": "text", ".git/info/exclude": "", ".git/objects/01/other": "", ".git/commondir": ".\n"} {
				if name == ".git" {
					break
				}
				path = filepath.Join(root, path)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			place := filepath.Join(root, name)
			_ = os.Remove(place)
			if err := put(place); err != nil {
				t.Fatal(err)
			}
			done := make(chan struct{})
			go func() {
				defer close(done)
				Look([]string{filepath.Join(root, "file"), root})
				_, _ = read(place, 1<<20)
				_, _ = blob(place, false, 4)
				_, _ = entriesOf(place, 9)
				_ = headTree(filepath.Join(root, ".git"), filepath.Join(root, ".git"))
			}()
			select {
			case <-done:
			case <-time.After(time.Minute):
				t.Fatalf("a %s in the place of %s is waited for", kind, name)
			}
		}
	}
}
