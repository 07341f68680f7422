package ruleset_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"interlock"
	"interlock/internal/ruleset"
)

// TestCommitsThatAreRefused: what is said of commitments, plans and dry runs and can't be meant is refused with its field.
func TestCommitsThatAreRefused(t *testing.T) {
	for document, says := range map[string]string{
		`commitments: [{id: "a b", tools: [x], choice: [y]}]`:                               "id must be letters",
		`commitments: [{id: a, choice: [y]}]`:                                               "tools is empty",
		`commitments: [{id: a, tools: [x]}]`:                                                "choice is empty",
		`commitments: [{id: a, tools: [x], choice: [""]}]`:                                  "choice has up to 20 entries",
		`commitments: [{id: a, tools: [x], choice: [y], tie_break: last}]`:                  "tie_break is ask",
		`commitments: [{id: a, tools: [x], choice: [y]}, {id: a, tools: [x], choice: [y]}]`: "is defined already",
		`plans: {uncompensated: allow}`:                                                     "uncompensated is ask or deny",
		`plans: {undo: 800h}`:                                                               "undo is at most",
		`plans: {step: 25h}`:                                                                "step is at most",
		`plans: {windows: [{tool: "x"}]}`:                                                   "for how long that can be undone",
		`dry_runs: [{set: {a: 1}}]`:                                                         "tool is missing",
		`dry_runs: [{tool: x}]`:                                                             "set names 1 to 16",
		`runs: {attest: me}`:                                                                "attest is reported",
	} {
		_, err := ruleset.Load(nil, map[string][]byte{"own.yaml": []byte(document)})
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", document, err, says)
		}
	}
	if _, err := ruleset.Load(map[string][]byte{"x.json": []byte(`{"plans":{"required":true}}`)}, nil); err == nil {
		t.Error("the program's own rules may say something of plans")
	}
}

// TestLoosenedCommits: a commitment that is gone or another, other plans, and a new way of trying a tool are named.
func TestLoosenedCommits(t *testing.T) {
	load := func(document string) *ruleset.Ruleset {
		set, err := ruleset.Load(nil, map[string][]byte{"own.yaml": []byte(document)})
		if err != nil {
			t.Fatal(err)
		}
		return set
	}
	const whole = "maso: {tier: 2}\ncommitments: [{id: a, tools: [x], choice: [y]}]\nplans: {required: true}\n"
	for document, want := range map[string][]string{
		whole: nil,
		whole + `limits: [{id: own.x, per: agent, measure: actions, most: 1}]`: nil,
		"maso: {tier: 2}\nplans: {required: true}":                             {"commitment a"},
		strings.Replace(whole, "choice: [y]", "choice: [y], key: [z]", 1):      {"commitment a"},
		strings.Replace(whole, "required: true", "undo: 5m", 1):                {"plans"},
		whole + `dry_runs: [{tool: x, set: {dry: true}}]`:                      {"dry_runs"},
	} {
		got, err := ruleset.Loosened(load(whole), load(document))
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v, want %q", document, got, err, want)
		}
	}
	set := load(`dry_runs: [{tool: "db.*", set: {dry_run: true}}]` + "\nplans: {undo: 2m, windows: [{tool: mail.send, undo: 20s}]}")
	call := interlock.Action{Kind: interlock.KindTool, Tool: "db.migrate", Arguments: []byte(`{"to":7}`)}
	form, can := set.Form(call)
	if !can || string(form.Arguments) != `{"dry_run":true,"to":7}` || set.Tries(call) || !set.Tries(form) {
		t.Errorf("it is tried as %s, %v", form.Arguments, can)
	}
	if _, can := set.Form(form); can {
		t.Error("the form is tried as something else")
	}
	if p := set.Plans(); p.Window("mail.send", "") != 20*time.Second || p.Window("other", "x") != 2*time.Minute {
		t.Errorf("%+v", p)
	}
}
