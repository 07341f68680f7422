package know_test

import (
	"testing"

	"interlock"
	"interlock/internal/impact"
	"interlock/internal/impact/impacttest"

	"github.com/google/go-cmp/cmp"
)

// TestKnowledgeDecodes decodes every description and path pattern.
func TestKnowledgeDecodes(t *testing.T) {
	if err := impacttest.Knowledge(t).Check(); err != nil {
		t.Fatal(err)
	}
}

// TestExamples runs the examples that stand in the command descriptions.
func TestExamples(t *testing.T) {
	know := impacttest.Knowledge(t)
	if err := know.Check(); err != nil { // a command whose description is refused has no examples, and is unknown
		t.Fatal(err)
	}
	analyser := impact.NewAnalyser(know)
	n := 0
	for _, name := range know.Commands() {
		for _, example := range know.Examples(name) {
			n++
			got := analyser.Analyse(interlock.View{}, interlock.Action{Kind: interlock.KindShell, Input: example.Run})
			want := append([]string{}, example.Impacts...)
			if diff := cmp.Diff(want, impacttest.Briefs(got.Impacts)); diff != "" {
				t.Errorf("%s: %s: want(-) got(+):\n%s", name, example.Run, diff)
			}
		}
	}
	if n < 100 {
		t.Errorf("only %d examples", n)
	}
}
