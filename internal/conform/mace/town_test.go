package mace_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"interlock/internal/conform"
	"interlock/internal/conform/mace"
)

// TestTheTable: every entry is about clauses that there are, no clause is in two, and what tests prove is driven as well.
func TestTheTable(t *testing.T) {
	clauses, err := conform.MACEClauses()
	if err != nil || len(clauses) < 100 {
		t.Fatal(len(clauses), err)
	}
	seen := map[string]bool{}
	for _, check := range mace.Checks() {
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
	for _, c := range clauses {
		if undriven := slices.Contains(undriven(), c.ID); (c.Gap == "" && !seen[c.ID]) != undriven || c.Gap != "" && seen[c.ID] {
			t.Errorf("%s: gap %q, driven %v, said to be proved and undriven %v", c.ID, c.Gap, seen[c.ID], undriven)
		}
	}
}

// undriven are clauses that tests prove and no check drives: a log that its own key has signed holds neither fault of a replay, so that no copy
// of one shows them from outside; and what a service answered a module goes past the gateway, which no town of these checks has.
func undriven() []string { return []string{"MACE-REPLAY-04", "MACE-REPLAY-05", "MACE-5.3-2"} }

// TestNothingPassesWithoutAProgram: a check that passes though nothing answers would pass whatever is broken.
func TestNothingPassesWithoutAProgram(t *testing.T) {
	clauses, err := conform.MACEClauses()
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
	for _, r := range conform.Run(t.Context(), d, clauses, mace.Checks(), nil) {
		if r.Word == conform.Pass {
			t.Errorf("%s passes: %s", r.ID, r.Seen)
		}
	}
}
