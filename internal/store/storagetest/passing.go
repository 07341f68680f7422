package storagetest

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"interlock"
	"interlock/internal/ledger"
	"interlock/internal/origin"
)

// action is something to remember of a run.
func action(target string, after time.Duration) interlock.PastAction {
	return interlock.PastAction{At: Now.Add(after), Kind: interlock.KindShell,
		Impacts: []interlock.Impact{{Kind: interlock.ImpactWrite,
			Target: target, Reach: interlock.ReachWorkspace, Reversibility: interlock.Reversible, Confidence: interlock.Parsed,
			Via: "curl", Traits: []string{"download"}}}}
}

// did is a decision about an action that did something to remember.
func did(run, target string, after time.Duration) ledger.Change {
	return with(Decision(run), func(c *ledger.Change) {
		c.Events[0].Recorded = Now.Add(after)
		c.Writes = ledger.Rows(ledger.Past{Run: run, Action: action(target, after)})
	})
}

// pastOf is what a run did, as it was last and as it is now.
func pastOf(t *testing.T, s Store, run string) (past []interlock.PastAction) {
	t.Helper()
	ref := ledger.Ref{Kind: ledger.Recent, Key: run}
	keys(t, s, ref)
	rows, _, err := s.Load(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		past = append(past, r.Value.(ledger.RecentBody).Actions...)
	}
	return past
}

// past: a run's recent actions come back in order, its own and no other's, from memory and from the place, bounded in number
// and in time.
func past(t *testing.T, p Place) {
	s := p.Open(t)
	if have := pastOf(t, s, "a"); len(have) != 0 {
		t.Errorf("before anything was done: %v", have)
	}
	var want []interlock.PastAction
	for i := range interlock.RecentActions + 3 {
		target, after := fmt.Sprint("x", i), time.Duration(i)*time.Second
		commit(t, s, did("a", target, after))
		want = append(want, action(target, after))
	}
	commit(t, s, Decision("a"))
	want = want[3:]
	commit(t, s, did("b", "y", 0))
	same := func(what string, s Store) {
		t.Helper()
		if diff := cmp.Diff(want, pastOf(t, s, "a"), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	same("in one process", s)
	same("in a fresh one", p.Open(t))
	late := interlock.RecentWindow + 10*time.Second
	commit(t, s, did("a", "z", late))
	want = append(want[7:], action("z", late)) // those of at most RecentWindow before
	same("after a while", s)
	same("after a while, in a fresh process", p.Open(t))
}

// pastOfOthers: what another process wrote of the same run is seen, and neither loses what the other remembered.
func pastOfOthers(t *testing.T, p Place) {
	one, other := p.Open(t), p.Open(t)
	commit(t, one, did("a", "1", 0))
	commit(t, other, did("a", "2", time.Second))
	targets := func(s Store) (list []string) {
		for _, action := range pastOf(t, s, "a") {
			list = append(list, action.Impacts[0].Target)
		}
		return list
	}
	if diff := cmp.Diff([]string{"1", "2"}, targets(one)); diff != "" {
		t.Errorf("the other's action is not seen (-want +got):\n%s", diff)
	}
	commit(t, one, did("a", "3", 2*time.Second))
	commit(t, other, did("a", "4", 3*time.Second))
	if diff := cmp.Diff([]string{"1", "2", "3", "4"}, targets(p.Open(t))); diff != "" {
		t.Errorf("something was lost (-want +got):\n%s", diff)
	}
}

// passes: rows that stand for a while are found in every process as they were last written, make nobody decide again, and go
// when their time is over, whatever kinds come and go meanwhile.
func passes(t *testing.T, p Place) {
	s := p.Open(t)
	version := current(t, s).Version
	at := func(after time.Duration, change ledger.Change, files ...string) {
		t.Helper()
		change.Events[0].Recorded = Now.Add(after)
		for _, file := range files {
			change.Writes = append(change.Writes, ledger.Rows(ledger.WrittenBody{File: file, At: Now.Add(after)})...)
		}
		commit(t, s, change)
	}
	written := func(s Store, files ...string) map[string]time.Duration {
		t.Helper()
		var refs []ledger.Ref
		for _, file := range files {
			refs = append(refs, ledger.Ref{Kind: ledger.Written, Key: file})
		}
		rows, _, err := s.Load(t.Context(), refs...)
		if err != nil {
			t.Fatal(err)
		}
		found := map[string]time.Duration{}
		for _, r := range rows {
			found[r.Key] = r.Value.(ledger.WrittenBody).At.Sub(Now)
		}
		return found
	}
	at(0, Decision("a"), "one", "two")
	at(time.Hour, Decision("b"), "two", "three")
	at(2*time.Hour, did("c", "x", 2*time.Hour)) // a new run sweeps
	for _, s := range []Store{s, p.Open(t)} {
		want := map[string]time.Duration{"one": 0, "two": time.Hour, "three": time.Hour}
		if diff := cmp.Diff(want, written(s, "one", "none", "two", "three")); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	late := interlock.WrittenWindow + time.Hour/2
	at(late, did("d", "x", late))
	for _, s := range []Store{p.Open(t), p.Open(t)} {
		if diff := cmp.Diff(map[string]time.Duration{"two": time.Hour}, written(s, "one", "two")); diff != "" {
			t.Errorf("after the sweep (-want +got):\n%s", diff)
		}
	}
	until := ledger.Ref{Kind: ledger.Written, Mark: ledger.Until}
	rows, _, err := s.Scan(t.Context(), until, ledger.UpTo(Now.Add(late).UnixNano(), 10))
	if n, counted := s.Count(t.Context(), until, ledger.Every(0)); err != nil || len(rows) != 0 || n != 2 || counted != nil {
		t.Errorf("%v are over of %d, %v", rows, n, errors.Join(err, counted))
	}
	if now := current(t, s).Version; now != version {
		t.Errorf("decisions are made again: %d, was %d", now, version)
	}
}

// added: what many add to one run at once is all remembered, and none of them had to try again.
func added(t *testing.T, p Place) {
	s, other := p.Open(t), p.Open(t)
	_, version, err := s.Load(t.Context(), ledger.Ref{Kind: ledger.Recent, Key: "a"})
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for i := range interlock.RecentActions {
		store := s
		if i%2 == 1 {
			store = other
		}
		all.Go(func() {
			c := did("a", fmt.Sprint(i), 0)
			c.Version, c.Reads = version, []ledger.Ref{{Kind: ledger.Recent, Key: "a"}}
			if _, err := store.Commit(t.Context(), c); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for _, store := range []Store{s, other, p.Open(t)} {
		if n := len(pastOf(t, store, "a")); n != interlock.RecentActions {
			t.Errorf("%d are remembered", n)
		}
	}
}

// heard: what is noted of a run is kept beside the log, whole, for every process to see, until it is over, and of a bounded number
// of runs.
func heard(t *testing.T, p Place) {
	s := p.Open(t)
	told := origin.Heard{At: Now, Prompts: 1, Wishes: [][]string{{"spend"}}, Sources: []string{"browse"},
		Orders: 2, Over: true,
		Values: []origin.Value{{Sum: 1<<64 - 1, By: origin.VoiceUser}, {Sum: 7, By: origin.VoiceOrdering, Source: 1}}}
	hear := func(run string, h origin.Heard, changed bool) (before origin.Heard) {
		t.Helper()
		err := s.Note(t.Context(), ledger.Ref{Kind: ledger.Heard, Key: run}, func(value any) (any, error) {
			have, _ := value.(ledger.HeardBody)
			if before = have.Heard; !changed {
				return nil, nil
			}
			return ledger.HeardBody{Run: run, Heard: h}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return before
	}
	of := func(s Store, run string) (h origin.Heard) {
		t.Helper()
		ref := ledger.Ref{Kind: ledger.Heard, Key: run}
		keys(t, s, ref)
		rows, _, err := s.Recall(t.Context(), ref)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rows {
			h = r.Value.(ledger.HeardBody).Heard
		}
		return h
	}
	if h := of(s, "a"); !h.At.IsZero() {
		t.Errorf("a new run has heard %+v", h)
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
	if past := pastOf(t, s, "a"); len(past) > 0 {
		t.Errorf("it is no past action: %v", past)
	}
	hear("b", told, false)
	if h := of(s, "b"); !h.At.IsZero() {
		t.Errorf("what is said to be nothing new was kept: %+v", h)
	}
	for n := range 300 { // those that are over first go first
		hear(fmt.Sprint("many", n), origin.Heard{At: Now.Add(time.Duration(n) * time.Second), Prompts: 1}, true)
	}
	if h := of(s, "a"); !h.At.IsZero() {
		t.Error("more runs are kept than there is room for")
	}
	if h := of(s, "many299"); h.Prompts != 1 {
		t.Error("the newest run is gone")
	}
	size(t, p, 0) // it is no event
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = p.Open(t) // which has not swept yet
	hear("many299", origin.Heard{At: Now.Add(-origin.HeardWindow - time.Hour)}, true)
	hear("today", origin.Heard{At: Now}, true)
	if h := of(s, "many299"); !h.At.IsZero() {
		t.Error("it is kept for more than a day")
	}
}
