package storagetest

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock"
	"interlock/internal/ledger"
)

// entries: the log is read in spans of its indexes, from either end, of one type or of all, to its end and never beyond.
func entries(t *testing.T, p Place) {
	s := p.Open(t)
	defer s.Close()
	kinds := []interlock.EventType{interlock.EventDecision, interlock.EventAlert, interlock.EventOutcome, interlock.EventAlert,
		interlock.EventDecision}
	for _, kind := range kinds {
		commit(t, s, ledger.Change{Events: []ledger.Draft{Draft(kind, "a")}})
	}
	between := ledger.Every(9)
	between.From, between.UpTo = 1, 3
	for _, tc := range []struct {
		name string
		kind interlock.EventType
		span ledger.Span
		want []int64
	}{
		{"all", "", ledger.Every(9), []int64{0, 1, 2, 3, 4}},
		{"from the beginning", "", ledger.From(0, 2), []int64{0, 1}},
		{"from one on", "", ledger.From(3, 9), []int64{3, 4}},
		{"beyond the end", "", ledger.From(5, 9), nil},
		{"newest", "", ledger.Before(-1, 2), []int64{4, 3}},
		{"before one", "", ledger.Before(3, 2), []int64{2, 1}},
		{"before the first", "", ledger.Before(0, 2), nil},
		{"a stretch", "", between, []int64{1, 2, 3}},
		{"alerts", interlock.EventAlert, ledger.Every(9), []int64{1, 3}},
		{"alerts, newest first", interlock.EventAlert, ledger.Before(-1, 1), []int64{3}},
		{"alerts before one", interlock.EventAlert, ledger.Before(3, 9), []int64{1}},
		{"decisions, newest first", interlock.EventDecision, ledger.Before(-1, 9), []int64{4, 0}},
		{"outcomes from one on", interlock.EventOutcome, ledger.From(1, 9), []int64{2}},
		{"none of a type", interlock.EventMode, ledger.Every(9), nil},
		{"none asked for", "", ledger.From(0, 0), nil},
	} {
		found, err := s.Entries(t.Context(), tc.kind, tc.span)
		if err != nil {
			t.Fatal(err)
		}
		var got []int64
		for _, e := range found {
			got = append(got, e.Index)
			if e.Type != kinds[e.Index] || len(e.Body) == 0 || len(e.Hashes) == 0 {
				t.Errorf("%s: entry %d is %+v", tc.name, e.Index, e)
			}
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
}
