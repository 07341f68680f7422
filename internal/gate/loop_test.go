package gate_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"interlock"
	"interlock/internal/gate"
	"interlock/internal/impact"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/impacttest"
	"interlock/internal/impact/prose"
	"interlock/spec"
)

// step is a snapshot of a harmless first step.
func step(change ...func(*interlock.Loop)) interlock.Snapshot {
	s := guard()
	s.Loop = &interlock.Loop{Execution: "e1", Step: 1, Limit: 50, Tolerance: 50}
	for _, c := range change {
		c(s.Loop)
	}
	return s
}

func hint(text string) interlock.Action {
	return interlock.Action{Kind: interlock.KindHint, Input: text}
}

func brief(findings []interlock.Finding) []interlock.Finding {
	for i := range findings {
		findings[i].Reason = ""
	}
	return findings
}

func TestLoopStages(t *testing.T) {
	spec.Covers(t, "AQL-8.7.2-2", "AQL-8.7.2-3", "AQL-8.7.2-4", "AQL-8.7.2-5", "AQL-SL-5.2", "AQL-D-8.1")
	ask := func(rule string, layer int) interlock.Finding {
		return interlock.Finding{Gate: "loop", Rule: "loop." + rule, Layer: layer, Verdict: interlock.Ask}
	}
	harmless := impacts(interlock.Impact{Kind: interlock.ImpactRead, Reversibility: interlock.Readonly})
	deletes := impacts(interlock.Impact{Kind: interlock.ImpactDelete, Reversibility: interlock.Irreversible})
	bulk := impacts(interlock.Impact{Kind: interlock.ImpactDelete, Reversibility: interlock.Irreversible, Traits: []string{"bulk", "database"}})
	forbidden := impacts(interlock.Impact{Kind: interlock.ImpactDelete, Traits: []string{fact.TraitNamedForbidden}})
	tolerance := ask("tolerance", 4)
	tolerance.Heuristic, tolerance.Impacts = true, []int{0}
	verify := ask("verify", 4)
	verify.Heuristic, verify.Impacts = true, []int{0}
	verify.Obligations = []interlock.Obligation{{Type: interlock.ObligationVerify, Note: "risk"}}
	zone := ask("danger-zone", 2)
	zone.Verdict, zone.Heuristic, zone.Impacts = interlock.Deny, true, []int{0}
	deny := ask("deny", 2)
	deny.Verdict = interlock.Deny
	for name, test := range map[string]struct {
		snapshot interlock.Snapshot
		action   interlock.Action
		analysis impact.Analysis
		want     []interlock.Finding
	}{
		"no execution": {guard(), hint("x"), bulk, nil},
		"harmless":     {step(), hint("x"), harmless, nil},
		"last step":    {step(func(l *interlock.Loop) { l.Step = 50 }), hint("x"), harmless, nil},
		"step limit":   {step(func(l *interlock.Loop) { l.Step = 51 }), hint("x"), harmless, []interlock.Finding{ask("step-limit", 3)}},
		"failure": {step(func(l *interlock.Loop) { l.Outcome = interlock.OutcomeFailure }), hint("x"), harmless,
			[]interlock.Finding{ask("previous-failed", 3)}},
		"success":  {step(func(l *interlock.Loop) { l.Outcome = interlock.OutcomeSuccess }), hint("x"), harmless, nil},
		"verified": {step(func(l *interlock.Loop) { l.Verifying = "c1" }), hint("x"), harmless, []interlock.Finding{ask("verifying", 2)}},
		"deny before approval": {step(func(l *interlock.Loop) { l.Deny, l.RequiresApproval = []string{"DROP_*"}, []string{"drop_*"} }),
			hint("next I will drop users"), harmless, []interlock.Finding{deny, ask("requires-approval", 3)}},
		"pattern on a command in prose": {step(func(l *interlock.Loop) { l.RequiresApproval = []string{"git push*"} }),
			hint("I am going to run `git push --force` now"), shellTexts("git push --force"), []interlock.Finding{ask("requires-approval", 3)}},
		"conservative": {step(func(l *interlock.Loop) { l.Tolerance = 25 }), hint("x"), deletes, []interlock.Finding{tolerance}},
		"aggressive":   {step(func(l *interlock.Loop) { l.Tolerance = 75 }), hint("x"), deletes, nil},
		"verify":       {step(func(l *interlock.Loop) { l.Tolerance = 75 }), hint("x"), bulk, []interlock.Finding{verify}},
		"danger zone":  {step(func(l *interlock.Loop) { l.Tolerance = 75 }), hint("x"), forbidden, []interlock.Finding{zone}},
	} {
		test.analysis.Spoken = prose.Spoken(impacttest.Knowledge(t), test.action.Input)
		got := brief(gate.Loop(load(t, ""), test.snapshot, test.action, test.analysis))
		if diff := cmp.Diff(test.want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	limit := gate.Loop(load(t, ""), step(func(l *interlock.Loop) { l.Step = 51 }), hint("x"), harmless)
	if limit[0].Reason != "Step limit exceeded" {
		t.Errorf("the reason is %q", limit[0].Reason)
	}
}

func TestEscalation(t *testing.T) {
	spec.Covers(t, "AQL-D-8.3", "AQL-D-9.3", "AQL-D-9.4")
	rules := load(t, `loop:
  escalation:
    - {id: many, match: {kind: [delete]}, times: 3, level: dangerous, reason: too many deletions}
  score:
    - {id: prod, match: {reach: [production]}, add: 30, say: it changes production}
    - {id: amount, when: [{parameter: amount, operator: ">", value: 10}], add: 7, say: it is much}
  cumulative:
    - {risk: 100, reason: it adds up}
`)
	deletes := impacts(interlock.Impact{Kind: interlock.ImpactDelete})
	before := func(times, risk int) interlock.Snapshot {
		return step(func(l *interlock.Loop) {
			l.Counts, l.Risk = []interlock.Count{{Name: "escalation.many", Times: times}}, risk
		})
	}
	second := gate.LoopRisk(rules, before(1, 0), hint("x"), deletes)
	third := gate.LoopRisk(rules, before(2, 0), hint("x"), deletes)
	if second.Level != interlock.DangerDestructive || third.Level != interlock.DangerDangerous || !third.Declared || third.Risk < 61 {
		t.Errorf("second %+v, third %+v", second, third)
	}
	if level, _, _ := gate.DangerLevel(rules, before(2, 0), hint("x"), deletes); level != interlock.DangerDestructive {
		t.Errorf("the declared level became %s", level)
	}
	want := []interlock.Finding{{Gate: "escalation", Rule: "escalation.many", Layer: 2, Verdict: interlock.Ask, Reason: "too many deletions"}}
	if diff := cmp.Diff(want, gate.Escalation(rules, before(2, 0), hint("x"), deletes)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := gate.Escalation(rules, before(1, 0), hint("x"), deletes); got != nil {
		t.Errorf("the second is told: %+v", got)
	}
	write := impacts(interlock.Impact{Reach: interlock.ReachProduction})
	refund := interlock.Action{Kind: interlock.KindTool, Tool: "x", Arguments: []byte(`{"amount":11}`)}
	plain := gate.LoopRisk(load(t, ""), step(), refund, write)
	both := gate.LoopRisk(rules, step(), refund, write)
	if both.Risk != plain.Risk+37 || cmp.Diff([]string{"it changes production", "it is much"}, both.Factors) != "" {
		t.Errorf("alone %+v, with factors %+v", plain, both)
	}
	found := gate.Loop(rules, before(0, 90), hint("x"), deletes)
	if len(found) == 0 || found[0].Rule != "loop.cumulative" || found[0].Reason != "it adds up" {
		t.Errorf("90 and a deletion: %+v", found)
	}
}

func TestDeclaredNeeds(t *testing.T) {
	spec.Covers(t, "AQL-D-7.2-2", "AQL-D-7.3-1", "AQL-D-7.3-2", "AQL-D-9.1", "AQL-D-9.2")
	rules := load(t, `danger:
  - {name: refund, level: dangerous, when: [{parameter: amount, operator: ">", value: 100}], requires_reauth: true}
  - {name: deploy, level: reversible, cooldown: 30s, approvers: {roles: [admin], teams: [ops], within: 10m}}
`)
	call := func(tool, arguments string) interlock.Action {
		return interlock.Action{Kind: interlock.KindTool, Tool: tool, Arguments: []byte(arguments)}
	}
	s := registered(interlock.TrustCertified)
	if got := gate.Danger(rules, s, call("refund", `{"amount":100}`), impacts()); got != nil {
		t.Errorf("a small one: %+v", got)
	}
	want := []interlock.Finding{{Gate: "danger", Rule: "danger.confirmation", Layer: 2, Verdict: interlock.Ask,
		Obligations: []interlock.Obligation{{Type: interlock.ObligationVerify, Note: "declared"}}}}
	for _, arguments := range []string{`{"amount":101}`, `{"amount":true}`} { // what can't be compared may be large
		if diff := cmp.Diff(want, brief(gate.Danger(rules, s, call("refund", arguments), impacts()))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", arguments, diff)
		}
	}
	want[0].Obligations = []interlock.Obligation{{Type: interlock.ObligationApprovers, Note: "role:admin team:ops"},
		{Type: interlock.ObligationWithin, Note: "10m0s"}}
	if diff := cmp.Diff(want, brief(gate.Danger(rules, s, call("deploy", `{}`), impacts()))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	s.Loop = &interlock.Loop{Counts: []interlock.Count{{Name: "cooldown.deploy", Times: 1}}}
	again := gate.Danger(rules, s, call("deploy", `{}`), impacts())
	if len(again) != 2 || again[0].Rule != "danger.cooldown" || again[0].Verdict != interlock.Deny {
		t.Errorf("again at once: %+v", again)
	}
}

func TestBlockedAgent(t *testing.T) {
	s := guard()
	if got := gate.Standing(load(t, ""), s, hint("x"), impacts()); got != nil {
		t.Errorf("without a block: %+v", got)
	}
	s.Block = "c1"
	got := gate.Standing(load(t, ""), s, hint("x"), impacts())
	if len(got) != 1 || got[0].Verdict != interlock.Halt || got[0].Layer != 1 || !strings.Contains(got[0].Reason, "c1") {
		t.Errorf("%+v", got)
	}
}

func TestOwnAutoApprove(t *testing.T) {
	s := step(func(l *interlock.Loop) { l.AutoApprove = []string{"npm *"} })
	bash := interlock.Action{Kind: interlock.KindShell}
	for text, want := range map[string]bool{"npm test": true, "rm x": false} {
		if got := gate.AutoApproved(load(t, ""), s, bash, shellTexts(text)); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
	if gate.AutoApproved(load(t, ""), s, bash, shellTexts("npm test", "rm x")) {
		t.Error("one that is covered carries another along")
	}
	if gate.AutoApproved(load(t, ""), s, hint("send the report to everybody and run `npm test`"), shellTexts("npm test")) {
		t.Error("a covered command carries prose along")
	}
	if !gate.AutoApproved(load(t, ""), s, hint("npm test"), shellTexts("npm test")) {
		t.Error("a hint that is the command is not covered")
	}
}

// TestLoopAtItsBounds: a score that is just the tolerance passes, a sum that is just the ruleset's is asked about, and a pattern is
// held against the tool as well.
func TestLoopAtItsBounds(t *testing.T) {
	rules := load(t, `loop:
  escalation:
    - {id: many, match: {kind: [delete]}, times: 2, level: destructive, reason: too many deletions}
  cumulative:
    - {risk: 100, reason: it adds up}
`)
	deletes := impacts(interlock.Impact{Kind: interlock.ImpactDelete})
	score := gate.LoopRisk(rules, step(), hint("x"), deletes)
	if score.Level != interlock.DangerDestructive || score.Declared || score.Risk < 41 {
		t.Fatalf("a deletion: %+v", score)
	}
	drop := interlock.Action{Kind: interlock.KindTool, Tool: "drop_table"}
	pattern := func(l *interlock.Loop) { l.Tolerance, l.Deny = 100, []string{"drop_*"} }
	for _, test := range []struct {
		name   string
		loop   func(*interlock.Loop)
		action interlock.Action
		want   []string
	}{
		{"at the tolerance", func(l *interlock.Loop) { l.Tolerance = score.Risk }, hint("x"), nil},
		{"above it", func(l *interlock.Loop) { l.Tolerance = score.Risk - 1 }, hint("x"), []string{"loop.tolerance ask guess"}},
		{"it adds up to the bound", func(l *interlock.Loop) { l.Tolerance, l.Risk = 100, 100-score.Risk }, hint("x"),
			[]string{"loop.cumulative ask guess"}},
		{"it adds up to less", func(l *interlock.Loop) { l.Tolerance, l.Risk = 100, 99-score.Risk }, hint("x"), nil},
		{"a pattern on the tool", pattern, drop, []string{"loop.deny deny"}},
		{"a pattern on another tool", pattern, interlock.Action{Kind: interlock.KindTool, Tool: "get_table"}, nil},
		{"a pattern on no tool", func(l *interlock.Loop) { l.Tolerance, l.Deny = 100, []string{"*"} }, interlock.Action{Kind: interlock.KindTool}, nil},
	} {
		got := says(gate.Loop(rules, step(test.loop), test.action, deletes))
		if diff := cmp.Diff(test.want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
	counted := func(l *interlock.Loop) { l.Counts = []interlock.Count{{Name: "escalation.many", Times: 1}} }
	if got := gate.LoopRisk(rules, step(counted), hint("x"), deletes); got.Declared || len(got.Factors) > 0 {
		t.Errorf("a level that is shown anyway is said to be raised: %+v", got)
	}
	write := impacts(interlock.Impact{})
	if got := gate.LoopRisk(rules, step(counted), hint("x"), write); got.Level != interlock.DangerReversible {
		t.Errorf("a write is one deletion too many: %+v", got)
	}
	if got := gate.Escalation(rules, step(counted), hint("x"), write); got != nil {
		t.Errorf("a write is told as one deletion too many: %+v", got)
	}
	if got := gate.LoopRisk(rules, guard(), hint("x"), deletes); len(got.Factors) > 0 {
		t.Errorf("outside of an execution something is counted: %+v", got)
	}
}
