package serve

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestReadiness(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	if err := os.Mkdir(home, 0o700); err != nil {
		t.Fatal(err)
	}
	var readErr error
	at, reads := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), 0
	ready := readiness(home, func(context.Context) error { reads++; return readErr }, func() time.Time { return at })
	if err := ready(t.Context()); err != nil {
		t.Errorf("a good home: %v", err)
	}
	if left, err := os.ReadDir(home); err != nil || len(left) > 0 {
		t.Errorf("the probe left %v, %v", left, err)
	}
	readErr = errors.New("corrupt")
	if err := ready(t.Context()); err != nil || reads != 1 {
		t.Errorf("within a second the disk worked again: %v, %d reads", err, reads)
	}
	at = at.Add(probeEvery)
	if err := ready(t.Context()); !errors.Is(err, readErr) {
		t.Errorf("an unreadable store: %v", err)
	}
	readErr = nil
	if err := os.Remove(home); err != nil {
		t.Fatal(err)
	}
	at = at.Add(probeEvery)
	if err := ready(t.Context()); err == nil {
		t.Error("a home that is gone is ready")
	}
}
