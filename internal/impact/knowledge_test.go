package impact_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock"
	"interlock/internal/impact"
	"interlock/rules"
)

func knowledge(t testing.TB) *impact.Knowledge {
	t.Helper()
	know, err := impact.ParseKnowledge(rules.Defaults())
	if err != nil {
		t.Fatal(err)
	}
	return know
}

// brief writes an impact as the descriptions' examples do: kind, reach, traits.
func brief(i interlock.Impact) string {
	return strings.Join(append([]string{string(i.Kind), string(i.Reach)}, i.Traits...), " ")
}

func briefs(list []interlock.Impact) []string {
	out := make([]string, 0, len(list))
	for _, i := range list {
		out = append(out, brief(i))
	}
	return out
}

// TestKnowledgeDecodes decodes every description and path pattern.
func TestKnowledgeDecodes(t *testing.T) {
	if err := knowledge(t).Check(); err != nil {
		t.Fatal(err)
	}
}

// TestExamples runs the examples that stand in the command descriptions.
func TestExamples(t *testing.T) {
	know := knowledge(t)
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
			if diff := cmp.Diff(want, briefs(got.Impacts)); diff != "" {
				t.Errorf("%s: %s: want(-) got(+):\n%s", name, example.Run, diff)
			}
		}
	}
	if n < 100 {
		t.Errorf("only %d examples", n)
	}
}
