// Package spec holds what Interlock promises, clause by clause, and ties each promise to the test that proves it.
//
// clauses.tsv lists the clauses of the specifications Interlock implements, in our own words: MCP-AQL (AQL-), the Asimov
// Safety Architecture (ASA-), MASO execution control (EC-) and the MACE safety boundaries with their governance and replay
// companions (MACE-). A test that proves a clause says so with [Covers]; a test that is data, an archive in a package's
// testdata, says so in its comment with a line "covers: ID ID" (in a script "# covers: ID"). gaps.tsv lists what is not
// proved yet, each with its reason. The test of this package fails when a MUST is neither claimed nor admitted as a gap,
// and docs/reference/conformance.md is written from the same tables.
//
// This package must never be part of a decision: tests import it, and what holds the program against the tables
// (internal/conform). Start with clauses.tsv.
package spec

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"
)

//go:generate go test . -run TestConformancePageIsFresh -update

// A Level says how binding a clause is.
type Level string

// The levels of RFC 2119 that the tables use.
const (
	Must   Level = "MUST"
	Should Level = "SHOULD"
	May    Level = "MAY"
)

// A Clause is one requirement, in our words.
type Clause struct {
	ID     string // stable, never reused
	Level  Level
	Source string // document and section
	Text   string // one sentence
}

// A Gap is a clause that no test proves yet, and why.
type Gap struct {
	ID     string
	Reason string // names the part of the product that will close it
}

//go:embed clauses.tsv
var clausesTSV string

//go:embed gaps.tsv
var gapsTSV string

// known is the set of clause ids, parsed once.
var known = sync.OnceValues(func() (map[string]Clause, error) {
	clauses, err := Clauses()
	if err != nil {
		return nil, err
	}
	set := make(map[string]Clause, len(clauses))
	for _, c := range clauses {
		set[c.ID] = c
	}
	return set, nil
})

// A Test is what [Covers] needs of a testing.TB. The package itself does not import testing, because the program holds a live
// server against the same tables: `interlock conformance maso`.
type Test interface {
	Helper()
	Attr(key, value string)
	Error(args ...any)
	Errorf(format string, args ...any)
}

// Covers claims that the calling test proves the clauses. It marks the test's output with each id (go test -json shows
// them as attributes) and fails the test if an id is not in clauses.tsv. Ids must be string literals, because the claims
// are also read from the sources.
func Covers(t Test, ids ...string) {
	t.Helper()
	set, err := known()
	if err != nil {
		t.Errorf("spec: %v", err)
		return
	}
	if len(ids) == 0 {
		t.Error("spec: Covers needs at least one clause id")
	}
	for _, id := range ids {
		if _, ok := set[id]; !ok {
			t.Errorf("spec: %q is not a clause id; the ids are in spec/clauses.tsv", id)
			continue
		}
		t.Attr("clause", id)
	}
}

// Clauses returns the rows of clauses.tsv in their order.
func Clauses() ([]Clause, error) { return parseClauses(clausesTSV) }

// Gaps returns the rows of gaps.tsv in their order.
func Gaps() ([]Gap, error) { return parseGaps(gapsTSV) }

func parseClauses(table string) ([]Clause, error) {
	rows, err := parseTable("clauses.tsv", table, "id", "level", "source", "clause")
	if err != nil {
		return nil, err
	}
	clauses := make([]Clause, 0, len(rows))
	for n, row := range rows {
		level := Level(row[1])
		if level != Must && level != Should && level != May {
			return nil, fmt.Errorf("clauses.tsv:%d: level %q, want MUST, SHOULD or MAY", n+2, row[1])
		}
		clauses = append(clauses, Clause{ID: row[0], Level: level, Source: row[2], Text: row[3]})
	}
	return clauses, nil
}

func parseGaps(table string) ([]Gap, error) {
	rows, err := parseTable("gaps.tsv", table, "id", "reason")
	if err != nil {
		return nil, err
	}
	gaps := make([]Gap, 0, len(rows))
	for _, row := range rows {
		gaps = append(gaps, Gap{ID: row[0], Reason: row[1]})
	}
	return gaps, nil
}

// parseTable reads tab-separated rows under a fixed header. No cell may be empty or padded, and no first cell may repeat.
func parseTable(name, table string, header ...string) ([][]string, error) {
	lines := strings.Split(strings.TrimSuffix(table, "\n"), "\n")
	if lines[0] != strings.Join(header, "\t") {
		return nil, fmt.Errorf("%s:1: header %q, want %q", name, lines[0], strings.Join(header, "\t"))
	}
	seen := make(map[string]int)
	rows := make([][]string, 0, len(lines)-1)
	for n, line := range lines[1:] {
		row := strings.Split(line, "\t")
		if len(row) != len(header) {
			return nil, fmt.Errorf("%s:%d: %d columns, want %d", name, n+2, len(row), len(header))
		}
		for i, cell := range row {
			if cell == "" || strings.TrimSpace(cell) != cell {
				return nil, fmt.Errorf("%s:%d: column %q is empty or padded", name, n+2, header[i])
			}
		}
		if first, ok := seen[row[0]]; ok {
			return nil, fmt.Errorf("%s:%d: %s stands in line %d already", name, n+2, row[0], first)
		}
		seen[row[0]] = n + 2
		rows = append(rows, row)
	}
	return rows, nil
}
