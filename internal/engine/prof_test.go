package engine

import (
	"strings"
	"testing"

	"interlock"
)

func BenchmarkTwoKB(b *testing.B) {
	rules := withRules(b, 100)
	action := interlock.Action{Kind: interlock.KindShell, Tool: "Bash", Input: strings.Repeat("grep -rn 'handler' internal/ | awk -F: '{print $1}' | sort -u > /tmp/files.txt && sed -n '1,40p' README.md\n", 20), Dir: "/home/user/project"}
	snapshot := standing()
	analyser := analyser(b)
	for b.Loop() {
		Decide(rules, snapshot, action, analyser.Analyse(snapshot.View, action), nil, nil, noon)
	}
}
func BenchmarkTwoKBOnly(b *testing.B) {
	rules := withRules(b, 100)
	action := interlock.Action{Kind: interlock.KindShell, Tool: "Bash", Input: strings.Repeat("grep -rn 'handler' internal/ | awk -F: '{print $1}' | sort -u > /tmp/files.txt && sed -n '1,40p' README.md\n", 20), Dir: "/home/user/project"}
	snapshot := standing()
	analyser := analyser(b)
	analysis := analyser.Analyse(snapshot.View, action)
	for b.Loop() {
		Decide(rules, snapshot, action, analysis, nil, nil, noon)
	}
}
