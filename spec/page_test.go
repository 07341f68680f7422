package spec

import (
	"fmt"
	"strings"
)

// families are the sections of docs/reference/conformance.md, in order, by the prefix of their clauses.
var families = []struct{ prefix, title string }{
	{"AQL-", "MCP-AQL: safety loop, danger levels, tokens, errors"},
	{"ASA-", "Asimov Safety Architecture, draft-baysal-asimov-safety-architecture-00"},
	{"EC-", "MASO execution control"},
	{"MACE-", "MACE safety boundaries, governance and replay"},
}

// conformancePage writes docs/reference/conformance.md. Tests are named by file and function and not by line, so that the page
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
	page.WriteString(addingACheck)
	return page.String()
}

// addingACheck is the end of the page.
const addingACheck = "\n## Holding a live program against MASO\n\n" +
	"`interlock conformance maso` drives throw-away homes and says of every clause EC-… what it saw; `interlock maso test` does it for the\n" +
	"acceptance tests alone. A clause that no check drives is *pending*, with its reason from spec/gaps.tsv. `interlock conformance mcp-aql`,\n" +
	"`mace` and `asa` do the same for the others.\n\n" +
	"### Adding a check\n\n" +
	"A check is one entry of a table in `internal/conform`, in the file of its area (`tier1.go`, `runs.go`, `limits.go`, `phases.go`,\n" +
	"`stop.go`, `sandbox.go`, `people.go`, `log.go`, `gateway.go`, `redteam.go`, `maturity.go`, or a new one that `Checks` in `check.go` joins):\n\n" +
	"```text\n" +
	"{IDs: []string{\"EC-2.6\", \"EC-T2.7\"}, Drives: \"HTTP API, an operator's commands\", Do: reversals},\n\n" +
	"func reversals(ctx context.Context, d *Driver) (string, error) {\n" +
	"\th, err := d.House(ctx, Plan{Name: \"reversals\", Clocked: true, Rules: \"maso: {tier: 2}\\n\"})\n" +
	"\tif err != nil {\n\t\treturn \"\", err\n\t}\n" +
	"\tif err := h.Agents(ctx, \"builder\"); err != nil { // each gets a token\n\t\treturn \"\", err\n\t}\n" +
	"\tasked, err := h.Expect(ctx, \"builder\", Shell(\"git push --force origin main\"), \"ask\")\n" +
	"\tif err != nil {\n\t\treturn \"\", err\n\t}\n" +
	"\t_, yes := h.Order(ctx, \"ada\", \"approve\", asked.Request) // signed with ada's throw-away key\n" +
	"\th.Pass(time.Hour)\n" +
	"\tlate := h.Decide(ctx, \"builder\", Shell(\"git push --force origin main\"))\n" +
	"\treturn \"what was seen, in a sentence\", wrong(yes, unless(late.Answer == \"deny\", \"it is answered %s\", late.Answer))\n" +
	"}\n```\n\n" +
	"* It returns what it saw, or what is wrong; `NotHere` says that this machine can't tell. Clauses of one entry share its result.\n" +
	"* It goes through the doors that are there: `Decide`, `Expect`, `Call` and `Raw` (HTTP as an agent), `Control` and `signal` (control door),\n" +
	"  `Hook`, `through` (gateway before a server that counts), `CLI` and `Order` (commands), `Events` and `Event` (the log). All of it becomes\n" +
	"  evidence, without secrets.\n" +
	"* A home is a server, an operator `ada` who governs, and what is added: `Agent`, `Operator`. Two checks that name one `Plan.Name` share\n" +
	"  it, so what stops or isolates has a home of its own.\n" +
	"* Without `Clocked` every command and the server are processes. With it they run in this one by a clock that `Pass` moves: nothing waits\n" +
	"  for minutes, and no variable or flag can move the clock of a program that was started.\n" +
	"* The check stands beside the test that claims its clause with `spec.Covers`; it does not replace it. See it fail once.\n" +
	"* What a home's own settings decide is an entry of `internal/conform/here.go`.\n"
