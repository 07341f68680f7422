package ruleset_test

import (
	"strings"
	"testing"
	"time"

	"interlock/internal/ruleset"
	"interlock/spec"
)

const twoTypes = `
maso: {tier: 3, read_only: 5m, self_heal: {after: 20m}}
runs: {time_box: 2h}
types:
  - {name: a, accountable: ada, role: payer, tools: [x, "y*"], scopes: {paths: [workspace]}, data: [personal], alive: 1m,
     critical: true, on_loss: backup, backup: b, time_box: 30m}
  - {name: b, accountable: bob, role: payer, tools: ["y*", x], scopes: {paths: [workspace]}, data: [personal]}
`

func loadTypes(t *testing.T, text string) (*ruleset.Ruleset, error) {
	t.Helper()
	return ruleset.Load(nil, map[string][]byte{"team.yaml": []byte(text)})
}

// TestBackupsMayDoExactlyTheSame: a type whose backup may do anything else, or nothing of it, is no ruleset, and the error names the field
// and the type; one whose lists stand in another order is.
func TestBackupsMayDoExactlyTheSame(t *testing.T) {
	spec.Covers(t, "EC-2.10")
	r, err := loadTypes(t, twoTypes)
	if err != nil {
		t.Fatal(err)
	}
	if r.TypeNamed("a").Lost() != ruleset.LossBackup || r.TypeNamed("b").Lost() != ruleset.LossDegrade {
		t.Errorf("%s, %s", r.TypeNamed("a").Lost(), r.TypeNamed("b").Lost())
	}
	if how := r.Healing(); !how.Machine || how.ReadOnly != 5*time.Minute || how.After != 20*time.Minute {
		t.Errorf("%+v", how)
	}
	if r.BoxOf(r.TypeNamed("a")) != 30*time.Minute || r.BoxOf(r.TypeNamed("b")) != 2*time.Hour {
		t.Error("the time boxes are others")
	}
	for _, test := range []struct{ from, to, says string }{
		{`["y*", x]`, `["y*", x, z]`, "the type b has other tools than a"},
		{`["y*", x]`, `["y*"]`, "the type b has other tools than a"},
		{"accountable: bob, role: payer", "accountable: bob, role: clerk", "the type b has other role than a"},
		{"y*\", x], scopes: {paths: [workspace]}", "y*\", x]", "the type b has other scopes than a"},
		{"data: [personal]}", "data: [personal, secret]}", "the type b has other data than a"},
		{"data: [personal]}", "data: [personal], parameters: [{tool: x, must: [{parameter: p, operator: \"<\", value: 3}]}]}",
			"the type b has other parameters than a"},
		{"data: [personal]}", "data: [personal], risk: 90}", "the type b has other risk than a"},
		{"backup: b,", "backup: c,", `no type "c" is defined`},
		{"backup: b,", "backup: a,", "a type is no backup of itself"},
		{"data: [personal]}", "data: [personal], alive: 1m, critical: true, on_loss: backup, backup: a}", "the type b has a backup itself"},
		{"critical: true, ", "", "only an agent of a critical type is replaced"},
		{"on_loss: backup, backup: b", "on_loss: backup", "backup is missing"},
		{"on_loss: backup, backup: b", "on_loss: halt, backup: b", "backup is for types with on_loss: backup"},
		{"on_loss: backup", "on_loss: pray", "on_loss must be backup, degrade or halt"},
		{"alive: 1m,", "", "alive is missing"},
		{"time_box: 30m", "time_box: 800h", "time_box is at most"},
		{"time_box: 2h", "time_box: 800h", "time_box is at most"},
		{"tier: 3, read_only", "tier: 2, read_only", "only what acts by itself heals by itself; say tier: 3"},
		{"after: 20m", "after: 49h", "after is at most"},
		{"read_only: 5m", "read_only: 49h", "read_only is at most"},
	} {
		text := strings.Replace(twoTypes, test.from, test.to, 1)
		if text == twoTypes {
			t.Fatalf("%q stands nowhere", test.from)
		}
		if _, err := loadTypes(t, text); err == nil || !strings.Contains(err.Error(), test.says) || !strings.Contains(err.Error(), "team.yaml:") {
			t.Errorf("%s: %v", test.to, err)
		}
	}
}

// TestHealingSoonerIsLooser: rules under which phases are left sooner, or a backup writes sooner, are a weakening; the others are none.
func TestHealingSoonerIsLooser(t *testing.T) {
	for text, looser := range map[string]bool{
		"maso: {tier: 3, read_only: 5m, self_heal: {after: 20m}}":                  false,
		"maso: {tier: 3, read_only: 6m, self_heal: {after: 21m}}":                  false,
		"maso: {tier: 3, read_only: 5m}":                                           false,
		"maso: {tier: 3, read_only: 5m, supervised: 25h, self_heal: {after: 20m}}": false,
		"maso: {tier: 3, read_only: 5m, supervised: 1h, self_heal: {after: 20m}}":  true,
		"maso: {tier: 3, read_only: 4m, self_heal: {after: 20m}}":                  true,
		"maso: {tier: 3, read_only: 5m, self_heal: {after: 19m}}":                  true,
		"maso: {tier: 2, read_only: 5m}":                                           true,
	} {
		from, err := loadTypes(t, "maso: {tier: 3, read_only: 5m, self_heal: {after: 20m}}")
		if err != nil {
			t.Fatal(err)
		}
		to, err := loadTypes(t, text)
		if err != nil {
			t.Fatal(err)
		}
		got, err := ruleset.Loosened(from, to)
		if err != nil || (len(got) > 0) != looser {
			t.Errorf("%s: %q, %v", text, got, err)
		}
	}
	plain, err := loadTypes(t, "maso: {tier: 3}")
	if err != nil {
		t.Fatal(err)
	}
	healing, err := loadTypes(t, "maso: {tier: 3, self_heal: {}}")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := ruleset.Loosened(plain, healing); err != nil || len(got) != 1 {
		t.Errorf("a machine may leave a phase: %q, %v", got, err)
	}
}
