//go:build unix

package fileio

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestWhatIsNoOrdinaryFile: what would wait, never end or be too much is refused, and nothing of it is read.
func TestWhatIsNoOrdinaryFile(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	for _, err := range []error{syscall.Mkfifo(path("pipe"), 0o600), os.Symlink("/dev/zero", path("device")), os.Mkdir(path("directory"), 0o700),
		os.WriteFile(path("large"), nil, 0o600), os.Truncate(path("large"), 1<<40), os.Symlink(path("nothing"), path("dangling")),
		os.WriteFile(path("exact"), make([]byte, 100), 0o600), os.Symlink(path("pipe"), path("linked"))} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{"pipe": "no ordinary file", "linked": "no ordinary file", "device": "no ordinary file",
		"directory": "no ordinary file", "large": "longer than 100 bytes", "dangling": "no such file", "exact": ""} {
		for _, read := range []func() ([]byte, error){func() ([]byte, error) { return Plain(path(name), 100) },
			func() ([]byte, error) { return Own(path(name), 100, Secret) }} {
			data, err := read()
			if want == "" && (err != nil || len(data) != 100) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
				t.Errorf("%s: %d bytes, %v", name, len(data), err)
			}
		}
	}
}

// TestOpen: what is read in parts is opened as what is read whole, and a directory is one.
func TestOpen(t *testing.T) {
	dir := t.TempDir()
	pipe, file := filepath.Join(dir, "pipe"), filepath.Join(dir, "file")
	if err := errors.Join(syscall.Mkfifo(pipe, 0o600), os.WriteFile(file, []byte("text"), 0o600)); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string][2]bool{file: {true, false}, dir: {false, true}, pipe: {}, "/dev/zero": {}, filepath.Join(dir, "none"): {}} {
		for n, open := range []func(string) (*os.File, error){Open, OpenDir} {
			f, err := open(path)
			if (err == nil) != want[n] {
				t.Errorf("%s, %d: %v", path, n, err)
			}
			if err == nil {
				f.Close()
			}
		}
	}
}

// TestOnesOwn: what others may write is refused, and a secret that others may read; so is what lies where others may put something else
// in its place, whatever link leads to it. What only its owner may touch is read, and settings may be read by all.
func TestOnesOwn(t *testing.T) {
	for name, test := range map[string]struct {
		mode, dir         os.FileMode
		settings, secrets string // what is said; empty: it is read
	}{
		"one's own":                     {0o600, 0o700, "", ""},
		"read-only":                     {0o400, 0o500, "", ""},
		"readable by all":               {0o644, 0o755, "", "may be read by others (mode 0644)"},
		"readable by the group":         {0o640, 0o750, "", "may be read by others"},
		"writable by the group":         {0o660, 0o755, "it may be written by others", "may be read by others"},
		"writable by all":               {0o602, 0o755, "it may be written by others (mode 0602)", "may be read by others"},
		"in a directory of the group's": {0o600, 0o770, "its directory may be written by others (mode 0770)", "its directory may be written"},
		"in a directory of everybody's": {0o600, 0o777, "its directory may be written by others", "its directory may be written"},
		"in one like /tmp":              {0o600, 0o777 | os.ModeSticky, "", ""},
	} {
		dir, elsewhere := t.TempDir(), t.TempDir()
		file, link := filepath.Join(dir, "file"), filepath.Join(elsewhere, "link")
		for _, err := range []error{os.WriteFile(file, []byte("text"), 0o600), os.Chmod(file, test.mode),
			os.Chmod(dir, test.dir), os.Symlink(file, link)} {
			if err != nil {
				t.Fatal(err)
			}
		}
		for keep, want := range map[Keep]string{Settled: test.settings, Secret: test.secrets} {
			for _, path := range []string{file, link} {
				data, err := Own(path, 100, keep)
				switch {
				case want == "" && (err != nil || string(data) != "text"):
					t.Errorf("%s: %q, %v", name, data, err)
				case want != "" && (err == nil || !strings.Contains(err.Error(), want) || !IsOpen(err) || data != nil ||
					!strings.Contains(err.Error(), "run: chmod")):
					t.Errorf("%s: %q, %v, want %q", name, data, err, want)
				}
			}
		}
		_ = os.Chmod(dir, 0o700)
	}
}
