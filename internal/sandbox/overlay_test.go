//go:build linux

package sandbox_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock"
)

// put writes files into the box's workspace; a name that ends with a slash is a directory.
func (b *box) put(files map[string]string) {
	b.t.Helper()
	for name, text := range files {
		path := filepath.Join(b.workspace, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			b.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			b.t.Fatal(err)
		}
	}
}

// tree is what stands in the workspace: files by content, directories, and where links lead.
func (b *box) tree() map[string]string {
	b.t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(b.workspace, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == b.workspace {
			return err
		}
		name, err := filepath.Rel(b.workspace, path)
		if err != nil {
			return err
		}
		switch {
		case entry.IsDir():
			out[name] = "dir"
		case entry.Type()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			out[name] = "-> " + target
			return err
		default:
			text, err := os.ReadFile(path)
			out[name] = string(text)
			return err
		}
		return nil
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return out
}

// changeALot does something of every kind to the files of overlaid.
const changeALot = `set -e
echo two >> changed
echo made > new
mkdir -p dir/below; echo deep > dir/below/file
rm gone; rm -r old
touch same; chmod +x mode
ln -s new inner; ln -s /etc/passwd outer
rm -r again; mkdir again; echo x > again/other
mkfifo pipe
mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit; echo evil > CLAUDE.md
`

func overlaid(t testing.TB) *box {
	b := newBox(t)
	b.put(map[string]string{"changed": "one\n", "gone": "x\n", "old/a": "a\n", "old/b/c": "c\n", "same": "same\n", "mode": "m\n",
		"again/first": "1\n", "CLAUDE.md": "be good\n"})
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b.spec.Overlay, b.spec.Self = true, self
	return b
}

func TestOverlayShowsWhatWasWrittenAndThrowsItAway(t *testing.T) {
	b := overlaid(t)
	before := b.tree()
	r := b.sh(changeALot)
	if r.Exit != 0 {
		t.Fatalf("exit %d: %s", r.Exit, b.err.String())
	}
	want := []interlock.Effect{
		{Path: ".git", Change: "added", Kind: "dir"},
		{Path: ".git/hooks", Change: "added", Kind: "dir", Startup: true},
		{Path: ".git/hooks/pre-commit", Change: "added", Kind: "file", After: 5, Startup: true, Diff: "@@ -0,0 +1 @@\n+evil\n"},
		{Path: "CLAUDE.md", Change: "modified", Kind: "file", Before: 8, After: 5, Startup: true, Diff: "@@ -1 +1 @@\n-be good\n+evil\n"},
		{Path: "again/first", Change: "deleted", Kind: "file", Before: 2, Diff: "@@ -1 +0,0 @@\n-1\n"},
		{Path: "again/other", Change: "added", Kind: "file", After: 2, Diff: "@@ -0,0 +1 @@\n+x\n"},
		{Path: "changed", Change: "modified", Kind: "file", Before: 4, After: 8, Diff: "@@ -1 +1,2 @@\n one\n+two\n"},
		{Path: "dir", Change: "added", Kind: "dir"},
		{Path: "dir/below", Change: "added", Kind: "dir"},
		{Path: "dir/below/file", Change: "added", Kind: "file", After: 5, Diff: "@@ -0,0 +1 @@\n+deep\n"},
		{Path: "gone", Change: "deleted", Kind: "file", Before: 2, Diff: "@@ -1 +0,0 @@\n-x\n"},
		{Path: "inner", Change: "added", Kind: "link"},
		{Path: "mode", Change: "modified", Kind: "file", Before: 2, After: 2},
		{Path: "new", Change: "added", Kind: "file", After: 5, Diff: "@@ -0,0 +1 @@\n+made\n"},
		{Path: "old", Change: "deleted", Kind: "dir"},
		{Path: "outer", Change: "added", Kind: "link"},
		{Path: "pipe", Change: "added", Kind: "special"},
	}
	if diff := cmp.Diff(want, r.Effects); diff != "" {
		t.Errorf("effects (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before, b.tree()); diff != "" {
		t.Errorf("the workspace itself changed:\n%s", diff)
	}
}

func TestKeepCarriesOverAllButWhatIsObeyedLaterOrLeadsOut(t *testing.T) {
	b := overlaid(t)
	b.spec.Keep = true
	r := b.sh(changeALot)
	if !r.Kept {
		t.Fatalf("nothing was kept: %+v", r)
	}
	want := map[string]string{".git": "dir", "CLAUDE.md": "be good\n", "again": "dir", "again/other": "x\n", "changed": "one\ntwo\n", "dir": "dir",
		"dir/below": "dir", "dir/below/file": "deep\n", "inner": "-> new", "mode": "m\n", "new": "made\n", "same": "same\n"}
	if diff := cmp.Diff(want, b.tree()); diff != "" {
		t.Errorf("the workspace (-want +got):\n%s", diff)
	}
	var held []string
	for _, e := range r.Effects {
		if e.Held {
			held = append(held, e.Path)
		}
	}
	if diff := cmp.Diff([]string{".git/hooks", ".git/hooks/pre-commit", "CLAUDE.md", "outer", "pipe"}, held); diff != "" {
		t.Errorf("held back (-want +got):\n%s", diff)
	}
	if info, err := os.Stat(filepath.Join(b.workspace, "mode")); err != nil || info.Mode().Perm()&0o100 == 0 {
		t.Errorf("the mode was not carried over: %v, %v", info, err)
	}
}

func TestNothingIsKeptOfACommandThatFails(t *testing.T) {
	b := overlaid(t)
	b.spec.Keep = true
	before := b.tree()
	if r := b.sh("echo x > new; exit 3"); r.Kept || r.Exit != 3 || len(r.Effects) != 1 {
		t.Errorf("%+v", r)
	}
	if diff := cmp.Diff(before, b.tree()); diff != "" {
		t.Errorf("the workspace changed:\n%s", diff)
	}
}

func TestOverlayHasTheSizeItIsGiven(t *testing.T) {
	b := overlaid(t)
	b.spec.Limits.Disk = 4 << 20
	b.sh("head -c 16m /dev/zero > big; ls -l; true")
	r := b.sh("for i in 1 2 3 4 5 6 7 8; do head -c 2m /dev/zero > big$i || exit 9; done")
	if r.Exit != 9 {
		t.Errorf("16 MB fitted into 4: exit %d, stopped %q", r.Exit, r.Stopped)
	}
}
