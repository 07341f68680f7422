//go:build unix

package fileio_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"interlock/internal/fileio"
	"interlock/spec"
)

func TestCredential(t *testing.T) {
	spec.Covers(t, "ASA-11.3-2")
	dir := filepath.Join(t.TempDir(), "credentials")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, mode := range map[string]os.FileMode{"plain": 0o400, "interlock_whole": 0o400, "listed": 0o440, "open": 0o404, "written": 0o660} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("said of "+name), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(filepath.Join(dir, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(dir), "outside"), []byte("x"), 0o400); err != nil {
		t.Fatal(err)
	}
	handed := func(string) string { return dir }
	for name, want := range map[string]string{"plain": "said of plain", "whole": "said of interlock_whole", "listed": "said of listed",
		"open": "", "written": "", "missing": "", "": "", "../outside": "", "..": "", "a/b": "", ".hidden": ""} {
		got, err := fileio.Credential(handed, name, 100)
		if string(got) != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v; want %q", name, got, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "said of") {
			t.Errorf("%q: the secret stands in the error: %v", name, err)
		}
	}
	if _, err := fileio.Credential(func(string) string { return "" }, "plain", 100); !errors.Is(err, fileio.ErrNoCredentials) {
		t.Errorf("without a directory: %v", err)
	}
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := fileio.Credential(handed, "plain", 100); err == nil {
		t.Error("a directory that everybody may write is taken")
	}
}

// FuzzCredentialName: a name that is taken never leads out of its directory.
func FuzzCredentialName(f *testing.F) {
	for _, name := range []string{"a", "..", "a/../b", "interlock_x", "\x00", "."} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if fileio.CredentialName(name) && filepath.Dir(filepath.Join("/d", name)) != "/d" {
			t.Fatalf("%q leads out", name)
		}
	})
}
