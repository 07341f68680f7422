package storagetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"interlock"
	"interlock/internal/ledger"
)

// patience is how long a signal may take that must come. Only a test that fails waits for it.
const patience = 10 * time.Second

// watching begins to wait.
func watching(t testing.TB, s Store, kinds ...string) <-chan struct{} {
	t.Helper()
	changed, err := s.Watch(t.Context(), ledger.Watch{Kinds: kinds, Within: 5 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	return changed
}

// told waits for a signal, which must come, and returns whether the waiting has ended instead.
func told(t testing.TB, what string, changed <-chan struct{}) (ended bool) {
	t.Helper()
	select {
	case _, open := <-changed:
		return !open
	case <-time.After(patience):
		t.Fatalf("%s: nobody was told", what)
		return false
	}
}

// hears: one who waits is told of what is written by his own process and by another, of rows that come, change, are spent, merge
// and end, of notes, and of entries of the log; and he finds what was written once he is told.
func hears(t *testing.T, p Place) {
	s, other := p.Open(t), p.Open(t)
	defer s.Close()
	defer other.Close()
	note := func(s Store) error {
		return s.Note(t.Context(), ledger.Ref{Kind: ledger.Shadow, Key: "sha256:01"}, func(value any) (any, error) {
			body, _ := value.(ledger.ShadowBody)
			body.Ruleset, body.To = "sha256:01", Now
			body.Decisions++
			return body, nil
		})
	}
	put := func(more ...func(*ledger.Change)) func(Store) error {
		return func(s Store) error {
			c := Decision("a")
			for _, one := range more {
				one(&c)
			}
			_, err := s.Commit(t.Context(), c)
			return err
		}
	}
	end := func(kind, key string) func(*ledger.Change) {
		return func(c *ledger.Change) { c.Writes = append(c.Writes, ledger.Ended(kind, key)) }
	}
	for _, by := range []Store{s, other} {
		for _, step := range []struct {
			what  string
			kinds []string
			write func(Store) error
		}{
			{"an entry", nil, put()},
			{"an agent", []string{ledger.Agent}, put(write(interlock.AgentRecord{ID: "agent"}))},
			{"an agent among others", []string{ledger.Pin, ledger.Agent}, put(write(interlock.AgentRecord{ID: "agent", Principal: "p"}))},
			{"an agent for whoever waits for all", nil, put(write(interlock.AgentRecord{ID: "agent"}))},
			{"a counter, which binds nobody", []string{ledger.Counter}, put(write(ledger.CounterBody{Name: "n", Left: 3}))},
			{"what is spent", []string{ledger.Counter}, put(spend(ledger.Counter, "n"))},
			{"what is added", []string{ledger.Failed}, put(write(ledger.Ending{Agent: "agent", Action: "sha256:aa",
				Status: interlock.OutcomeFailure, At: Now}))},
			{"a call", []string{ledger.Call}, put(write(ledger.CallBody{Requester: interlock.Requester{Agent: "agent", Run: "a",
				Call: "c"}, Action: "sha256:aa", At: Now}))},
			{"what ends", []string{ledger.Counter}, put(end(ledger.Counter, "n"))},
			{"a note", []string{ledger.Shadow}, note},
		} {
			changed := watching(t, s, step.kinds...)
			if err := step.write(by); err != nil {
				t.Fatal(err)
			}
			who := "its own process"
			if by != s {
				who = "another"
			}
			if told(t, step.what+" by "+who, changed) {
				t.Errorf("%s by %s ended the waiting", step.what, who)
			}
		}
	}
}

// waits: one who looks away is told once, however much was written, and nothing that he has not seen then goes without a signal.
func waits(t *testing.T, p Place) {
	s, other := p.Open(t), p.Open(t)
	defer s.Close()
	defer other.Close()
	changed := watching(t, s, ledger.Counter)
	for n := range 20 {
		commit(t, []Store{s, other}[n%2], with(Decision("a"), write(ledger.CounterBody{Name: "before", Left: n})))
	}
	told(t, "what was written meanwhile", changed)

	const writers, each = 4, 25
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for n := range each {
				c := with(Decision("a"), write(ledger.CounterBody{Name: fmt.Sprint("n", w), Left: n + 1}))
				if _, err := []Store{s, other}[w%2].Commit(t.Context(), c); err != nil {
					t.Error(err)
				}
			}
		})
	}
	refs := make([]ledger.Ref, writers)
	for w := range refs {
		refs[w] = ledger.Ref{Kind: ledger.Counter, Key: fmt.Sprint("n", w)}
	}
	for whole := false; !whole; { // if one signal were lost, the last values would never be seen
		told(t, "what many wrote", changed)
		rows, _, err := s.Load(t.Context(), refs...)
		if err != nil {
			t.Fatal(err)
		}
		whole = len(rows) == writers
		for _, r := range rows {
			whole = whole && r.Value.(ledger.CounterBody).Left == each
		}
	}
	all.Wait()
}

// watchers: many wait at once, each is told, and those whose time is over are not waited for.
func watchers(t *testing.T, p Place) {
	s, other := p.Open(t), p.Open(t)
	defer s.Close()
	defer other.Close()
	ctx, cancel := context.WithCancel(t.Context())
	var stay, leave []<-chan struct{}
	for range 100 {
		stay = append(stay, watching(t, s, ledger.Agent))
		going, err := s.Watch(ctx, ledger.Watch{Kinds: []string{ledger.Pin}})
		if err != nil {
			t.Fatal(err)
		}
		leave = append(leave, going)
	}
	cancel()
	for _, changed := range leave {
		for !told(t, "the end of a context", changed) {
			continue
		}
	}
	commit(t, other, with(Decision("a"), write(interlock.AgentRecord{ID: "agent"})))
	for _, changed := range stay {
		if told(t, "one of many", changed) {
			t.Fatal("another's context ended the waiting")
		}
	}
	if _, err := s.Watch(ctx, ledger.Watch{}); !errors.Is(err, context.Canceled) {
		t.Errorf("waiting with a context that has ended: %v", err)
	}
	// Nobody is left of some; the next who comes is told again.
	short, cancel := context.WithCancel(t.Context())
	again, err := other.Watch(short, ledger.Watch{})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	for !told(t, "the end of the only one's context", again) {
		continue
	}
	again = watching(t, other)
	commit(t, s, Decision("a"))
	told(t, "who came after the last one had left", again)
}

// watchEnds: closing the store ends all waiting, and none begins.
func watchEnds(t *testing.T, p Place) {
	s, other := p.Open(t), p.Open(t)
	defer other.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var all []<-chan struct{}
	for range 3 {
		changed, err := s.Watch(ctx, ledger.Watch{})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, changed)
	}
	commit(t, s, Decision("a"))
	commit(t, other, Decision("a"))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, changed := range all {
		for !told(t, "the store's end", changed) {
			continue
		}
	}
	if _, err := s.Watch(ctx, ledger.Watch{}); err == nil {
		t.Error("a closed store is watched")
	}
}
