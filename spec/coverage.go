package spec

import (
	"fmt"
	"sort"
)

// A Claim is one call of Covers found in the sources.
type Claim struct {
	ID   string
	File string // relative to the module, with slashes
	Line int
	Test string // the function the call is in
}

// Check holds claims and gaps against the clauses and returns what is wrong, one sentence each, in a fixed order:
// unknown ids, gaps that are closed, and MUST clauses that are neither claimed nor admitted.
func Check(clauses []Clause, gaps []Gap, claims []Claim) []string {
	level := make(map[string]Level, len(clauses))
	for _, c := range clauses {
		level[c.ID] = c.Level
	}
	var problems []string
	claimed := make(map[string]Claim)
	for _, c := range claims {
		if _, ok := level[c.ID]; !ok {
			problems = append(problems, fmt.Sprintf("%s:%d: %s claims %s, which is no clause", c.File, c.Line, c.Test, c.ID))
			continue
		}
		if _, ok := claimed[c.ID]; !ok {
			claimed[c.ID] = c
		}
	}
	admitted := make(map[string]bool)
	for _, g := range gaps {
		admitted[g.ID] = true
		if _, ok := level[g.ID]; !ok {
			problems = append(problems, fmt.Sprintf("gaps.tsv: %s is no clause", g.ID))
		}
		if c, ok := claimed[g.ID]; ok {
			problems = append(problems, fmt.Sprintf("gaps.tsv: %s is claimed by %s:%d; take it out of the gaps",
				g.ID, c.File, c.Line))
		}
	}
	for _, c := range clauses {
		if _, ok := claimed[c.ID]; c.Level == Must && !ok && !admitted[c.ID] {
			problems = append(problems, fmt.Sprintf("clauses.tsv: %s is a MUST that no test claims and gaps.tsv does not admit", c.ID))
		}
	}
	sort.Strings(problems)
	return problems
}
