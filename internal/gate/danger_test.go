package gate_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock"
	"interlock/internal/gate"
	"interlock/internal/impact"
	"interlock/internal/impact/fact"
)

// TestEachNeedStandsAlone: a declaration that wants one thing gets it, and nothing else.
func TestEachNeedStandsAlone(t *testing.T) {
	rules := load(t, `danger:
  - {name: refund, level: reversible, requires_reauth: true}
  - {name: restart, level: reversible, cooldown: 30s}
  - {name: publish, level: reversible, approvers: {roles: [admin]}}
  - {name: plain, level: reversible}
`)
	for _, test := range []struct {
		tool  string
		again bool
		want  []string
		owes  []string
	}{
		{"refund", false, []string{"danger.confirmation ask"}, []string{interlock.ObligationVerify}},
		{"refund", true, []string{"danger.confirmation ask"}, []string{interlock.ObligationVerify}},
		{"restart", false, []string{}, nil},
		{"restart", true, []string{"danger.cooldown deny"}, nil},
		{"publish", false, []string{"danger.confirmation ask"}, []string{interlock.ObligationApprovers}},
		{"publish", true, []string{"danger.confirmation ask"}, []string{interlock.ObligationApprovers}},
		{"plain", true, []string{}, nil},
	} {
		s := registered(interlock.TrustCertified)
		s.Loop = &interlock.Loop{}
		if test.again {
			for _, name := range []string{"refund", "restart", "publish", "plain"} {
				s.Loop.Counts = append(s.Loop.Counts, interlock.Count{Name: "cooldown." + name, Times: 1})
			}
		}
		got := gate.Danger(rules, s, interlock.Action{Kind: interlock.KindTool, Tool: test.tool, Arguments: []byte(`{}`)}, impacts())
		if diff := cmp.Diff(test.want, says(got)); diff != "" {
			t.Errorf("%s, again %v: %s", test.tool, test.again, diff)
		}
		var owes []string
		for _, f := range got {
			for _, o := range f.Obligations {
				owes = append(owes, o.Type)
			}
		}
		if diff := cmp.Diff(test.owes, owes); diff != "" {
			t.Errorf("%s, again %v: obligations %s", test.tool, test.again, diff)
		}
	}
}

// TestMatrixHasAnEdge: beyond the levels and the trust that there are, everything is denied.
func TestMatrixHasAnEdge(t *testing.T) {
	rules := load(t, "")
	for _, test := range []struct {
		level interlock.Danger
		trust interlock.Trust
		want  interlock.Verdict
	}{
		{interlock.DangerForbidden, interlock.TrustCertified, interlock.Ask},
		{interlock.DangerForbidden + 1, interlock.TrustCertified, interlock.Deny},
		{200, interlock.TrustCertified, interlock.Deny},
		{interlock.DangerSafe, interlock.TrustCertified, interlock.Allow},
		{interlock.DangerSafe, interlock.TrustCertified + 1, interlock.Deny},
	} {
		s := registered(test.trust)
		if got, trust := gate.Permits(rules, "guard", s.Agent, test.level, false); got != test.want || trust != test.trust {
			t.Errorf("%d at %d: %v", test.level, trust, got)
		}
	}
	for level, want := range map[interlock.Danger]interlock.Trust{
		interlock.DangerSafe: interlock.TrustGenerated, interlock.DangerReversible: interlock.TrustValidated,
		interlock.DangerDestructive: interlock.TrustValidated, interlock.DangerDangerous: interlock.TrustCommunityReviewed,
		interlock.DangerForbidden: interlock.TrustCertified, 9: interlock.TrustCertified,
	} {
		if got := gate.MinimumTrust(level); got != want {
			t.Errorf("level %d takes at least %v, want %v", level, got, want)
		}
	}
}

// TestWhereALevelComesFrom: who declared it, and otherwise the impacts that show it and no others.
func TestWhereALevelComesFrom(t *testing.T) {
	const write, remove, read = interlock.ImpactWrite, interlock.ImpactDelete, interlock.ImpactRead
	for _, test := range []struct {
		name     string
		rules    string
		adapter  []interlock.DangerRule
		impacts  []interlock.Impact
		want     interlock.Danger
		declared bool
		at       []int
	}{
		{"shown by one of two", "", nil, []interlock.Impact{{Kind: remove}, {Kind: write}}, interlock.DangerDestructive, false, []int{0}},
		{"shown by both", "", nil, []interlock.Impact{{Kind: write}, {Kind: write}}, interlock.DangerReversible, false, []int{0, 1}},
		{"safe, by nothing", "", nil, []interlock.Impact{{Kind: read, Reversibility: interlock.Readonly}}, interlock.DangerSafe, false, nil},
		{"declared above what is shown", "", []interlock.DangerRule{{Name: "drop", Level: interlock.DangerDangerous}},
			[]interlock.Impact{{Kind: write, Traits: []string{fact.TraitNamedForbidden}}}, interlock.DangerDangerous, true, nil},
		{"declared as what is shown", "", []interlock.DangerRule{{Name: "drop", Level: interlock.DangerDestructive}},
			[]interlock.Impact{{Kind: remove}}, interlock.DangerDestructive, false, []int{0}},
		{"declared by an operator as what the name argues for", "danger: [{name: drop, level: dangerous}]", nil,
			[]interlock.Impact{{Kind: write, Traits: []string{fact.TraitNamedDangerous}}}, interlock.DangerDangerous, true, nil},
		{"declared by an operator for another tool", "danger: [{name: other, level: forbidden}]", nil,
			[]interlock.Impact{{Kind: write}}, interlock.DangerReversible, false, []int{0}},
		{"declared by an operator for other arguments",
			`danger: [{name: drop, level: forbidden, when: [{parameter: all, operator: "==", value: true}]}]`, nil,
			[]interlock.Impact{{Kind: write}}, interlock.DangerReversible, false, []int{0}},
	} {
		s := guard()
		s.Danger = test.adapter
		action := interlock.Action{Kind: interlock.KindTool, Tool: "drop", Arguments: []byte(`{"all":false}`)}
		level, declared, at := gate.DangerLevel(load(t, test.rules), s, action, impacts(test.impacts...))
		if level != test.want || declared != test.declared || cmp.Diff(test.at, at) != "" {
			t.Errorf("%s: %v, declared %v, shown by %v", test.name, level, declared, at)
		}
	}
}

// TestWhatADeclarationConcerns: a tool, a program that is run, and a text that calls a tool; nothing that only reads like one.
func TestWhatADeclarationConcerns(t *testing.T) {
	text := func(kind interlock.Kind) impact.Analysis {
		return impact.Analysis{Texts: []fact.Text{{Kind: kind, Value: "drop_table"}}}
	}
	via := func(name string) impact.Analysis { return impacts(interlock.Impact{Via: name}) }
	for _, test := range []struct {
		name, glob, tool string
		analysis         impact.Analysis
		want             bool
	}{
		{"its tool", "drop_*", "drop_table", impacts(), true},
		{"another tool", "drop_*", "get_table", impacts(), false},
		{"a program it runs", "drop*", "Bash", via("dropdb"), true},
		{"another program", "drop*", "Bash", via("psql"), false},
		{"no program and no tool", "*", "", via(""), false},
		{"a text that calls a tool", "drop_*", "", text(interlock.KindTool), true},
		{"a text that is a command", "drop_*", "", text(interlock.KindShell), false},
	} {
		s := guard()
		s.Danger = []interlock.DangerRule{{Name: test.glob, Level: interlock.DangerForbidden}}
		level, _, _ := gate.DangerLevel(load(t, ""), s, interlock.Action{Tool: test.tool}, test.analysis)
		if got := level == interlock.DangerForbidden; got != test.want {
			t.Errorf("%s: %v", test.name, level)
		}
	}
}

// TestLastingHarm: of what can't be undone, what reaches far is dangerous, and the many small ones of everyday work are not.
func TestLastingHarm(t *testing.T) {
	const dangerous, destructive = interlock.DangerDangerous, interlock.DangerDestructive
	for _, test := range []struct {
		name   string
		impact interlock.Impact
		want   interlock.Danger
	}{
		{"in the workspace", interlock.Impact{}, destructive},
		{"in production", interlock.Impact{Reach: interlock.ReachProduction}, dangerous},
		{"of Interlock itself", interlock.Impact{Reach: interlock.ReachSelf}, dangerous},
		{"money", interlock.Impact{Kind: interlock.ImpactSpend, Amount: 1}, dangerous},
		{"no money", interlock.Impact{Kind: interlock.ImpactSpend}, destructive},
		{"an amount that is not spent", interlock.Impact{Amount: 100}, destructive},
		{"the root", interlock.Impact{Traits: []string{fact.TraitRoot}}, dangerous},
		{"a device", interlock.Impact{Traits: []string{fact.TraitDevice}}, dangerous},
		{"what a machine starts by", interlock.Impact{Traits: []string{fact.TraitBoot}}, dangerous},
		{"a bomb", interlock.Impact{Traits: []string{fact.TraitBomb}}, dangerous},
		{"backups", interlock.Impact{Traits: []string{fact.TraitBackup}}, dangerous},
		{"much", interlock.Impact{Traits: []string{fact.TraitBulk}}, destructive},
		{"a database", interlock.Impact{Traits: []string{fact.TraitDatabase}}, destructive},
		{"much of a database", interlock.Impact{Traits: []string{fact.TraitBulk, fact.TraitDatabase}}, dangerous},
		{"much of what is deployed", interlock.Impact{Traits: []string{fact.TraitBulk, fact.TraitInfra}}, dangerous},
		{"a trial of it", interlock.Impact{Traits: []string{fact.TraitRoot, fact.TraitDryRun}}, interlock.DangerSafe},
		{"not of it", interlock.Impact{Traits: []string{fact.TraitRoot, fact.TraitNegated}}, interlock.DangerSafe},
	} {
		test.impact.Reversibility = interlock.Irreversible
		got, _, _ := gate.DangerLevel(load(t, ""), guard(), interlock.Action{Kind: interlock.KindTool, Tool: "x"}, impacts(test.impact))
		if got != test.want {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}
