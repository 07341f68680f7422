package storagetest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"interlock"
	"interlock/internal/ledger"
)

func call(run, id string, action interlock.Digest, at time.Time) ledger.CallBody {
	return ledger.CallBody{Requester: interlock.Requester{Principal: "p", Agent: "agent", Run: run, Call: id}, Action: action,
		Events: []string{"PreToolUse"}, Decision: interlock.Decision{Verdict: interlock.Allow, Answer: interlock.Allow,
			Action: action}, At: at}
}

// decided commits a decision that is remembered as a call, with another event behind it, and returns the call as it is kept.
func decided(t *testing.T, s Store, c ledger.CallBody) ledger.CallBody {
	t.Helper()
	r := commit(t, s, with(Decision(c.Requester.Run), func(change *ledger.Change) {
		change.Events = append(change.Events, Draft(interlock.EventAlert, "other"))
		change.Writes = ledger.Rows(c)
	}))
	c.EventID = r.Events[0]
	return c
}

// callsUnder are the calls under a mark, the newest first, in pages.
func callsUnder(t *testing.T, s Store, mark string, span ledger.Span) (list []ledger.CallBody) {
	t.Helper()
	for {
		rows, next, err := s.Scan(t.Context(), ledger.Ref{Kind: ledger.Call, Mark: mark}, span)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rows {
			c := r.Value.(ledger.CallBody)
			if r.Key != c.EventID || r.Kind != ledger.Call {
				t.Errorf("%s %q is the call of %q", r.Kind, r.Key, c.EventID)
			}
			list = append(list, c)
		}
		if span.After = next; next == (ledger.Place{}) {
			return list
		}
	}
}

func newest(limit int) ledger.Span {
	span := ledger.Every(limit)
	span.Newest = true
	return span
}

// calls: a call is found by the event that decided it, by its action and by its id, in its run and in no other, in every process.
func calls(t *testing.T, p Place) {
	s, other := p.Open(t), p.Open(t)
	acted, called := ledger.Acted("agent", "run", "sha256:aa"), ledger.Called("agent", "run", "c1")
	if got := callsUnder(t, s, acted, newest(9)); len(got) > 0 {
		t.Errorf("found %+v in an empty store", got)
	}
	first := decided(t, s, call("run", "c1", "sha256:aa", Now))
	second := decided(t, s, call("run", "", "sha256:aa", Now.Add(time.Minute)))
	decided(t, s, call("run", "c1", "sha256:bb", Now.Add(time.Minute)))
	decided(t, s, call("else", "c1", "sha256:aa", Now))
	for _, s := range []Store{s, other, p.Open(t)} {
		if diff := cmp.Diff([]ledger.CallBody{second, first}, callsUnder(t, s, acted, newest(9)), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("by its action (-want +got):\n%s", diff)
		}
		if got := callsUnder(t, s, called, ledger.Every(9)); len(got) != 2 || got[0].EventID != first.EventID {
			t.Errorf("by its id: %+v", got)
		}
		if got := callsUnder(t, s, acted, ledger.From(Now.UnixNano()+1, 9)); len(got) != 1 || got[0].EventID != second.EventID {
			t.Errorf("since: %+v", got)
		}
		lone := newest(9)
		lone.Lone = true
		if got := callsUnder(t, s, acted, lone); len(got) != 1 || got[0].EventID != second.EventID {
			t.Errorf("without an id: %+v", got)
		}
		for _, ref := range []ledger.Ref{{Kind: ledger.Call, Key: first.EventID}, {Kind: ledger.Call, Key: second.EventID}} {
			if got := keys(t, s, ref); !slices.Equal(got, []string{ref.Key}) {
				t.Errorf("%q is %q", ref.Key, got)
			}
		}
		for _, mark := range []string{ledger.Acted("other", "run", "sha256:aa"), ledger.Acted("agent", "run", "sha256:cc"),
			ledger.Called("agent", "run", "c3"), ledger.Called("agent", "other", "c1"), ledger.All, ledger.Until} {
			if got := callsUnder(t, s, mark, newest(9)); len(got) > 0 {
				t.Errorf("under %q: %+v", mark, got)
			}
		}
	}
	version := current(t, s).Version
	if decided(t, other, call("run", "", "sha256:aa", Now)); current(t, other).Version != version {
		t.Error("a call made decisions be made again")
	}
	refused(t, s, with(Decision("a"), func(c *ledger.Change) {
		c.Writes = []ledger.Row{{Kind: ledger.Call, Value: "no call"}}
	}), nil)
	refused(t, s, with(Decision("a"), func(c *ledger.Change) { // which of them is the event for?
		c.Writes = ledger.Rows(call("run", "", "sha256:aa", Now), call("run", "", "sha256:bb", Now))
	}), nil)
}

// callsInPages: many calls under one mark come in the order in which they were decided, whichever way and in whatever pages,
// although they share a time.
func callsInPages(t *testing.T, p Place) {
	s := p.Open(t)
	var want []string
	for range 20 {
		want = append(want, decided(t, s, call("run", "", "sha256:aa", Now)).EventID)
	}
	mark := ledger.Acted("agent", "run", "sha256:aa")
	for _, limit := range []int{1, 7, 20, 64} {
		for _, span := range []ledger.Span{ledger.Every(limit), newest(limit)} {
			var got []string
			for _, c := range callsUnder(t, s, mark, span) {
				got = append(got, c.EventID)
			}
			if span.Newest {
				slices.Reverse(got)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%+v (-want +got):\n%s", span, diff)
			}
		}
	}
	if n, err := s.Count(t.Context(), ledger.Ref{Kind: ledger.Call, Mark: mark}, ledger.Every(0)); n != 20 || err != nil {
		t.Errorf("%d are counted, %v", n, err)
	}
}

// callsSeen: notes about one call at once are all kept.
func callsSeen(t *testing.T, p Place) {
	s, other := p.Open(t), p.Open(t)
	c := decided(t, s, call("run", "c1", "sha256:aa", Now))
	ref := ledger.Ref{Kind: ledger.Call, Key: c.EventID}
	var wg sync.WaitGroup
	for i, event := range []string{"B", "C", "D", "B"} {
		store := s
		if i%2 == 1 {
			store = other
		}
		wg.Go(func() {
			err := store.Note(context.Background(), ref, func(value any) (any, error) {
				c, ok := value.(ledger.CallBody)
				if !ok {
					return nil, fmt.Errorf("it is %v", value)
				}
				if slices.Contains(c.Events, event) {
					return nil, nil
				}
				c.Events = append(slices.Clip(c.Events), event)
				return c, nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, store := range []Store{s, other, p.Open(t)} {
		got := callsUnder(t, store, ledger.Called("agent", "run", "c1"), newest(9))
		if len(got) != 1 {
			t.Fatalf("%d calls", len(got))
		}
		less := cmpopts.SortSlices(func(a, b string) bool { return a < b })
		if diff := cmp.Diff([]string{"PreToolUse", "B", "C", "D"}, got[0].Events, less); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
	}
	size(t, p, 2)
}

// outcomes: a call that has ended stays where it is, as it ended.
func outcomes(t *testing.T, p Place) {
	s := p.Open(t)
	first := decided(t, s, call("run", "", "sha256:aa", Now))
	second := decided(t, s, call("run", "", "sha256:aa", Now))
	first.Outcome = interlock.OutcomeSuccess
	commit(t, s, ledger.Change{Events: []ledger.Draft{Draft(interlock.EventOutcome, "run")}, Writes: ledger.Rows(first)})
	want := []ledger.CallBody{second, first}
	for _, s := range []Store{s, p.Open(t)} {
		if diff := cmp.Diff(want, callsUnder(t, s, ledger.Acted("agent", "run", "sha256:aa"), newest(9)), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	commit(t, s, with(Decision("run"), func(c *ledger.Change) { c.Writes = []ledger.Row{ledger.Ended(ledger.Call, first.EventID)} }))
	if got := callsUnder(t, s, ledger.Acted("agent", "run", "sha256:aa"), newest(9)); len(got) != 1 || got[0].Outcome != "" {
		t.Errorf("what has ended is found: %+v", got)
	}
}
