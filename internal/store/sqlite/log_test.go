package sqlite_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock"
	"interlock/internal/store/storagetest"
)

// TestRecentByType: of each type the newest entries are found, those before an index too, whether the type stands in the index
// or not.
func TestRecentByType(t *testing.T) {
	s := open(t, newPath(t))
	kinds := []interlock.EventType{interlock.EventDecision, interlock.EventOutcome, interlock.EventAlert, interlock.EventDecision, interlock.EventBlock}
	for i := range 40 {
		if _, err := s.Commit(t.Context(), interlock.Change{Events: []interlock.Draft{storagetest.Draft(kinds[i*i%len(kinds)], "a")}}); err != nil {
			t.Fatal(err)
		}
	}
	all, err := s.Recent(t.Context(), "", -1, 100)
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
			entries, err := s.Recent(t.Context(), kind, before, 5)
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
