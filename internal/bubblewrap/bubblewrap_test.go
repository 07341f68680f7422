package bubblewrap

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// Whatever a search path leads to first, a program outside the system's directories is passed over.
func TestOnlyTheSystemsBubblewrapIsFound(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // it has no such permissions, and no bubblewrap
	}
	dirs := map[string]string{}
	for name, mode := range map[string]os.FileMode{"agents": 0o755, "system": 0o755, "later": 0o755, "data": 0o644} {
		dirs[name] = filepath.Join(t.TempDir(), name)
		if err := os.Mkdir(dirs[name], 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dirs[name], Program), nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	among := []string{dirs["data"], dirs["system"], dirs["later"]}
	for want, path := range map[string][]string{
		"system": {"", ".", dirs["agents"], dirs["data"], dirs["system"] + "/", dirs["later"]},
		"later":  {dirs["later"], dirs["system"]},
		"":       {dirs["agents"], dirs["system"] + "/../agents"},
	} {
		expected := ""
		if want != "" {
			expected = filepath.Join(dirs[want], Program)
		}
		got, found := find(strings.Join(path, string(filepath.ListSeparator)), among)
		if got != expected || found != (want != "") {
			t.Errorf("%v: %q, %v; want %q", path, got, found, expected)
		}
	}
}
