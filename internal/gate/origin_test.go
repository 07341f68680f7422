package gate_test

import (
	"slices"
	"strings"
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

// TestAct: which impacts are part of an act that matters to people beyond the workspace.
func TestAct(t *testing.T) {
	const external, production, workspace = interlock.ReachExternal, interlock.ReachProduction, interlock.ReachWorkspace
	for _, test := range []struct {
		name   string
		impact interlock.Impact
		want   string
	}{
		{"money", interlock.Impact{Kind: interlock.ImpactSpend}, gate.ActSpend},
		{"money in a trial", interlock.Impact{Kind: interlock.ImpactSpend, Traits: []string{fact.TraitDryRun}}, ""},
		{"money that is not spent", interlock.Impact{Kind: interlock.ImpactSpend, Traits: []string{fact.TraitNegated}}, ""},
		{"a message", interlock.Impact{Kind: interlock.ImpactMessage}, gate.ActMessage},
		{"an upload", interlock.Impact{Kind: interlock.ImpactNetwork, Reach: external, Traits: []string{fact.TraitUpload}}, gate.ActMessage},
		{"a publication", interlock.Impact{Kind: interlock.ImpactNetwork, Reach: production, Traits: []string{fact.TraitPublish}}, gate.ActMessage},
		{"an upload to the next folder", interlock.Impact{Kind: interlock.ImpactNetwork, Traits: []string{fact.TraitUpload}}, ""},
		{"a connection", interlock.Impact{Kind: interlock.ImpactNetwork, Reach: external}, ""},
		{"a file that reads like an upload", interlock.Impact{Kind: interlock.ImpactWrite, Reach: external, Traits: []string{fact.TraitUpload}}, ""},
		{"a secret", interlock.Impact{Kind: interlock.ImpactCredential}, gate.ActCredential},
		{"an account", interlock.Impact{Kind: interlock.ImpactWrite, Traits: []string{fact.TraitAccount}}, gate.ActAccount},
		{"an account that is looked at", interlock.Impact{Kind: interlock.ImpactRead, Traits: []string{fact.TraitAccount}}, ""},
		{"rights elsewhere", interlock.Impact{Kind: interlock.ImpactPrivilege, Reach: external}, gate.ActAccount},
		{"rights of a file", interlock.Impact{Kind: interlock.ImpactPrivilege, Reach: workspace}, ""},
		{"a deletion elsewhere", interlock.Impact{Kind: interlock.ImpactDelete, Reach: production}, gate.ActDelete},
		{"a deletion here", interlock.Impact{Kind: interlock.ImpactDelete, Reach: workspace}, ""},
		{"a write elsewhere", interlock.Impact{Kind: interlock.ImpactWrite, Reach: external}, ""},
	} {
		if got := gate.Act(&impacts(test.impact).Impacts[0]); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// TestOriginOfWhatIsOrdered: where a result gives orders, what counts as following them depends on what can be done at all.
func TestOriginOfWhatIsOrdered(t *testing.T) {
	ordered, linked := interlock.Origin{Ordered: 1}, interlock.Origin{Ordered: 1, Linked: 1}
	write := interlock.Impact{Kind: interlock.ImpactWrite}
	read := interlock.Impact{Kind: interlock.ImpactRead} // and something is left behind by it
	silent := interlock.Impact{Kind: interlock.ImpactNetwork, Reversibility: interlock.Readonly}
	far := interlock.Impact{Kind: interlock.ImpactRead, Reversibility: interlock.Readonly, Reach: interlock.ReachProduction}
	other := interlock.Impact{Kind: interlock.ImpactRead, Reversibility: interlock.Readonly, Reach: interlock.ReachExternal}
	secret := interlock.Impact{Kind: interlock.ImpactCredential, Reversibility: interlock.Readonly}
	for _, test := range []struct {
		name    string
		kind    interlock.Kind
		origin  interlock.Origin
		impacts []interlock.Impact
		want    []int // the impacts that are asked about; nil: none
	}{
		{"a tool that writes", interlock.KindTool, ordered, []interlock.Impact{looked, write}, []int{1}},
		{"a request that writes", interlock.KindHTTP, ordered, []interlock.Impact{write}, []int{0}},
		{"a command that writes here", interlock.KindShell, ordered, []interlock.Impact{write}, nil},
		{"a tool that reads", interlock.KindTool, ordered, []interlock.Impact{read}, nil},
		{"a tool that only looks", interlock.KindTool, ordered, []interlock.Impact{silent}, nil},
		{"a secret that is looked at", interlock.KindShell, ordered, []interlock.Impact{secret}, nil},
		{"a command that reaches production", interlock.KindShell, linked, []interlock.Impact{looked, far}, []int{1}},
		{"a command that reaches others", interlock.KindShell, linked, []interlock.Impact{looked, other}, []int{1}},
		{"a command that connects", interlock.KindShell, linked, []interlock.Impact{looked, silent}, []int{1}},
		{"a tool that only looks here", interlock.KindTool, linked, []interlock.Impact{looked}, []int{}},
		{"a request that only looks here", interlock.KindHTTP, linked, []interlock.Impact{looked}, []int{}},
		{"a command that only looks here", interlock.KindShell, linked, []interlock.Impact{looked}, nil},
		{"what was linked and not ordered", interlock.KindTool, interlock.Origin{Linked: 1}, []interlock.Impact{write}, nil},
	} {
		got := gate.Origin(nil, interlock.Snapshot{Origin: &test.origin}, interlock.Action{Kind: test.kind}, impacts(test.impacts...))
		if (test.want == nil) != (len(got) == 0) {
			t.Errorf("%s: %+v", test.name, got)
		} else if len(got) == 1 && (got[0].Rule != "origin.ordered" || !slices.Equal(test.want, got[0].Impacts)) {
			t.Errorf("%s: %s about %v, want %v", test.name, got[0].Rule, got[0].Impacts, test.want)
		}
	}
}

// TestOriginNamesItsSource: the reason says whose result it was, if that is known.
func TestOriginNamesItsSource(t *testing.T) {
	for source, want := range map[string]string{"": "a result of another call ", "fetch_page": "a result of fetch_page "} {
		got := gate.Origin(nil, interlock.Snapshot{Origin: &interlock.Origin{Ordered: 1, Source: source}}, interlock.Action{Kind: interlock.KindTool},
			impacts(mail))
		if len(got) != 1 || !strings.Contains(got[0].Reason, want) {
			t.Errorf("%q: %+v", source, got)
		}
	}
}

// TestOriginOfSeveralActs: the user must have asked for each, and what is no act needs no asking.
func TestOriginOfSeveralActs(t *testing.T) {
	pay, write := interlock.Impact{Kind: interlock.ImpactSpend}, interlock.Impact{Kind: interlock.ImpactWrite}
	secret := interlock.Impact{Kind: interlock.ImpactCredential}
	for _, test := range []struct {
		name    string
		asked   []string
		impacts []interlock.Impact
		want    []int
	}{
		{"both asked for", []string{gate.ActMessage, gate.ActSpend}, []interlock.Impact{mail, pay, write}, nil},
		{"one asked for", []string{gate.ActMessage}, []interlock.Impact{mail, write, pay}, []int{0, 2}},
		{"none is an act", nil, []interlock.Impact{write, secret}, nil},
	} {
		for rule, o := range map[string]*interlock.Origin{
			"origin.returned": {Prompted: true, Sent: 1, Asked: test.asked}, "origin.disputed": {Prompted: true, Disputed: 1, Asked: test.asked},
		} {
			got := gate.Origin(nil, interlock.Snapshot{Origin: o}, interlock.Action{Kind: interlock.KindShell}, impacts(test.impacts...))
			if (test.want == nil) != (len(got) == 0) || len(got) > 0 && (got[0].Rule != rule || !slices.Equal(test.want, got[0].Impacts)) {
				t.Errorf("%s, %s: %+v", rule, test.name, got)
			}
		}
	}
}

// TestWantedOfSecrets: a secret is wanted only from a tool and where the user named what it is of.
func TestWantedOfSecrets(t *testing.T) {
	secret := interlock.Impact{Kind: interlock.ImpactCredential}
	for _, test := range []struct {
		name    string
		kind    interlock.Kind
		named   int
		impacts []int
		want    bool
	}{
		{"of a tool, named", interlock.KindTool, 1, []int{0}, true},
		{"of a tool, not named", interlock.KindTool, 0, []int{0}, false},
		{"of a command, named", interlock.KindShell, 1, []int{0}, false},
		{"of nothing", interlock.KindTool, 1, nil, false},
	} {
		o := interlock.Origin{Prompted: true, Named: test.named, Asked: []string{gate.ActCredential}}
		if got := gate.Wanted(interlock.Snapshot{Origin: &o}, interlock.Action{Kind: test.kind}, impacts(secret),
			interlock.Finding{Impacts: test.impacts}); got != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
	}
	if gate.Wanted(interlock.Snapshot{}, interlock.Action{Kind: interlock.KindTool}, impacts(mail), interlock.Finding{Impacts: []int{0}}) {
		t.Error("where nothing was heard something is wanted")
	}
}
