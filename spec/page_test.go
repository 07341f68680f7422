package spec

import (
	"fmt"
	"strings"
)

// families are the sections of docs/conformance.md, in order, by the prefix of their clauses.
var families = []struct{ prefix, title string }{
	{"AQL-", "MCP-AQL: safety loop, danger levels, tokens, errors"},
	{"ASA-", "Asimov Safety Architecture, draft-baysal-asimov-safety-architecture-00"},
	{"EC-", "MASO execution control"},
	{"MACE-", "MACE safety boundaries, governance and replay"},
}

// conformancePage writes docs/conformance.md. Tests are named by file and function and not by line, so that the page
// changes only when a claim does.
func conformancePage(clauses []Clause, gaps []Gap, claims []Claim) string {
	proofs := make(map[string][]string)
	for _, c := range claims {
		proof := fmt.Sprintf("`%s` in `%s`", c.Test, c.File)
		if list := proofs[c.ID]; len(list) == 0 || list[len(list)-1] != proof {
			proofs[c.ID] = append(list, proof)
		}
	}
	reasons := make(map[string]string)
	for _, g := range gaps {
		reasons[g.ID] = g.Reason
	}
	var page strings.Builder
	page.WriteString("<!-- Generated from spec/clauses.tsv, spec/gaps.tsv and the tests by: go generate ./spec -->\n")
	page.WriteString("# Conformance\n\nWhich clause is proved by which test, and which is not built yet. A clause counts as proved only if a test\n" +
		"claims it with `spec.Covers`; the test of package `spec` keeps this page, the tables and the sources in step.\n" +
		"No conformance with any specification as a whole is claimed while its section has gaps.\n\n")
	page.WriteString("| specification | clauses | proved | MUST | MUST proved |\n|---|---|---|---|---|\n")
	for _, f := range families {
		var all, done, must, mustDone int
		for _, c := range clauses {
			if !strings.HasPrefix(c.ID, f.prefix) {
				continue
			}
			proved := 0
			if len(proofs[c.ID]) > 0 {
				proved = 1
			}
			all, done = all+1, done+proved
			if c.Level == Must {
				must, mustDone = must+1, mustDone+proved
			}
		}
		fmt.Fprintf(&page, "| %s | %d | %d | %d | %d |\n", f.title, all, done, must, mustDone)
	}
	for _, f := range families {
		fmt.Fprintf(&page, "\n## %s\n\n| clause | level | what | proof, or why not yet |\n|---|---|---|---|\n", f.title)
		for _, c := range clauses {
			if !strings.HasPrefix(c.ID, f.prefix) {
				continue
			}
			status := strings.Join(proofs[c.ID], "<br>")
			if status == "" && reasons[c.ID] != "" {
				status = "gap: " + reasons[c.ID]
			} else if status == "" {
				status = "open"
			}
			fmt.Fprintf(&page, "| %s | %s | %s | %s |\n", c.ID, c.Level, strings.ReplaceAll(c.Text, "|", `\|`), strings.ReplaceAll(status, "|", `\|`))
		}
	}
	return page.String()
}
