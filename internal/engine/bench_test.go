package engine

import (
	"fmt"
	"strings"
	"testing"

	"interlock"
	"interlock/internal/ruleset"
)

// withRules returns the shipped rules and as many of an operator's that the total is n: a third on the command, a third on
// impacts, a third on texts.
func withRules(t testing.TB, n int) *ruleset.Ruleset {
	var b strings.Builder
	b.WriteString("rules:\n")
	for i := range n - len(shipped(t).Rules()) {
		match := fmt.Sprintf("{via: ['tool%d*'], kind: [write, delete]}", i)
		switch i % 3 {
		case 1:
			match = fmt.Sprintf("{kind: [delete], traits: {all: [trait%d]}, reach: [production]}", i)
		case 2:
			match = fmt.Sprintf(`{pattern: '\btool%d\s+--(force|all)=\w+'}`, i)
		}
		fmt.Fprintf(&b, "  - {id: team.r%d, layer: 3, verdict: ask, reason: team rule, match: %s}\n", i, match)
	}
	rules, err := ruleset.Load(shippedFiles(t), map[string][]byte{"team.yaml": []byte(b.String())})
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

var inputs = []struct{ name, command string }{
	{"short", "git status"},
	{"typical", "cd src && go test ./... -run TestDecide -count=1 2>&1 | tail -40"},
	{"long", strings.Repeat("go test ./... -run TestDecide && echo done | tee -a out.log; ", 20)},
	{"2KB", strings.Repeat("grep -rn 'handler' internal/ | awk -F: '{print $1}' | sort -u > /tmp/files.txt && sed -n '1,40p' README.md\n", 20)},
}

// Budget: analysis and decision of a typical command in 20 µs at the median, near flat from 100 to 2,000 rules.
func BenchmarkDecide(b *testing.B) {
	for _, n := range []int{100, 500, 2000} {
		rules := withRules(b, n)
		for _, input := range inputs {
			action := interlock.Action{Kind: interlock.KindShell, Tool: "Bash", Input: input.command, Dir: "/home/user/project"}
			snapshot := standing()
			analyser := analyser(b)
			b.Run(fmt.Sprintf("rules=%d/%s", n, input.name), func(b *testing.B) {
				for b.Loop() {
					Decide(rules, snapshot, action, analyser.Analyse(snapshot.View, action), nil, nil, noon)
				}
			})
		}
	}
}

// The part of BenchmarkDecide that is not analysis.
func BenchmarkDecideOnly(b *testing.B) {
	for _, n := range []int{100, 2000} {
		rules := withRules(b, n)
		for _, input := range inputs {
			action := interlock.Action{Kind: interlock.KindShell, Tool: "Bash", Input: input.command, Dir: "/home/user/project"}
			snapshot := standing()
			analysis := analyser(b).Analyse(snapshot.View, action)
			b.Run(fmt.Sprintf("rules=%d/%s", n, input.name), func(b *testing.B) {
				for b.Loop() {
					Decide(rules, snapshot, action, analysis, nil, nil, noon)
				}
			})
		}
	}
}

// Budget: 1 ms for the shipped rules; a hook loads them once per call.
func BenchmarkLoad(b *testing.B) {
	files := shippedFiles(b)
	for b.Loop() {
		if _, err := ruleset.Load(files, nil); err != nil {
			b.Fatal(err)
		}
	}
}
