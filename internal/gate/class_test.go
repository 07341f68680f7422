package gate

import (
	"slices"
	"strings"
	"testing"

	"interlock"
	"interlock/internal/impact"
	"interlock/internal/ruleset"
	"interlock/spec"
)

// TestTargets: each impact is done to one sort of thing, and what nobody declared to be staging is production.
func TestTargets(t *testing.T) {
	spec.Covers(t, "EC-2.1", "EC-AC-2")
	impactOf := func(kind interlock.ImpactKind, reach interlock.Reach, reversibility interlock.Reversibility, traits ...string) interlock.Impact {
		return interlock.Impact{Kind: kind, Reach: reach, Reversibility: reversibility, Confidence: interlock.Parsed, Traits: traits}
	}
	const external, production, workspace = interlock.ReachExternal, interlock.ReachProduction, interlock.ReachWorkspace
	unclear := impactOf(interlock.ImpactWrite, workspace, interlock.Reversible)
	unclear.Confidence = interlock.Inferred
	rules, err := ruleset.Load(nil, map[string][]byte{"t.yaml": []byte("maso: {tier: 2}\n")})
	if err != nil {
		t.Fatal(err)
	}
	below, err := ruleset.Load(nil, map[string][]byte{"t.yaml": []byte("maso: {tier: 1}\n")})
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		kind   interlock.Kind
		impact interlock.Impact
		want   Target
		asks   string
	}{
		"a read":                     {"shell", impactOf(interlock.ImpactRead, production, interlock.Readonly), TargetRead, ""},
		"a connection":               {"shell", impactOf(interlock.ImpactNetwork, external, interlock.Reversible), TargetRead, ""},
		"a try":                      {"shell", impactOf(interlock.ImpactDelete, production, interlock.Irreversible, "dry-run"), TargetRead, ""},
		"a file of the project":      {"shell", impactOf(interlock.ImpactWrite, workspace, interlock.Reversible), TargetLocal, ""},
		"a tool that names a file":   {"tool", impactOf(interlock.ImpactWrite, workspace, interlock.Reversible), TargetLocal, ""},
		"a tool that names no place": {"tool", unclear, TargetProduction, "class.production"},
		"staging":                    {"shell", impactOf(interlock.ImpactConfigure, external, interlock.Window, "staging"), TargetStaging, ""},
		"production":                 {"shell", impactOf(interlock.ImpactConfigure, production, interlock.Window), TargetProduction, "class.production"},
		"production called staging": {"shell", impactOf(interlock.ImpactConfigure, production, interlock.Window, "staging"),
			TargetProduction, "class.production"},
		"neither":   {"shell", impactOf(interlock.ImpactConfigure, external, interlock.Window), TargetProduction, "class.production"},
		"an upload": {"shell", impactOf(interlock.ImpactNetwork, external, interlock.Window, "upload"), TargetExternal, "class.external"},
		"people":    {"tool", impactOf(interlock.ImpactMessage, external, interlock.Window, "words"), TargetExternal, "class.external"},
		"money":     {"tool", impactOf(interlock.ImpactSpend, external, interlock.Window), TargetExternal, "class.external"},
		"a deletion": {"shell", impactOf(interlock.ImpactDelete, workspace, interlock.Irreversible),
			TargetIrreversible, "class.irreversible"},
		"a deletion in staging": {"shell", impactOf(interlock.ImpactDelete, external, interlock.Irreversible, "staging"),
			TargetIrreversible, "class.irreversible"},
	} {
		if got := TargetOf(test.kind, &test.impact); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
		analysis := impact.Analysis{Impacts: []interlock.Impact{test.impact}}
		found := Class(rules, interlock.Snapshot{}, interlock.Action{Kind: test.kind}, analysis)
		asked := ""
		for _, f := range found {
			asked += f.Rule
		}
		if asked != test.asks || len(Class(below, interlock.Snapshot{}, interlock.Action{Kind: test.kind}, analysis)) > 0 {
			t.Errorf("%s: asks %q, want %q", name, asked, test.asks)
		}
	}
}

// TestUses: a tool is used by its name, a command by its programs; reading uses nothing, and names hold nothing that can't be seen.
func TestUses(t *testing.T) {
	write := func(via string) interlock.Impact {
		return interlock.Impact{Kind: interlock.ImpactWrite, Reach: interlock.ReachWorkspace, Via: via, Confidence: interlock.Parsed}
	}
	for name, test := range map[string]struct {
		action  interlock.Action
		impacts []interlock.Impact
		want    string
	}{
		"a tool": {interlock.Action{Kind: interlock.KindTool, Tool: "refund"}, []interlock.Impact{write("refund"),
			write("other")}, "tool refund"},
		"two programs": {interlock.Action{Kind: interlock.KindShell}, []interlock.Impact{write("touch"), write("git push"),
			write("git tag")}, "shell git,shell touch"},
		"a read":             {interlock.Action{Kind: interlock.KindShell}, []interlock.Impact{{Kind: interlock.ImpactRead, Via: "cat"}}, ""},
		"nothing":            {interlock.Action{Kind: interlock.KindShell}, nil, ""},
		"what can't be seen": {interlock.Action{Kind: interlock.KindTool, Tool: "re\u202efund\n"}, []interlock.Impact{write("x")}, "tool refund"},
	} {
		if uses, whole := Uses(test.action, test.impacts); strings.Join(uses, ",") != test.want || !whole {
			t.Errorf("%s: %q, %v", name, uses, whole)
		}
	}
	var many []interlock.Impact
	for n := range 2 * maxUses {
		many = append(many, write(strings.Repeat("x", n+1)))
	}
	if uses, whole := Uses(interlock.Action{Kind: interlock.KindShell}, many); len(uses) != maxUses || whole || !slices.IsSorted(uses) {
		t.Errorf("%d uses, %v", len(uses), whole)
	}
}
