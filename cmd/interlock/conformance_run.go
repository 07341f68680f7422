package main

import (
	"fmt"

	"interlock/internal/conform"
)

// A conformanceRun holds throw-away homes of this program against clauses.
type conformanceRun struct {
	name    string // in the name of the evidence file
	clauses []conform.Clause
	checks  []conform.Check
	strict  bool
	json    bool
	without string                         // what may be pending
	items   func(results []conform.Result) // optional: prints what the clauses come to, before the counts
}

// drive makes every check and prints what was seen, the counts and the verdict. Its error says that a MUST is not met, or where strict a clause.
func (c conformanceRun) drive(p *program) error {
	var results []conform.Result
	err := p.driven(func(d *conform.Driver) error {
		results = conform.Run(p.ctx, d, c.clauses, c.checks, func(r conform.Result) {
			if !c.json {
				fmt.Fprintln(p.stdout, r.Word, r.ID, r.Seen)
			}
		})
		return p.ctx.Err()
	})
	if err != nil {
		return err
	}
	tally := conform.Count(results, c.strict)
	path, err := writeEvidence(c.name, results, tally)
	if err != nil {
		return err
	}
	if c.json {
		for n := range results {
			results[n].Steps = nil // the evidence file has them
		}
		err = writeLine(p.stdout, struct {
			conform.Tally
			Evidence string           `json:"evidence"`
			Clauses  []conform.Result `json:"clauses"`
		}{tally, path, results})
	} else {
		if c.items != nil {
			c.items(results)
		}
		fmt.Fprintf(p.stdout, "%d passed, %d failed, %d pending, of %d clauses\nevidence: %s\n%s\n", tally.Passed, tally.Failed, tally.Pending,
			len(results), path, verdictOf(tally, c.strict, c.without))
	}
	if err == nil && !tally.OK {
		return &exitCode{code: 1}
	}
	return err
}

// verdictOf says what the counts come to.
func verdictOf(t conform.Tally, strict bool, without string) string {
	switch {
	case !t.OK && strict:
		return fmt.Sprintf("not conformant: %d clauses failed or are pending", t.Open)
	case !t.OK:
		return fmt.Sprintf("not conformant: %d MUST failed or are pending", t.Open)
	case strict || t.Pending == 0:
		return "conformant"
	}
	return "conformant, without " + without
}
