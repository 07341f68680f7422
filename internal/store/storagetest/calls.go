package storagetest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"interlock"
)

func call(run, id string, action interlock.Digest, at time.Time) *interlock.Call {
	return &interlock.Call{Requester: interlock.Requester{Principal: "p", Agent: "agent", Run: run, Call: id}, Action: action,
		Events: []string{"PreToolUse"}, Decision: interlock.Decision{Verdict: interlock.Allow, Answer: interlock.Allow,
			Action: action}, At: at}
}

func find(t *testing.T, s Store, r interlock.Requester, action interlock.Digest) *interlock.Call {
	t.Helper()
	found, ok, err := s.FindCall(t.Context(), r, action)
	if err != nil {
		t.Fatal(err)
	}
	if !ok {
		return nil
	}
	return &found
}

func callsByAction(t *testing.T, p Place) {
	s := p.Open(t)
	defer s.Close()
	ask := interlock.Requester{Agent: "agent", Run: "run"}
	if got := find(t, s, ask, "sha256:aa"); got != nil {
		t.Errorf("found %+v in an empty store", got)
	}
	commit(t, s, with(Decision("run"), func(c *interlock.Change) {
		c.Call = call("run", "", "sha256:old",
			Now.Add(-11*time.Minute))
	}))
	commit(t, s, with(Decision("run"), func(c *interlock.Change) {
		c.Call = call("run", "", "sha256:aa",
			Now.Add(-time.Minute))
	}))
	newest := commit(t, s, with(Decision("run"), func(c *interlock.Change) { c.Call = call("run", "", "sha256:aa", Now) }))
	want := call("run", "", "sha256:aa", Now)
	want.EventID = newest.Events[0]
	if diff := cmp.Diff(want, find(t, s, ask, "sha256:aa"), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("call (-want +got):\n%s", diff)
	}
	for name, r := range map[string]interlock.Requester{"another agent": {Agent: "other", Run: "run"},
		"another run": {Agent: "agent", Run: "other"}} {
		if got := find(t, s, r, "sha256:aa"); got != nil {
			t.Errorf("%s finds %+v", name, got)
		}
	}
	if got := find(t, s, ask, "sha256:bb"); got != nil {
		t.Errorf("another action finds %+v", got)
	}
	if got := find(t, s, ask, "sha256:old"); got != nil {
		t.Errorf("a call is found after ten minutes: %+v", got)
	}
	if got := find(t, s, interlock.Requester{Agent: "agent", Run: "run", Call: "c9"}, "sha256:aa"); got == nil {
		t.Error("a call recorded without an id is not found for the same action with one")
	}
}

func callsByID(t *testing.T, p Place) {
	s := p.Open(t)
	defer s.Close()
	commit(t, s, with(Decision("run"), func(c *interlock.Change) {
		c.Call = call("run", "c1", "sha256:aa",
			Now.Add(-time.Hour))
	}))
	commit(t, s, with(Decision("run"), func(c *interlock.Change) { c.Call = call("run", "c2", "sha256:aa", Now) }))
	id := interlock.Requester{Agent: "agent", Run: "run", Call: "c1"}
	for _, action := range []interlock.Digest{"", "sha256:aa"} {
		if got := find(t, s, id, action); got == nil || got.Requester.Call != "c1" {
			t.Errorf("call c1 for action %q: %+v", action, got)
		}
	}
	if got := find(t, s, id, "sha256:evil"); got != nil {
		t.Errorf("one id stands for two actions: %+v", got)
	}
	for name, r := range map[string]interlock.Requester{
		"another agent": {Agent: "other", Run: "run", Call: "c1"}, "another run": {Agent: "agent", Run: "other", Call: "c1"},
		"another id": {Agent: "agent", Run: "run", Call: "c3"},
	} {
		if got := find(t, s, r, "sha256:aa"); got != nil {
			t.Errorf("%s finds %+v", name, got)
		}
	}
}

func callsSeen(t *testing.T, p Place) {
	s := p.Open(t)
	defer s.Close()
	r := commit(t, s, with(Decision("run"), func(c *interlock.Change) { c.Call = call("run", "c1", "sha256:aa", Now) }))
	var wg sync.WaitGroup
	for _, event := range []string{"B", "C", "D", "B"} {
		wg.Add(1)
		go func() {
			defer wg.Done()
			if err := s.SeeCall(context.Background(), r.Events[0], event); err != nil {
				t.Error(err)
			}
		}()
	}
	wg.Wait()
	got := find(t, s, interlock.Requester{Agent: "agent", Run: "run", Call: "c1"}, "")
	if got == nil {
		t.Fatal("the call is gone")
	}
	less := cmpopts.SortSlices(func(a, b string) bool { return a < b })
	if diff := cmp.Diff([]string{"PreToolUse", "B", "C", "D"}, got.Events, less); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if err := s.SeeCall(t.Context(), eventID("x", 1, "Y"), "B"); err == nil {
		t.Error("an unknown call was seen")
	}
}

func outcomes(t *testing.T, p Place) {
	s := p.Open(t)
	defer s.Close()
	ask := interlock.Requester{Agent: "agent", Run: "run"}
	first := commit(t, s, with(Decision("run"), func(c *interlock.Change) { c.Call = call("run", "", "sha256:aa", Now) }))
	done := *find(t, s, ask, "sha256:aa")
	done.Outcome = interlock.OutcomeSuccess
	commit(t, s, interlock.Change{Events: []interlock.Draft{Draft(interlock.EventOutcome, "run")}, Call: &done})
	if got := find(t, s, ask, "sha256:aa"); got != nil {
		t.Errorf("a call that ended is found again: %+v", got)
	}
	second := commit(t, s, with(Decision("run"), func(c *interlock.Change) { c.Call = call("run", "", "sha256:aa", Now) }))
	got := find(t, s, ask, "sha256:aa")
	if got == nil || got.EventID != second.Events[0] || got.EventID == first.Events[0] {
		t.Errorf("the next call of the same action is %+v, want that of event %s", got, second.Events[0])
	}
}

// callsNewest: the newest calls come first, one that has ended as it ended and at that place, and no more than were asked for.
func callsNewest(t *testing.T, p Place) {
	s := p.Open(t)
	defer s.Close()
	for _, id := range []string{"c1", "c2", "c3"} {
		commit(t, s, with(Decision("run"), func(c *interlock.Change) { c.Call = call("run", id, "sha256:aa", Now) }))
	}
	ended := find(t, s, interlock.Requester{Agent: "agent", Run: "run", Call: "c1"}, "sha256:aa")
	ended.Outcome = interlock.OutcomeUnknown
	commit(t, s, with(Decision("run"), func(c *interlock.Change) { c.Call = ended }))
	calls, err := s.Calls(t.Context(), 2)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range calls {
		got = append(got, c.Requester.Call+" "+string(c.Outcome))
	}
	if diff := cmp.Diff([]string{"c1 unknown", "c3 "}, got); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}
