package sqlite_test

import (
	"strings"
	"testing"
	"time"

	"interlock"
	"interlock/internal/ledger"
	"interlock/internal/store/storagetest"
)

// TestReleaseGivesRoom: what has left leaves pages that what comes next is written to, so that a store which is archived stops
// growing.
func TestReleaseGivesRoom(t *testing.T) {
	path := newPath(t)
	s := open(t, path)
	for range 64 {
		c := ledger.Change{}
		for range 16 {
			d := storagetest.Draft(interlock.EventDecision, "run")
			d.Recorded = storagetest.Now.Add(-90 * 24 * time.Hour)
			d.Inputs = []byte(`{"a":"` + strings.Repeat("x1y2z3", 10) + `"}`)
			c.Events = append(c.Events, d)
		}
		if _, err := s.Commit(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	inUse := func() (n int64) {
		var pages, free int64
		db := raw(t, path)
		if err := db.QueryRow("PRAGMA page_count").Scan(&pages); err != nil {
			t.Fatal(err)
		}
		if err := db.QueryRow("PRAGMA freelist_count").Scan(&free); err != nil {
			t.Fatal(err)
		}
		return pages - free
	}
	before := inUse()
	if n, _, err := s.Release(t.Context(), ledger.Letting{UpTo: 1024, Before: storagetest.Now}); err != nil || n != 1024 {
		t.Fatal(n, err)
	}
	s.Close()
	if after := inUse(); after > before*2/3 {
		t.Errorf("%d pages are in use, %d were before", after, before)
	}
}
