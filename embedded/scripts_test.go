package embedded_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock"
	"interlock/embedded"
)

// What a command would run of the workspace's own files is read, and nothing else is.
func TestScripts(t *testing.T) {
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
	for command, want := range map[string][]string{
		"make all": {"Makefile"}, "cd x && npm run test": {"package.json"}, "bash deploy.sh": {"deploy.sh"}, "./tool --fast": {"tool"},
		"sh tool": {"tool"}, "cat notes.txt": nil, "bash binary.sh": nil, "bash long.sh": nil, "bash dir.sh": nil, "bash missing.sh": nil,
		"bash inside.sh": {"inside.sh"}, "bash out.sh": nil, "bash elsewhere/outside.sh": nil, "bash " + outside: nil, "bash ../" + filepath.Base(filepath.Dir(outside)) + "/outside.sh": nil,
		"make && ./tool; bash ./deploy.sh": {"Makefile", "deploy.sh", "tool"}, "git status": nil,
	} {
		action := interlock.Action{Kind: interlock.KindShell, Input: command, Dir: root}
		var got []string
		for path := range embedded.Scripts(action, interlock.View{Workspace: root}) {
			got = append(got, filepath.Base(path))
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", command, diff)
		}
	}
	if got := embedded.Scripts(interlock.Action{Kind: interlock.KindShell, Input: "make"}, interlock.View{Workspace: root}); got != nil {
		t.Errorf("without a directory: %v", got)
	}
}
