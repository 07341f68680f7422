package gitwork_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"interlock"
	"interlock/internal/gitwork"
)

// repository makes a committed repository of files and returns its root and a git.
func repository(t *testing.T, files map[string]string) (string, func(...string)) {
	t.Helper()
	root := t.TempDir()
	run := func(args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git",
			append([]string{"-C", root, "-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	run("init", "-q")
	for name, text := range files {
		write(t, filepath.Join(root, name), text)
	}
	run("add", "-A")
	run("commit", "-q", "-m", "first")
	return root, run
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestLook(t *testing.T) {
	files := map[string]string{"a/one.go": "one", "b/two.go": "two", "c/deep/three.go": "three", "d/four.go": "four", "e/f.txt": "five",
		".gitignore": "*.gen\n/secretive/\n!keep.gen\nmaps/**/x\nfolder/\n"}
	for _, version := range []string{"2", "4"} {
		root, run := repository(t, files)
		run("update-index", "--index-version", version)
		write(t, filepath.Join(root, "a/one.go"), "eno")
		write(t, filepath.Join(root, "b/new.go"), "new")
		write(t, filepath.Join(root, "c/deep/x.gen"), "x")
		write(t, filepath.Join(root, "c/deep/__pycache__/x"), "x")
		write(t, filepath.Join(root, "d/keep.gen"), "x")
		write(t, filepath.Join(root, "dist/x.js"), "x")
		write(t, filepath.Join(root, "secretive/x"), "x")
		write(t, filepath.Join(root, "maps/p/q/x"), "x")
		write(t, filepath.Join(root, "g/folder"), "x")
		write(t, filepath.Join(root, "h/folder/y"), "x")
		if err := os.Chtimes(filepath.Join(root, "e/f.txt"), time.Now(), time.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		committed := false
		want := map[string]interlock.Work{
			"a": {Changed: true}, "a/one.go": {Changed: true}, "b": {Untracked: true}, "b/new.go": {Untracked: true}, "b/two.go": {},
			"c": {Ignored: true}, "d": {Untracked: true}, "e/f.txt": {}, "dist": {}, "secretive": {Ignored: true}, "maps": {Ignored: true},
			"g": {Untracked: true}, "h": {Ignored: true},
			"*.go": {Changed: true, Untracked: true}, "d/*.go": {}, "d/*.gen": {Untracked: true}, "c/x.*": {Ignored: true},
			"nothing": {Absent: true}, ".": {Root: true, Changed: true, Untracked: true, Ignored: true},
		}
		got := map[string]interlock.Work{}
		for name := range want {
			for _, work := range gitwork.LookFor(time.Hour, []string{filepath.Join(root, name)}) {
				committed, work.Root = work.Committed, work.Root && name == "."
				work.Committed = false
				got[name] = work
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("version %s: %s", version, diff)
		}
		if !committed {
			t.Errorf("version %s: an index as committed is not seen as such", version)
		}
		run("add", "a/one.go")
		if got := gitwork.LookFor(time.Hour, []string{filepath.Join(root, "a")}); got[filepath.Join(root, "a")] != (interlock.Work{}) {
			t.Errorf("version %s: what was added but not committed: %+v", version, got)
		}
	}
}

// TestBehindLinks: what lies behind a link is nobody's output, whatever the link is called.
func TestBehindLinks(t *testing.T) {
	root, _ := repository(t, map[string]string{"a/one.go": "one"})
	outside := t.TempDir()
	write(t, filepath.Join(outside, "deep", "letter.txt"), "dear")
	if err := os.Symlink(outside, filepath.Join(root, "build")); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"build/deep": true, "build/*.txt": true, "build/deep/letter.txt": true, "build": false, "a": false} {
		path := filepath.Join(root, name)
		if got := gitwork.LookFor(time.Hour, []string{path})[path]; got.Untracked != want {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestLimit: what takes longer than it may, lies too deep or is too large is not answered.
func TestLimit(t *testing.T) {
	root, _ := repository(t, map[string]string{"a/one.go": "one"})
	if got := gitwork.LookFor(0, []string{filepath.Join(root, "a")}); got != nil {
		t.Errorf("without any time: %v", got)
	}
	write(t, filepath.Join(root, strings.Repeat("d/", 70)+"x"), "x")
	if got := gitwork.LookFor(time.Hour, []string{filepath.Join(root, "d")}); got != nil {
		t.Errorf("deeper than is looked: %v", got)
	}
	large, _ := repository(t, map[string]string{"zeros": strings.Repeat("\x00", 17<<20)})
	if err := os.Chtimes(filepath.Join(large, "zeros"), time.Now(), time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if got := gitwork.LookFor(time.Hour, []string{filepath.Join(large, "zeros")}); got != nil {
		t.Errorf("more bytes than are compared: %v", got)
	}
	if gitwork.Limit > 200*time.Millisecond {
		t.Errorf("a decision would wait for %s", gitwork.Limit)
	}
}

// What can't be understood is not answered, and a repository has nothing run.
func TestUnknown(t *testing.T) {
	root, run := repository(t, map[string]string{"a/one.go": "one"})
	path := filepath.Join(root, "a")
	outside := t.TempDir()
	if got := gitwork.LookFor(time.Hour, []string{outside, "a", filepath.Join(root, ".git", "index")}); got != nil {
		t.Errorf("outside a repository: %v", got)
	}
	mark := filepath.Join(outside, "mark")
	run("config", "core.fsmonitor", "touch "+mark)
	write(t, filepath.Join(root, ".gitattributes"), "* filter=x\n")
	run("config", "filter.x.clean", "touch "+mark)
	if got := gitwork.LookFor(time.Hour, []string{path}); len(got) != 1 {
		t.Errorf("a repository with programs in its settings: %v", got)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("looking had a program run")
	}
	index := filepath.Join(root, ".git", "index")
	data, err := os.ReadFile(index)
	if err != nil {
		t.Fatal(err)
	}
	for end := range data {
		write(t, index, string(data[:end]))
		gitwork.LookFor(time.Hour, []string{path}) // must not fail
	}
	write(t, index, "DIRC\x00\x00\x00\x09"+string(data[8:]))
	if got := gitwork.LookFor(time.Hour, []string{path}); got != nil {
		t.Errorf("an index of a later version: %v", got)
	}
	write(t, index, string(data))
	run("config", "core.worktree", outside)
	if got := gitwork.LookFor(time.Hour, []string{path}); got != nil {
		t.Errorf("files that lie elsewhere: %v", got)
	}
}

// FuzzIndex: whatever stands where the index should be, looking at a path ends and does not panic.
func FuzzIndex(f *testing.F) {
	f.Add([]byte("DIRC\x00\x00\x00\x02\x00\x00\x00\x00"))
	root := f.TempDir()
	if err := os.MkdirAll(filepath.Join(root, ".git"), 0o755); err != nil {
		f.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, ".git", "config"), nil, 0o644); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(filepath.Join(root, ".git", "index"), data, 0o644); err != nil {
			t.Fatal(err)
		}
		gitwork.LookFor(time.Hour, []string{root, filepath.Join(root, "x")})
	})
}
