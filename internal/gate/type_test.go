package gate_test

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock"
	"interlock/internal/gate"
	"interlock/internal/impact"
	"interlock/internal/impact/fact"
)

const gateTypes = `
runs: {depth: 2}
types:
  - name: refunds
    accountable: ada
    tools: [refund, Read, "ls*", http]
    scopes: {paths: [workspace, /data/*], hosts: ["*.example.com", origin], databases: ["orders*"]}
    parameters: [{tool: refund, must: [{parameter: amount, operator: "<=", value: 500}]}]
    data: [personal]
  - {name: any, accountable: ada, tools: ["*"], data: [secret, personal]}
  - {name: bound, accountable: ada, tools: ["*"], runs: required}
  - {name: given, accountable: ada, tools: ["*"], runs: delegated}
  - {name: careful, accountable: ada, tools: ["*"], risk: 40}
  - {name: boxed, accountable: ada, tools: ["*"], sandbox: build}
  - {name: supervised, accountable: ada, tools: ["*"], tier: 1}
  - {name: guests, accountable: ada, tools: ["ls*"], users: ["guest-*"]}
`

func ofType(name string, edit ...func(*interlock.Snapshot)) interlock.Snapshot {
	s := guard()
	s.Agent.Type = name
	for _, e := range edit {
		e(&s)
	}
	return s
}

func basis(b interlock.RunBasis) func(*interlock.Snapshot) {
	return func(s *interlock.Snapshot) { s.Run = &b }
}

func tool(name, arguments string) interlock.Action {
	return interlock.Action{Kind: interlock.KindTool, Tool: name, Arguments: json.RawMessage(arguments), Dir: "/repo"}
}

// TestType: what a type does not give is refused with the type's name and the field, and nobody is held against types where a ruleset
// defines none.
func TestType(t *testing.T) {
	rules := load(t, gateTypes)
	read := func(target string, reach interlock.Reach, traits ...string) impact.Analysis {
		return impacts(interlock.Impact{Kind: interlock.ImpactRead, Target: target, Reach: reach, Traits: traits,
			Reversibility: interlock.Readonly, Confidence: interlock.Parsed})
	}
	network := func(target string) impact.Analysis {
		return impacts(interlock.Impact{Kind: interlock.ImpactNetwork, Target: target, Reach: interlock.ReachExternal, Confidence: interlock.Parsed})
	}
	for _, tc := range []struct {
		name     string
		snapshot interlock.Snapshot
		action   interlock.Action
		analysis impact.Analysis
		want     []string
	}{
		{"a tool of it", ofType("refunds"), tool("Read", `{}`), impacts(), nil},
		{"another tool", ofType("refunds"), tool("drop", `{}`), impacts(), []string{"type.tools deny"}},
		{"within the bounds", ofType("refunds"), tool("refund", `{"amount":500}`), impacts(), nil},
		{"over the bounds", ofType("refunds"), tool("refund", `{"amount":501}`), impacts(), []string{"type.parameters deny"}},
		{"no amount", ofType("refunds"), tool("refund", `{}`), impacts(), []string{"type.parameters deny"}},
		{"http by its kind", ofType("refunds"), interlock.Action{Kind: interlock.KindHTTP}, network("https://api.example.com/x"), nil},
		{"in the workspace", ofType("refunds"), tool("Read", `{}`), read("a.txt", interlock.ReachWorkspace), nil},
		{"a path of it", ofType("refunds"), tool("Read", `{}`), read("/data/x", interlock.ReachSystem), nil},
		{"another path", ofType("refunds"), tool("Read", `{}`), read("/etc/passwd", interlock.ReachSystem), []string{"type.scopes.paths deny"}},
		{"a path that climbs", ofType("refunds"), tool("Read", `{}`), read("/data/../etc/x", interlock.ReachSystem),
			[]string{"type.scopes.paths deny"}},
		{"a path nobody knows", ofType("refunds"), tool("Read", `{}`), read("$X", interlock.ReachWorkspace, fact.TraitDynamic),
			[]string{"type.scopes.paths ask"}},
		{"a host of it", ofType("refunds"), tool("Read", `{}`), network("https://a.example.com:443/?x=1"), nil},
		{"a name, not an address", ofType("refunds"), tool("Read", `{}`), network("origin"), nil},
		{"another host", ofType("refunds"), tool("Read", `{}`), network("https://example.org/.example.com"), []string{"type.scopes.hosts deny"}},
		{"a host by its user", ofType("refunds"), tool("Read", `{}`), network("https://a.example.com@evil.org/"), []string{"type.scopes.hosts deny"}},
		{"a host by a backslash", ofType("refunds"), tool("Read", `{}`), network(`https://evil.org\.example.com/`),
			[]string{"type.scopes.hosts deny"}},
		{"a table of it", ofType("refunds"), tool("Read", `{}`), read("orders_2026", interlock.ReachExternal, fact.TraitDatabase), nil},
		{"another table", ofType("refunds"), tool("Read", `{}`), read("users", interlock.ReachExternal, fact.TraitDatabase),
			[]string{"type.scopes.databases deny"}},
		{"personal data", ofType("refunds"), tool("Read", `{}`), read("a", interlock.ReachWorkspace, fact.TraitPersonal), nil},
		{"a secret", ofType("refunds"), tool("Read", `{}`), read("a", interlock.ReachWorkspace, fact.TraitSecret), []string{"type.data deny"}},
		{"the environment", ofType("refunds"), tool("Read", `{}`), read("a", interlock.ReachWorkspace, fact.TraitEnvironment),
			[]string{"type.data deny"}},
		{"a secret where it may", ofType("any"), tool("x", `{}`), read("a", interlock.ReachWorkspace, fact.TraitSecret), nil},
		{"little risk", ofType("careful"), tool("x", `{}`), impacts(), nil},
		{"much risk", ofType("careful"), tool("x", `{}`), impacts(interlock.Impact{Kind: interlock.ImpactDelete, Reach: interlock.ReachProduction,
			Reversibility: interlock.Irreversible}), []string{"type.risk ask"}},
		{"in a box", ofType("boxed"), interlock.Action{Kind: interlock.KindShell, Input: "make"}, shellTexts("make"), []string{"type.sandbox allow"}},
		{"nobody's type looks", ofType("nobody"), tool("Read", `{}`), read("a", interlock.ReachWorkspace), nil},
		{"nobody's type acts", ofType("nobody"), tool("write", `{}`), impacts(interlock.Impact{}), []string{"type.undefined deny"}},
		{"nobody's type and what nobody knows", ofType("nobody"), tool("write", `{}`), impact.Analysis{}, []string{"type.undefined deny"}},
		{"no run where one is needed", ofType("bound"), tool("x", `{}`), impacts(), []string{"type.runs deny"}},
		{"a run where one is needed", ofType("bound", basis(interlock.RunBasis{Run: "r"})), tool("x", `{}`), impacts(), nil},
		{"an own run where one is to be given", ofType("given", basis(interlock.RunBasis{Run: "r"})), tool("x", `{}`), impacts(),
			[]string{"type.runs deny"}},
		{"a run that is wrong", ofType("any", basis(interlock.RunBasis{Run: "r", Wrong: "it has ended"})), tool("x", `{}`), impacts(),
			[]string{"type.run deny"}},
		{"no run while some are given", ofType("any", basis(interlock.RunBasis{Delegated: true})), tool("x", `{}`), impacts(),
			[]string{"type.runs deny"}},
		{"an own run while some are given", ofType("any", basis(interlock.RunBasis{Run: "r", Delegated: true})), tool("x", `{}`), impacts(),
			[]string{"type.runs deny"}},
		{"by one who may not", ofType("any", basis(interlock.RunBasis{Run: "r", Delegated: true,
			Links: []interlock.RunHolder{{Agent: "a", Type: "any"}, {Agent: "b", Type: "refunds"}}})), tool("drop", `{}`), impacts(),
			[]string{"type.tools deny"}},
		{"by one nobody knows", ofType("any", basis(interlock.RunBasis{Run: "r", Delegated: true,
			Links: []interlock.RunHolder{{Agent: "a", Type: "lost"}}})), tool("write", `{}`), impacts(interlock.Impact{}),
			[]string{"type.undefined deny", "type.depth deny"}},
		{"by one who delegates nothing", ofType("any", basis(interlock.RunBasis{Run: "r", Delegated: true,
			Links: []interlock.RunHolder{{Agent: "a", Type: "supervised"}}})), tool("x", `{}`), impacts(), []string{"type.depth deny"}},
		{"too deep", ofType("any", basis(interlock.RunBasis{Run: "r", Delegated: true, Links: []interlock.RunHolder{{Agent: "a", Type: "any"},
			{Agent: "b", Type: "any"}, {Agent: "c", Type: "any"}}})), tool("x", `{}`), impacts(), []string{"type.depth deny"}},
		{"for a guest", ofType("any", basis(interlock.RunBasis{Run: "r", User: "guest-1"})), tool("write", `{}`), impacts(),
			[]string{"type.tools deny"}},
		{"for a guest, without a run", ofType("any", func(s *interlock.Snapshot) { s.Agent.Principal = "guest-1" }), tool("write", `{}`),
			impacts(), []string{"type.tools deny"}},
	} {
		got := says(gate.Type(rules, tc.snapshot, tc.action, tc.analysis))
		if diff := cmp.Diff(append([]string{}, tc.want...), append([]string{}, got...)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
	none := load(t, "")
	if got := gate.Type(none, ofType("nobody"), tool("write", `{}`), impacts(interlock.Impact{})); got != nil {
		t.Errorf("without types: %v", says(got))
	}
	if got := says(gate.Type(none, ofType("nobody", basis(interlock.RunBasis{Run: "r", Wrong: "x"})), tool("x", `{}`), impacts())); len(got) != 1 {
		t.Errorf("a run that is wrong, without types: %v", got)
	}
	reason := gate.Type(rules, ofType("refunds"), tool("refund", `{"amount":501}`), impacts())[0].Reason
	if reason != "the type refunds of this agent sets bounds to amount that this does not keep (parameters)" || strings.Contains(reason, "500") {
		t.Errorf("it says %q", reason)
	}
}

// TestNoChildMayMore: whatever the types, the chain and the action, what is found against an action in a delegated run is at least
// as strict as what would be found if any one of those who delegated it did it alone, and than what the agent's own type says.
func TestNoChildMayMore(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	pick := func(from ...string) string { return from[random.Intn(len(from))] }
	some := func(from ...string) string {
		list := slices.DeleteFunc(slices.Clone(from), func(string) bool { return random.Intn(2) == 0 })
		if len(list) == 0 {
			list = from[:1]
		}
		return `["` + strings.Join(list, `", "`) + `"]`
	}
	strictest := func(found []interlock.Finding) interlock.Verdict {
		v := interlock.Allow
		for _, f := range found {
			v = interlock.Stricter(v, f.Verdict)
		}
		return v
	}
	seen := map[interlock.Verdict]int{}
	for range 400 {
		document := "types:\n"
		for n := range 4 {
			document += fmt.Sprintf("  - {name: t%d, accountable: a, tier: 3, tools: %s, scopes: {paths: %s, hosts: %s}, data: %s, risk: %s, runs: %s}\n", n,
				some("*", "ls*", "refund", "Read"), some("workspace", "/data/*", "*"), some("*", "*.example.com"), some("personal", "secret"),
				pick("0", "20", "60"), pick(`""`, "required"))
		}
		rules := load(t, document)
		name := func() string { return pick("t0", "t1", "t2", "t3", "lost") }
		var links []interlock.RunHolder
		for n := range 1 + random.Intn(3) {
			links = append(links, interlock.RunHolder{Agent: fmt.Sprint("a", n), Type: name()})
		}
		own := name()
		action := tool(pick("refund", "Read", "drop"), `{}`)
		analysis := impacts(interlock.Impact{Kind: interlock.ImpactKind(pick("read", "write", "network", "delete")), Confidence: interlock.Parsed,
			Target: pick("a.txt", "/data/x", "/etc/x", "https://a.example.com/", "https://b.org"), Reach: interlock.Reach(pick("workspace", "external")),
			Reversibility: interlock.Reversibility(pick("readonly", "reversible", "irreversible")),
			Traits:        []string{pick(fact.TraitSecret, fact.TraitPersonal, fact.TraitRecursive)}})
		together := strictest(gate.Type(rules, ofType(own, basis(interlock.RunBasis{Run: "r", Delegated: true, Links: links})), action, analysis))
		seen[together]++
		for _, by := range append(links, interlock.RunHolder{Type: own}) {
			alone := strictest(gate.Type(rules, ofType(by.Type, basis(interlock.RunBasis{Run: "r"})), action, analysis))
			if together.Compare(alone) < 0 {
				t.Fatalf("%s\n%v in %+v is %v, and %v for %s alone", document, action, links, together, alone, by.Type)
			}
		}
	}
	if seen[interlock.Allow] == 0 || seen[interlock.Ask] == 0 || seen[interlock.Deny] == 0 {
		t.Errorf("it tries too little: %v", seen)
	}
}
