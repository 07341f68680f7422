package sqlite_test

import (
	"database/sql/driver"
	"fmt"
	"testing"

	"interlock/internal/ledger"
	"interlock/internal/store/sqlite"
	"interlock/internal/store/storagetest"
)

// Every statement of a note fails, before or after it took effect: what was noted is there or is not, the log is sound, and whoever
// opens the store next goes on.
func TestFaultsOfANote(t *testing.T) {
	ref := ledger.Ref{Kind: ledger.Shadow, Key: "sha256:01"}
	one := func(value any) (any, error) {
		body, _ := value.(ledger.ShadowBody)
		body.Ruleset, body.To = "sha256:01", storagetest.Now
		body.Decisions++
		return body, nil
	}
	steps, fresh := 0, preparedCopies(t)
	for _, second := range []bool{false, true} { // the row is new, or there already
		for _, after := range []bool{false, true} {
			for at := 0; ; at++ {
				path := fresh()
				p := &plan{at: at, after: after}
				s, err := sqlite.OpenWrapped(path, options(t), func(c driver.Conn) driver.Conn { return &faulty{Conn: c, plan: p} })
				if err != nil {
					t.Fatal(err)
				}
				before := 0
				if second {
					if err := s.Note(t.Context(), ref, one); err != nil {
						t.Fatal(err)
					}
					before = 1
				}
				p.armed = true
				err = s.Note(t.Context(), ref, one)
				p.armed = false
				name := fmt.Sprintf("second %v, step %d after=%v %.40s", second, at, after, p.failed)
				if p.failed != "" && err == nil {
					t.Errorf("%s: nobody was told", name)
				}
				s.Close()
				if report := verify(t, path); report.Problem != nil || report.Entries != prepared {
					t.Errorf("%s: %d entries, %v", name, report.Entries, report.Problem)
				}
				s = open(t, path)
				rows, _, loadErr := s.Load(t.Context(), ref)
				got := 0
				if len(rows) == 1 {
					got = rows[0].Value.(ledger.ShadowBody).Decisions
				}
				if loadErr != nil || got != before && got != before+1 || err == nil && got != before+1 {
					t.Errorf("%s: %d are noted (%v), told %v", name, got, loadErr, err)
				}
				if err := s.Note(t.Context(), ref, one); err != nil {
					t.Errorf("%s: it does not go on: %v", name, err)
				}
				s.Close()
				if p.failed == "" {
					steps = max(steps, p.step)
					break
				}
			}
		}
	}
	if steps < 4 {
		t.Errorf("%d steps were broken", steps)
	}
}
