package embedded_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"interlock/embedded"
	"interlock/internal/config"
)

// TestViewsSeeWhatGatherViewSees: through changes of a directory, remembered or fresh, both give the same view.
func TestViewsSeeWhatGatherViewSees(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	project := filepath.Join(home, "project")
	inner := filepath.Join(project, "inner")
	for _, dir := range []string{inner, filepath.Join(project, ".git"), filepath.Join(home, "secrets")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	settings := config.Config{Home: filepath.Join(home, "interlock"), Listen: "127.0.0.1:7433", Production: []string{"prod-*"}}
	views := embedded.NewViews(settings, time.Now)
	embedded.DateByModification(views)
	old := time.Now().Add(-time.Hour)
	age := func() { // as if the last change were long ago, so that what is read is remembered
		old = old.Add(time.Minute)
		for _, dir := range []string{project, inner} {
			if err := os.Chtimes(dir, old, old); err != nil {
				t.Fatal(err)
			}
		}
	}
	link := func(target, path string) {
		if err := os.Symlink(target, path); err != nil {
			t.Fatal(err)
		}
	}
	same := func(what string) {
		t.Helper()
		for range 2 { // the second time from memory, where it is remembered
			for _, dir := range []string{"", project, inner, inner + "/", home, "/", filepath.Join(home, "absent")} {
				if diff := cmp.Diff(embedded.GatherView(settings, dir), views.Gather(dir)); diff != "" {
					t.Errorf("%s, %q (-GatherView +Gather):\n%s", what, dir, diff)
				}
			}
		}
	}
	same("empty")
	age()
	same("aged")
	link(filepath.Join(home, "secrets"), filepath.Join(inner, "innocent"))
	same("a new link in a remembered directory")
	age()
	same("the link remembered")
	link("/etc", filepath.Join(project, "etc"))
	same("a new link in the workspace")
	if err := os.Remove(filepath.Join(inner, "innocent")); err != nil {
		t.Fatal(err)
	}
	link("/", filepath.Join(inner, "innocent"))
	same("a link turned elsewhere")
	if err := os.RemoveAll(filepath.Join(project, ".git")); err != nil {
		t.Fatal(err)
	}
	same("no repository any more")
}

func TestViewsForgetRatherThanGrow(t *testing.T) {
	home := t.TempDir()
	views := embedded.NewViews(config.Config{Home: home}, func() time.Time { return time.Now().Add(time.Hour) })
	for i := range 1000 {
		dir := filepath.Join(home, fmt.Sprint(i))
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		views.Gather(dir)
	}
	if n := embedded.Remembered(views); n > 256 {
		t.Errorf("%d directories are remembered", n)
	}
}

// TestViewsCantBeFooledByATouch: setting a directory's modification time back does not hide a new link.
func TestViewsCantBeFooledByATouch(t *testing.T) {
	home := t.TempDir()
	views := embedded.NewViews(config.Config{Home: home}, time.Now)
	old := time.Now().Add(-time.Hour)
	touch := func() {
		if err := os.Chtimes(home, old, old); err != nil {
			t.Fatal(err)
		}
	}
	touch()
	views.Gather(home)
	if err := os.Symlink("/etc", filepath.Join(home, "innocent")); err != nil {
		t.Fatal(err)
	}
	touch()
	if diff := cmp.Diff(map[string]string{filepath.Join(home, "innocent"): "/etc"}, views.Gather(home).Links); diff != "" {
		t.Errorf("links (-want +got):\n%s", diff)
	}
}

// TestViewsWaitForAStampToSettle: a directory is remembered once its stamp is old enough to tell the next change apart, which is
// sooner where the stamp shows that its file system counts finely.
func TestViewsWaitForAStampToSettle(t *testing.T) {
	second := time.Unix(1_790_000_000, 0)
	for _, test := range []struct {
		name  string
		stamp time.Time
		age   time.Duration
		want  int
	}{
		{"fine and new", second.Add(123_456_789), 50 * time.Millisecond, 0},
		{"fine and settled", second.Add(123_456_789), 150 * time.Millisecond, 1},
		{"coarse and new", second, 150 * time.Millisecond, 0},
		{"in milliseconds and new", second.Add(10 * time.Millisecond), 2 * time.Second, 0},
		{"coarse and settled", second, 4 * time.Second, 1},
	} {
		dir := t.TempDir()
		if err := os.Chtimes(dir, test.stamp, test.stamp); err != nil {
			t.Fatal(err)
		}
		views := embedded.NewViews(config.Config{Home: t.TempDir()}, func() time.Time { return test.stamp.Add(test.age) })
		embedded.DateByModification(views)
		views.Gather(dir)
		if got := embedded.Remembered(views); got != test.want {
			t.Errorf("%s: %d directories are remembered, want %d", test.name, got, test.want)
		}
	}
}

func BenchmarkGather(b *testing.B) {
	dir, err := os.Getwd()
	if err != nil {
		b.Fatal(err)
	}
	settings := config.Config{Home: b.TempDir(), Listen: "127.0.0.1:7433"}
	b.Run("fresh", func(b *testing.B) {
		for b.Loop() {
			embedded.GatherView(settings, dir)
		}
	})
	b.Run("remembered", func(b *testing.B) {
		views := embedded.NewViews(settings, func() time.Time { return time.Now().Add(time.Hour) })
		for b.Loop() {
			views.Gather(dir)
		}
	})
}
