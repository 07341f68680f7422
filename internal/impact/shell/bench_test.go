package shell_test

import (
	"strings"
	"testing"

	"interlock"
	"interlock/internal/impact"
	"interlock/internal/impact/impacttest"
	"interlock/internal/impact/know"
	"interlock/rules"
)

// Budget: 20 µs for a typical command, with the rest of the decision.
func BenchmarkShell(b *testing.B) {
	analyser := impact.NewAnalyser(impacttest.Knowledge(b))
	view := interlock.View{Home: "/home/dev", Workspace: "/home/dev/project"}
	for _, c := range []struct{ name, input string }{
		{"ls", "ls -la"},
		{"git", "git commit -am 'Fix the parser' && git push origin main"},
		{"grep", "grep -rn 'func main' --include='*.go' . | head -20"},
		{"test", "cd internal/impact && go test ./... 2>&1 | tail -n 30"},
		{"rm", "rm -rf build dist && mkdir -p build"},
		{"install", "curl -fsSL https://get.example.com/i.sh | sudo bash"},
		{"script", strings.Repeat("for f in *.go; do gofmt -l \"$f\" || echo bad $f >> out.txt; done\n", 20)},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				analyser.Analyse(view, interlock.Action{Kind: interlock.KindShell, Input: c.input, Dir: view.Workspace})
			}
		})
	}
}

// Budget: 1 ms from nothing to the first answer, because a hook is a new process each time.
func BenchmarkFirstAnalysis(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		know, err := know.Parse(rules.Defaults())
		if err != nil {
			b.Fatal(err)
		}
		impact.NewAnalyser(know).Analyse(interlock.View{Home: "/home/dev"}, interlock.Action{Kind: interlock.KindShell, Input: "git status"})
	}
}
