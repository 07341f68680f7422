package interlock_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestFilesAreReadInOnePlace: reading a pipe or a device waits, and reading whatever is there has no end. What a user or an agent may
// have put somewhere is read by package fileio, which opens without waiting, looks at what it opened and stops at a bound. A new
// os.Open or os.ReadFile takes its reason here.
func TestFilesAreReadInOnePlace(t *testing.T) {
	reasons := map[string]string{
		"cmd/interlock/cli/pages_linux.go":    "/proc",
		"internal/account/passwd.go":          "/etc/passwd",
		"internal/account/user_unix.go":       "/etc/passwd",
		"internal/cosign/sync_unix.go":        "a directory of its own, to sync it",
		"internal/fileio/plain_other.go":      "where there are no pipes in directories",
		"internal/harness/lock_unix.go":       "a directory that is made just before",
		"internal/lineage/ancestors_linux.go": "/proc",
		"internal/sandbox/cgroup_linux.go":    "/proc and control groups",
		"internal/sandbox/limits_linux.go":    "/proc",
		"internal/sandbox/registry_linux.go":  "its own directory",
		"embedded/promote.go":                 "a directory of its own, to sync it",
	}
	reads := regexp.MustCompile(`\bos\.(Open|ReadFile)\(`)
	root := os.DirFS(".")
	used := map[string]bool{}
	for _, name := range repoFiles(t, root) {
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || strings.Contains(name, "test/") ||
			!strings.HasPrefix(name, "cmd/") && !strings.HasPrefix(name, "internal/") && !strings.HasPrefix(name, "embedded/") {
			continue
		}
		if !reads.Match(read(t, root, name)) {
			continue
		}
		if used[name] = true; reasons[name] == "" {
			t.Errorf("%s reads files by itself; package fileio does that within bounds", name)
		}
	}
	for name := range reasons {
		if !used[name] {
			t.Errorf("%s is excused, and reads none", name)
		}
	}
}
