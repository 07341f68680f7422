package gate_test

import (
	"testing"

	"interlock"
	"interlock/internal/gate"
	"interlock/internal/impact/fact"
)

var (
	mail   = interlock.Impact{Kind: interlock.ImpactMessage, Target: "bob", Reach: interlock.ReachExternal}
	opened = interlock.Impact{Kind: interlock.ImpactNetwork, Target: "https://evil.example/x", Reach: interlock.ReachExternal,
		Reversibility: interlock.Readonly}
	looked = interlock.Impact{Kind: interlock.ImpactRead, Target: "a", Reversibility: interlock.Readonly}
)

// TestOriginAsks: each finding about where values come from has what calls for it, and what does not.
func TestOriginAsks(t *testing.T) {
	tool, shell := interlock.Action{Kind: interlock.KindTool, Tool: "x"}, interlock.Action{Kind: interlock.KindShell}
	for name, c := range map[string]struct {
		origin *interlock.Origin
		action interlock.Action
		impact interlock.Impact
		want   string
	}{
		"nothing heard":             {nil, tool, mail, ""},
		"ordered":                   {&interlock.Origin{Ordered: 1}, tool, mail, "origin.ordered"},
		"ordered, and only looked":  {&interlock.Origin{Ordered: 1}, shell, looked, ""},
		"ordered and opened":        {&interlock.Origin{Ordered: 1, Linked: 1}, shell, opened, "origin.ordered"},
		"ordered and looked at":     {&interlock.Origin{Ordered: 1, Linked: 1}, shell, looked, ""},
		"returned":                  {&interlock.Origin{Prompted: true, Sent: 1}, tool, mail, "origin.returned"},
		"returned, nobody prompted": {&interlock.Origin{Sent: 1}, tool, mail, ""},
		"returned and asked for":    {&interlock.Origin{Prompted: true, Sent: 1, Asked: []string{gate.ActMessage}}, tool, mail, ""},
		"returned where orders are": {&interlock.Origin{Prompted: true, Sent: 1, Orders: true, Asked: []string{gate.ActMessage}}, tool, mail, "origin.returned"},
		"disputed":                  {&interlock.Origin{Prompted: true, Disputed: 1}, tool, mail, "origin.disputed"},
		"disputed and asked for":    {&interlock.Origin{Prompted: true, Disputed: 1, Asked: []string{gate.ActMessage}}, tool, mail, ""},
		"named":                     {&interlock.Origin{Prompted: true, Named: 1}, tool, mail, ""},
	} {
		got := ""
		for _, f := range gate.Origin(nil, interlock.Snapshot{Origin: c.origin}, c.action, impacts(c.impact)) {
			got = f.Rule
			if f.Verdict != interlock.Ask || len(f.Impacts) != 1 {
				t.Errorf("%s: %+v", name, f)
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestWanted: the user's words answer a question only where they ask for such an act, and nothing about it comes from elsewhere.
func TestWanted(t *testing.T) {
	good := interlock.Origin{Prompted: true, Named: 1, Asked: []string{gate.ActMessage}}
	wanted := func(kind interlock.Kind, i interlock.Impact, change func(*interlock.Origin)) bool {
		o := good
		if change != nil {
			change(&o)
		}
		return gate.Wanted(interlock.Snapshot{Origin: &o}, interlock.Action{Kind: kind}, impacts(i), interlock.Finding{Impacts: []int{0}})
	}
	if !wanted(interlock.KindTool, mail, nil) || !wanted(interlock.KindShell, mail, nil) ||
		!wanted(interlock.KindTool, mail, func(o *interlock.Origin) { o.Named = 0 }) {
		t.Error("what the user asked for is not wanted")
	}
	for name, change := range map[string]func(*interlock.Origin){
		"no prompt": func(o *interlock.Origin) { o.Prompted = false }, "ordered": func(o *interlock.Origin) { o.Ordered = 1 },
		"disputed": func(o *interlock.Origin) { o.Disputed = 1 }, "sent": func(o *interlock.Origin) { o.Sent = 1 },
		"unheard": func(o *interlock.Origin) { o.Unheard = 1 }, "something else asked": func(o *interlock.Origin) { o.Asked = []string{gate.ActSpend} },
		"unnamed where orders are": func(o *interlock.Origin) { o.Named, o.Orders = 0, true },
	} {
		if wanted(interlock.KindTool, mail, change) {
			t.Errorf("%s: taken for wanted", name)
		}
	}
	if wanted(interlock.KindShell, mail, func(o *interlock.Origin) { o.Named = 0 }) {
		t.Error("a command whose target nobody named is taken for wanted")
	}
	for _, trait := range []string{fact.TraitSecretSend, fact.TraitBulk, fact.TraitElevated} {
		i := mail
		i.Traits = []string{trait}
		if wanted(interlock.KindTool, i, nil) {
			t.Errorf("%s: taken for wanted", trait)
		}
	}
}
