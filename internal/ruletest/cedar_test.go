package ruletest_test

import (
	"strings"
	"testing"

	"interlock/internal/ruletest"
)

// TestCedarCases: the tests of policies are run as whom and when they say, and types of who asks are in the way neither of them nor of
// any rule's own tests.
func TestCedarCases(t *testing.T) {
	document := `
types: [{name: clerk, role: clerk, accountable: ada, tools: ["*"]}]
rules:
  - id: team.ask
    layer: 3
    verdict: ask
    reason: asked
    match: {glob: ["make release*"]}
    tests: {ask: [make release], pass: [make test]}
cedar:
  - policy: |
      @id("team.nights") @verdict("ask") @reason("not at night")
      forbid (principal, action, resource) when { principal.role == "clerk" && context.hour >= 22 };
    tests:
      ask: [{input: make test, type: clerk, at: "2026-03-01T23:00:00Z"}]
      pass: [{input: make test, type: clerk, at: "2026-03-01T12:00:00Z"}, {input: make test, type: other, at: "2026-03-01T23:00:00Z"}]
  - policy: |
      @id("team.vault") @reason("not there")
      forbid (principal, action, resource) when { principal.user == "guest" && resource.target like "*vault*" };
    tests:
      block: [{input: cat vault/x, user: guest, at: "2026-03-01T12:00:00Z"}]
      pass: [WRONG]
`
	plain, analyser := with(t, "production: [x]")
	shipped, _ := ruletest.Run(plain, analyser)
	run := func(last string) (int, []ruletest.Problem) {
		t.Helper()
		rules, analyser := with(t, strings.Replace(document, "WRONG", last, 1))
		all, problems := ruletest.Run(rules, analyser)
		return all - shipped, problems
	}
	if n, problems := run(`{input: cat vault/x, user: dana, at: "2026-03-01T12:00:00Z"}`); n != 7 || len(problems) > 0 {
		t.Errorf("%d cases: %v", n, problems)
	}
	if n, problems := run(`{input: cat vault/x, user: guest, at: "2026-03-01T12:00:00Z"}`); n != 7 || len(problems) != 1 ||
		problems[0].Rule != "team.vault" {
		t.Errorf("%d cases: %v", n, problems)
	}
}
