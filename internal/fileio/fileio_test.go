package fileio_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"interlock/internal/fileio"
)

// A file is read whole or not at all.
func TestRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("twelve bytes"), 0o600); err != nil {
		t.Fatal(err)
	}
	if data, err := fileio.Plain(path, 12); err != nil || string(data) != "twelve bytes" {
		t.Errorf("%q, %v", data, err)
	}
	if data, err := fileio.Plain(path, 11); err == nil || data != nil || err.Error() != "it is longer than 11 bytes" {
		t.Errorf("%q, %v", data, err)
	}
}

// What is wrong is said, and where is not.
func TestReasonHasNoPath(t *testing.T) {
	dir := t.TempDir()
	_, opening := os.Open(filepath.Join(dir, "nothing"))
	renaming := os.Rename(filepath.Join(dir, "nothing"), filepath.Join(dir, "else"))
	for _, err := range []error{opening, renaming, fmt.Errorf("wrapped: %w", opening)} {
		if got := fileio.Reason(err); got == "" || strings.Contains(got, dir) {
			t.Errorf("%q of %v", got, err)
		}
	}
	if got := fileio.Reason(fmt.Errorf("it is longer than %d bytes", 3)); got != "it is longer than 3 bytes" {
		t.Errorf("%q", got)
	}
}
