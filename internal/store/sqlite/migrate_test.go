package sqlite_test

import (
	"database/sql/driver"
	"fmt"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock"
	"interlock/internal/ledger"
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
		change.Writes = ledger.Rows(interlock.Pin{Server: "files", Tool: "read", Status: interlock.PinQuarantined, Seen: "sha256:01"})
		if _, err := s.Commit(t.Context(), change); err != nil {
			t.Fatal(err)
		}
		past, err := s.Past(t.Context(), "a")
		if err != nil || len(past) == 0 {
			t.Errorf("nothing is remembered: %v, %v", past, err)
		}
		if asked := askedBy(t, s, "agent", "p"); asked != 1 {
			t.Errorf("the agent has asked %d times, want once", asked)
		}
		if alerts, err := s.Recent(t.Context(), interlock.EventAlert, -1, 10); err != nil || len(alerts) != round {
			t.Errorf("%d alerts are found (%v), want %d", len(alerts), err, round)
		}
		if standing, err = s.Standing(t.Context()); err != nil || standing.Pins[interlock.PinKey("files", "read")].Seen != "sha256:01" {
			t.Errorf("the pin does not stand: %v (%v)", standing.Pins, err)
		}
		s.Close()
	}
	if entries, ok := sound(t, path); entries != 9 || !ok || version() != 8 {
		t.Errorf("after: %d entries, verified %v, version %d; want 9, true, 8", entries, ok, version())
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

// askedBy counts what an agent has asked.
func askedBy(t *testing.T, s *sqlite.Store, agent, principal string) int {
	t.Helper()
	rows, _, err := s.Scan(t.Context(), interlock.Ref{Kind: ledger.Request, Mark: ledger.By(agent, principal)}, ledger.Every(100))
	if err != nil {
		t.Fatal(err)
	}
	return len(rows)
}

// version4 makes a store as the version before the ledger left it, again and again.
func version4(t *testing.T) (make func() (path string)) {
	t.Helper()
	return dumped(t, "testdata/version4.sql")
}

// dumped makes a store from a dump, again and again.
func dumped(t *testing.T, name string) (make func() (path string)) {
	t.Helper()
	dump, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	first := newPath(t)
	must(t, raw(t, first), string(dump))
	file, err := os.ReadFile(first)
	if err != nil {
		t.Fatal(err)
	}
	return func() string {
		path := newPath(t)
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
}

// entriesOf is the log of a store, byte for byte.
func entriesOf(t testing.TB, path string) []interlock.Entry {
	t.Helper()
	s, err := sqlite.Open(path, sqlite.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	entries, err := s.Entries(t.Context(), 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	return entries
}

// standingOf is what stands, read without writing.
func standingOf(t testing.TB, path string) interlock.Standing {
	t.Helper()
	s, err := sqlite.Open(path, sqlite.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	standing, err := s.Standing(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return standing
}

// TestMigrateToTheLedger: everything that stood in tables of its own stands as rows afterwards, what became of each request is
// known, the texts of tools are, and the log is what it was.
func TestMigrateToTheLedger(t *testing.T) {
	path := version4(t)()
	before, log := standingOf(t, path), entriesOf(t, path)
	if len(before.Agents) != 1 || len(before.Requests) != 2 || len(before.Grants) != 1 || len(before.Attempts) != 1 ||
		len(before.Challenges) != 1 || len(before.Suppressions) != 1 || len(before.Pins) != 2 || len(before.Settings) != 2 {
		t.Fatalf("the old store can't be read without migrating it: %+v", before)
	}
	s := open(t, path)
	defer s.Close()
	for i := range 2 {
		if diff := cmp.Diff(before, standingOf(t, path)); diff != "" {
			t.Errorf("what stands (-before +after):\n%s", diff)
		}
		if diff := cmp.Diff(log, entriesOf(t, path)[:len(log)]); diff != "" {
			t.Errorf("the log (-before +after):\n%s", diff)
		}
		if entries, ok := sound(t, path); entries != int64(len(log)+i) || !ok {
			t.Errorf("%d entries, sound %v", entries, ok)
		}
		if _, err := s.Commit(t.Context(), storagetest.Decision("a")); err != nil {
			t.Fatal(err)
		}
	}
	for _, status := range []interlock.RequestStatus{"pending", "approved", "denied", "spent", "expired"} {
		r, found, err := s.Request(t.Context(), string(status))
		if err != nil || !found || r.Status != status {
			t.Errorf("the %s request is %+v, %v, %v", status, r, found, err)
		}
		list, err := s.Requests(t.Context(), status, 10)
		if err != nil || len(list) != 1 || list[0].ID != string(status) {
			t.Errorf("the %s requests are %v, %v", status, list, err)
		}
	}
	if n := askedBy(t, s, "agent", "p"); n != 5 {
		t.Errorf("the agent has asked %d times", n)
	}
	for digest, want := range map[interlock.Digest]string{"sha256:01": `{"a":"<1>"}`, "sha256:02": `{"a":"<2>"}`} {
		text, _, err := s.Load(t.Context(), ledger.DefinitionOf("files", "read", digest))
		if err != nil || len(text) != 1 || string(text[0].Body) != want {
			t.Errorf("the text of %s is %v, %v", digest, text, err)
		}
	}
	call := interlock.Requester{Agent: "agent", Principal: "p", Run: "run", Call: "c1"}
	if _, found, err := s.FindCall(t.Context(), call, "sha256:aa"); err != nil || !found {
		t.Errorf("the call is gone: %v", err)
	}
	for id, want := range map[string]bool{"approved": true, "spent": false, "pending": false} {
		c := storagetest.Decision("a")
		c.Spends = ledger.One(ledger.Request, id)
		if _, err := s.Commit(t.Context(), c); (err == nil) != want {
			t.Errorf("spending the %s request: %v", id, err)
		}
	}
}

// TestMigrationFails: whatever statement of the migration fails, before or after it took effect, nothing is lost and the next
// who opens the store has it whole.
func TestMigrationFails(t *testing.T) {
	for name, least := range map[string]int{"testdata/version4.sql": 40, "testdata/version7.sql": 12} {
		t.Run(name, func(t *testing.T) { migrationFails(t, dumped(t, name), least) })
	}
}

func migrationFails(t *testing.T, fresh func() (path string), least int) {
	path := fresh()
	before, log := standingOf(t, path), entriesOf(t, path)
	for _, after := range []bool{false, true} {
		each := 1
		if after {
			each = 5 // what has taken effect before an error is undone with the rest: that is one thing, at whatever step
		}
		for at := 0; ; at += each {
			path := fresh()
			p := &plan{at: at, after: after, armed: true}
			s, err := sqlite.Open(path, sqlite.WithWrap(options(t), func(c driver.Conn) driver.Conn { return &faulty{Conn: c, plan: p} }))
			p.armed = false
			if err == nil {
				s.Close()
			}
			if p.failed == "" {
				if err != nil || at < least {
					t.Fatalf("without a fault, after %d steps: %v", at, err)
				}
				break
			}
			again(t, path, before, log, fmt.Sprintf("step %d after=%v %.60s", at, after, p.failed))
		}
	}
}

// TestMigrateOrders: grants and suppressions of the version before orders were one kind stand as they did, are drawn and end, and
// none that is over can be given again.
func TestMigrateOrders(t *testing.T) {
	path := dumped(t, "testdata/version7.sql")()
	before, log := standingOf(t, path), entriesOf(t, path)
	if len(before.Grants) != 1 || len(before.Suppressions) != 1 || before.Grants["grt_1"].Left != 1 ||
		before.Grants["grt_1"].Statement != "statement of grt_1" || !before.Suppressions["sup_1"].Denials {
		t.Fatalf("the old store can't be read without migrating it: %+v", before)
	}
	reader, err := sqlite.Open(path, sqlite.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, ref := range []interlock.Ref{{Kind: ledger.Order, Key: "sup_1"},
		{Kind: ledger.Order, Mark: ledger.Ordered(interlock.VerbSuppress)}} {
		rows, _, err := reader.Load(t.Context(), ref)
		if err != nil || len(rows) != 1 {
			t.Fatalf("%+v is %v, %v", ref, rows, err)
		}
		if diff := cmp.Diff(before.Suppressions["sup_1"], rows[0].Value); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", ref, diff)
		}
	}
	reader.Close()
	s := open(t, path)
	defer s.Close()
	if diff := cmp.Diff(before, standingOf(t, path)); diff != "" {
		t.Errorf("what stands (-before +after):\n%s", diff)
	}
	if diff := cmp.Diff(log, entriesOf(t, path)); diff != "" {
		t.Errorf("the log (-before +after):\n%s", diff)
	}
	commit := func(edit func(*interlock.Change)) error {
		c := storagetest.Decision("a")
		edit(&c)
		_, err := s.Commit(t.Context(), c)
		return err
	}
	for _, order := range []interlock.Order{before.Grants["grt_1"].Order(), {ID: "grt_2", Statement: "statement of grt_2"}} {
		if err := commit(func(c *interlock.Change) { c.Writes = []interlock.Row{ledger.Once(order)} }); err == nil {
			t.Errorf("%s could be carried out again", order.ID)
		}
	}
	for _, want := range []bool{true, false} {
		if err := commit(func(c *interlock.Change) { c.Spends = ledger.One(ledger.Order, "grt_1") }); (err == nil) != want {
			t.Errorf("drawn: %v", err)
		}
	}
	if err := commit(func(c *interlock.Change) { c.Writes = []interlock.Row{ledger.Ended(ledger.Order, "sup_1")} }); err != nil {
		t.Error(err)
	}
	if after := standingOf(t, path); len(after.Grants)+len(after.Suppressions) > 0 {
		t.Errorf("what is over stands: %+v", after)
	}
}

// again opens a store whose migration was broken off.
func again(t *testing.T, path string, before interlock.Standing, log []interlock.Entry, when string) {
	t.Helper()
	if diff := cmp.Diff(before, standingOf(t, path)); diff != "" {
		t.Errorf("%s: what stands at once (-before +after):\n%s", when, diff)
	}
	s := open(t, path)
	defer s.Close()
	standing, err := s.Standing(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, standing); diff != "" {
		t.Errorf("%s: what stands (-before +after):\n%s", when, diff)
	}
	if diff := cmp.Diff(log, entriesOf(t, path)); diff != "" {
		t.Errorf("%s: the log (-before +after):\n%s", when, diff)
	}
	if _, ok := sound(t, path); !ok {
		t.Errorf("%s: the log does not verify", when)
	}
}

// TestMigrationKilled: a process that is killed in the middle of it has done all of it or nothing.
func TestMigrationKilled(t *testing.T) {
	fresh := version4(t)
	path := fresh()
	before, log := standingOf(t, path), entriesOf(t, path)
	for at := 0; ; at += 7 {
		path := fresh()
		command, _, stderr := start(t, path, fmt.Sprint("migrate ", at, " true"))
		err := command.Wait()
		again(t, path, before, log, fmt.Sprint("step ", at))
		if err == nil {
			break
		}
		if stderr.Len() > 0 { // who is killed says nothing
			t.Fatalf("step %d: %v %s", at, err, stderr)
		}
	}
}
