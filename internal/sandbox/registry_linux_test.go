package sandbox

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

func registryOf(t *testing.T) Spec {
	t.Helper()
	s := Spec{State: t.TempDir(), Workspace: "/work", Limits: Limits{Time: time.Minute}}
	if err := os.MkdirAll(filepath.Join(s.State, "runs"), 0o700); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestALivingRunWhoseRecordCannotBeReadIsInTheWay: where it writes is unknown, so it could be here.
func TestALivingRunWhoseRecordCannotBeReadIsInTheWay(t *testing.T) {
	s := registryOf(t)
	r, err := tryRegister(s)
	if r == nil || err != nil {
		t.Fatal(r, err)
	}
	elsewhere := s
	elsewhere.Workspace = "/elsewhere"
	if other, err := tryRegister(elsewhere); other == nil || err != nil {
		t.Fatalf("a run in another workspace was held up: %v", err)
	}
	if err := os.WriteFile(filepath.Join(r.dir, "run.json"), []byte(`{"workspace":"/wo`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, spec := range []Spec{s, elsewhere} {
		if other, err := tryRegister(spec); other != nil || err != nil {
			t.Errorf("%s: entered beside a run that could be anywhere (%v)", spec.Workspace, err)
		}
	}
	if err := r.end(); err != nil {
		t.Fatal(err)
	}
	if other, err := tryRegister(s); other == nil || err != nil {
		t.Errorf("nothing is in the way any more: %v", err)
	}
}

// TestRunsEndWhileOthersLook: ending, recording and sweeping at once leaves no directory, no error and no two in one place.
func TestRunsEndWhileOthersLook(t *testing.T) {
	s := registryOf(t)
	var all sync.WaitGroup
	var one sync.Mutex
	for range 8 {
		all.Go(func() {
			for range 40 {
				r, err := tryRegister(s)
				if err != nil {
					t.Error(err)
				}
				if r == nil {
					continue
				}
				if !one.TryLock() {
					t.Error("two runs in one workspace")
					continue
				}
				if err := r.record(runRecord{Workspace: s.Workspace, Writes: true, Groups: []string{}}); err != nil {
					t.Error(err)
				}
				one.Unlock()
				if err := r.end(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if left, err := os.ReadDir(filepath.Join(s.State, "runs")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
