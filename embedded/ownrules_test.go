package embedded

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"interlock/internal/config"
	"interlock/test/wait"
)

// What an operator writes, replaces or takes away is seen at the next look; what says the same, or can't be used in the same way, is
// no change however often it is written.
func TestOwnRulesAreSeenToChange(t *testing.T) {
	home := t.TempDir()
	dir := filepath.Join(home, "rules")
	settings, err := config.Load(home, "")
	if err != nil {
		t.Fatal(err)
	}
	own := newOwnRules(settings)
	own.begin(nil, nil)
	look := func(step string, number int64, usable bool) {
		t.Helper()
		wait.Chance(2 * lookEvery)
		if got := own.Renewal(); got.Number != number || (got.Err == nil) != usable || number > 0 && (got.Rules != nil) != usable {
			t.Errorf("%s: number %d, %v; want %d, usable %v", step, got.Number, got.Err, number, usable)
		}
	}
	look("nothing there", 0, true)
	writeRules(t, dir, "team.yaml", noPackages)
	look("a directory", 1, true)
	writeRules(t, dir, "team.yaml", noPackages)
	look("the same again", 1, true)
	writeRules(t, dir, "deep/more.yaml", noTouching)
	look("a file below", 2, true)
	writeRules(t, dir, "deep/notes.txt", "nothing")
	look("no rules", 2, true)
	writeRules(t, dir, "deep/more.yaml", "rules: [{id: x}]")
	look("broken", 3, false)
	writeRules(t, dir, "deep/more.yaml", "rules: [{id: x}] ")
	look("broken in the same way", 3, false)
	if err := os.Remove(filepath.Join(dir, "deep/more.yaml")); err != nil {
		t.Fatal(err)
	}
	look("mended by taking it away", 4, true)
	writeRules(t, dir+promoted, "team.yaml", noTouching)
	if err := os.Rename(dir, dir+".before"); err != nil {
		t.Fatal(err)
	}
	look("between the two renames of a promotion", 5, true)
	if err := os.Rename(dir+promoted, dir); err != nil {
		t.Fatal(err)
	}
	look("after them", 5, true)
	if text := fmt.Sprintf("%s", own.Renewal().Own); !strings.Contains(text, "no touching") || strings.Contains(text, "no packages") {
		t.Errorf("the documents it was made from: %s", text)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	look("gone", 6, false)
	writeRules(t, dir, "team.yaml", noTouching)
	look("back", 7, true)
}

// Two writes that no time tells apart are told apart at the next look: what was written a moment ago is read each time, until the
// file system's times would tell.
func TestOwnRulesAreReadUntilTheySettle(t *testing.T) {
	home := t.TempDir()
	path := filepath.Join(home, "rules", "team.yaml")
	settings, err := config.Load(home, "")
	if err != nil {
		t.Fatal(err)
	}
	own := newOwnRules(settings)
	own.begin(nil, nil)
	at := func(text string, written time.Time) int64 {
		t.Helper()
		writeRules(t, home, "rules/team.yaml", text)
		for _, name := range []string{path, filepath.Dir(path)} {
			if err := os.Chtimes(name, time.Time{}, written); err != nil {
				t.Fatal(err)
			}
		}
		wait.Chance(2 * lookEvery)
		return own.Renewal().Number
	}
	other := strings.Replace(noPackages, "here", "ever", 1)
	for _, written := range []time.Time{
		time.Now().Truncate(time.Second).Add(time.Hour), // not settled, while its file system's clock is wrong: read once more later
		time.Now().Truncate(time.Second),                // of a file system that counts seconds, or two
	} {
		first := at(noPackages, written)
		second := at(other, written)
		if written.After(time.Now()) {
			own.began = own.began.Add(-settleAfter)
			wait.Chance(2 * lookEvery)
			second = own.Renewal().Number
		}
		if second != first+1 {
			t.Errorf("written twice at %v: numbers %d and %d", written, first, second)
		}
	}
	at(other, time.Now().Add(-time.Hour))
	if own.newest.Load().fresh || own.newest.Load().again != 0 {
		t.Error("what was written long ago is read for ever")
	}
}

func BenchmarkLookAtOwnRules(b *testing.B) {
	home := b.TempDir()
	settings, err := config.Load(home, "")
	if err != nil {
		b.Fatal(err)
	}
	own := newOwnRules(settings)
	own.begin(nil, nil)
	b.Run("busy", func(b *testing.B) {
		for b.Loop() {
			own.Renewal()
		}
	})
	b.Run("each", func(b *testing.B) {
		for b.Loop() {
			own.looked.Store(-int64(time.Hour))
			own.Renewal()
		}
	})
}
