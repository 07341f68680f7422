package sqlite_test

import (
	"database/sql/driver"
	"fmt"
	"strings"
	"testing"

	sqlitedriver "modernc.org/sqlite"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/pack"
	"interlock/internal/store/storagetest"
)

// filled returns a store with n entries, written by commits of one to three events, and its checkpoints.
func filled(t *testing.T, n int) (path string, checkpoints [][]byte) {
	t.Helper()
	path = newPath(t)
	s := open(t, path)
	defer s.Close()
	for written := 0; written < n; {
		var c ledger.Change
		for range min(1+written%3, n-written) {
			d := storagetest.Draft(interlock.EventDecision, fmt.Sprint("run", len(c.Events)%2))
			d.Payload = fmt.Appendf(nil, `{"n":%d}`, written+len(c.Events))
			c.Events = append(c.Events, d)
		}
		written += len(c.Events)
		r, err := s.Commit(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		checkpoints = append(checkpoints, r.Checkpoint)
	}
	return path, checkpoints
}

// unpacked(body) is an SQL function of the tests alone: the text of a stored body.
func init() {
	sqlitedriver.MustRegisterDeterministicScalarFunction("unpacked", 1,
		func(_ *sqlitedriver.FunctionContext, args []driver.Value) (driver.Value, error) {
			text, err := pack.Unpack(args[0].([]byte), 1<<20)
			return string(text), err
		})
}

// What somebody with the file and an SQL shell can do to the log is found and named.
func TestTamperingIsNamed(t *testing.T) {
	const n = 30
	shift := func(from, by int) []string { // rows from an index on move by so many, without touching each other
		return []string{
			fmt.Sprintf("UPDATE entries SET idx = -1 - (idx + %d) WHERE idx >= %d", by, from),
			"UPDATE entries SET idx = -1 - idx WHERE idx < 0",
		}
	}
	columns := "id, type, body, hashes, checkpoint, inputs"
	for _, test := range []struct {
		name       string
		statements []string
		kind       auditlog.ProblemKind
		index      int64
	}{
		{"edit", []string{`UPDATE entries SET body = replace(unpacked(body), '{"n":7}', '{"n":8}') WHERE idx = 7`}, auditlog.ProblemChanged, 7},
		{"edit as blob", []string{`UPDATE entries SET body = CAST(replace(unpacked(body), '"actor_id":"agent"', '"actor_id":"other"') AS BLOB) WHERE idx = 12`}, auditlog.ProblemChanged, 12},
		{"edit the first", []string{`UPDATE entries SET body = replace(unpacked(body), 'agent', 'other') WHERE idx = 0`}, auditlog.ProblemChanged, 0},
		{"edit the last", []string{`UPDATE entries SET body = replace(unpacked(body), 'agent', 'other') WHERE idx = 29`}, auditlog.ProblemChanged, 29},
		{"edit many", []string{`UPDATE entries SET body = replace(unpacked(body), 'agent', 'other') WHERE idx > 10`}, auditlog.ProblemChanged, 11},
		{"edit the type column", []string{`UPDATE entries SET type = 'ALERT' WHERE idx = 4`}, auditlog.ProblemChanged, 4},
		{"edit the hashes", []string{`UPDATE entries SET hashes = zeroblob(length(hashes)) WHERE idx = 5`}, auditlog.ProblemChanged, 5},
		{"empty a body", []string{`UPDATE entries SET body = '' WHERE idx = 5`}, auditlog.ProblemRemoved, 5},
		{"delete", []string{"DELETE FROM entries WHERE idx = 13"}, auditlog.ProblemRemoved, 13},
		{"delete some", []string{"DELETE FROM entries WHERE idx BETWEEN 13 AND 17"}, auditlog.ProblemRemoved, 13},
		{"delete and renumber", append([]string{"DELETE FROM entries WHERE idx = 13"}, shift(14, -1)...), auditlog.ProblemRemoved, 13},
		{"delete the first", []string{"DELETE FROM entries WHERE idx = 0"}, auditlog.ProblemRemoved, 0},
		{"cut the head and renumber", append([]string{"DELETE FROM entries WHERE idx < 4"}, shift(4, -4)...), auditlog.ProblemRemoved, 0},
		{"cut the tail", []string{"DELETE FROM entries WHERE idx >= 25"}, auditlog.ProblemCut, 25},
		{"delete the last", []string{"DELETE FROM entries WHERE idx = 29"}, auditlog.ProblemCut, 29},
		{"empty the log", []string{"DELETE FROM entries"}, auditlog.ProblemCut, 0},
		{"insert a copy", append(shift(9, 1), "INSERT INTO entries SELECT 9, "+columns+" FROM entries WHERE idx = 3"), auditlog.ProblemDuplicated, 9},
		{"append a copy", []string{"INSERT INTO entries SELECT 30, " + columns + " FROM entries WHERE idx = 29"}, auditlog.ProblemDuplicated, 30},
		{"insert a foreign row", append(shift(9, 1),
			`INSERT INTO entries VALUES (9, 'x', 'DECISION', '{"hello":1}', x'00', NULL, NULL)`), auditlog.ProblemChanged, 9},
		{"swap neighbours", []string{"UPDATE entries SET idx = -5 WHERE idx = 8", "UPDATE entries SET idx = 8 WHERE idx = 9",
			"UPDATE entries SET idx = 9 WHERE idx = -5"}, auditlog.ProblemReordered, 8},
		{"swap bodies", []string{
			"CREATE TABLE t AS SELECT * FROM entries WHERE idx IN (8, 20)",
			"UPDATE entries SET (id, type, body, hashes, checkpoint, inputs) = (SELECT " + columns + " FROM t WHERE idx = 20) WHERE idx = 8",
			"UPDATE entries SET (id, type, body, hashes, checkpoint, inputs) = (SELECT " + columns + " FROM t WHERE idx = 8) WHERE idx = 20",
		}, auditlog.ProblemReordered, 8},
		{"change the head's checkpoint", []string{"UPDATE head SET checkpoint = (SELECT checkpoint FROM entries WHERE idx = 0)"}, auditlog.ProblemInserted, 1},
		{"remove the head's checkpoint", []string{"UPDATE head SET checkpoint = x''"}, auditlog.ProblemCheckpoint, -1},
		{"change the head's edge", []string{"UPDATE head SET edge = zeroblob(length(edge))"}, auditlog.ProblemCheckpoint, -1},
	} {
		t.Run(test.name, func(t *testing.T) {
			path, _ := filled(t, n)
			must(t, raw(t, path), test.statements...)
			problem := verify(t, path).Problem
			if problem == nil {
				t.Fatal("nothing was found")
			}
			if problem.Kind != test.kind || problem.Index != test.index {
				t.Errorf("found %s at %d (%v), want %s at %d", problem.Kind, problem.Index, problem, test.kind, test.index)
			}
		})
	}
}

// A log put back to an earlier state, head and all, is sound in itself: a checkpoint kept elsewhere tells.
func TestRollbackNeedsACheckpointKeptElsewhere(t *testing.T) {
	path, checkpoints := filled(t, 30)
	older, err := sealer(t, 1).Public().OpenCheckpoint(checkpoints[4])
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, path)
	last, found, err := auditlog.EntryAt(t.Context(), s, older.Size-1)
	if err != nil || !found {
		t.Fatal(found, err)
	}
	s.Close()
	if older.Size != 7 {
		t.Fatalf("the test expects a checkpoint of 7 entries, not %d", older.Size)
	}
	db := raw(t, path)
	must(t, db, unguarded, "DELETE FROM entries WHERE idx >= 7")
	// 7 = 4 + 2 + 1: the edge is the roots of entries 0-3, 4-5 and 6.
	_, err = db.Exec(`UPDATE head SET size = 7, checkpoint = ?, last = ?, edge =
		CAST(substr((SELECT hashes FROM entries WHERE idx = 3), 65, 32) || substr((SELECT hashes FROM entries WHERE idx = 5), 33, 32) ||
		substr((SELECT hashes FROM entries WHERE idx = 6), 1, 32) AS BLOB)`, checkpoints[4], auditlog.RecordHash(last.Body))
	if err != nil {
		t.Fatal(err)
	}
	if problem := verify(t, path).Problem; problem != nil {
		t.Fatalf("the rolled back log should be sound in itself, found %v", problem)
	}
	problem := verify(t, path, checkpoints[len(checkpoints)-1]).Problem
	if problem == nil || problem.Kind != auditlog.ProblemCut || problem.Index != 7 {
		t.Errorf("found %v, want the tail cut at 7", problem)
	}
}

// Whoever cuts the log or changes its head behind a running Interlock stops it: it must not sign over the gap.
func TestRunningStoreNoticesItsHead(t *testing.T) {
	for name, statements := range map[string][]string{
		"put back to an earlier head": {
			"DELETE FROM entries WHERE idx > 2",
			"UPDATE head SET size = 3, last = 'sha256:00', edge = zeroblob(64), checkpoint = (SELECT checkpoint FROM entries WHERE idx = 2)"},
		"emptied":            {"DELETE FROM entries", "UPDATE head SET size = 0, last = '', edge = x'', checkpoint = x''"},
		"other edge":         {"UPDATE head SET edge = zeroblob(length(edge))"},
		"other last":         {"UPDATE head SET last = 'sha256:00'"},
		"longer, not signed": {"UPDATE head SET size = 64, edge = zeroblob(32)"},
	} {
		t.Run(name, func(t *testing.T) {
			path, _ := filled(t, 30)
			s := open(t, path)
			defer s.Close()
			must(t, raw(t, path), append([]string{unguarded}, statements...)...)
			for range 2 {
				_, err := s.Commit(t.Context(), storagetest.Decision("a"))
				if err == nil || !strings.Contains(err.Error(), "cut or changed") {
					t.Errorf("the error is %v", err)
				}
			}
			if _, err := storagetest.Whole(t.Context(), s); err == nil {
				t.Error("the store goes on")
			}
		})
	}
}

// A request that somebody marked as approved with an SQL shell allows nothing.
func TestForgedApprovalIsRefused(t *testing.T) {
	path := newPath(t)
	prepare(t, path)
	must(t, raw(t, path), `UPDATE rows SET body = CAST(replace(CAST(body AS TEXT), '"status":"pending"', '"status":"approved"') AS BLOB)
		WHERE kind = 'request' AND key = 'pending'`)
	s := open(t, path)
	defer s.Close()
	if standing, err := storagetest.Whole(t.Context(), s); err == nil || !strings.Contains(err.Error(), "nobody approved it") {
		t.Errorf("the standing is %+v, %v", standing, err)
	}
	c := storagetest.Decision("a")
	c.Spends = ledger.One(ledger.Request, "pending")
	if _, err := s.Commit(t.Context(), c); err == nil {
		t.Error("it was spent")
	}
	if n, ok := sound(t, path); n != prepared || !ok {
		t.Errorf("%d entries, sound %v", n, ok)
	}
}
