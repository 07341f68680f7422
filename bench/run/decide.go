package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	"interlock"
	"interlock/embedded"
	"interlock/internal/admission"
	"interlock/internal/config"
	"interlock/internal/ledger"
)

// typical are commands as coding agents run them, from a word to a long script.
var typical = []struct{ name, input string }{
	{"short", "git status"},
	{"typical", "cd src && go test ./... 2>&1 | tail -n 40 && git add -A && git commit -m 'fix the parser'"},
	{"300 bytes", "find . -name '*.go' -not -path './vendor/*' | xargs grep -n 'TODO' | sort | uniq -c | sort -rn | head -20; " +
		"for f in $(git diff --name-only HEAD~3); do echo \"$f\"; wc -l \"$f\"; done; curl -sS " +
		"https://example.com/api/v1/items?limit=10 | jq '.items[] | {id, name}' > out/items.json"},
	{"2 KB", strings.Repeat("grep -rn 'handler' internal/ | awk -F: '{print $1}' | sort -u > /tmp/files.txt && sed -n '1,40p' README.md\n", 20)},
}

// decide measures analysis and decision together, without recording, by number of rules and size of input.
func decide(b *bench) error {
	fmt.Fprintf(b.out, "\n## Deciding, without recording\n\nImpact analysis and all gates, one action, microseconds. "+
		"Budget: p50 <= 20 µs for a typical command, near flat in the number of rules.\n\n")
	fmt.Fprintf(b.out, "| rules | input | p50 µs | p99 µs |\n|---|---|---:|---:|\n")
	for _, extra := range []int{0, 100, 500, 2000} {
		evaluator, err := withRules(b, extra)
		if err != nil {
			return err
		}
		for _, in := range typical {
			p := interlock.Proposal{Action: interlock.Action{Kind: interlock.KindShell, Input: in.input,
				Dir: "/repo"}, CanAsk: true,
				View: interlock.View{Home: "/home/dev", Workspace: "/repo"}}
			const warm, rounds = 200, 4000
			times := make([]time.Duration, 0, rounds)
			for n := range warm + rounds {
				start := time.Now()
				admission.Evaluate(evaluator, admission.Case{Proposal: p}, ledger.Standing{}, start)
				if n >= warm {
					times = append(times, time.Since(start))
				}
			}
			fmt.Fprintf(b.out, "| %d | %s (%d B) | %s | %s |\n", len(evaluator.Rules.Rules()), in.name, len(in.input),
				micros(quantile(times, 0.5)), micros(quantile(times, 0.99)))
		}
	}
	return decideHostile(b)
}

// withRules returns an evaluator with the defaults and extra pattern rules that no typical command meets.
func withRules(b *bench, extra int) (*admission.Evaluator, error) {
	settings := config.Defaults()
	if extra == 0 {
		return embedded.NewEvaluator(settings)
	}
	var rules strings.Builder
	rules.WriteString("rules:\n")
	for n := range extra {
		fmt.Fprintf(&rules, "  - id: bench.rule-%d\n    layer: 3\n    kinds: [shell]\n    match:\n"+
			"      pattern: 'tool%d\\s+(\\S+\\s+)*verb%d\\b[^|;&]*--flag'\n    verdict: ask\n"+
			"    reason: \"a rule for measuring\"\n    tests:\n      ask: [\"tool%d verb%d --flag\"]\n      pass: [\"ls\"]\n",
			n, n, n, n, n)
	}
	dir, err := b.home(fmt.Sprintf("rules-%d", extra))
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(dir+"/bench.yaml", []byte(rules.String()), 0o600); err != nil {
		return nil, err
	}
	settings.Rules = dir
	return embedded.NewEvaluator(settings)
}
