package gate_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock"
	"interlock/internal/gate"
	"interlock/internal/impact"
	"interlock/internal/impact/fact"
	"interlock/internal/ruleset"
	"interlock/spec"
)

// TestRiskScoreInItsBand: where in its level's band a score lies, from the first number to the last.
func TestRiskScoreInItsBand(t *testing.T) {
	worst := interlock.Impact{Kind: interlock.ImpactSpend, Reach: interlock.ReachProduction, Reversibility: interlock.Irreversible,
		Traits: []string{fact.TraitBulk, fact.TraitForce}}
	for _, test := range []struct {
		name    string
		level   interlock.Danger
		impacts []interlock.Impact
		want    int
	}{
		{"nothing", interlock.DangerReversible, nil, 16},
		{"a read here", interlock.DangerReversible, []interlock.Impact{{Kind: interlock.ImpactRead, Reversibility: interlock.Readonly}}, 16},
		{"several reads here", interlock.DangerReversible,
			slices.Repeat([]interlock.Impact{{Kind: interlock.ImpactRead, Reversibility: interlock.Readonly}}, 20), 16},
		{"a write here", interlock.DangerReversible, []interlock.Impact{{}}, 17},                                            // 5 of 100
		{"a guessed write here", interlock.DangerReversible, []interlock.Impact{{Confidence: interlock.Inferred}}, 18},      // 10
		{"six writes here", interlock.DangerReversible, slices.Repeat([]interlock.Impact{{}}, 6), 19},                       // 15
		{"a write to another machine", interlock.DangerDangerous, []interlock.Impact{{Reach: interlock.ReachExternal}}, 68}, // 30
		{"the worst", interlock.DangerDangerous, []interlock.Impact{worst}, 85},
		{"many of the worst", interlock.DangerForbidden, slices.Repeat([]interlock.Impact{worst}, 40), 100},
		{"the worst beside the least", interlock.DangerSafe, []interlock.Impact{{}, worst}, 15},
		{"a level beyond the last", interlock.DangerForbidden + 1, nil, 100},
	} {
		if got := gate.RiskScore(test.level, impacts(test.impacts...).Impacts); got != test.want {
			t.Errorf("%s: %d, want %d", test.name, got, test.want)
		}
	}
}

// profiled loads the profile with one part of it changed.
func profiled(t *testing.T, from, to string) *ruleset.Ruleset {
	t.Helper()
	changed := strings.Replace(profiles, from, to, 1)
	rules, err := ruleset.Load(map[string][]byte{"profiles/p.yaml": []byte(changed)}, nil)
	if err != nil || changed == profiles {
		t.Fatal(err, changed)
	}
	return rules
}

// TestRiskAtTheProfilesBound: a score that is just the profile's is asked about, and a profile without one asks about none.
func TestRiskAtTheProfilesBound(t *testing.T) {
	far := impacts(interlock.Impact{Reach: interlock.ReachProduction, Reversibility: interlock.Irreversible, Traits: []string{fact.TraitForce}})
	for bound, want := range map[string][]string{"80": {"risk.score ask guess"}, "81": {}, "0": {}} {
		rules := profiled(t, `"risk":75`, `"risk":`+bound)
		if diff := cmp.Diff(want, says(gate.Risk(rules, guard(), interlock.Action{}, far))); diff != "" {
			t.Errorf("bound %s (-want +got):\n%s", bound, diff)
		}
	}
	s := guard()
	s.Profile = "none"
	if got := gate.Risk(load(t, ""), s, interlock.Action{}, far); len(got) > 0 {
		t.Errorf("a profile that there is not: %v", says(got))
	}
}

// TestScopeOfWhatActs: what changes something, or leaves the machine even to look, is held against the profile's reach.
func TestScopeOfWhatActs(t *testing.T) {
	for _, test := range []struct {
		name   string
		impact interlock.Impact
		want   []string
	}{
		{"a file is read", interlock.Impact{Kind: interlock.ImpactRead, Reversibility: interlock.Readonly}, []string{}},
		{"a page is opened", interlock.Impact{Kind: interlock.ImpactNetwork, Reversibility: interlock.Readonly}, []string{"scope.reach ask"}},
		{"a read that leaves something", interlock.Impact{Kind: interlock.ImpactRead}, []string{"scope.reach ask"}},
		{"a write", interlock.Impact{}, []string{"scope.reach ask"}},
	} {
		test.impact.Reach = interlock.ReachExternal
		if diff := cmp.Diff(test.want, says(gate.Scope(load(t, ""), guard(), interlock.Action{}, impacts(test.impact)))); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
	}
}

// TestScopeOfUnnamedAgents: a list is for the agents whose id or type it names, and for nobody without either.
func TestScopeOfUnnamedAgents(t *testing.T) {
	rules := load(t, "scope: [{agent: '*', allow: ['git *']}]")
	for _, test := range []struct {
		agent interlock.AgentRecord
		want  []string
	}{
		{interlock.AgentRecord{}, []string{}},
		{interlock.AgentRecord{ID: "a1"}, []string{"scope.not-listed deny"}},
		{interlock.AgentRecord{Type: "claude"}, []string{"scope.not-listed deny"}},
	} {
		s := guard()
		s.Agent = test.agent
		if diff := cmp.Diff(test.want, says(gate.Scope(rules, s, interlock.Action{Kind: interlock.KindShell}, shellTexts("ls")))); diff != "" {
			t.Errorf("%+v: %s", test.agent, diff)
		}
	}
}

// TestPolicyWithoutAName: a glob over everything does not meet a tool without a name, and names in prose only where prose is.
func TestPolicyWithoutAName(t *testing.T) {
	rules := load(t, "policy: {deny: ['*']}")
	if got := gate.Policy(rules, guard(), interlock.Action{Kind: interlock.KindShell}, impact.Analysis{}); len(got) > 0 {
		t.Errorf("a tool without a name: %v", says(got))
	}
	spoken := impact.Analysis{Spoken: []string{"wipe disk"}}
	for kind, want := range map[interlock.Kind]int{interlock.KindHint: 1, interlock.KindText: 0} {
		for _, policy := range []string{"policy: {deny: ['wipe *']}", "policy: {requiresApproval: ['wipe *']}"} {
			if got := gate.Policy(load(t, policy), guard(), interlock.Action{Kind: kind}, spoken); len(got) != want {
				t.Errorf("%s, %s: %v", policy, kind, says(got))
			}
		}
	}
}

// TestAutoApprovedTexts: a text that calls the tool is covered by the tool's name, and a command is not.
func TestAutoApprovedTexts(t *testing.T) {
	rules := load(t, "policy: {autoApprove: [srv.note]}")
	for _, test := range []struct {
		kind interlock.Kind
		tool string
		want bool
	}{
		{interlock.KindTool, "srv.note", true}, {interlock.KindShell, "srv.note", false}, {interlock.KindTool, "srv.other", false},
		{interlock.KindTool, "", false},
	} {
		analysis := impact.Analysis{Texts: []fact.Text{{Kind: test.kind, Value: "note"}}}
		if got := gate.AutoApproved(rules, interlock.Snapshot{}, interlock.Action{Kind: interlock.KindTool, Tool: test.tool}, analysis); got != test.want {
			t.Errorf("%s %q: %v", test.kind, test.tool, got)
		}
	}
}

// TestProfileSaysWhichImpacts: every impact that a row meets is evidence of its one finding, and an empty action gets what the
// profile says of that.
func TestProfileSaysWhichImpacts(t *testing.T) {
	spend, write := interlock.Impact{Kind: interlock.ImpactSpend}, interlock.Impact{}
	got := gate.Profile(load(t, ""), guard(), interlock.Action{}, impacts(spend, write, spend, interlock.Impact{Kind: interlock.ImpactMessage}))
	if diff := cmp.Diff([]string{"profile.guard.money deny", "profile.guard.end ask"}, says(got)); diff != "" {
		t.Fatal(diff)
	}
	if !slices.Equal(got[0].Impacts, []int{0, 2}) || !slices.Equal(got[1].Impacts, []int{3}) || got[0].Reason != "no money" ||
		!strings.Contains(got[1].Reason, "nothing in the profile grants this") {
		t.Errorf("%+v", got)
	}
	rules := profiled(t, `"empty":"allow"`, `"empty":"ask"`)
	if diff := cmp.Diff([]string{"profile.guard.empty ask"}, says(gate.Profile(rules, guard(), interlock.Action{}, impacts()))); diff != "" {
		t.Error(diff)
	}
}

// TestSelfOfImpacts: reading what holds the key, and changing anything of Interlock's, but for what only tells or tries.
func TestSelfOfImpacts(t *testing.T) {
	const read, network = interlock.ImpactRead, interlock.ImpactNetwork
	for _, test := range []struct {
		name   string
		impact interlock.Impact
		want   []string
	}{
		{"a credential is read", interlock.Impact{Kind: interlock.ImpactCredential, Reversibility: interlock.Readonly}, []string{"self.read-key deny"}},
		{"a page of it is opened", interlock.Impact{Kind: network, Reversibility: interlock.Readonly}, []string{}},
		{"a read that leaves something", interlock.Impact{Kind: read}, []string{}},
		{"a secret is changed", interlock.Impact{Traits: []string{fact.TraitSecret}}, []string{"self.change deny"}},
		{"a trial", interlock.Impact{Traits: []string{fact.TraitDryRun}}, []string{}},
		{"the program is started", interlock.Impact{Kind: interlock.ImpactSpawn, Via: "interlock up"}, []string{}},
		{"another program is started", interlock.Impact{Kind: interlock.ImpactSpawn, Via: "other"}, []string{"self.change deny"}},
		{"nobody's program is started", interlock.Impact{Kind: interlock.ImpactSpawn}, []string{"self.change deny"}},
		{"the program writes", interlock.Impact{Via: "interlock"}, []string{"self.change deny"}},
		{"an outcome is told", interlock.Impact{Kind: network, Target: "http://localhost:7433/v1/outcome"}, []string{}},
		{"a file of that name", interlock.Impact{Target: "/v1/outcome"}, []string{"self.change deny"}},
	} {
		test.impact.Reach = interlock.ReachSelf
		if diff := cmp.Diff(test.want, says(gate.Self(nil, guard(), interlock.Action{}, impacts(test.impact)))); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
	}
}

// TestSelfTakenWhole: who packs the folder that the key is in reads the key; one of Interlock's files that is none of its keys may be packed.
func TestSelfTakenWhole(t *testing.T) {
	for target, want := range map[string][]string{"/home/ada/.local/share/interlock": {"self.read-key deny"},
		"/home/ada/.interlock":                            {"self.read-key deny"},
		"/home/ada/.local/share/interlock/interlock.yaml": {}, "/usr/local/bin/interlock": {}} {
		read := interlock.Impact{Kind: interlock.ImpactRead, Reversibility: interlock.Readonly, Reach: interlock.ReachSelf, Target: target, Via: "tar"}
		if diff := cmp.Diff(want, says(gate.Self(nil, guard(), interlock.Action{}, impacts(read)))); diff != "" {
			t.Errorf("%s: %s", target, diff)
		}
		if read.Via = "ls"; len(gate.Self(nil, guard(), interlock.Action{}, impacts(read))) > 0 {
			t.Errorf("%s can't be listed", target)
		}
	}
}

// TestAgentsReadNoLog: where an agent acts at a tier it reads the log neither by a command nor as a file, and may ask whether it is whole;
// where no tier is in force both are as they were.
func TestAgentsReadNoLog(t *testing.T) {
	spec.Covers(t, "EC-L-4")
	tiers := map[string]*ruleset.Ruleset{"": load(t, ""), "for all": load(t, "maso: {tier: 1}"),
		"of the type": load(t, `types: [{name: claude, accountable: ada, tools: ["*"], tier: 1}]`)}
	for tier, rules := range tiers {
		reads := func(what string, found []interlock.Finding, want bool) {
			got := slices.Contains(says(found), "self.read-log deny")
			if got != (want && tier != "") {
				t.Errorf("tier %q, %s: %v", tier, what, says(found))
			}
		}
		for target, want := range map[string]bool{"/h/interlock.db": true, "/h/interlock.db-wal": true, "/h/interlock.d*": true, "/h/*": true,
			"/h/interlock.yaml": false, "/h/interlock": false} {
			read := interlock.Impact{Kind: interlock.ImpactRead, Reversibility: interlock.Readonly, Reach: interlock.ReachSelf, Target: target, Via: "cat"}
			reads(target, gate.Self(rules, guard(), interlock.Action{}, impacts(read)), want)
			read.Via = "ls"
			reads("listing "+target, gate.Self(rules, guard(), interlock.Action{}, impacts(read)), false)
			read.Via, read.Reach = "cat", interlock.ReachWorkspace
			reads("somebody's own "+target, gate.Self(rules, guard(), interlock.Action{}, impacts(read)), false)
		}
		for command, want := range map[string]bool{"interlock audit list": true, "interlock audit show e1": true, "interlock audit prove e1": true,
			"interlock audit verify": false, "interlock audit checkpoint": false, "interlock check ls": false, "grep audit list": false} {
			reads(command, gate.Self(rules, guard(), interlock.Action{Kind: interlock.KindShell}, shellTexts(command)), want)
		}
	}
}

// TestSelfOfCommands: what TestSelf does not try: capitals, odd ends, and words that only look like the program.
func TestSelfOfCommands(t *testing.T) {
	for command, want := range map[string]string{
		"INTERLOCK approve r1":                 "self.answer",
		"interlock.exe approve r1":             "self.answer",
		"interlock -h approve":                 "",
		"interlock -v approve r1":              "self.answer",
		"interlock keys show":                  "",
		"interlock agent show x":               "",
		"interlock operator list":              "",
		"interlock grant list":                 "",
		"interlock rules":                      "self.command",
		"interlock rules show x":               "",
		"interlock rules edit":                 "self.command",
		"interlock audit":                      "self.command",
		"interlockd approve r1":                "",
		"xinterlock approve":                   "",
		"pkill":                                "",
		"kill interlock":                       "self.stop",
		"interlock-watch kill":                 "",
		"echo kill interlock":                  "",
		"go":                                   "",
		"go run":                               "",
		"go run -race ./cmd/interlock vote r1": "self.answer",
		"go.exe run ./cmd/interlock vote r1":   "self.answer",
		"go vet ./cmd/interlock run approve":   "",
		"systemctl interlock":                  "self.stop",
		"systemctl -n 5 interlock":             "self.stop",
		"systemctl --user":                     "",
		"systemctl list-units interlock":       "",
		"service interlock status now":         "self.stop",
		"service status interlock":             "self.stop",
		"rc-service interlock status":          "",
		"launchctl list interlock":             "",
		"launchctl kickstart interlock":        "self.stop",
		"pkill status interlock":               "self.stop",
	} {
		var got []string
		for _, f := range gate.Self(nil, guard(), interlock.Action{Kind: interlock.KindShell}, shellTexts(command)) {
			got = append(got, f.Rule)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %v, want %q", command, got, want)
		}
	}
	prose := impact.Analysis{Texts: []fact.Text{{Kind: interlock.KindSQL, Value: "interlock approve r1"}}}
	if got := gate.Self(nil, guard(), interlock.Action{}, prose); len(got) > 0 {
		t.Errorf("a text that no shell runs: %v", says(got))
	}
}

// TestUnknownSaysWhat: of what can't be understood, as much as can be told of it.
func TestUnknownSaysWhat(t *testing.T) {
	const general = "part of this could not be understood"
	inline := func(more ...string) []string { return append([]string{fact.TraitInline}, more...) }
	for _, test := range []struct {
		name   string
		impact interlock.Impact
		want   string
	}{
		{"a value", interlock.Impact{Kind: interlock.ImpactExecute, Target: "$X", Via: "sh", Traits: []string{fact.TraitDynamic}}, "what $X stands for"},
		{"no value", interlock.Impact{Kind: interlock.ImpactExecute, Via: "sh", Traits: []string{fact.TraitDynamic}}, "what would run is only known"},
		{"only the program", interlock.Impact{Kind: interlock.ImpactExecute, Target: "sh", Via: "sh", Traits: []string{fact.TraitDynamic}},
			"what would run is only known"},
		{"a wrapper", interlock.Impact{Target: "x", Traits: []string{fact.TraitWrapper}}, "the command is run by a program that is not known"},
		{"a program that deletes", interlock.Impact{Kind: interlock.ImpactDelete, Target: "p", Via: "python3", Traits: inline()},
			"the python3 code deletes p"},
		{"a program that writes", interlock.Impact{Kind: interlock.ImpactWrite, Target: "p", Via: "perl", Traits: inline()}, "the perl code changes p"},
		{"a program that gives rights", interlock.Impact{Kind: interlock.ImpactPrivilege, Target: "p", Via: "perl", Traits: inline()},
			"the perl code changes p"},
		{"a program that calls", interlock.Impact{Kind: interlock.ImpactExecute, Target: "p", Via: "ruby", Traits: inline(fact.TraitUnsupported)},
			"the ruby code calls p"},
		{"a program that runs", interlock.Impact{Kind: interlock.ImpactExecute, Target: "p", Via: "ruby", Traits: inline(fact.TraitDynamic)},
			"the ruby code runs something"},
		{"a program that does else", interlock.Impact{Kind: interlock.ImpactExecute, Target: "p", Via: "ruby", Traits: inline()}, general},
		{"a program that deletes nothing named", interlock.Impact{Kind: interlock.ImpactDelete, Via: "ruby", Traits: inline()}, general},
		{"a deletion", interlock.Impact{Kind: interlock.ImpactDelete, Target: "p", Via: "rm"}, general},
	} {
		test.impact.Confidence = interlock.Unknown
		got := gate.Unknown(nil, guard(), interlock.Action{}, impacts(interlock.Impact{}, test.impact))
		if len(got) != 1 || !strings.HasPrefix(got[0].Reason, test.want) || !slices.Equal(got[0].Impacts, []int{1}) {
			t.Errorf("%s: %+v, want %q", test.name, got, test.want)
		}
	}
	for name, i := range map[string]interlock.Impact{"confidence": {Confidence: "sure"}, "kind": {Kind: "fly"}, "reach": {Reach: "moon"},
		"reversibility": {Reversibility: "never"}} {
		if got := gate.Unknown(nil, guard(), interlock.Action{}, impacts(i)); len(got) != 1 {
			t.Errorf("a word for %s that nobody knows: %v", name, says(got))
		}
	}
}
