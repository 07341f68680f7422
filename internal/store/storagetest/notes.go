package storagetest

import (
	"errors"
	"sync"
	"testing"

	"interlock"
	"interlock/internal/ledger"
)

// notes: rows that nobody decides from are written without an event, one after another over all processes, are seen by all of
// them at once, and make nobody decide again; no other kind is written so, and what fails leaves nothing.
func notes(t *testing.T, p Place) {
	s, other := p.Open(t), p.Open(t)
	ref := ledger.Ref{Kind: ledger.Shadow, Key: "sha256:01"}
	more := func(value any) (any, error) {
		body, _ := value.(ledger.ShadowBody)
		body.Ruleset, body.To = "sha256:01", Now
		body.Decisions++
		return body, nil
	}
	decisions := func(s Store) int {
		t.Helper()
		rows, _, err := s.Load(t.Context(), ref)
		if err != nil || len(rows) > 1 {
			t.Fatalf("%d rows, %v", len(rows), err)
		}
		if len(rows) == 0 {
			return 0
		}
		return rows[0].Value.(ledger.ShadowBody).Decisions
	}
	version := current(t, s).Version
	if n := decisions(s); n != 0 {
		t.Errorf("%d before there was a note", n)
	}
	var all sync.WaitGroup
	for _, store := range []Store{s, other} {
		all.Go(func() {
			for range 20 {
				if err := store.Note(t.Context(), ref, more); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	for _, store := range []Store{s, other, p.Open(t)} {
		if n := decisions(store); n != 40 {
			t.Errorf("%d are noted, want 40", n)
		}
	}
	if now := current(t, other).Version; now != version {
		t.Errorf("a note made decisions be made again: %d, was %d", now, version)
	}
	size(t, p, 0)
	failure := errors.New("no")
	if err := s.Note(t.Context(), ref, func(any) (any, error) { return nil, failure }); !errors.Is(err, failure) {
		t.Errorf("what change said came back as %v", err)
	}
	if err := s.Note(t.Context(), ref, func(any) (any, error) { return nil, nil }); err != nil || decisions(s) != 40 {
		t.Errorf("nothing was to be changed: %v, %d", err, decisions(s))
	}
	agent := ledger.Ref{Kind: ledger.Agent, Key: "a"}
	if err := s.Note(t.Context(), agent, func(any) (any, error) { return interlock.AgentRecord{ID: "a"}, nil }); err == nil {
		t.Error("an agent was registered without an event")
	}
	if rows, _, err := s.Load(t.Context(), agent); err != nil || len(rows) > 0 {
		t.Errorf("%v %v", rows, err)
	}
	under := ledger.Ref{Kind: ledger.Shadow, Mark: ledger.Until}
	if rows, _, err := s.Scan(t.Context(), under, ledger.Every(9)); err != nil || len(rows) != 1 {
		t.Errorf("the note is found %d times under its mark, %v", len(rows), err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Note(t.Context(), ref, more); err == nil {
		t.Error("a closed store took a note")
	}
}
