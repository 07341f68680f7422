package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock"
	"interlock/internal/ledger"
	"interlock/internal/store/driver"
	"interlock/internal/store/sqlite"
	"interlock/internal/store/storagetest"
)

// edits are what somebody does with an SQL shell; $row is the row that is edited.
func edits() map[string][]string {
	const back = "UPDATE rows SET (body, version, owner, proof) = (SELECT body, version, owner, proof FROM old o WHERE o.id = rows.id) WHERE $row"
	const proofs = "UPDATE proofs SET tags = (SELECT tags FROM oldtags)"
	return map[string][]string{
		"change":                   {"UPDATE rows SET body = CAST(replace(CAST(body AS TEXT), '{', '{ ') AS BLOB) WHERE $row"},
		"change proof":             {"UPDATE rows SET proof = zeroblob(16) WHERE $row"},
		"change owner":             {"UPDATE rows SET owner = owner + 1 WHERE $row"},
		"hide":                     {"UPDATE rows SET owner = NULL WHERE $row"},
		"empty":                    {"UPDATE rows SET body = NULL WHERE $row"},
		"delete":                   {"DELETE FROM rows WHERE $row"},
		"delete whole":             {"DELETE FROM marks WHERE row = (SELECT id FROM rows WHERE $row)", "DELETE FROM rows WHERE $row"},
		"put back":                 {back},
		"put back with the proofs": {back, proofs},
		"put back with the head":   {back, proofs, "UPDATE head SET (tag, passing, sums) = (SELECT tag, passing, sums FROM oldhead)"},
		"forget the proofs":        {"UPDATE proofs SET tags = zeroblob(8192)"},
		"lose the proofs":          {"DELETE FROM proofs"},
	}
}

// TestEditsOfWhatStands holds the store against what storagetest says of edits.
func TestEditsOfWhatStands(t *testing.T) {
	storagetest.Edits(t, placeOf(newPath(t), options(t)), slices.Sorted(maps.Keys(edits())))
}

// governed makes a store as the tests of edits have it.
func governed(t *testing.T) (path string) {
	t.Helper()
	path = newPath(t)
	storagetest.Governed(t, placeOf(path, options(t)))
	return path
}

// editable is what of a place is for edits.
func editable(path string, o driver.Options, p storagetest.Place) storagetest.Place {
	p.Told = func(t testing.TB, told func(*ledger.Tampered)) storagetest.Store {
		o := o
		o.Noticed = told
		return placeOf(path, o).Open(t)
	}
	p.Copies = func(t testing.TB) func() storagetest.Place {
		fresh := copies(t, path)
		return func() storagetest.Place { return placeOf(fresh(), o) }
	}
	p.Keep = func(t testing.TB) {
		must(t, raw(t, path), "CREATE TABLE old AS SELECT * FROM rows", "CREATE TABLE oldtags AS SELECT * FROM proofs",
			"CREATE TABLE oldhead AS SELECT * FROM head")
	}
	p.Edit = func(t testing.TB, name, kind, key string) {
		row := fmt.Sprintf("kind = '%s' AND CAST(key AS BLOB) = x'%x'", kind, key)
		for _, statement := range edits()[name] {
			must(t, raw(t, path), strings.ReplaceAll(statement, "$row", row))
		}
	}
	return p
}

// putBack gives a row of such a store its first version again.
func putBack(t *testing.T, path, kind, key string) {
	t.Helper()
	placeOf(path, options(t)).Edit(t, "put back", kind, key)
}

// TestRowsNobodyWrote: what somebody adds has no effect on anything, whatever stands beside it, and is named.
func TestRowsNobodyWrote(t *testing.T) {
	for name, statement := range map[string]string{
		"plain": "INSERT INTO rows (kind, key, version, body) " +
			"VALUES ('operator', 'ghost', 1, CAST('{\"name\":\"ghost\",\"role\":\"admin\"}' AS BLOB))",
		"with an owner": "INSERT INTO rows (kind, key, version, body, owner, proof) " +
			"SELECT 'operator', 'ghost', 1, CAST('{\"name\":\"ghost\"}' AS BLOB), owner, zeroblob(16) FROM rows WHERE key = 'olga'",
		"with another's proof": "INSERT INTO rows (kind, key, version, body, owner, proof) " +
			"SELECT 'operator', 'ghost', 1, CAST('{\"name\":\"ghost\"}' AS BLOB), owner, proof FROM rows WHERE key = 'olga'",
		"a second block's answer": "INSERT INTO rows (kind, key, version, body, owner, proof) " +
			"SELECT 'order', 'grant2', 1, CAST(replace(CAST(body AS TEXT), 'grant', 'grant2') AS BLOB), owner, proof " +
			"FROM rows WHERE key = 'grant'",
	} {
		t.Run(name, func(t *testing.T) {
			path := governed(t)
			s := open(t, path)
			before := storagetest.Loaded(t, s)
			s.Close()
			must(t, raw(t, path), statement)
			o := options(t)
			told := 0
			o.Noticed = func(*ledger.Tampered) { told++ }
			s, err := sqlite.Open(path, o)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			for range 2 {
				if diff := cmp.Diff(before, storagetest.Loaded(t, s)); diff != "" {
					t.Errorf("(-before +after):\n%s", diff)
				}
			}
			if told != 1 && name != "plain" || told > 1 {
				t.Errorf("told %d times", told)
			}
			must(t, raw(t, path), "INSERT INTO marks (kind, mark, at, row) SELECT kind, 'all', 0, id FROM rows WHERE key IN ('ghost', 'grant2')")
			for _, kind := range []string{ledger.Operator, ledger.Order} { // on pages neither
				rows, _, err := s.Scan(t.Context(), ledger.Ref{Kind: kind, Mark: ledger.All}, ledger.Every(10))
				if err != nil || slices.ContainsFunc(rows, func(r ledger.Row) bool { return r.Key == "ghost" || r.Key == "grant2" }) {
					t.Errorf("%+v, %v", rows, err)
				}
			}
			must(t, raw(t, path), "DELETE FROM marks WHERE row IN (SELECT id FROM rows WHERE key IN ('ghost', 'grant2'))")
			if named := storagetest.Checked(t, s); len(named) != 1 {
				t.Errorf("the check names %q", named)
			}
			// What is added under the same name by Interlock takes its place.
			c := storagetest.Decision("a")
			c.Writes = ledger.Rows(interlock.OperatorRecord{Name: "ghost"})
			if _, err := s.Commit(t.Context(), c); err != nil {
				t.Fatal(err)
			}
			rows, _, err := s.Load(t.Context(), ledger.Ref{Kind: ledger.Operator, Key: "ghost"})
			if err != nil || len(rows) != 1 || rows[0].Value.(interlock.OperatorRecord).Role != "" {
				t.Errorf("%+v, %v", rows, err)
			}
		})
	}
}

// TestCommitsOverEdits: a commit does not sign for what somebody else did to what it changes, and others go on.
func TestCommitsOverEdits(t *testing.T) {
	path := governed(t)
	s := open(t, path)
	c := storagetest.Decision("a")
	c.Spends = ledger.One(ledger.Request, "answered")
	if _, err := s.Commit(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	db := raw(t, path)
	must(t, db, "UPDATE old SET body = (SELECT CAST(replace(CAST(body AS TEXT), '\"status\":\"spent\"', '\"status\":\"approved\"') AS BLOB) "+
		"FROM rows r WHERE r.key = 'answered') WHERE key = 'answered'")
	putBack(t, path, ledger.Request, "answered")
	tampered := (*ledger.Tampered)(nil)
	if _, err := s.Commit(t.Context(), c); err == nil {
		t.Error("it was spent again")
	}
	putBack(t, path, ledger.Agent, "bot")
	c = storagetest.Decision("a")
	c.Writes = ledger.Rows(interlock.Challenge{ID: "new", Requester: interlock.Requester{Agent: "bot"}, Kind: interlock.ChallengeBlock})
	if _, err := s.Commit(t.Context(), c); err != nil { // it goes on from what it knows to be so
		t.Errorf("written beside it: %v", err)
	}
	s.Close()
	s = open(t, path) // and the next who opens the store finds what was done
	if _, _, err := s.Load(t.Context(), ledger.Ref{Kind: ledger.Agent, Key: "bot"}); !errors.As(err, &tampered) {
		t.Errorf("what was put back is believed after a commit beside it: %v", err)
	}
	c.Writes = ledger.Rows(interlock.Challenge{ID: "newer", Requester: interlock.Requester{Agent: "bot"}, Kind: interlock.ChallengeBlock})
	if _, err := s.Commit(t.Context(), c); !errors.As(err, &tampered) {
		t.Errorf("written beside it by who does not know: %v", err)
	}
	c.Writes = ledger.Rows(interlock.OperatorRecord{Name: "otto"})
	if _, err := s.Commit(t.Context(), c); err != nil {
		t.Errorf("written elsewhere: %v", err)
	}
	if _, err := s.Commit(t.Context(), storagetest.Decision("a")); err != nil {
		t.Errorf("an event alone: %v", err)
	}
	// Nor does it for proofs that are another's: then nothing that stands is written, and the log goes on.
	must(t, db, "UPDATE proofs SET tags = (SELECT tags FROM oldtags)")
	s.Close()
	s = open(t, path)
	defer s.Close()
	for range 2 {
		if _, err := s.Commit(t.Context(), storagetest.Decision("a")); err != nil {
			t.Errorf("an event alone: %v", err)
		}
		c.Writes = ledger.Rows(interlock.OperatorRecord{Name: "paul"})
		if _, err := s.Commit(t.Context(), c); !errors.As(err, &tampered) {
			t.Errorf("written under foreign proofs: %v", err)
		}
	}
	if named := storagetest.Checked(t, s); len(named) == 0 {
		t.Error("the check names nothing")
	}
	if report := verify(t, path); report.Problem != nil {
		t.Error(report.Problem)
	}
}

// TestOlderProgramsDoNotCommit: one that still runs when the store is migrated knows nothing of proofs, and stops.
func TestOlderProgramsDoNotCommit(t *testing.T) {
	path := governed(t)
	_, err := raw(t, path).ExecContext(context.Background(), "UPDATE head SET size = size + 1, revision = revision + 1 WHERE one = 1")
	if err == nil || !strings.Contains(err.Error(), "restart it") {
		t.Errorf("the error is %v", err)
	}
}
