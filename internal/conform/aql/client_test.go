package aql_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"interlock/internal/conform"
	"interlock/internal/conform/aql"
)

// TestTheTable: every entry is about clauses that there are, no clause is in two, and what tests prove is driven as well.
func TestTheTable(t *testing.T) {
	clauses, err := conform.AQLClauses()
	if err != nil || len(clauses) < 100 {
		t.Fatal(len(clauses), err)
	}
	seen := map[string]bool{}
	for _, check := range aql.Checks() {
		for _, id := range check.IDs {
			if seen[id] || !slices.ContainsFunc(clauses, func(c conform.Clause) bool { return c.ID == id }) {
				t.Errorf("%s is in two entries, or is no clause", id)
			}
			seen[id] = true
		}
		if check.Drives == "" || check.Do == nil || len(check.IDs) == 0 {
			t.Errorf("%v is not whole", check.IDs)
		}
	}
	for _, c := range clauses { // no clause that tests prove is left out, and none that is a gap is driven
		if (c.Gap == "") != seen[c.ID] {
			t.Errorf("%s: gap %q, driven %v", c.ID, c.Gap, seen[c.ID])
		}
		if c.Waits && (c.Gap == "" || !c.Must) {
			t.Errorf("%s waits: %+v", c.ID, c)
		}
	}
}

// TestNothingPassesWithoutAProgram: a check that passes though nothing answers would pass whatever is broken.
func TestNothingPassesWithoutAProgram(t *testing.T) {
	clauses, err := conform.AQLClauses()
	if err != nil {
		t.Fatal(err)
	}
	program := func(context.Context, conform.Command) int { return 1 }
	d, err := conform.NewDriver(conform.Env{Root: t.TempDir(), Process: program, Now: time.Now,
		Clocked: func(func() time.Time) conform.Program { return program },
		Found:   func(context.Context, conform.Founding) error { return nil },
		NewKey:  func(string) (private, public []byte, err error) { return []byte("private"), []byte("public"), nil }})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for _, r := range conform.Run(t.Context(), d, clauses, aql.Checks(), nil) {
		if r.Word == conform.Pass {
			t.Errorf("%s passes: %s", r.ID, r.Seen)
		}
	}
}
