package sqlite_test

import (
	"os"
	"testing"
	"time"

	"interlock"
	"interlock/internal/store/sqlite"
	"interlock/internal/store/storagetest"
)

// TestMigrateFromVersion1: a file of the first schema is brought to the newest one when it is opened for writing; what stood
// in it stays, the log goes on under the same key, and what is new works. Reading needs no migration and makes none.
func TestMigrateFromVersion1(t *testing.T) {
	path := newPath(t)
	dump, err := os.ReadFile("testdata/version1.sql")
	if err != nil {
		t.Fatal(err)
	}
	must(t, raw(t, path), string(dump))
	chmod(t, path, 0o600)
	version := func() (n int) {
		if err := raw(t, path).QueryRow("PRAGMA user_version").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if entries, ok := sound(t, path); entries != 5 || !ok || version() != 1 {
		t.Fatalf("before: %d entries, verified %v, version %d; want 5, true, 1", entries, ok, version())
	}
	for round := 1; round <= 2; round++ { // the second time there is nothing left to do
		s := open(t, path)
		standing, err := s.Standing(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if standing.Agents["bot"].ID != "bot" || standing.Requests["apr_1"].Status != interlock.RequestPending || standing.Settings["mode"] != "enforcing" {
			t.Errorf("the standing was not kept: %+v", standing)
		}
		change := storagetest.Decision("a")
		change.Past = &interlock.PastAction{At: storagetest.Now, Kind: interlock.KindShell,
			Impacts: []interlock.Impact{{Kind: interlock.ImpactWrite, Target: "x"}}}
		change.Events = append(change.Events, storagetest.Draft(interlock.EventAlert, "a"))
		change.Pins = []interlock.PinChange{{Pin: interlock.Pin{Server: "files", Tool: "read", Status: interlock.PinQuarantined, Seen: "sha256:01"},
			Definition: []byte(`{"name":"read"}`)}}
		if _, err := s.Commit(t.Context(), change); err != nil {
			t.Fatal(err)
		}
		past, err := s.Past(t.Context(), "a")
		if err != nil || len(past) == 0 {
			t.Errorf("nothing is remembered: %v, %v", past, err)
		}
		if asked, err := s.Asked(t.Context(), interlock.Requester{Agent: "agent", Principal: "p"}, storagetest.Now.Add(-time.Hour)); err != nil || asked != 1 {
			t.Errorf("the agent has asked %d times (%v), want once", asked, err)
		}
		if alerts, err := s.Recent(t.Context(), interlock.EventAlert, -1, 10); err != nil || len(alerts) != round {
			t.Errorf("%d alerts are found (%v), want %d", len(alerts), err, round)
		}
		if standing, err = s.Standing(t.Context()); err != nil || standing.Pins[interlock.PinKey("files", "read")].Seen != "sha256:01" {
			t.Errorf("the pin does not stand: %v (%v)", standing.Pins, err)
		}
		s.Close()
	}
	if entries, ok := sound(t, path); entries != 9 || !ok || version() != 5 {
		t.Errorf("after: %d entries, verified %v, version %d; want 9, true, 5", entries, ok, version())
	}
	// Two processes that find the old file at once.
	path = newPath(t)
	must(t, raw(t, path), string(dump))
	chmod(t, path, 0o600)
	opened := make(chan error, 2)
	for range 2 {
		go func() {
			s, err := sqlite.Open(path, options(t))
			if err == nil {
				err = s.Close()
			}
			opened <- err
		}()
	}
	for range 2 {
		if err := <-opened; err != nil {
			t.Errorf("two at once: %v", err)
		}
	}
}
