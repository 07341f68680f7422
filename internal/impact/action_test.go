package impact_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock"
	"interlock/internal/impact"
)

// where is the view the tests of single kinds use.
var where = interlock.View{Home: "/home/dev", Workspace: "/home/dev/project", User: "dev",
	Self: []string{"/home/dev/.interlock"}, Endpoints: []string{"127.0.0.1:7433"}, Production: []string{"*prod*"}}

// A reading is one input and what must be found in it: each impact as "kind reach reversibility [target] [+trait…]".
type reading struct {
	name   string
	action interlock.Action
	want   []string
}

func spell(i interlock.Impact) string {
	out := string(i.Kind) + " " + string(i.Reach) + " " + string(i.Reversibility)
	if i.Target != "" {
		out += " " + i.Target
	}
	for _, trait := range i.Traits {
		out += " +" + trait
	}
	if i.Confidence == interlock.Unknown {
		out += " ?"
	}
	return out
}

func checkReadings(t *testing.T, readings []reading) {
	t.Helper()
	analyser := impact.NewAnalyser(knowledge(t))
	for _, r := range readings {
		t.Run(r.name, func(t *testing.T) {
			got := []string{}
			for _, i := range analyser.Analyse(where, r.action).Impacts {
				got = append(got, spell(i))
			}
			if diff := cmp.Diff(r.want, got); diff != "" {
				t.Errorf("want(-) got(+):\n%s", diff)
			}
		})
	}
}

func object(kind interlock.Kind, tool, arguments string) interlock.Action {
	return interlock.Action{Kind: kind, Tool: tool, Arguments: json.RawMessage(arguments)}
}

func source(kind interlock.Kind, input string) interlock.Action {
	return interlock.Action{Kind: kind, Input: input}
}

// holds checks what must be true of every analysis, whatever the input: the same every time, within bounds, never silent,
// and made of known words only.
func holds(t *testing.T, know *impact.Knowledge, action interlock.Action) {
	t.Helper()
	analyser := impact.NewAnalyser(know)
	first := analyser.Analyse(where, action)
	if diff := cmp.Diff(first, analyser.Analyse(where, action)); diff != "" {
		t.Fatalf("two analyses differ:\n%s", diff)
	}
	size := 0
	for _, i := range first.Impacts {
		size += len(i.Target) + len(i.Via)
		if i.Kind == "" || i.Reach == "" || i.Reversibility == "" || i.Confidence == "" {
			t.Fatalf("incomplete impact %+v", i)
		}
	}
	if len(first.Impacts) == 0 {
		t.Fatal("no impact at all")
	}
	if limit := 64 * (len(action.Input) + len(action.Arguments) + 1024); size > limit {
		t.Fatalf("%d bytes of impacts from %d bytes of input", size, len(action.Input)+len(action.Arguments))
	}
	for _, text := range first.Texts {
		if strings.TrimSpace(string(text.Kind)) == "" {
			t.Fatalf("a text without a kind: %+v", text)
		}
	}
}

func analyse(t testing.TB, action interlock.Action) []interlock.Impact {
	t.Helper()
	return impact.NewAnalyser(knowledge(t)).Analyse(where, action).Impacts
}

func anyImpact(list []interlock.Impact, want func(interlock.Impact) bool) bool {
	for _, i := range list {
		if want(i) {
			return true
		}
	}
	return false
}
