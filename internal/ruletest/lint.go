package ruletest

import (
	"fmt"
	"strings"

	"interlock"
	"interlock/internal/impact"
	"interlock/internal/impact/fact"
	"interlock/internal/ruleset"
)

// Everyday lists commands that nothing should stop; a rule that does is too wide.
func Everyday() []string {
	return []string{
		"ls -la", "cat README.md", "git status", "git diff HEAD~1", "git add -A", "git commit -m 'rm -rf / and DROP TABLE users'",
		"git log --oneline -20", "git checkout -b feature", "git pull", "git push origin feature",
		"grep -rn 'sudo rm' src", "go test ./...",
		"go build ./...", "npm ci", "npm test", "npm run build", "pytest -q", "python3 -m venv .venv",
		"pip install -r requirements.txt",
		"cargo build --release", "make", "mkdir -p build/out", "rm -rf build", "rm -f notes.tmp", "cp a.txt b.txt",
		"mv old.go new.go",
		"sed -i 's/a/b/' main.go", "find . -name '*.go'", "echo hello > out.txt", "docker ps", "docker build -t app .",
		"kubectl get pods", "curl -s https://example.com/data.json", "ps aux", "which node", "chmod +x run.sh",
		"tar czf out.tgz src",
	}
}

// Lint points at rules that load and still are not what their author meant.
func Lint(rules *ruleset.Ruleset, analyser *impact.Analyser) []Problem {
	var out []Problem
	for _, r := range rules.Rules() {
		out = append(out, lintWords(r)...)
		out = append(out, lintReach(rules, analyser, r)...)
		if try := r.Suggestion.Try; try != "" {
			if d := Decide(rules, analyser, Shell(try)); d.Verdict != interlock.Allow {
				out = append(out, Problem{r.ID, try, "the suggestion is itself stopped, by " + d.Decisive().Rule})
			}
		}
	}
	out = append(out, lintLimits(rules)...)
	out = append(out, lintBudgets(rules)...)
	for _, command := range Everyday() {
		for _, f := range Decide(rules, analyser, Shell(command)).Findings {
			if _, ok := rules.Rule(f.Rule); ok {
				out = append(out, Problem{f.Rule, command, "over-wide: the rule stops an everyday command"})
			}
		}
	}
	return out
}

// lintWords looks at the rule by itself.
func lintWords(r *ruleset.Rule) []Problem {
	var out []Problem
	known := map[string]bool{}
	for _, t := range fact.Traits() {
		known[t] = true
	}
	for _, list := range [][]string{r.Match.Traits.All, r.Match.Traits.Any, r.Match.Traits.None} {
		for _, t := range list {
			if !known[t] {
				out = append(out, Problem{r.ID, t, "no analyser establishes this trait"})
			}
		}
	}
	for _, list := range [][]string{r.Match.Via, r.Match.Target, r.Match.Glob} {
		for _, g := range list {
			if strings.Trim(g, "*?/. ") == "" {
				out = append(out, Problem{r.ID, g, "over-wide: the glob matches nearly everything"})
			}
		}
	}
	return out
}

// lintReach looks at what the rule's tests show of it among the others.
func lintReach(rules *ruleset.Ruleset, analyser *impact.Analyser, r *ruleset.Rule) []Problem {
	cases, err := r.Tests.Cases()
	if err != nil {
		return nil // Run reports it
	}
	stops, fired, decided := 0, 0, 0
	shadow := ""
	for _, c := range cases {
		if c.Want == "pass" {
			continue
		}
		stops++
		d := DecideCase(rules, analyser, profileOf(r), c)
		if fires(r, d) {
			fired++
		}
		if f := d.Decisive(); f != nil && (f.Rule == r.ID || f.Verdict == r.Verdict) {
			decided++
		} else if f != nil {
			shadow = f.Rule
		}
	}
	switch {
	case stops == 0:
		return []Problem{{Rule: r.ID, Message: "no test shows that the rule ever fires"}}
	case fired == 0:
		return []Problem{{Rule: r.ID, Message: "unreachable: the rule fires on none of its own tests"}}
	case decided == 0:
		return []Problem{{Rule: r.ID, Message: fmt.Sprintf("shadowed: %s is stricter on every test of this rule", shadow)}}
	}
	return nil
}
