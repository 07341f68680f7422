package gate_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"interlock"
	"interlock/internal/gate"
	"interlock/internal/impact"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/impacttest"
	"interlock/internal/impact/prose"
	"interlock/internal/ruleset"
	"interlock/spec"
)

const profiles = `{"profiles":[{"name":"guard","about":"x","trust":"community_reviewed","risk":75,"empty":"allow",
	"reach":["workspace","home"],
	"rows":[{"id":"read","when":{"kind":["read"]},"verdict":"allow"},
	{"id":"work","when":{"kind":["write","delete"],"reach":["workspace"]},"verdict":"allow"},
	{"id":"money","when":{"kind":["spend"]},"verdict":"deny","reason":"no money"}]}]}`

func load(t *testing.T, user string) *ruleset.Ruleset {
	t.Helper()
	files := map[string][]byte{}
	if user != "" {
		files["team.yaml"] = []byte(user)
	}
	rules, err := ruleset.Load(map[string][]byte{"profiles/p.yaml": []byte(profiles)}, files)
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

func guard() interlock.Snapshot {
	return interlock.Snapshot{Profile: "guard", Agent: interlock.AgentRecord{ID: "a1", Type: "claude"}}
}

func registered(trust interlock.Trust) interlock.Snapshot {
	s := guard()
	s.Agent.Trust, s.Agent.Created = trust, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	return s
}

func impacts(list ...interlock.Impact) impact.Analysis {
	for n := range list {
		i := &list[n]
		if i.Kind == "" {
			i.Kind = interlock.ImpactWrite
		}
		if i.Reach == "" {
			i.Reach = interlock.ReachWorkspace
		}
		if i.Reversibility == "" {
			i.Reversibility = interlock.Reversible
		}
		if i.Confidence == "" {
			i.Confidence = interlock.Parsed
		}
	}
	return impact.Analysis{Impacts: list}
}

func shellTexts(commands ...string) impact.Analysis {
	var a impact.Analysis
	for _, c := range commands {
		a.Texts = append(a.Texts, fact.Text{Kind: interlock.KindShell, Value: c})
	}
	return a
}

// says writes findings as "rule verdict" for comparison.
func says(findings []interlock.Finding) []string {
	out := []string{}
	for _, f := range findings {
		word := f.Rule + " " + f.Verdict.String()
		if f.Heuristic {
			word += " guess"
		}
		out = append(out, word)
	}
	return out
}

// levels are impacts that show, or whose names argue for, each danger level.
var levels = map[interlock.Danger]interlock.Impact{
	interlock.DangerSafe:        {Kind: interlock.ImpactRead, Reversibility: interlock.Readonly},
	interlock.DangerReversible:  {Kind: interlock.ImpactWrite},
	interlock.DangerDestructive: {Kind: interlock.ImpactDelete, Reversibility: interlock.Window},
	interlock.DangerDangerous:   {Kind: interlock.ImpactWrite, Traits: []string{fact.TraitNamedDangerous}},
	interlock.DangerForbidden:   {Kind: interlock.ImpactWrite, Traits: []string{fact.TraitNamedForbidden}},
}

// TestDangerLevelsAreNumbered: name, number and order are the specification's.
func TestDangerLevelsAreNumbered(t *testing.T) {
	spec.Covers(t, "AQL-D-2.1")
	for number, name := range []string{"safe", "reversible", "destructive", "dangerous", "forbidden"} {
		var level interlock.Danger
		if err := level.UnmarshalText([]byte(name)); err != nil || int(level) != number || level.String() != name {
			t.Errorf("%s is %d, %v", name, int(level), err)
		}
		if low, high := gate.RiskScore(level, nil), [...]int{15, 40, 60, 85, 100}[number]; low > high ||
			number > 0 && low != [...]int{0, 16, 41, 61, 86}[number] {
			t.Errorf("%s begins at a risk of %d", name, low)
		}
	}
	if _, err := interlock.Danger(5).MarshalText(); err == nil {
		t.Error("there is a sixth level")
	}
	if interlock.DangerSafe != 0 || interlock.DangerReversible != 1 || interlock.DangerDestructive != 2 || interlock.DangerDangerous != 3 ||
		interlock.DangerForbidden != 4 {
		t.Error("the levels are out of order")
	}
}

func TestMatrixOfDangerAndTrust(t *testing.T) {
	spec.Covers(t, "AQL-D-2.1")
	spec.Covers(t, "AQL-D-4.1-untested")
	spec.Covers(t, "AQL-D-4.1-generated")
	spec.Covers(t, "AQL-D-4.1-validated")
	spec.Covers(t, "AQL-D-4.1-community")
	spec.Covers(t, "AQL-D-4.1-certified")
	spec.Covers(t, "AQL-D-7.1-2")
	rules := load(t, "")
	for level, want := range map[interlock.Danger]string{ // untested, generated, validated, community reviewed, certified
		interlock.DangerSafe:        "deny allow allow allow allow",
		interlock.DangerReversible:  "deny deny allow allow allow",
		interlock.DangerDestructive: "deny deny ask allow allow",
		interlock.DangerDangerous:   "deny deny deny ask allow",
		interlock.DangerForbidden:   "deny deny deny deny ask",
	} {
		var got []string
		for trust := interlock.TrustUntested; trust <= interlock.TrustCertified; trust++ {
			verdict := interlock.Allow
			for _, f := range gate.Danger(rules, registered(trust), interlock.Action{Kind: interlock.KindTool, Tool: "x"}, impacts(levels[level])) {
				verdict = interlock.Stricter(verdict, f.Verdict)
				if confirm := len(f.Obligations) == 1 && f.Obligations[0].Type == interlock.ObligationConfirm; confirm != (f.Verdict == interlock.Ask) {
					t.Errorf("%v at %v: %v with obligations %v", level, trust, f.Verdict, f.Obligations)
				}
			}
			got = append(got, verdict.String())
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%v: have %v, want %v", level, got, want)
		}
	}
	introspect := interlock.Action{Kind: interlock.KindTool, Tool: "introspect_operations"}
	if got := gate.Danger(rules, registered(interlock.TrustUntested), introspect, impacts(levels[interlock.DangerSafe])); len(got) != 0 {
		t.Errorf("an untested adapter can't introspect: %v", says(got))
	}
	if got := gate.Danger(rules, registered(interlock.TrustUntested), introspect, impacts(levels[interlock.DangerReversible])); len(got) == 0 {
		t.Error("an untested adapter changes something under an introspecting name")
	}
}

func TestUndeclaredDanger(t *testing.T) {
	spec.Covers(t, "AQL-D-3.3")
	spec.Covers(t, "AQL-D-7.1-1")
	rules := load(t, "")
	for _, test := range []struct {
		name   string
		impact interlock.Impact
		want   interlock.Danger
	}{
		{"read", interlock.Impact{Kind: "read", Reversibility: "readonly"}, interlock.DangerSafe},
		{"create or update", interlock.Impact{Kind: "write"}, interlock.DangerReversible},
		{"delete", interlock.Impact{Kind: "delete"}, interlock.DangerDestructive},
		{"execute", interlock.Impact{Kind: "execute"}, interlock.DangerReversible},
		{"irreversible", interlock.Impact{Kind: "write", Reversibility: "irreversible"}, interlock.DangerDestructive},
		{"irreversible in production", interlock.Impact{Kind: "write", Reversibility: "irreversible", Reach: "production"}, interlock.DangerDangerous},
		{"a device", interlock.Impact{Kind: "write", Reversibility: "irreversible", Traits: []string{"device"}}, interlock.DangerDangerous},
		{"a trial", interlock.Impact{Kind: "delete", Traits: []string{"dry-run"}}, interlock.DangerSafe},
		{"unknown", interlock.Impact{Kind: "execute", Confidence: "unknown"}, interlock.DangerDestructive},
		{"outside the vocabulary", interlock.Impact{Kind: "fly"}, interlock.DangerDestructive},
	} {
		got, declared, _ := gate.DangerLevel(rules, guard(), interlock.Action{Kind: interlock.KindTool, Tool: "x"}, impacts(test.impact))
		if got != test.want || declared {
			t.Errorf("%s: have %v declared %v, want %v", test.name, got, declared, test.want)
		}
	}
}

func TestDeclaredDanger(t *testing.T) {
	spec.Covers(t, "AQL-D-5.1")
	spec.Covers(t, "AQL-D-5.3")
	forbiddenName := impacts(interlock.Impact{Kind: "write", Traits: []string{fact.TraitNamedForbidden, fact.TraitNamedDangerous}})
	action := interlock.Action{Kind: interlock.KindTool, Tool: "reset_view"}
	for _, test := range []struct {
		name     string
		rules    string
		snapshot []interlock.DangerRule
		want     interlock.Danger
	}{
		{"of several patterns the highest", "", nil, interlock.DangerForbidden},
		{"declared for the adapter", "", []interlock.DangerRule{{Name: "reset_*", Level: interlock.DangerSafe}}, interlock.DangerReversible},
		{"declared for another", "", []interlock.DangerRule{{Name: "other", Level: interlock.DangerSafe}}, interlock.DangerForbidden},
		{"declared higher", "", []interlock.DangerRule{{Name: "*view", Level: interlock.DangerDangerous}}, interlock.DangerDangerous},
		{"an operator does not lower", "danger: [{name: reset_view, level: safe}]", nil, interlock.DangerForbidden},
		{"an operator raises what is declared", "danger: [{name: reset_view, level: dangerous}]",
			[]interlock.DangerRule{{Name: "reset_*", Level: interlock.DangerSafe}}, interlock.DangerDangerous},
	} {
		snapshot := guard()
		snapshot.Danger = test.snapshot
		if got, _, _ := gate.DangerLevel(load(t, test.rules), snapshot, action, forbiddenName); got != test.want {
			t.Errorf("%s: have %v, want %v", test.name, got, test.want)
		}
	}
	raised := load(t, "danger: [{name: reset_view, level: forbidden}]")
	got := says(gate.Danger(raised, guard(), action, impacts(interlock.Impact{})))
	if diff := cmp.Diff([]string{"danger.forbidden deny"}, got); diff != "" {
		t.Errorf("a declared level is no guess: %s", diff)
	}
}

func TestSelf(t *testing.T) {
	spec.Covers(t, "ASA-6.1-3")
	for command, want := range map[string]string{
		"interlock approve r1":                                            "self.answer halt",
		"interlock allow apr_4f2a9c01d7e3 --until-revoked":                "self.answer halt",
		"go run ./cmd/interlock approve r1":                               "self.answer halt",
		"go -C src run -tags x interlock/cmd/interlock@latest approve r1": "self.answer halt",
		"go run ./cmd/interlock uninstall claude":                         "self.command deny",
		"go run ./cmd/interlock check ls":                                 "",
		"go run ./cmd/interlock-bench approve":                            "",
		"go build ./cmd/interlock":                                        "",
		"go test ./cmd/interlock":                                         "",
		"/opt/bin/interlock deny r1":                                      "self.answer halt",
		"interlock --home /tmp/x approve r1":                              "self.command deny",
		"interlock vote r1":                                               "self.answer halt",
		"interlock verify r1 123456":                                      "self.answer halt",
		"interlock operator add me --ssh-key k":                           "self.answer halt",
		"interlock rules suppress net.upload --for 1d":                    "self.answer halt",
		"interlock rules unsuppress sup_1":                                "self.answer halt",
		"interlock --rules d rules suppress net.upload":                   "self.command deny",
		"interlock grant give --tool x --times 1":                         "self.answer halt",
		"interlock grant end grt_1 --as olga":                             "self.answer halt",
		"interlock block lift c1":                                         "self.answer halt",
		"interlock block code c1":                                         "self.answer halt",
		"interlock watch --codes":                                         "self.answer halt",
		"interlock block list":                                            "",
		"interlock agent add x":                                           "self.answer halt",
		"interlock keys rotate":                                           "self.answer halt",
		"interlock pause":                                                 "self.answer halt",
		"interlock kill a1":                                               "self.answer halt",
		"interlock uninstall claude":                                      "self.command deny",
		"interlock install claude":                                        "self.command deny",
		"interlock up":                                                    "self.command deny",
		"interlock exec -- rm x":                                          "self.command deny",
		"interlock frobnicate":                                            "self.command deny",
		"interlock audit export":                                          "self.command deny",
		"pkill -f interlock":                                              "self.stop deny",
		"systemctl stop interlock":                                        "self.stop deny",
		"killall interlock":                                               "self.stop deny",
		"systemctl status interlock":                                      "",
		"systemctl --user status interlock":                               "",
		"systemctl --user --no-pager -n 20 status interlock":              "",
		"service interlock status":                                        "",
		"launchctl print gui/501/interlock":                               "",
		"systemctl --user stop interlock":                                 "self.stop deny",
		"systemctl -p status stop interlock":                              "self.stop deny",
		"systemctl -s show kill interlock":                                "self.stop deny",
		"service interlock stop":                                          "self.stop deny",
		"launchctl bootout gui/501/interlock":                             "self.stop deny",
		"interlock":                                                       "",
		"interlock --help":                                                "",
		"interlock approve --help":                                        "",
		"interlock check --kind shell 'rm -rf /'":                         "",
		"interlock doctor":                                                "",
		"interlock version":                                               "",
		"interlock pending":                                               "",
		"interlock rules list":                                            "",
		"interlock audit verify":                                          "",
		"interlock operator list":                                         "",
		"grep -rn 'interlock approve' docs":                               "",
		"cat docs/interlock.md":                                           "",
		"kill 4242":                                                       "",
		"go test ./internal/interlock -run TestApprove":                   "",
	} {
		want := strings.Fields(want + " ")
		var got []string
		for _, f := range gate.Self(nil, guard(), interlock.Action{Kind: interlock.KindShell}, shellTexts(command)) {
			got = append(got, f.Rule, f.Verdict.String())
			if f.Layer != 1 {
				t.Errorf("%q: layer %d", command, f.Layer)
			}
		}
		if strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("%q: have %v, want %v", command, got, want)
		}
	}
	for _, test := range []struct {
		name   string
		impact interlock.Impact
		want   []string
	}{
		{"write", interlock.Impact{Kind: "write", Reach: "self"}, []string{"self.change deny"}},
		{"delete by trait", interlock.Impact{Kind: "delete", Reach: "home", Traits: []string{"self"}}, []string{"self.change deny"}},
		{"read", interlock.Impact{Kind: "read", Reach: "self", Reversibility: "readonly"}, []string{}},
		{"read a key", interlock.Impact{Kind: "read", Reach: "self", Reversibility: "readonly", Traits: []string{"secret"}}, []string{"self.read-key deny"}},
		{"copy a folder that holds the key",
			interlock.Impact{Kind: "read", Reach: "self", Reversibility: "readonly", Traits: []string{"recursive"}}, []string{"self.read-key deny"}},
		{"ask for a decision", interlock.Impact{Kind: "network", Reach: "self", Target: "http://127.0.0.1:7433/v1/decide"}, []string{}},
		{"register a run", interlock.Impact{Kind: "network", Reach: "self", Target: "http://127.0.0.1:7433/v1/runs"}, []string{}},
		{"end a run", interlock.Impact{Kind: "network", Reach: "self",
			Target: "http://127.0.0.1:7433/v1/runs/run_0123456789abcdef01234567/end"}, []string{}},
		{"something else of a run", interlock.Impact{Kind: "network", Reach: "self",
			Target: "http://127.0.0.1:7433/v1/runs/run_0123456789abcdef01234567/approve"}, []string{"self.change deny"}},
		{"another endpoint", interlock.Impact{Kind: "network", Reach: "self", Target: "http://127.0.0.1:7433/v1/approve"}, []string{"self.change deny"}},
		{"run the program", interlock.Impact{Kind: "execute", Reach: "self", Via: "/usr/bin/interlock"}, []string{}},
		{"elsewhere", interlock.Impact{Kind: "write", Reach: "home"}, []string{}},
	} {
		if diff := cmp.Diff(test.want, says(gate.Self(nil, guard(), interlock.Action{}, impacts(test.impact)))); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
	}
}

func TestScope(t *testing.T) {
	spec.Covers(t, "ASA-6.3-1")
	spec.Covers(t, "ASA-6.3-3")
	bash := interlock.Action{Kind: interlock.KindShell, Tool: "Bash"}
	limited := guard()
	limited.Agent.Allow = []string{"git *"}
	named := guard()
	named.Agent.Allow = []string{"bash"}
	revoked := guard()
	revoked.Agent.Revoked = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		name     string
		rules    string
		snapshot interlock.Snapshot
		analysis impact.Analysis
		want     []string
	}{
		{"no list", "", guard(), shellTexts("ls"), []string{}},
		{"listed", "", limited, shellTexts("git status", "git push"), []string{}},
		{"not listed", "", limited, shellTexts("git status", "ls"), []string{"scope.not-listed deny"}},
		{"nothing executed", "", limited, impact.Analysis{}, []string{"scope.not-listed deny"}},
		{"the tool is listed", "", named, shellTexts("ls"), []string{}},
		{"by type", "scope: [{agent: 'cl*', allow: ['git *']}]", guard(), shellTexts("ls"), []string{"scope.not-listed deny"}},
		{"of another agent", "scope: [{agent: 'gem*', allow: ['git *']}]", guard(), shellTexts("ls"), []string{}},
		{"two lists", "scope: [{agent: 'a1', allow: ['ls']}]", limited, shellTexts("git status"), []string{"scope.not-listed deny"}},
		{"revoked", "", revoked, impact.Analysis{}, []string{"scope.revoked deny"}},
		{"reach", "", guard(), impacts(interlock.Impact{Kind: "write", Reach: "system"}), []string{"scope.reach ask"}},
		{"reading further", "", guard(), impacts(interlock.Impact{Kind: "read", Reach: "system", Reversibility: "readonly"}), []string{}},
	} {
		if diff := cmp.Diff(test.want, says(gate.Scope(load(t, test.rules), test.snapshot, bash, test.analysis))); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
	}
}

func TestPolicy(t *testing.T) {
	rules := load(t, "policy: {deny: ['make deploy*', mcp__x__wipe], requiresApproval: ['npm publish'], autoApprove: ['npm test*', mcp__y__note]}")
	for _, test := range []struct {
		tool, command string
		want          []string
		approved      bool
	}{
		{"Bash", "MAKE deploy now", []string{"policy.deny deny"}, false},
		{"mcp__x__wipe", "", []string{"policy.deny deny"}, false},
		{"Bash", "npm publish", []string{"policy.requires-approval ask"}, false},
		{"Bash", "npm publish --tag x", []string{}, false},
		{"Bash", "npm test -- a", []string{}, true},
		{"mcp__y__note", "", []string{}, true},
	} {
		action := interlock.Action{Kind: interlock.KindShell, Tool: test.tool}
		analysis := shellTexts(test.command)
		if test.command == "" {
			action.Kind, analysis = interlock.KindTool, impact.Analysis{Texts: []fact.Text{{Kind: interlock.KindTool, Value: "note"}}}
		}
		if diff := cmp.Diff(test.want, says(gate.Policy(rules, guard(), action, analysis))); diff != "" {
			t.Errorf("%s %s: %s", test.tool, test.command, diff)
		}
		if got := gate.AutoApproved(rules, interlock.Snapshot{}, action, analysis); got != test.approved {
			t.Errorf("%s %s: approved %v", test.tool, test.command, got)
		}
	}
	bash := interlock.Action{Kind: interlock.KindShell, Tool: "Bash"}
	if gate.AutoApproved(rules, interlock.Snapshot{}, bash, shellTexts("npm test", "rm -rf x")) {
		t.Error("a second command rides along")
	}
	if gate.AutoApproved(rules, interlock.Snapshot{}, bash, impact.Analysis{}) {
		t.Error("an action that executes nothing is approved")
	}
	unknown := shellTexts("npm test")
	unknown.Impacts = impacts(interlock.Impact{Confidence: "unknown"}).Impacts
	if gate.AutoApproved(rules, interlock.Snapshot{}, bash, unknown) {
		t.Error("what was not understood is approved")
	}
}

// TestPolicyOnHints shows that lists of operations meet prose, however it spells them, and not what it will not do.
func TestPolicyOnHints(t *testing.T) {
	rules := load(t, "policy: {deny: ['delete_all*', 'wipe_*'], requiresApproval: ['deploy_*', '*payroll*'], autoApprove: ['list *', 'delete temp*']}")
	for _, test := range []struct {
		hint     string
		want     []string
		approved bool
	}{
		{"Delete All Files", []string{"policy.deny deny"}, false},
		{"deleteAllFiles", []string{"policy.deny deny"}, false},
		{"DELETE-ALL", []string{"policy.deny deny"}, false},
		{"Next I'll call delete_all_users on the old tenant.", []string{"policy.deny deny"}, false},
		{"First I look around. Then I'll delete all of the files.", []string{"policy.deny deny"}, false},
		{"I am wiping the cache now.", []string{"policy.deny deny"}, false},
		{"Deploy the service", []string{"policy.requires-approval ask"}, false},
		{"Show the Payroll report", []string{"policy.requires-approval ask"}, false},
		{"I will not delete all files.", []string{}, false},
		{"Explain how to delete all files.", []string{}, false},
		{"The tests for delete and all pass.", []string{}, false},
		{"list the files", []string{}, true},
		{"Delete temp files", []string{}, true},
	} {
		action := interlock.Action{Kind: interlock.KindHint, Input: test.hint}
		analysis := impact.Analysis{Spoken: prose.Spoken(impacttest.Knowledge(t), test.hint)}
		if diff := cmp.Diff(test.want, says(gate.Policy(rules, guard(), action, analysis))); diff != "" {
			t.Errorf("%s: %s", test.hint, diff)
		}
		if got := gate.AutoApproved(rules, interlock.Snapshot{}, action, analysis); got != test.approved {
			t.Errorf("%s: approved %v", test.hint, got)
		}
	}
	if gate.AutoApproved(rules, interlock.Snapshot{}, interlock.Action{Kind: interlock.KindHint, Input: "list `rm -rf x`"}, shellTexts("rm -rf x")) {
		t.Error("a command rides along in a hint")
	}
	if gate.AutoApproved(rules, interlock.Snapshot{},
		interlock.Action{Kind: interlock.KindHint, Input: "empty the customer table, then `list x`"}, shellTexts("list x")) {
		t.Error("prose rides along beside a command")
	}
	if !gate.AutoApproved(rules, interlock.Snapshot{}, interlock.Action{Kind: interlock.KindHint, Input: "list x"}, shellTexts("list x")) {
		t.Error("a hint that is the command is not approved")
	}
}

func TestProfile(t *testing.T) {
	rules := load(t, "")
	for _, test := range []struct {
		name    string
		profile string
		impacts []interlock.Impact
		want    []string
	}{
		{"granted", "guard", []interlock.Impact{{Kind: "read"}, {Kind: "write"}}, []string{}},
		{"nothing", "guard", nil, []string{}},
		{"denied", "guard", []interlock.Impact{{Kind: "spend"}}, []string{"profile.guard.money deny"}},
		{"the end", "guard", []interlock.Impact{{Kind: "message"}, {Kind: "persist"}}, []string{"profile.guard.end ask"}},
		{"unknown profile", "gaurd", []interlock.Impact{{Kind: "read"}}, []string{"profile.unknown deny"}},
	} {
		snapshot := guard()
		snapshot.Profile = test.profile
		got := gate.Profile(rules, snapshot, interlock.Action{}, impacts(test.impacts...))
		if diff := cmp.Diff(test.want, says(got)); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
		if test.name == "the end" && cmp.Diff([]int{0, 1}, got[0].Impacts) != "" {
			t.Errorf("evidence is %v", got[0].Impacts)
		}
	}
}

func TestUnknown(t *testing.T) {
	for trait, reason := range map[string]string{
		fact.TraitOversize: "too large", fact.TraitWork: "too long", fact.TraitNested: "nested", fact.TraitEncoding: "UTF-8",
		fact.TraitUnparsable: "syntax", fact.TraitUnsupported: "no way", "": "could not be understood",
	} {
		got := gate.Unknown(nil, guard(), interlock.Action{}, impacts(interlock.Impact{Confidence: "unknown", Traits: []string{trait}}))
		if len(got) != 1 || got[0].Verdict != interlock.Ask || got[0].Heuristic || !strings.Contains(got[0].Reason, reason) {
			t.Errorf("%s: %+v", trait, got)
		}
	}
	if got := gate.Unknown(nil, guard(), interlock.Action{}, impacts(interlock.Impact{Confidence: "inferred"})); len(got) != 0 {
		t.Errorf("what is inferred is asked about: %v", says(got))
	}
}

func TestRiskScoreStaysInItsBand(t *testing.T) {
	spec.Covers(t, "AQL-8.7.2-4")
	bands := map[interlock.Danger][2]int{0: {0, 15}, 1: {16, 40}, 2: {41, 60}, 3: {61, 85}, 4: {86, 100}}
	for level, band := range bands {
		for _, kind := range interlock.ImpactKinds() {
			for _, reach := range append(interlock.Reaches(), "moon") {
				for _, r := range append(interlock.Reversibilities(), "never") {
					i := interlock.Impact{Kind: kind, Reach: reach, Reversibility: r, Confidence: "unknown",
						Traits: []string{"bulk", "elevated", "force", "obfuscated", "recursive", "secret", "uncommitted"}}
					if got := gate.RiskScore(level, []interlock.Impact{i, i, i}); got < band[0] || got > band[1] {
						t.Fatalf("%v %+v scores %d, outside %v", level, i, got, band)
					}
				}
			}
		}
	}
	if got := gate.RiskScore(interlock.Danger(9), nil); got != 100 {
		t.Errorf("an unknown level scores %d", got)
	}
	near := gate.RiskScore(interlock.DangerReversible, impacts(interlock.Impact{}).Impacts)
	far := gate.RiskScore(interlock.DangerReversible, impacts(interlock.Impact{Reach: "production"}).Impacts)
	if near >= far {
		t.Errorf("the workspace scores %d and production %d", near, far)
	}
}

func TestRiskIsAGuess(t *testing.T) {
	rules := load(t, "")
	far := impacts(interlock.Impact{Kind: "delete", Reversibility: "irreversible", Reach: "production", Traits: []string{"bulk", "force", "recursive"}})
	if diff := cmp.Diff([]string{"risk.score ask guess"}, says(gate.Risk(rules, guard(), interlock.Action{}, far))); diff != "" {
		t.Error(diff)
	}
	if got := gate.Risk(rules, guard(), interlock.Action{}, impacts(interlock.Impact{})); len(got) != 0 {
		t.Errorf("a small risk is asked about: %v", says(got))
	}
}

func TestRulesAndDenylist(t *testing.T) {
	rules := load(t, `
rules:
  - {id: t.both, layer: 3, verdict: ask, reason: team rule, match: {kind: [delete], glob: ["frob *"]}}
  - {id: t.text, layer: 2, verdict: deny, reason: team rule, match: {pattern: 'wipe\s+all'}, suggestion: {say: look first, try: wipe --list}}
  - {id: t.impact, layer: 3, verdict: ask, reason: team rule, match: {kind: [delete], reach: [home]}}
`)
	analysis := impacts(interlock.Impact{Kind: "delete"}, interlock.Impact{Kind: "delete", Reach: "home"})
	analysis.Texts = shellTexts("frob a", "wipe  all").Texts
	action := interlock.Action{Kind: interlock.KindShell}
	if diff := cmp.Diff([]string{"t.both ask", "t.impact ask"}, says(gate.Rules(rules, guard(), action, analysis))); diff != "" {
		t.Error(diff)
	}
	got := gate.Denylist(rules, guard(), action, analysis)
	if diff := cmp.Diff([]string{"t.text deny"}, says(got)); diff != "" {
		t.Error(diff)
	}
	if got[0].Suggestion != "look first: wipe --list" {
		t.Errorf("suggestion is %q", got[0].Suggestion)
	}
	analysis.Texts = shellTexts("frob a; wipe  all").Texts // of another tool than the one that is suggested
	if got := gate.Denylist(rules, guard(), action, analysis); len(got) != 1 || got[0].Suggestion != "look first" {
		t.Errorf("the suggestion does not fit: %+v", got)
	}
	analysis.Texts = nil
	if diff := cmp.Diff([]string{"t.impact ask"}, says(gate.Rules(rules, guard(), action, analysis))); diff != "" {
		t.Errorf("without the text: %s", diff)
	}
}

// No reason names a pattern, a glob or a threshold.
func TestReasonsKeepRulesToThemselves(t *testing.T) {
	spec.Covers(t, "ASA-6.4-1", "EC-ENV-5")
	rules := load(t, "policy: {deny: ['zqx*'], requiresApproval: ['*zqx*']}\nrules: [{id: t.x, layer: 2, verdict: deny, reason: the team says no, match: {pattern: 'zqx+'}}]\n")
	analysis := shellTexts("zqxx")
	analysis.Impacts = impacts(interlock.Impact{Confidence: "unknown", Kind: "delete", Reach: "production", Reversibility: "irreversible"}).Impacts
	for _, g := range []gate.Gate{gate.Self, gate.Denylist, gate.Rules, gate.Policy, gate.Scope, gate.Danger, gate.Unknown, gate.Profile, gate.Risk} {
		for _, f := range g(rules, guard(), interlock.Action{Kind: interlock.KindShell}, analysis) {
			if strings.Contains(f.Reason+f.Suggestion, "zqx") || strings.Contains(f.Reason, fmt.Sprint(75)) || f.Reason == "" ||
				strings.Contains(f.Reason, "\n") {
				t.Errorf("%s: reason is %q", f.Rule, f.Reason)
			}
		}
	}
}
