package storagetest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"interlock"
)

// wrote: what was written is remembered under its key for the window, whatever runs come and go, and seen by other processes.
func wrote(t *testing.T, p Place) {
	s := p.Open(t)
	at := func(after time.Duration, change interlock.Change, keys ...string) {
		t.Helper()
		change.Events[0].Recorded, change.Wrote = Now.Add(after), keys
		commit(t, s, change)
	}
	at(0, Decision("a"), "one", "two")
	at(time.Hour, Decision("b"), "two", "three")
	at(2*time.Hour, did("c", "x", 2*time.Hour)) // a new run sweeps
	for _, test := range []struct {
		since time.Duration
		want  []string
	}{{0, []string{"one", "two", "three"}}, {time.Minute, []string{"two", "three"}}, {2 * time.Hour, nil}} {
		for _, s := range []Store{s, p.Open(t)} {
			found, err := s.Wrote(t.Context(), []string{"one", "none", "two", "three"}, Now.Add(test.since))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, found, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("since %v (-want +got):\n%s", test.since, diff)
			}
		}
	}
	at(interlock.WrittenWindow+time.Hour/2, did("d", "x", interlock.WrittenWindow+time.Hour/2))
	found, err := s.Wrote(t.Context(), []string{"one", "two"}, Now)
	if diff := cmp.Diff([]string{"two"}, found); diff != "" || err != nil {
		t.Errorf("after the sweep: %v %s", err, diff)
	}
}
