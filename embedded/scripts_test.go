package embedded_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock"
	"interlock/embedded"
)

// Regular files within the bounds are read, and no link leads out of the workspace.
func TestReadScripts(t *testing.T) {
	root := t.TempDir()
	outside := filepath.Join(t.TempDir(), "outside.sh")
	for path, text := range map[string]string{
		filepath.Join(root, "Makefile"): "all:\n\ttrue\n", filepath.Join(root, "package.json"): `{"scripts":{"test":"true"}}`,
		filepath.Join(root, "deploy.sh"): "echo deploy\n", filepath.Join(root, "tool"): "#!/bin/sh\necho tool\n", filepath.Join(root, "notes.txt"): "notes",
		filepath.Join(root, "binary.sh"): "a\x00b", filepath.Join(root, "long.sh"): strings.Repeat("#", 65<<10), outside: "echo outside\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{"out.sh": outside} {
		if err := os.Symlink(target, filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(root, "dir.sh"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("deploy.sh", filepath.Join(root, "inside.sh")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Dir(outside), filepath.Join(root, "elsewhere")); err != nil {
		t.Fatal(err)
	}
	view := interlock.View{Workspace: root}
	for name, want := range map[string][]string{
		"Makefile": {"Makefile"}, "./tool": {"tool"}, "binary.sh": nil, "long.sh": nil, "dir.sh": nil, "missing.sh": nil, "inside.sh": {"inside.sh"},
		"out.sh": nil, "elsewhere/outside.sh": nil, outside: {"outside.sh"}, "d*y.sh": {"deploy.sh"}, "*/o.sh": nil, "pipe": nil,
	} {
		if !filepath.IsAbs(name) {
			name = filepath.Join(root, name)
		}
		var got []string
		for path := range embedded.ReadScripts(view, []string{name}) {
			got = append(got, filepath.Base(path))
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if got := embedded.ReadScripts(view, slices.Repeat([]string{filepath.Join(root, "missing.sh")}, 99)); got != nil {
		t.Errorf("nothing that is there: %v", got)
	}
}

// A pattern in a directory of which not every name is known is not answered: what it names first may be one of the others.
func TestReadScriptsOfMany(t *testing.T) {
	root := t.TempDir()
	name := filepath.Join(root, "*.sh")
	for n := range 300 {
		if err := os.WriteFile(filepath.Join(root, fmt.Sprintf("%03d.sh", n)), []byte("true\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := embedded.ReadScripts(interlock.View{Workspace: root}, []string{name}); (n < 256) != (len(got) > 0) {
			t.Fatalf("of %d: %d were read", n+1, len(got))
		}
	}
}
