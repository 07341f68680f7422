package engine

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"interlock"
	"interlock/internal/impact"
	"interlock/internal/ruleset"
	"interlock/spec"
)

// What Decide can't make sense of is denied at layer 1 with a reason of its own.
func TestRefusals(t *testing.T) {
	ls := interlock.Action{Kind: interlock.KindShell, Input: "ls"}
	badMode := standing()
	badMode.Mode = 9
	badTrust := standing()
	badTrust.Agent.Trust = 9
	for _, test := range []struct {
		name string
		q    question
		rule string
	}{
		{"no ruleset", question{snapshot: standing(), action: ls}, "engine.no-ruleset"},
		{"invalid UTF-8", question{rules: shipped(t), snapshot: standing(),
			action: interlock.Action{Kind: interlock.KindShell, Input: "\xff"}}, "engine.action"},
		{"invalid arguments", question{rules: shipped(t), snapshot: standing(),
			action: interlock.Action{Kind: interlock.KindTool, Arguments: json.RawMessage(`{`)}}, "engine.action"},
		{"doubled argument", question{rules: shipped(t), snapshot: standing(),
			action: interlock.Action{Kind: interlock.KindTool, Arguments: json.RawMessage(`{"a":1,"a":2}`)}}, "engine.action"},
		{"large integer", question{rules: shipped(t), snapshot: standing(),
			action: interlock.Action{Kind: interlock.KindTool, Arguments: json.RawMessage(`{"a":9007199254740993}`)}}, "engine.action"},
		{"unknown kind", question{rules: shipped(t), snapshot: standing(), action: interlock.Action{Kind: "telepathy"}}, "engine.kind"},
		{"unknown mode", question{rules: shipped(t), snapshot: badMode, action: ls}, "engine.mode"},
		{"unknown trust", question{rules: shipped(t), snapshot: badTrust, action: ls}, "engine.snapshot"},
		{"unknown profile", question{rules: shipped(t), snapshot: interlock.Snapshot{Profile: "gaurd"}, action: ls}, "profile.unknown"},
		{"zero snapshot", question{rules: shipped(t), action: ls}, "profile.unknown"},
	} {
		d := test.q.decide()
		if d.Verdict != interlock.Deny || d.Answer != interlock.Deny || d.Decisive() == nil || d.Decisive().Rule != test.rule || d.Decisive().Layer != 1 {
			t.Errorf("%s: %v answered %v by %v", test.name, d.Verdict, d.Answer, rulesOf(d))
		}
	}
}

func TestLoggingEvaluatesNothing(t *testing.T) {
	q := question{rules: shipped(t), snapshot: standing(), action: interlock.Action{Kind: interlock.KindShell, Input: "rm -rf /"}, now: noon,
		findings: []interlock.Finding{{Gate: "judge", Rule: "j", Layer: 1, Verdict: interlock.Halt, Reason: "x"}}}
	q.analysis = analyser(t).Analyse(q.snapshot.View, q.action)
	for _, mode := range []interlock.Mode{interlock.Logging, interlock.Disabled} {
		q.snapshot.Mode = mode
		d := q.decide()
		want := interlock.Decision{Verdict: interlock.Allow, Answer: interlock.Allow, Mode: mode, Profile: "guard",
			Findings: []interlock.Finding{}, Impacts: []interlock.Impact{}, Action: d.Action, Ruleset: d.Ruleset, Snapshot: d.Snapshot}
		if diff := cmp.Diff(want, d); diff != "" || d.Action == "" || d.Ruleset == "" || d.Snapshot == "" {
			t.Errorf("%v: %s", mode, diff)
		}
	}
	q.snapshot.Mode = interlock.Monitoring
	if d := q.decide(); d.Verdict != interlock.Halt || d.Answer != interlock.Allow {
		t.Errorf("monitoring: %v answered %v", d.Verdict, d.Answer)
	}
}

func TestObligationsAreAUnion(t *testing.T) {
	q := question{rules: shipped(t), snapshot: standing(), action: interlock.Action{Kind: interlock.KindText, Input: "x"}, now: noon}
	admin, redact := interlock.Obligation{Type: interlock.ObligationAdmin}, interlock.Obligation{Type: interlock.ObligationRedact, Note: "n"}
	q.findings = []interlock.Finding{
		{Gate: "a", Rule: "a", Layer: 3, Verdict: interlock.Ask, Reason: "a", Obligations: []interlock.Obligation{redact, admin}},
		{Gate: "b", Rule: "b", Layer: 3, Verdict: interlock.Ask, Reason: "b", Obligations: []interlock.Obligation{admin}},
	}
	if diff := cmp.Diff([]interlock.Obligation{admin, redact}, q.decide().Obligations); diff != "" {
		t.Error(diff)
	}
}

// The approval that expires first is spent, and its moment of expiry is too late.
func TestWhichApprovalIsSpent(t *testing.T) {
	q := question{rules: shipped(t), snapshot: standing(), action: interlock.Action{Kind: interlock.KindShell, Input: "x"}, now: noon,
		findings: []interlock.Finding{{Gate: "a", Rule: "a", Layer: 3, Verdict: interlock.Ask, Reason: "a"}}}
	request := func(id string, left time.Duration) interlock.ApprovalRequest {
		r := approvalFor(q)
		r.ID, r.Expires, r.Approval = id, noon.Add(left), &interlock.Approval{Request: id, Verdict: interlock.Allow}
		return r
	}
	q.approvals = []interlock.ApprovalRequest{request("late", time.Hour), request("b", time.Minute), request("a", time.Minute), request("gone", 0)}
	if d := q.decide(); d.Answer != interlock.Allow || d.Verdict != interlock.Ask || d.Approval != "a" {
		t.Errorf("%v answered %v by %q", d.Verdict, d.Answer, d.Approval)
	}
	q.snapshot.Agent.ID = ""
	for n := range q.approvals {
		q.approvals[n].Requester.Agent = ""
	}
	if d := q.decide(); d.Approval != "" {
		t.Error("an approval for nobody was spent")
	}
}

// The digests of a decision name exactly what it was computed from.
func TestDigestsNameTheInputs(t *testing.T) {
	base := question{rules: shipped(t), snapshot: standing(), action: interlock.Action{Kind: interlock.KindShell, Input: "ls"},
		analysis: impact.Analysis{}, now: noon}
	want := base.decide()
	other := base
	other.action.Hint = "said differently"
	if got := other.decide(); got.Action != want.Action {
		t.Error("the hint changes the action's digest")
	}
	other = base
	other.snapshot.View.Workspace = "/elsewhere"
	if got := other.decide(); got.Snapshot == want.Snapshot || got.Action != want.Action || got.Ruleset != want.Ruleset {
		t.Error("another view must change the snapshot's digest and no other")
	}
}

// TestAutoApproveRemovesNoDenial: what a rule denies, or asks about, stays whatever an operator's autoApprove covers, at every layer; guesses and what
// the profile alone asks about go.
func TestAutoApproveRemovesNoDenial(t *testing.T) {
	spec.Covers(t, "ASA-8.3-3", "ASA-16.4-1")
	rules, err := ruleset.Load(shippedFiles(t), map[string][]byte{"t.yaml": []byte("policy: {autoApprove: [ls]}\n")})
	if err != nil {
		t.Fatal(err)
	}
	q := question{rules: rules, snapshot: standing(), action: interlock.Action{Kind: interlock.KindShell, Input: "ls"}, now: noon}
	q.analysis = analyser(t).Analyse(q.snapshot.View, q.action)
	for layer := 1; layer <= 4; layer++ {
		for _, verdict := range []interlock.Verdict{interlock.Ask, interlock.Deny, interlock.Halt} {
			for _, guess := range []bool{false, true} {
				q.findings = []interlock.Finding{{Gate: "rules", Rule: "r", Layer: layer, Verdict: verdict, Reason: "a rule says so", Heuristic: guess}}
				want := verdict
				if guess && layer > 1 && verdict != interlock.Halt {
					want = interlock.Allow
				}
				if d := q.decide(); d.Verdict != want {
					t.Errorf("layer %d, guess %t: a finding that says %v leaves %v", layer, guess, verdict, d.Verdict)
				}
			}
		}
	}
	q.findings = []interlock.Finding{{Gate: "profile", Rule: "p", Layer: 3, Verdict: interlock.Ask, Reason: "the profile asks"}}
	if d := q.decide(); d.Verdict != interlock.Allow {
		t.Errorf("what the profile alone asks about leaves %v", d.Verdict)
	}
}

// autoApprove takes away guesses and base asks, and nothing of layer 1.
func TestAutoApproveStopsAtLayerOne(t *testing.T) {
	rules, err := ruleset.Load(shippedFiles(t), map[string][]byte{"t.yaml": []byte("policy: {autoApprove: [ls]}\n")})
	if err != nil {
		t.Fatal(err)
	}
	q := question{rules: rules, snapshot: standing(), action: interlock.Action{Kind: interlock.KindShell, Input: "ls"}, now: noon}
	q.analysis = analyser(t).Analyse(q.snapshot.View, q.action)
	for layer, want := range map[int]interlock.Verdict{1: interlock.Ask, 2: interlock.Allow, 4: interlock.Allow} {
		q.findings = []interlock.Finding{{Gate: "judge", Rule: "j", Layer: layer, Verdict: interlock.Ask, Reason: "a guess", Heuristic: true}}
		if d := q.decide(); d.Verdict != want {
			t.Errorf("layer %d: have %v, want %v", layer, d.Verdict, want)
		}
	}
}
