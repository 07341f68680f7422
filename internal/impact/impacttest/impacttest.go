// Package impacttest is what the tests of the readers share: a view, a table of inputs with the impacts that must be found in
// them, and the properties that hold of every analysis whatever its input.
package impacttest

import (
	"encoding/json"
	"strings"
	"testing"

	"interlock"
	"interlock/internal/impact"
	"interlock/internal/impact/know"
	"interlock/rules"

	"github.com/google/go-cmp/cmp"
)

// Where is the view the tests of single kinds use.
var Where = interlock.View{Home: "/home/dev", Workspace: "/home/dev/project", User: "dev",
	Self: []string{"/home/dev/.interlock"}, Endpoints: []string{"127.0.0.1:7433"}, Production: []string{"*prod*"}}

// A Reading is one input and what must be found in it: each impact as "kind reach reversibility [target] [+trait…]".
type Reading struct {
	Name   string
	Action interlock.Action
	Want   []string
}

func Spell(i interlock.Impact) string {
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

func CheckReadings(t *testing.T, readings []Reading) {
	t.Helper()
	analyser := impact.NewAnalyser(Knowledge(t))
	for _, r := range readings {
		t.Run(r.Name, func(t *testing.T) {
			got := []string{}
			for _, i := range analyser.Analyse(Where, r.Action).Impacts {
				got = append(got, Spell(i))
			}
			if diff := cmp.Diff(r.Want, got); diff != "" {
				t.Errorf("want(-) got(+):\n%s", diff)
			}
		})
	}
}

func Object(kind interlock.Kind, tool, arguments string) interlock.Action {
	return interlock.Action{Kind: kind, Tool: tool, Arguments: json.RawMessage(arguments)}
}

func Source(kind interlock.Kind, input string) interlock.Action {
	return interlock.Action{Kind: kind, Input: input}
}

// Holds checks what must be true of every analysis, whatever the input: the same every time, within bounds, never silent,
// and made of known words only.
func Holds(t *testing.T, know *know.Knowledge, action interlock.Action) {
	t.Helper()
	analyser := impact.NewAnalyser(know)
	first := analyser.Analyse(Where, action)
	if diff := cmp.Diff(first, analyser.Analyse(Where, action)); diff != "" {
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

func Analyse(t testing.TB, action interlock.Action) []interlock.Impact {
	t.Helper()
	return impact.NewAnalyser(Knowledge(t)).Analyse(Where, action).Impacts
}

func AnyImpact(list []interlock.Impact, want func(interlock.Impact) bool) bool {
	for _, i := range list {
		if want(i) {
			return true
		}
	}
	return false
}

func Knowledge(t testing.TB) *know.Knowledge {
	t.Helper()
	know, err := know.Parse(rules.Defaults())
	if err != nil {
		t.Fatal(err)
	}
	return know
}

// Brief writes an impact as the descriptions' examples do: kind, reach, traits.
func Brief(i interlock.Impact) string {
	return strings.Join(append([]string{string(i.Kind), string(i.Reach)}, i.Traits...), " ")
}

func Briefs(list []interlock.Impact) []string {
	out := make([]string, 0, len(list))
	for _, i := range list {
		out = append(out, Brief(i))
	}
	return out
}
