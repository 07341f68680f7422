package sqlite_test

import (
	"bytes"
	"crypto/sha256"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"interlock"
	"interlock/internal/ledger"
	"interlock/internal/origin"
	"interlock/internal/store/driver"
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
		standing, err := storagetest.Whole(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		if standing.Agents["bot"].ID != "bot" || standing.Requests["apr_1"].Status != interlock.RequestPending || standing.Settings["mode"] != "enforcing" {
			t.Errorf("the standing was not kept: %+v", standing)
		}
		change := storagetest.Decision("a")
		change.Events = append(change.Events, storagetest.Draft(interlock.EventAlert, "a"))
		change.Writes = ledger.Rows(interlock.Pin{Server: "files", Tool: "read", Status: interlock.PinQuarantined, Seen: "sha256:01"},
			ledger.Past{Run: "a", Action: interlock.PastAction{At: storagetest.Now, Kind: interlock.KindShell,
				Impacts: []interlock.Impact{{Kind: interlock.ImpactWrite, Target: "x"}}}})
		if _, err := s.Commit(t.Context(), change); err != nil {
			t.Fatal(err)
		}
		past, _, err := s.Load(t.Context(), ledger.Ref{Kind: ledger.Recent, Key: "a"})
		if err != nil || len(past) == 0 {
			t.Errorf("nothing is remembered: %v, %v", past, err)
		}
		if asked := askedBy(t, s, "agent", "p"); asked != 1 {
			t.Errorf("the agent has asked %d times, want once", asked)
		}
		if alerts, err := s.Entries(t.Context(), interlock.EventAlert, ledger.Before(-1, 10)); err != nil || len(alerts) != round {
			t.Errorf("%d alerts are found (%v), want %d", len(alerts), err, round)
		}
		if standing, err = storagetest.Whole(t.Context(), s); err != nil || standing.Pins[ledger.PinKey("files", "read")].Seen != "sha256:01" {
			t.Errorf("the pin does not stand: %v (%v)", standing.Pins, err)
		}
		s.Close()
	}
	if entries, ok := sound(t, path); entries != 9 || !ok || version() != 10 {
		t.Errorf("after: %d entries, verified %v, version %d; want 9, true, 10", entries, ok, version())
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
	rows, _, err := s.Scan(t.Context(), ledger.Ref{Kind: ledger.Request, Mark: ledger.By(agent, principal)}, ledger.Every(100))
	if err != nil {
		t.Fatal(err)
	}
	return len(rows)
}

// older makes a store as an older version of the schema left it, again and again: 4 is the one before the ledger, 7 the one before
// what passes had a table of its own.
func older(t *testing.T, version string) (make func() (path string)) {
	t.Helper()
	dump, err := os.ReadFile("testdata/version" + version + ".sql")
	if err != nil {
		t.Fatal(err)
	}
	first := newPath(t)
	must(t, raw(t, first), string(dump))
	return copies(t, first)
}

// copies makes a store like another is now, again and again.
func copies(t testing.TB, path string) (make func() (path string)) {
	t.Helper()
	image := imageOf(t, path)
	return func() string { return pathOf(t, image) }
}

// states are all that directories of stores were seen to hold. What a store does when it is opened depends on nothing else, so
// that each needs to be looked at once.
type states map[[sha256.Size]byte]bool

// fresh says whether a store's directory holds what it was not seen to hold.
func (s states) fresh(t testing.TB, path string) bool {
	t.Helper()
	all := sha256.New()
	dir := os.DirFS(filepath.Dir(path))
	err := fs.WalkDir(dir, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(dir, name)
		fmt.Fprintf(all, "%q %x\n", name, sha256.Sum256(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	sum := [sha256.Size]byte(all.Sum(nil))
	defer func() { s[sum] = true }()
	return !s[sum]
}

// entriesOf is the log of a store, byte for byte.
func entriesOf(t testing.TB, path string) []interlock.Entry {
	t.Helper()
	s, err := sqlite.Open(path, driver.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	entries, err := s.Entries(t.Context(), "", ledger.From(0, 100))
	if err != nil {
		t.Fatal(err)
	}
	return entries
}

// recordedOf is the log of a store with what decisions were made from, read without writing.
func recordedOf(t testing.TB, path string) (entries []interlock.Entry) {
	t.Helper()
	s, err := sqlite.Open(path, driver.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	err = s.Recorded(t.Context(), 0, func(e interlock.Entry) error {
		if inputs, found, err := s.Inputs(t.Context(), e.Index); found || err != nil {
			t.Errorf("entry %d has inputs: %q, %v", e.Index, inputs, err)
		}
		e.ID, e.Body, e.Hashes = strings.Clone(e.ID), bytes.Clone(e.Body), bytes.Clone(e.Hashes)
		entries = append(entries, e)
		return nil
	})
	if err == nil {
		err = s.Blobs(t.Context(), func(b ledger.Blob) error { return errors.New("there is a text " + string(b.Digest)) })
	}
	if err != nil {
		t.Fatal(err)
	}
	return entries
}

// standingOf is what stands, read without writing.
func standingOf(t testing.TB, path string) ledger.Standing {
	t.Helper()
	s, err := sqlite.Open(path, driver.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	standing, err := storagetest.Whole(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return standing
}

// TestMigrateToTheLedger: everything that stood in tables of its own stands as rows afterwards, what became of each request is
// known, the texts of tools are, and the log is what it was.
func TestMigrateToTheLedger(t *testing.T) {
	path := older(t, "4")()
	before, log := standingOf(t, path), entriesOf(t, path)
	if len(before.Agents) != 1 || len(before.Requests) != 2 || len(before.Grants) != 1 || len(before.Attempts) != 1 ||
		len(before.Challenges) != 1 || len(before.Suppressions) != 1 || len(before.Pins) != 2 || len(before.Settings) != 2 {
		t.Fatalf("the old store can't be read without migrating it: %+v", before)
	}
	if recorded := recordedOf(t, path); !cmp.Equal(recorded, log) {
		t.Errorf("the old log with its inputs, of which there are none (-want +got):\n%s", cmp.Diff(log, recorded))
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
		rows, _, err := s.Load(t.Context(), ledger.Ref{Kind: ledger.Request, Key: string(status)})
		if err != nil || len(rows) != 1 || rows[0].Value.(interlock.ApprovalRequest).Status != status {
			t.Errorf("the %s request is %+v, %v", status, rows, err)
		}
		mark := ledger.Ref{Kind: ledger.Request, Mark: ledger.Is(status)}
		list, _, err := s.Scan(t.Context(), mark, ledger.Before(-1, 10))
		if err != nil || len(list) != 1 || list[0].Key != string(status) {
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
	if calls := callsOf(t, s, ledger.Called("agent", "run", "c1")); calls != "sha256:aa  " {
		t.Errorf("the call is %q", calls)
	}
	for id, want := range map[string]bool{"approved": true, "spent": false, "pending": false} {
		c := storagetest.Decision("a")
		c.Spends = ledger.One(ledger.Request, id)
		if _, err := s.Commit(t.Context(), c); (err == nil) != want {
			t.Errorf("spending the %s request: %v", id, err)
		}
	}
}

// passed are rows that stand for a while, as the dump of version 7 has them.
func passed(t testing.TB, s *sqlite.Store) (bodies []string) {
	t.Helper()
	rows, _, err := s.Load(t.Context(), ledger.Ref{Kind: ledger.Execution, Key: ledger.ExecutionKey("p", "agent", "run")},
		ledger.Ref{Kind: ledger.Failed, Key: ledger.FailedKey("p", "agent")}, ledger.Ref{Kind: ledger.Shadow, Key: "sha256:01"},
		ledger.Ref{Kind: ledger.Recent, Key: "agent\x00run"}, ledger.Ref{Kind: ledger.Written, Key: "file"},
		ledger.Ref{Kind: ledger.Heard, Key: "agent\x00run"})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		bodies = append(bodies, fmt.Sprintf("%+v", r.Value))
	}
	return bodies
}

// callsOf are the calls under marks.
func callsOf(t testing.TB, s *sqlite.Store, marks ...string) (calls string) {
	t.Helper()
	for _, mark := range marks {
		rows, _, err := s.Scan(t.Context(), ledger.Ref{Kind: ledger.Call, Mark: mark}, ledger.Every(9))
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rows {
			call := r.Value.(ledger.CallBody)
			calls += string(call.Action) + " " + string(call.Outcome) + " "
		}
	}
	return calls
}

// TestMigrateToPassing: what stands for a while is where it was, whichever table it stood in, and goes when it would have; the
// calls and the log are what they were.
func TestMigrateToPassing(t *testing.T) {
	path := older(t, "7")()
	before, log := standingOf(t, path), entriesOf(t, path)
	reading, err := sqlite.Open(path, driver.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer reading.Close()
	old := passed(t, reading)
	if len(before.Agents) != 1 || len(before.Requests) != 1 || len(log) != 5 || len(old) != 3 {
		t.Fatalf("the old store can't be read without migrating it: %+v, %d entries, %q", before, len(log), old)
	}
	s := open(t, path)
	now := passed(t, s)
	at := "2026-03-04 05:06:07 +0000 UTC"
	want := append(old, "{Run:agent\x00run Actions:[{At:"+at+" Kind:shell Impacts:[{Kind:write Target:x Reach: Reversibility: "+
		"Confidence: Via: Traits:[] Records:0 Bytes:0 Recipients:0 Money:0 Currency: Amount:0}]}]}", "{File:file At:"+at+" By:map[]}",
		"{Run:agent\x00run Heard:{At:"+at+" Prompts:1 Wishes:[] Values:[{Sum:7 By:1 Source:0}] Sources:[] Orders:0 Over:false}}")
	if diff := cmp.Diff(want, now); diff != "" {
		t.Errorf("what stands for a while (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before, standingOf(t, path)); diff != "" {
		t.Errorf("what stands (-before +after):\n%s", diff)
	}
	if diff := cmp.Diff(log, entriesOf(t, path)); diff != "" {
		t.Errorf("the log (-before +after):\n%s", diff)
	}
	for kind, over := range map[string]time.Duration{ledger.Execution: ledger.IdleExecution, ledger.Failed: interlock.RetryWindow,
		ledger.Recent: interlock.RecentWindow, ledger.Written: interlock.WrittenWindow, ledger.Heard: origin.HeardWindow} {
		ref, until := ledger.Ref{Kind: kind, Mark: ledger.Until}, storagetest.Now.Add(over).UnixNano()
		rows, _, err := s.Scan(t.Context(), ref, ledger.Span{From: until, UpTo: until, Limit: 9})
		if err != nil || len(rows) != 1 {
			t.Errorf("%d %s rows are over at their time, %v", len(rows), kind, err)
		}
	}
	if calls := callsOf(t, s, ledger.Called("agent", "run", "c1"), ledger.Acted("agent", "run", "sha256:a1"),
		ledger.Called("agent", "run", "c3")); calls != "sha256:a0  sha256:a1  sha256:a2 success " {
		t.Errorf("the calls are %q", calls)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	var rows, marks int
	if err := raw(t, path).QueryRow("SELECT (SELECT count(*) FROM rows), (SELECT count(*) FROM marks WHERE mark = 'until')").
		Scan(&rows, &marks); err != nil || rows != 3 || marks != 0 {
		t.Errorf("%d rows and %d marks are left where they were, %v", rows, marks, err)
	}
	if entries, ok := sound(t, path); entries != 5 || !ok {
		t.Errorf("%d entries, sound %v", entries, ok)
	}
}

// TestMigrateProofs: what stood stands, and is proved; no order that was carried out can be again.
func TestMigrateProofs(t *testing.T) {
	path := older(t, "8")()
	before, log := standingOf(t, path), entriesOf(t, path)
	if len(before.Agents) != 1 || len(before.Challenges) != 1 || len(before.Grants) != 1 || len(before.Suppressions) != 0 {
		t.Fatalf("the old store can't be read without migrating it: %+v", before)
	}
	s := open(t, path)
	defer s.Close()
	if diff := cmp.Diff(before, standingOf(t, path)); diff != "" {
		t.Errorf("what stands (-before +after):\n%s", diff)
	}
	if diff := cmp.Diff(log, entriesOf(t, path)); diff != "" {
		t.Errorf("the log (-before +after):\n%s", diff)
	}
	if named := storagetest.Checked(t, s); len(named) != 0 {
		t.Errorf("the check names %q", named)
	}
	for _, statement := range []string{"s1", "s2"} {
		c := storagetest.Decision("a")
		c.Writes = []ledger.Row{ledger.Once(interlock.Order{ID: "again", Statement: statement})}
		if _, err := s.Commit(t.Context(), c); err == nil {
			t.Errorf("the order of %s could be carried out again", statement)
		}
	}
	must(t, raw(t, path), "DELETE FROM rows WHERE kind = 'carried'")
	if named := storagetest.Checked(t, s); len(named) != 2 {
		t.Errorf("the check names %q", named)
	}
}

// TestMigrationFails: whatever statement of the migration fails, before or after it took effect, nothing is lost and the next
// who opens the store has it whole.
func TestMigrationFails(t *testing.T) {
	for version, least := range map[string]int{"4": 40, "7": 20, "7-orders": 20, "8": 20, "9": 30} { // steps it takes at least
		t.Run(version, func(t *testing.T) { migrationFails(t, version, least) })
	}
}

func migrationFails(t *testing.T, version string, least int) {
	fresh := older(t, version)
	path := fresh()
	before, log := standingOf(t, path), entriesOf(t, path)
	seen := states{}
	for _, after := range []bool{false, true} {
		each := 1
		if testing.Short() {
			each = 7 // the race detector learns nothing from every single one
		}
		if after {
			each = 5 // what has taken effect before an error is undone with the rest: that is one thing, at whatever step
		}
		for at := 0; ; at += each {
			path := fresh()
			p := &plan{at: at, after: after, armed: true}
			s, err := sqlite.OpenWrapped(path, options(t), func(c sqldriver.Conn) sqldriver.Conn { return &faulty{Conn: c, plan: p} })
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
			if seen.fresh(t, path) {
				again(t, path, version, before, log, fmt.Sprintf("step %d after=%v %.60s", at, after, p.failed))
			}
		}
	}
}

// TestMigrateOrders: grants and suppressions of the version before orders were one kind stand as they did, are drawn and end, and
// none that is over can be given again.
func TestMigrateOrders(t *testing.T) {
	path := older(t, "7-orders")()
	before, log := standingOf(t, path), entriesOf(t, path)
	if len(before.Grants) != 1 || len(before.Suppressions) != 1 || before.Grants["grt_1"].Left != 1 ||
		before.Grants["grt_1"].Statement != "statement of grt_1" || !before.Suppressions["sup_1"].Denials {
		t.Fatalf("the old store can't be read without migrating it: %+v", before)
	}
	reader, err := sqlite.Open(path, driver.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, ref := range []ledger.Ref{{Kind: ledger.Order, Key: "sup_1"},
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
	commit := func(edit func(*ledger.Change)) error {
		c := storagetest.Decision("a")
		edit(&c)
		_, err := s.Commit(t.Context(), c)
		return err
	}
	for _, order := range []interlock.Order{before.Grants["grt_1"].Order(), {ID: "grt_2", Statement: "statement of grt_2"}} {
		if err := commit(func(c *ledger.Change) { c.Writes = []ledger.Row{ledger.Once(order)} }); err == nil {
			t.Errorf("%s could be carried out again", order.ID)
		}
	}
	for _, want := range []bool{true, false} {
		if err := commit(func(c *ledger.Change) { c.Spends = ledger.One(ledger.Order, "grt_1") }); (err == nil) != want {
			t.Errorf("drawn: %v", err)
		}
	}
	if err := commit(func(c *ledger.Change) { c.Writes = []ledger.Row{ledger.Ended(ledger.Order, "sup_1")} }); err != nil {
		t.Error(err)
	}
	if after := standingOf(t, path); len(after.Grants)+len(after.Suppressions) > 0 {
		t.Errorf("what is over stands: %+v", after)
	}
}

// again opens a store whose migration was broken off.
func again(t *testing.T, path, version string, before ledger.Standing, log []interlock.Entry, when string) {
	t.Helper()
	if diff := cmp.Diff(before, standingOf(t, path)); diff != "" {
		t.Errorf("%s: what stands at once (-before +after):\n%s", when, diff)
	}
	s := open(t, path)
	defer s.Close()
	standing, err := storagetest.Whole(t.Context(), s)
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
	if n := len(passed(t, s)); version == "7" && n != 6 {
		t.Errorf("%s: %d rows that stand for a while", when, n)
	}
}

// killedEach is how many steps of a migration lie between two at which it is killed.
func killedEach() int {
	if testing.Short() {
		return 31
	}
	return 7
}

// TestMigrationKilled: a process that is killed in the middle of it has done all of it or nothing.
func TestMigrationKilled(t *testing.T) {
	for _, version := range []string{"4", "7", "7-orders", "8", "9"} {
		fresh := older(t, version)
		path := fresh()
		before, log := standingOf(t, path), entriesOf(t, path)
		seen := states{}
		for at := 0; ; at += killedEach() {
			path := fresh()
			command, _, stderr := start(t, path, fmt.Sprint("migrate ", at, " true"))
			err := command.Wait()
			if seen.fresh(t, path) {
				again(t, path, version, before, log, fmt.Sprint("version ", version, " step ", at))
			}
			if err == nil {
				break
			}
			if stderr.Len() > 0 { // who is killed says nothing
				t.Fatalf("step %d: %v %s", at, err, stderr)
			}
		}
	}
}

// undo9 makes of the tables of version 10 those of version 8, but for what passes.
const undo9 = "DROP TRIGGER head_proved; DROP INDEX rows_owner; ALTER TABLE rows DROP COLUMN owner; " +
	"ALTER TABLE ids DROP COLUMN proof; ALTER TABLE calls DROP COLUMN proof; ALTER TABLE blobs DROP COLUMN proof; " +
	"ALTER TABLE head DROP COLUMN tag; ALTER TABLE head DROP COLUMN passing; ALTER TABLE head DROP COLUMN sums; " +
	"CREATE TABLE jobs (run TEXT PRIMARY KEY, seed TEXT NOT NULL, next INTEGER NOT NULL) WITHOUT ROWID; " +
	"ALTER TABLE rows DROP COLUMN proof; ALTER TABLE head DROP COLUMN proved; DROP TABLE proofs; PRAGMA user_version = 8"

// TestToolsInQuarantineAreFound: those that were there before they had a mark of their own are found under it.
func TestToolsInQuarantineAreFound(t *testing.T) {
	path := newPath(t)
	s := open(t, path)
	change := storagetest.Decision("a")
	for n := range 2500 {
		pin := interlock.Pin{Server: "files", Tool: fmt.Sprint("t", n), Status: interlock.PinApproved}
		if n%2 == 0 {
			pin.Status, pin.Why = interlock.PinQuarantined, interlock.PinNew
		}
		change.Writes = append(change.Writes, ledger.Rows(pin)...)
	}
	if _, err := s.Commit(t.Context(), change); err != nil {
		t.Fatal(err)
	}
	s.Close()
	must(t, raw(t, path), undo9, "DELETE FROM marks WHERE mark = 'held'; DROP TABLE passing; "+
		"CREATE TABLE recent (run TEXT PRIMARY KEY, at INTEGER NOT NULL, body BLOB NOT NULL) WITHOUT ROWID; PRAGMA user_version = 7")
	if err := os.Remove(filepath.Join(filepath.Dir(path), sqlite.ReachedName)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		s = open(t, path)
		n, err := s.Count(t.Context(), ledger.Ref{Kind: ledger.Pin, Mark: ledger.Held}, ledger.Every(0))
		all, allErr := s.Count(t.Context(), ledger.Ref{Kind: ledger.Pin, Mark: ledger.All}, ledger.Every(0))
		if err != nil || allErr != nil || n != 1250 || all != 2500 {
			t.Errorf("%d of %d are found, %v, %v", n, all, err, allErr)
		}
		s.Close()
	}
}
