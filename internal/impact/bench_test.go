package impact_test

import (
	"testing"

	"interlock"
	"interlock/internal/impact"
	"interlock/internal/impact/impacttest"
)

// usual are commands as agents give them all day.
var usual = []string{"ls -la", "git status", "cat README.md", "git commit -m 'Fix the parser'", "go test ./...", "rm -rf build",
	"grep -rn TODO src",
	"cd src && make all", "curl -s https://example.com/a.json | jq .name", "sed -i s/a/b/ config.yaml", "npm install",
	"python3 -c 'print(1)'", "find . -name '*.go' | xargs wc -l", "echo hello > out.txt"}

func BenchmarkUsual(b *testing.B) {
	analyser := impact.NewAnalyser(impacttest.Knowledge(b))
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		analyser.Analyse(hostileView, interlock.Action{Kind: interlock.KindShell, Input: usual[n%len(usual)],
			Dir: hostileView.Workspace})
	}
}

// TestUsualAllocations: what reading a short command allocates stays bounded.
func TestUsualAllocations(t *testing.T) {
	analyser := impact.NewAnalyser(impacttest.Knowledge(t))
	total := 0.0
	for _, input := range usual {
		action := interlock.Action{Kind: interlock.KindShell, Input: input, Dir: hostileView.Workspace}
		got := testing.AllocsPerRun(100, func() { analyser.Analyse(hostileView, action) })
		if total += got; got > 150 {
			t.Errorf("%s: %.0f allocations", input, got)
		}
	}
	if mean := total / float64(len(usual)); mean > 50 {
		t.Errorf("%.1f allocations on average", mean)
	}
}
