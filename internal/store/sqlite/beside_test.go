package sqlite_test

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"interlock"
	"interlock/internal/ledger"
	"interlock/internal/origin"
	"interlock/internal/store/sqlite"
	"interlock/internal/store/storagetest"
)

// withAll makes a store in which every table has rows, some of them in a second version; tables named old_ hold them as they were.
func withAll(t *testing.T) (path, event string) {
	t.Helper()
	path = governed(t)
	db := raw(t, path)
	must(t, db, "DROP TABLE old", "DROP TABLE oldtags", "DROP TABLE oldhead")
	now := storagetest.Now
	o := options(t)
	o.Now = func() time.Time { return now }
	s, err := sqlite.Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	commit := func(c ledger.Change) string {
		t.Helper()
		r, err := s.Commit(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		return r.Events[0]
	}
	call := ledger.CallBody{Requester: interlock.Requester{Agent: "agent", Run: "run", Call: "c1"}, Action: "sha256:aa", At: now}
	write := func(n int) {
		t.Helper()
		at := now.Add(time.Duration(n) * time.Minute)
		c := storagetest.Decision("run")
		c.Events[0].Recorded, c.Events[0].Inputs = at, []byte(`{"inputs":1}`)
		c.Blobs = []ledger.Blob{{Digest: "sha256:b1", Text: []byte("a text")}}
		c.Writes = ledger.Rows(ledger.Done{Principal: "p", Agent: "agent", Run: "run", Steps: n, Seen: at},
			ledger.Past{Run: "agent\x00run", Action: interlock.PastAction{At: at, Kind: interlock.KindShell}},
			ledger.WrittenBody{File: "file", At: at}, ledger.CounterBody{Name: "n", Left: 9 - n}, call,
			ledger.Ending{Principal: "p", Agent: "agent", Run: "run", Action: "sha256:aa", At: at, Status: interlock.OutcomeFailure})
		if n == 3 {
			c.Writes[4] = ledger.Rows(ledger.CallBody{Requester: interlock.Requester{Agent: "agent", Run: "run", Call: "c2"},
				Action: "sha256:bb", At: at})[0]
		}
		id := commit(c)
		if call.EventID == "" {
			call.EventID, event = id, id
		}
		err := s.Note(t.Context(), ledger.Ref{Kind: ledger.Heard, Key: "agent\x00run"}, func(any) (any, error) {
			return ledger.HeardBody{Run: "agent\x00run", Heard: origin.Heard{At: at, Prompts: n}}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	write(1)
	many := storagetest.Decision("many")
	for range 600 {
		many.Events = append(many.Events, many.Events[0])
	}
	commit(many)
	for _, table := range tablesOf(t, db) {
		must(t, db, "CREATE TABLE old_"+table+" AS SELECT * FROM "+table)
	}
	now = now.Add(7 * 24 * time.Hour) // a text is noted as used again after days only
	call.Outcome = interlock.OutcomeSuccess
	write(2)
	write(3)
	return path, event
}

// tablesOf are the tables that a store's file has.
func tablesOf(t *testing.T, db *sql.DB) (tables []string) {
	t.Helper()
	rows, err := db.Query("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' " +
		"AND name NOT LIKE 'old\\_%' ESCAPE '\\' ORDER BY name")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		tables = append(tables, name)
	}
	return tables
}

// columnsOf are the columns of a table.
func columnsOf(t *testing.T, db *sql.DB, table string) (columns []string) {
	t.Helper()
	rows, err := db.Query("SELECT name FROM pragma_table_info(?)", table)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		columns = append(columns, name)
	}
	return columns
}

// beside is what decisions take from the store, by what is asked for: a value, nothing, or that it is not believed.
func beside(t *testing.T, s *sqlite.Store, event string) map[string]string {
	t.Helper()
	got := map[string]string{}
	say := func(name string, rows []ledger.Row, err error) {
		tampered := (*ledger.Tampered)(nil)
		switch known := (*interlock.Error)(nil); {
		case errors.As(err, &tampered):
			got[name] = "tampered"
		case errors.As(err, &known): // the row says itself that it can't be
			got[name] = "refused"
		case err != nil:
			got[name] = "error: " + err.Error()
		}
		for _, r := range rows {
			got[name] += string(r.Body) + "\n"
		}
	}
	run := "agent\x00run"
	for _, ref := range append(storagetest.Decided(), ledger.Ref{Kind: ledger.Execution, Key: ledger.ExecutionKey("p", "agent", "run")},
		ledger.Ref{Kind: ledger.Recent, Key: run}, ledger.Ref{Kind: ledger.Written, Key: "file"}, ledger.Ref{Kind: ledger.Heard, Key: run},
		ledger.Ref{Kind: ledger.Failed, Key: ledger.FailedKey("p", "agent")}, ledger.Ref{Kind: ledger.Written, Key: "ghost"}) {
		rows, _, err := s.Load(t.Context(), ref)
		say(fmt.Sprintf("%+q", ref), rows, err)
	}
	for _, mark := range []string{ledger.Called("agent", "run", "c1"), ledger.Acted("agent", "run", "sha256:aa"),
		ledger.Called("agent", "run", "ghost")} {
		rows, _, err := s.Scan(t.Context(), ledger.Ref{Kind: ledger.Call, Mark: mark}, ledger.Before(-1, 9))
		say("call "+mark, rows, err)
	}
	entry, found, err := s.Entry(t.Context(), event)
	got["entry"] = fmt.Sprint(entry.Index, found, err)
	return got
}

// free are columns that say nothing to anybody, and why.
func free() map[string]string {
	return map[string]string{
		"head.proved": "version 9 read it",
		"blobs.id":    "the order in which texts are listed",
	}
}

// TestEveryTable: whatever is done to whatever table, each column changed, a row put in, taken away or put back, or the whole table put
// back: decisions take from the store what they took before, or refuse; and the check, or that of the log, names it. How a call was
// decided may be lost, and then it is decided anew. A table that is new fails here until it is known what an edit of it does.
func TestEveryTable(t *testing.T) {
	inserted := map[string]string{
		"entries": "INSERT INTO entries SELECT 9999, id, type, body, hashes, checkpoint, inputs FROM entries WHERE idx = 1",
		"head":    "", // it has one row, which the table itself sees to
		"proofs":  "",
		"rows": "INSERT INTO rows (kind, key, version, body, owner, proof) SELECT kind, 'ghost', version, body, owner, proof " +
			"FROM rows WHERE key = 'olga'",
		"marks":   "INSERT INTO marks SELECT kind, 'token', at, row FROM marks LIMIT 1",
		"passing": "INSERT INTO passing SELECT owner + 1, kind, 'ghost', until, proof, body FROM passing WHERE kind = 'written'",
		"calls": "INSERT INTO calls (id, by_event, by_action, by_call, at, body, proof) SELECT id + 9999, by_event, by_action, by_call, at, body, " +
			"proof FROM calls LIMIT 1",
		"ids":   "INSERT INTO ids SELECT 2560, notes, proof FROM ids LIMIT 1",
		"blobs": "INSERT INTO blobs (digest, at, used, body, proof) SELECT 'sha256:ghost', at, used, body, proof FROM blobs LIMIT 1",
	}
	path, event := withAll(t)
	image := imageOf(t, path)
	tables := tablesOf(t, raw(t, path))
	for _, table := range tables {
		insert, known := inserted[table]
		if !known {
			t.Errorf("nobody has said what an edit of the table %s does", table)
			continue
		}
		columns := columnsOf(t, raw(t, path), table)
		edits := map[string][]string{"a row taken away": {"DELETE FROM " + table + " WHERE (" + columns[0] + ") IN (SELECT " + columns[0] +
			" FROM " + table + " ORDER BY " + columns[0] + " LIMIT 1)"}, "all taken away": {"DELETE FROM " + table},
			"put back whole": {unguarded, "DELETE FROM " + table, "INSERT INTO " + table + " SELECT * FROM old_" + table}}
		if insert != "" {
			edits["a row put in"] = []string{insert}
		}
		for _, column := range columns {
			if free()[table+"."+column] != "" {
				continue
			}
			one := "rowid = (SELECT max(rowid) FROM " + table + " WHERE " + column + " IS NOT NULL)"
			if table == "marks" {
				one = "mark = 'all' AND kind = 'agent'"
			}
			edits["changed "+column] = []string{unguarded, fmt.Sprintf("UPDATE %s SET %s = iif(typeof(%s) = 'integer', %s + 1, "+
				"CAST(x'78' || CAST(%s AS BLOB) AS BLOB)) WHERE %s", table, column, column, column, column, one)}
		}
		switch table {
		case "rows", "passing":
			for key, name := range map[string]string{"olga": "operator", "bot": "agent", "agent\x00run": "heard", "file": "written"} {
				edits["put back "+name] = []string{fmt.Sprintf("UPDATE OR IGNORE %s SET (body, proof) = (SELECT body, proof FROM old_%s o WHERE "+
					"o.kind = %s.kind AND o.key = %s.key) WHERE kind = '%s' AND hex(key) = '%X'", table, table, table, table, name, key)}
			}
		case "calls", "blobs":
			edits["one put back"] = []string{fmt.Sprintf("DELETE FROM %s WHERE id = (SELECT min(id) FROM %s)", table, table),
				fmt.Sprintf("INSERT INTO %s SELECT * FROM old_%s ORDER BY id LIMIT 1", table, table)}
		}
		for name, statements := range edits {
			t.Run(table+" "+name, func(t *testing.T) { everyTable(t, image, event, table, statements) })
		}
	}
}

func everyTable(t *testing.T, image []byte, event, table string, statements []string) {
	path := pathOf(t, image)
	s := open(t, path)
	before := beside(t, s, event)
	if named := storagetest.Checked(t, s); len(named) > 0 {
		t.Fatalf("before anything was done the check names %q", named)
	}
	s.Close()
	untouched := imageOf(t, path)
	db := raw(t, path)
	for _, statement := range statements {
		if _, err := db.Exec(statement); err != nil {
			if strings.Contains(err.Error(), "CHECK constraint") {
				return // SQLite refuses it
			}
			t.Fatalf("%s: %v", statement, err)
		}
	}
	db.Close()
	if slices.Equal(untouched, imageOf(t, path)) {
		if strings.HasPrefix(statements[0], "UPDATE OR IGNORE") {
			return // there is no such row here
		}
		t.Fatal("nothing was done")
	}
	s, err := sqlite.Open(path, options(t))
	if err != nil {
		return // nothing is decided
	}
	defer s.Close()
	for name, now := range beside(t, s, event) {
		if now != before[name] && now != "tampered" && now != "refused" && !(now == "" && strings.HasPrefix(name, `{"request" "`)) &&
			!(table == "calls" && strings.HasPrefix(name, "call ")) && !(table == "entries" && name == "entry") {
			t.Errorf("%s is %q, was %q", name, now, before[name])
		}
	}
	named := storagetest.Checked(t, s)
	if report := verify(t, path); report.Problem != nil {
		named = append(named, report.Problem.Error())
	} else if _, err := s.Commit(t.Context(), storagetest.Decision("run")); err == nil { // and the log goes on as it should
		if _, ok := sound(t, path); !ok {
			t.Error("the log does not verify after the next entry")
		}
	}
	if len(named) == 0 && !(table == "entries" && strings.Contains(statements[len(statements)-1], "SET inputs")) {
		t.Error("nothing is named") // what a decision was made from is held against its digest by who knows what it means
	}
}

// imageOf is a store's file with all that was written to it.
func imageOf(t testing.TB, path string) []byte {
	t.Helper()
	db := raw(t, path)
	must(t, db, "PRAGMA wal_checkpoint(TRUNCATE)")
	db.Close()
	image, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return image
}

// pathOf is a file like another was.
func pathOf(t testing.TB, image []byte) string {
	t.Helper()
	path := newPath(t)
	if err := os.WriteFile(path, image, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
