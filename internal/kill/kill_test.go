package kill_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"interlock/internal/kill"
	"interlock/internal/ledger"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// TestThrown: what is written is read again; whatever else stands there, or can't be looked at, stops everything at once.
func TestThrown(t *testing.T) {
	s := kill.In(t.TempDir())
	if h, thrown := s.Thrown(); thrown {
		t.Fatalf("an empty home is stopped: %+v", h)
	}
	want := ledger.Kill(ledger.KillGraduated, "drift", "observer", noon)
	if err := s.Throw(want, noon); err != nil {
		t.Fatal(err)
	}
	if h, thrown := s.Thrown(); !thrown || h != want {
		t.Errorf("%v, %+v", thrown, h)
	}
	for _, text := range []string{"", "{", `{"mode":"hard"}`, `[]`, `"graduated"`, strings.Repeat("x", 9<<10)} {
		if err := os.WriteFile(s.Path(), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if h, thrown := s.Thrown(); !thrown || h.Step(time.Now()) != ledger.KillStopped {
			t.Errorf("%.20q: %v, %+v", text, thrown, h)
		}
	}
	if err := s.Clear(); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("nowhere", s.Path()); err == nil {
		if _, thrown := s.Thrown(); !thrown {
			t.Error("a link to nowhere is none")
		}
	}
	if _, thrown := kill.In(filepath.Join(t.TempDir(), "gone")).Thrown(); !thrown {
		t.Error("a home that is gone lets everything go on")
	}
	if os.Getuid() != 0 { // root sees into every directory
		dir := t.TempDir()
		if err := os.Chmod(dir, 0); err != nil {
			t.Fatal(err)
		}
		defer os.Chmod(dir, 0o700)
		if _, thrown := kill.In(dir).Thrown(); !thrown {
			t.Error("a home nobody can look into lets everything go on")
		}
	}
}

// TestThrowTightens: a stop that stands gives way only to one that has come further.
func TestThrowTightens(t *testing.T) {
	s := kill.In(t.TempDir())
	hard, graduated := ledger.Kill(ledger.KillHard, "hard", "", noon), ledger.Kill(ledger.KillGraduated, "soft", "", noon.Add(time.Second))
	for _, step := range []struct {
		throw ledger.HoldBody
		want  string
	}{{graduated, "soft"}, {hard, "hard"}, {graduated, "hard"}} {
		if err := s.Throw(step.throw, noon.Add(2*time.Second)); err != nil {
			t.Fatal(err)
		}
		if h, _ := s.Thrown(); h.Why != step.want {
			t.Errorf("after %q stands %q", step.throw.Why, h.Why)
		}
	}
	if left, err := os.ReadDir(filepath.Dir(s.Path())); err != nil || len(left) != 1 {
		t.Errorf("%d files are left, %v", len(left), err)
	}
}

// TestWatch tells each step once, as far as the clock has come.
func TestWatch(t *testing.T) {
	s := kill.In(t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	clock, steps := make(chan time.Time, 1), make(chan ledger.KillStep, 8)
	clock <- noon
	now := func() time.Time { at := <-clock; clock <- at; return at }
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.Watch(ctx, time.Millisecond, now, func(step ledger.KillStep, _ ledger.HoldBody) { steps <- step })
	}()
	if err := s.Throw(ledger.Kill(ledger.KillGraduated, "drift", "", noon), noon); err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct {
		at   time.Duration
		step ledger.KillStep
	}{{0, ledger.KillClosing}, {30 * time.Second, ledger.KillFrozen}, {90 * time.Second, ledger.KillStopped}} {
		<-clock
		clock <- noon.Add(want.at)
		if got := <-steps; got != want.step {
			t.Errorf("after %v: %q", want.at, got)
		}
	}
	if err := s.Clear(); err != nil {
		t.Fatal(err)
	}
	if got := <-steps; got != ledger.KillNone {
		t.Errorf("cleared: %q", got)
	}
	cancel()
	<-done
}

// FuzzThrown: whatever the file holds, everything is stopped, and what it says is bounded.
func FuzzThrown(f *testing.F) {
	f.Add([]byte(`{"mode":"graduated","why":"x","by":"y","since":"2026-11-20T12:00:00Z"}`))
	f.Add([]byte(`{"mode":"graduated","since":"9999-12-31T23:59:59Z"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		s := kill.In(t.TempDir())
		if err := os.WriteFile(s.Path(), text, 0o600); err != nil {
			t.Fatal(err)
		}
		h, thrown := s.Thrown()
		if !thrown || len([]rune(h.Why)) > 300 || len([]rune(h.By)) > 300 || h.Scope != ledger.HoldKill {
			t.Fatalf("%v, %+v", thrown, h)
		}
		if h.Step(h.Since.Add(2*time.Minute)) != ledger.KillStopped || h.Step(h.Since.Add(-1)) != ledger.KillStopped {
			t.Fatalf("%+v goes on", h)
		}
	})
}
