package sqlite_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock"
	"interlock/internal/ledger"
	"interlock/internal/store/driver"
	"interlock/internal/store/sqlite"
	"interlock/internal/store/storagetest"
)

// TestMigrateWhatIsBeside: what passed, the calls, the texts and where each run is are what they were, and everything is proved.
func TestMigrateWhatIsBeside(t *testing.T) {
	path := older(t, "9")()
	before, log := standingOf(t, path), entriesOf(t, path)
	reading, err := sqlite.Open(path, driver.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	old := passed(t, reading)
	reading.Close()
	if len(before.Agents) != 1 || len(before.Pins) != 1 || len(old) != 5 {
		t.Fatalf("the old store can't be read without migrating it: %+v, %q", before, old)
	}
	s := open(t, path)
	defer s.Close()
	if diff := cmp.Diff(before, standingOf(t, path)); diff != "" {
		t.Errorf("what stands (-before +after):\n%s", diff)
	}
	if diff := cmp.Diff(log, entriesOf(t, path)); diff != "" {
		t.Errorf("the log (-before +after):\n%s", diff)
	}
	if diff := cmp.Diff(old, passed(t, s)); diff != "" {
		t.Errorf("what passes (-before +after):\n%s", diff)
	}
	if calls := callsOf(t, s, ledger.Called("agent", "run", "c1")); calls != "sha256:aa  " {
		t.Errorf("the call is %q", calls)
	}
	if text, found, err := s.Blob(t.Context(), "sha256:b1"); err != nil || !found || string(text) != "a text" {
		t.Errorf("the text is %q, %v, %v", text, found, err)
	}
	if named := storagetest.Checked(t, s); len(named) != 0 {
		t.Errorf("the check names %q", named)
	}
	if _, err := s.Commit(t.Context(), storagetest.Decision("run")); err != nil { // the run goes on where it was
		t.Fatal(err)
	}
	if _, ok := sound(t, path); !ok {
		t.Error("the log does not verify")
	}
	if named := storagetest.Checked(t, s); len(named) != 0 {
		t.Errorf("after a commit the check names %q", named)
	}
}

// TestMigrationBelievesNobody: what the version before did not believe is not believed because its proofs are made anew.
func TestMigrationBelievesNobody(t *testing.T) {
	const ghost = "INSERT INTO rows (kind, key, version, body, owner, proof) SELECT kind, 'ghost', 1, " +
		"CAST(replace(CAST(body AS TEXT), 'olga', 'ghost') AS BLOB), owner, proof FROM rows WHERE key = 'olga'"
	for name, statements := range map[string][]string{
		"somebody put in":         {ghost},
		"somebody changed":        {"UPDATE rows SET body = CAST(replace(CAST(body AS TEXT), 'viewer', 'admin') AS BLOB) WHERE key = 'olga'"},
		"somebody taken away":     {"DELETE FROM rows WHERE key = 'olga'"},
		"the proofs put away":     {ghost, "UPDATE proofs SET tags = zeroblob(8192)"},
		"the head's tag put away": {ghost, "DROP TRIGGER head_proved", "UPDATE head SET proved = x'00'"},
	} {
		t.Run(name, func(t *testing.T) {
			path := older(t, "9")()
			must(t, raw(t, path), statements...)
			for range 2 {
				s := open(t, path)
				tampered := (*ledger.Tampered)(nil)
				rows, _, err := s.Load(t.Context(), ledger.Ref{Kind: ledger.Operator, Mark: ledger.All})
				if !errors.As(err, &tampered) && (err != nil || len(rows) != 1 || rows[0].Value.(interlock.OperatorRecord).Role != "viewer") {
					t.Errorf("the operators are %v, %v", rows, err)
				}
				if named := storagetest.Checked(t, s); len(named) == 0 {
					t.Error("the check names nothing")
				}
				s.Close()
			}
		})
	}
}

// TestAnOlderVersionComesNoMore: tables that are made those of an older version again, so that what stands in them would be given
// proofs, are refused where the newer one has been; so is a copy of before, and the sentence says what to do where a person put it there.
func TestAnOlderVersionComesNoMore(t *testing.T) {
	path := older(t, "9")()
	o := options(t)
	reached := func(path string) string { return filepath.Join(filepath.Dir(path), sqlite.ReachedName) }
	if err := os.WriteFile(reached(path), []byte("10\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if s, err := sqlite.Open(path, o); err == nil || !strings.Contains(err.Error(), "of version 9, and was of version 10 already") ||
		!strings.Contains(err.Error(), sqlite.ReachedName) {
		t.Errorf("it opened: %v, %v", s, err)
	}
	o.ReadOnly = true
	s, err := sqlite.Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	if named := storagetest.Checked(t, s); len(named) != 1 || !strings.Contains(named[0], "was of version 10 already") {
		t.Errorf("the check names %q", named)
	}
	s.Close()
	o.ReadOnly = false
	fresh := newPath(t)
	if s, err = sqlite.Open(fresh, o); err != nil { // that there is none is another matter
		t.Fatal(err)
	}
	s.Close()
	if text, err := os.ReadFile(reached(fresh)); string(text) != "10\n" {
		t.Errorf("beside a new store stands %q, %v", text, err)
	}
}
