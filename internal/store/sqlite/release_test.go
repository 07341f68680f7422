package sqlite_test

import (
	sqldriver "database/sql/driver"
	"fmt"
	"testing"
	"time"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/store/driver"
	"interlock/internal/store/sqlite"
	"interlock/internal/store/storagetest"
)

// archivable makes a store with so many decisions that are archived, as its last event says, and some that are not.
func archivable(t *testing.T, path string) ledger.Letting {
	t.Helper()
	s := open(t, path)
	defer s.Close()
	for n := range 600 {
		c := storagetest.Decision("run")
		c.Events[0].Recorded = storagetest.Now.Add(-90 * 24 * time.Hour)
		c.Events[0].Inputs = []byte(`{"inputs":1}`)
		c.Blobs = []ledger.Blob{{Digest: interlock.Digest(fmt.Sprint("sha256:", n%700)), Text: []byte("text")}}
		for range 19 {
			c.Events = append(c.Events, c.Events[0])
		}
		if n*20 >= 1100 {
			break
		}
		if _, err := s.Commit(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	c := ledger.Change{Events: []ledger.Draft{storagetest.Draft(interlock.EventArchive, "interlock")}}
	c.Events[0].Payload = []byte(`{"before":"2026-02-02T05:06:07Z","blobs":1,"first":0,"inputs":1,"manifest":"","root":"","size":1024,"to":""}`)
	if _, err := s.Commit(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	return ledger.Letting{UpTo: 1024, Stay: []interlock.EventType{interlock.EventAlert}, Before: storagetest.Now}
}

// finished lets a store finish what was broken off, and holds it against what it must be.
func finished(t *testing.T, path string, l ledger.Letting, when string) {
	t.Helper()
	if report := verify(t, path); report.Problem != nil {
		t.Fatalf("%s: the log does not verify at once: %v", when, report.Problem)
	}
	s := open(t, path)
	if _, _, err := s.Release(t.Context(), l); err != nil {
		t.Fatalf("%s: %v", when, err)
	}
	s.Close()
	if report := verify(t, path); report.Problem != nil || report.Released != 1024 {
		t.Fatalf("%s: %d have gone, problem %v", when, report.Released, report.Problem)
	}
}

// Every statement of a release fails, before or after it took effect: the log stays sound, and doing it again finishes it.
func TestReleaseFails(t *testing.T) {
	first := newPath(t)
	l, fresh := archivable(t, first), copies(t, first)
	for _, after := range []bool{false, true} {
		for at := 0; ; at = later(at) {
			path := fresh()
			p := &plan{at: at, after: after}
			s, err := sqlite.OpenWrapped(path, options(t), func(c sqldriver.Conn) sqldriver.Conn { return &faulty{Conn: c, plan: p} })
			if err != nil {
				t.Fatal(err)
			}
			p.armed = true
			_, _, err = s.Release(t.Context(), l)
			p.armed = false
			s.Close()
			if p.failed == "" {
				if err != nil || at < 9 {
					t.Fatalf("without a fault, after %d steps: %v", at, err)
				}
				break
			}
			if err == nil {
				t.Errorf("step %d after=%v %.40s: released", at, after, p.failed)
			}
			finished(t, path, l, fmt.Sprintf("step %d after=%v %.40s", at, after, p.failed))
		}
	}
}

// A process that is killed in the middle of a release leaves a sound log, and who does it again finishes it.
func TestReleaseKilled(t *testing.T) {
	first := newPath(t)
	l, fresh := archivable(t, first), copies(t, first)
	for at := 0; ; at = later(at) {
		path := fresh()
		command, _, stderr := start(t, path, fmt.Sprint("release ", at, " true"))
		err := command.Wait()
		finished(t, path, l, fmt.Sprint("step ", at))
		if err == nil {
			break
		}
		if stderr.Len() > 0 { // who is killed says nothing
			t.Fatalf("step %d: %v %s", at, err, stderr)
		}
	}
}

// The content of an event by which people govern never leaves, whatever else is archived.
func TestWhatStaysIsNotTakenForArchived(t *testing.T) {
	path := newPath(t)
	l := archivable(t, path)
	must(t, raw(t, path), "UPDATE entries SET type = 'ALERT' WHERE idx = 700") // of the type that stays
	s := open(t, path)
	if _, _, err := s.Release(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	s.Close()
	must(t, raw(t, path), "UPDATE entries SET body = x'', inputs = NULL WHERE idx = 700")
	if p := verify(t, path).Problem; p == nil || p.Kind != auditlog.ProblemRemoved || p.Index != 700 {
		t.Errorf("%v", p)
	}
}

// Inputs that can't be unpacked are those of one decision; whoever reads on is not stopped.
func TestDamagedInputsStopNobody(t *testing.T) {
	path := newPath(t)
	archivable(t, path)
	must(t, raw(t, path), "UPDATE entries SET inputs = x'01ffffffffff0f' WHERE idx = 5")
	s := open(t, path)
	defer s.Close()
	seen := 0
	err := s.Recorded(t.Context(), 0, func(e interlock.Entry) error {
		if seen++; e.Index == 5 && string(e.Inputs) == `{"inputs":1}` {
			t.Error("they are what they were")
		}
		return nil
	})
	if err != nil || seen < 1000 {
		t.Errorf("%d entries, %v", seen, err)
	}
}

// What was opened for reading lets nothing go.
func TestReleaseNeedsAWriter(t *testing.T) {
	path := newPath(t)
	l := archivable(t, path)
	s, err := sqlite.Open(path, driver.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, _, err := s.Release(t.Context(), l); err == nil {
		t.Error("released from a store that was opened for reading")
	}
}

// later is the next step that is tried: each of the first, which begin a transaction, and then some, which write row after row.
func later(at int) int {
	if at < 4 {
		return at + 1
	}
	return at + 7
}
