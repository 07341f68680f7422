package sqlite_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock"
	"interlock/internal/ledger"
	"interlock/internal/pack"
	"interlock/internal/store/storagetest"
)

// TestRecentByType: of each type the newest entries are found, those before an index too, whether the type stands in the index
// or not.
func TestRecentByType(t *testing.T) {
	s := open(t, newPath(t))
	kinds := []interlock.EventType{interlock.EventDecision, interlock.EventOutcome, interlock.EventAlert, interlock.EventDecision, interlock.EventBlock}
	for i := range 40 {
		if _, err := s.Commit(t.Context(), ledger.Change{Events: []ledger.Draft{storagetest.Draft(kinds[i*i%len(kinds)], "a")}}); err != nil {
			t.Fatal(err)
		}
	}
	all, err := s.Entries(t.Context(), "", ledger.Before(-1, 100))
	if err != nil || len(all) != 40 {
		t.Fatalf("%d entries, %v", len(all), err)
	}
	for _, kind := range append(interlock.EventTypes(), "") {
		for _, before := range []int64{-1, 0, 17, 40} {
			var want []int64
			for _, e := range all {
				if (kind == "" || e.Type == kind) && (before < 0 || e.Index < before) && len(want) < 5 {
					want = append(want, e.Index)
				}
			}
			entries, err := s.Entries(t.Context(), kind, ledger.Before(before, 5))
			if err != nil {
				t.Fatal(err)
			}
			var got []int64
			for _, e := range entries {
				got = append(got, e.Index)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%q before %d (-want +got):\n%s", kind, before, diff)
			}
		}
	}
}

// What earlier versions stored of an entry is read beside what is stored now: its id as text, its body and inputs each packed alone.
func TestEntriesOfBeforeAreRead(t *testing.T) {
	const n = 300 // some in a block whose ids are noted, some behind it
	path := newPath(t)
	s := open(t, path)
	inputs := []byte(`{"action":{"input":"` + strings.Repeat("npm install ", 12) + `"},"schema":"interlock.inputs/v1"}`)
	for range n {
		draft := storagetest.Draft(interlock.EventDecision, "a")
		draft.Payload, draft.Inputs = inputs, inputs
		if _, err := s.Commit(t.Context(), ledger.Change{Events: []ledger.Draft{draft}}); err != nil {
			t.Fatal(err)
		}
	}
	read := func() (entries []interlock.Entry) {
		err := s.Recorded(t.Context(), 0, func(e interlock.Entry) error {
			e.Body, e.Inputs = bytes.Clone(e.Body), bytes.Clone(e.Inputs)
			entries = append(entries, interlock.Entry{Index: e.Index, ID: e.ID, Body: e.Body, Inputs: e.Inputs})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return entries
	}
	now := read()
	db := raw(t, path)
	for i := 0; i < n; i += 2 {
		e := &now[i]
		if _, err := db.Exec("UPDATE entries SET id = ?, body = ?, inputs = ? WHERE idx = ? AND length(id) = 32", e.ID, pack.Pack(e.Body),
			pack.Pack(e.Inputs), e.Index); err != nil {
			t.Fatal(err)
		}
	}
	var old int
	if err := db.QueryRow("SELECT count(*) FROM entries WHERE typeof(id) = 'text' AND length(id) = 64").Scan(&old); err != nil || old != n/2 {
		t.Fatalf("%d entries are as before, %v", old, err)
	}
	if diff := cmp.Diff(now, read()); diff != "" {
		t.Fatalf("(-now +before):\n%s", diff)
	}
	for i := range now {
		if e, found, err := s.Entry(t.Context(), now[i].ID); err != nil || !found || e.Index != now[i].Index {
			t.Fatalf("entry %d by its id: %d, %v, %v", i, e.Index, found, err)
		}
		if text, found, err := s.Inputs(t.Context(), int64(i)); err != nil || !found || !bytes.Equal(text, inputs) {
			t.Fatalf("the inputs of entry %d: %s, %v, %v", i, text, found, err)
		}
	}
}
