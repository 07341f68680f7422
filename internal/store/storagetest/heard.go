package storagetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"interlock"
)

// heard: what a run has heard is kept beside the log, whole, for every process to see, for a day, and of a bounded
// number of runs.
func heard(t *testing.T, p Place) {
	s := p.Open(t)
	told := interlock.Heard{At: Now, Prompts: 1, Wishes: [][]string{{"spend"}}, Sources: []string{"browse"},
		Orders: 2, Over: true,
		Values: []interlock.Value{{Sum: 1<<64 - 1, By: interlock.VoiceUser}, {Sum: 7, By: interlock.VoiceOrdering, Source: 1}}}
	hear := func(run string, h interlock.Heard, changed bool) interlock.Heard {
		t.Helper()
		var before interlock.Heard
		if err := s.Hear(t.Context(), run,
			func(have interlock.Heard) (interlock.Heard, bool) { before = have; return h, changed }); err != nil {
			t.Fatal(err)
		}
		return before
	}
	of := func(s Store, run string) interlock.Heard {
		t.Helper()
		h, err := s.Heard(t.Context(), run)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	if before := hear("a", told, true); !before.At.IsZero() {
		t.Errorf("a new run has heard %+v", before)
	}
	for _, s := range []Store{s, p.Open(t)} {
		if diff := cmp.Diff(told, of(s, "a")); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if h := of(s, "b"); !h.At.IsZero() {
			t.Errorf("another run has heard %+v", h)
		}
	}
	if past, err := s.Past(t.Context(), "a"); err != nil || len(past) > 0 {
		t.Errorf("it is no past action: %v %v", past, err)
	}
	hear("b", told, false)
	if h := of(s, "b"); !h.At.IsZero() {
		t.Errorf("what is said to be nothing new was kept: %+v", h)
	}
	for n := range 300 { // the longest silent go first
		later := interlock.Heard{At: Now.Add(time.Duration(n) * time.Second), Prompts: 1}
		hear(fmt.Sprint("many", n), later, true)
	}
	if h := of(s, "a"); !h.At.IsZero() {
		t.Error("more runs are kept than there is room for")
	}
	if h := of(s, "many299"); h.Prompts != 1 {
		t.Error("the newest run is gone")
	}
	hear("next day", interlock.Heard{At: Now.Add(interlock.HeardWindow + time.Hour)}, true)
	if h := of(s, "many299"); !h.At.IsZero() {
		t.Error("it is kept for more than a day")
	}
	if head, ok := p.Verify(t); !ok || head != 0 {
		t.Errorf("%d entries, verified %v: it is no event", head, ok)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Hear(t.Context(), "a", func(h interlock.Heard) (interlock.Heard, bool) { return h, true }); err == nil {
		t.Error("a closed store hears")
	}
}
