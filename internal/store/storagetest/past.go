package storagetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"interlock"
)

// did is a decision about an action that did something to remember.
func did(run, target string, after time.Duration) interlock.Change {
	c := Decision(run)
	c.Past = &interlock.PastAction{At: Now.Add(after), Kind: interlock.KindShell,
		Impacts: []interlock.Impact{{Kind: interlock.ImpactWrite,
			Target: target, Reach: interlock.ReachWorkspace, Reversibility: interlock.Reversible, Confidence: interlock.Parsed,
			Via: "curl", Traits: []string{"download"}}}}
	return c
}

func pastOf(t *testing.T, s Store, run string) []interlock.PastAction {
	t.Helper()
	past, err := s.Past(t.Context(), run)
	if err != nil {
		t.Fatal(err)
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
		change := did("a", fmt.Sprint("x", i), time.Duration(i)*time.Second)
		commit(t, s, change)
		want = append(want, *change.Past)
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
	late := did("a", "z", interlock.RecentWindow+10*time.Second)
	commit(t, s, late)
	want = append(want[7:], *late.Past) // those of at most RecentWindow before
	same("after a while", s)
	same("after a while, in a fresh process", p.Open(t))
}

// pastOfOthers: what another process wrote of the same run is seen once the standing has been looked at, and neither loses
// what the other remembered.
func pastOfOthers(t *testing.T, p Place) {
	one, other := p.Open(t), p.Open(t)
	commit(t, one, did("a", "1", 0))
	commit(t, other, did("a", "2", time.Second))
	if _, err := Whole(t.Context(), one); err != nil {
		t.Fatal(err)
	}
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
