package engine

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"interlock"
	"interlock/internal/gate"
	"interlock/internal/impact"
	"interlock/spec"
)

var admin = []interlock.Obligation{{Type: interlock.ObligationAdmin, Note: "confirmed"}}

// TestLayer1IsConfirmed: what layer 1 asks is answered by an admin's yes to exactly this, and by nothing else; what layer 1 denies or
// halts nobody's yes lowers, also where something beside it asks.
func TestLayer1IsConfirmed(t *testing.T) {
	spec.Covers(t, "ASA-6.1-2", "ASA-13-1")
	asks := interlock.Finding{Gate: "rules", Rule: "a", Layer: 1, Verdict: interlock.Ask, Reason: "x", Obligations: admin}
	plain := interlock.Finding{Gate: "rules", Rule: "b", Layer: 1, Verdict: interlock.Ask, Reason: "x"}
	elsewhere := interlock.Finding{Gate: "rules", Rule: "c", Layer: 3, Verdict: interlock.Ask, Reason: "x", Obligations: admin}
	denies := interlock.Finding{Gate: "rules", Rule: "d", Layer: 1, Verdict: interlock.Deny, Reason: "x"}
	halts := interlock.Finding{Gate: "rules", Rule: "e", Layer: 1, Verdict: interlock.Halt, Reason: "x", Obligations: admin}
	deniesAdmin := denies
	deniesAdmin.Obligations = admin
	higher := denies
	higher.Layer = 4
	for name, tc := range map[string]struct {
		found []interlock.Finding
		asked []interlock.Obligation // of the request that was approved
		want  interlock.Verdict
	}{
		"asked and confirmed by an admin":  {[]interlock.Finding{asks}, admin, interlock.Allow},
		"asked twice":                      {[]interlock.Finding{asks, asks, elsewhere}, admin, interlock.Allow},
		"confirmed by anybody":             {[]interlock.Finding{asks}, nil, interlock.Ask},
		"asked without wanting an admin":   {[]interlock.Finding{plain}, admin, interlock.Ask},
		"the admin is another rule's":      {[]interlock.Finding{plain, elsewhere}, admin, interlock.Ask},
		"one of two wants none":            {[]interlock.Finding{asks, plain}, admin, interlock.Ask},
		"denied beside the question":       {[]interlock.Finding{asks, denies}, admin, interlock.Deny},
		"denied with an obligation":        {[]interlock.Finding{deniesAdmin}, admin, interlock.Deny},
		"denied at a higher layer beside":  {[]interlock.Finding{asks, higher}, admin, interlock.Deny},
		"halted":                           {[]interlock.Finding{asks, halts}, admin, interlock.Halt},
		"a layer that is none counts as 1": {[]interlock.Finding{{Gate: "judge", Rule: "j", Layer: 9, Verdict: interlock.Ask}}, admin, interlock.Ask},
		"an argument for allow is no weight": {[]interlock.Finding{asks, {Gate: "judge", Rule: "j", Layer: 1,
			Verdict: interlock.Allow}}, admin, interlock.Allow},
	} {
		q := question{rules: shipped(t), action: interlock.Action{Kind: interlock.KindShell, Input: "x"}, findings: tc.found, now: noon,
			snapshot: interlock.Snapshot{Profile: "guard", Attended: true, Agent: interlock.AgentRecord{ID: "agent", Principal: "user"}}}
		r := approvalFor(q)
		r.Obligations = tc.asked
		q.approvals = []interlock.ApprovalRequest{r}
		if d := q.decide(); d.Answer != tc.want {
			t.Errorf("%s: answered %v by %v, want %v", name, d.Answer, d.Findings, tc.want)
		}
	}
}

// TestNothingStandingAnswersLayer1: an order, a grant, a range, autoApprove and the user's own words lower nothing of layer 1, whatever it
// asks for.
func TestNothingStandingAnswersLayer1(t *testing.T) {
	spec.Covers(t, "ASA-6.1-1")
	for _, layer := range []int{1, 3} { // at layer 3 each of them lowers it, or this would show nothing
		rules := withTeam(t, fmt.Sprintf(`
rules: [{id: team.x, layer: %d, verdict: ask, reason: no, obligations: [{type: confirm}], match: {text: [shell], glob: ["frob *"]}}]`, layer))
		action := interlock.Action{Kind: interlock.KindShell, Input: "frob x", Dir: "/home/user/project"}
		plain := interlock.Snapshot{Profile: "guard", Attended: true, Agent: interlock.AgentRecord{ID: "agent", Principal: "user"}}
		silenced, granted := plain, plain
		silenced.Suppressions = []interlock.Suppression{{ID: "s", Rule: "team.x", Operator: "ada", Agent: "*", Denials: true,
			Created: noon.Add(-time.Minute), Expires: noon.Add(time.Minute)}}
		granted.Grants = []interlock.Grant{{ID: "g", Agent: "agent", Principal: "user", Kind: interlock.KindShell, Rules: []string{"team.x"},
			Tool: "frob *", Left: 1, Ruleset: rules.Digest(), Created: noon.Add(-time.Minute), Expires: noon.Add(time.Minute)}}
		for name, s := range map[string]interlock.Snapshot{"silenced": silenced, "granted": granted} {
			want := interlock.Allow
			if layer == 1 {
				want = interlock.Ask
			}
			d := Decide(rules, s, action, analyser(t).Analyse(s.View, action), nil, nil, noon)
			if d.Answer != want {
				t.Errorf("layer %d, %s: answered %v by %v", layer, name, d.Answer, d.Findings)
			}
			if layer == 1 && eachTime(gate.Gates(), d) == "" {
				t.Error("a standing yes could be given for layer 1")
			}
		}
		inferred := withTeam(t, fmt.Sprintf(`
rules: [{id: team.x, layer: %d, verdict: ask, reason: no, heuristic: true, match: {text: [shell], glob: ["frob *"]}}]
policy: {autoApprove: ["frob *"]}`, layer))
		if d := Decide(inferred, plain, action, analyser(t).Analyse(plain.View, action), nil, nil, noon); (d.Answer == interlock.Allow) == (layer == 1) {
			t.Errorf("layer %d, autoApprove: answered %v by %v", layer, d.Answer, d.Findings)
		}
	}
}

// TestSublayersOrderInsideALayer: of equally strict findings of one layer the lower place is named first; a place never reaches into
// another layer and never beats a stricter verdict.
func TestSublayersOrderInsideALayer(t *testing.T) {
	spec.Covers(t, "ASA-19.2-1", "ASA-13-2", "ASA-13-3")
	rapid.Check(t, func(t *rapid.T) {
		q := drawQuestion(t)
		for n := range q.findings {
			q.findings[n].Sublayer = rapid.IntRange(-1, 3).Draw(t, "sublayer")
		}
		d := q.decide()
		for n := 1; n < len(d.Findings); n++ {
			a, b := d.Findings[n-1], d.Findings[n]
			if a.Verdict == interlock.Allow || b.Verdict == interlock.Allow {
				continue // notices stand at the end
			}
			switch {
			case a.Verdict.Compare(b.Verdict) < 0, a.Verdict == b.Verdict && a.Layer > b.Layer,
				a.Verdict == b.Verdict && a.Layer == b.Layer && a.Sublayer > b.Sublayer:
				t.Fatalf("%v %d.%d is named before %v %d.%d", a.Verdict, a.Layer, a.Sublayer, b.Verdict, b.Layer, b.Sublayer)
			}
		}
		for n := range q.findings {
			q.findings[n].Sublayer = 0
		}
		if without := q.decide(); without.Verdict != d.Verdict || without.Answer != d.Answer {
			t.Fatalf("without places %v, with them %v", without.Verdict, d.Verdict)
		}
	})
}

// TestTheProfileOfARule: a rule that names profiles holds under them and under no other.
func TestTheProfileOfARule(t *testing.T) {
	rules := withTeam(t, `
rules:
  - {id: team.text, layer: 3, verdict: deny, profiles: [asa, managed], reason: no, match: {text: [shell], glob: ["frob *"]}}
  - {id: team.impact, layer: 3, verdict: deny, profiles: [asa], reason: no, match: {kind: [execute], via: [frob]}}`)
	action := interlock.Action{Kind: interlock.KindShell, Input: "frob x", Dir: "/home/user/project"}
	for profile, want := range map[string]int{"asa": 2, "managed": 1, "guard": 0} {
		s := interlock.Snapshot{Profile: profile, Attended: true, Agent: interlock.AgentRecord{ID: "agent", Principal: "user"}}
		var analysis impact.Analysis = analyser(t).Analyse(s.View, action)
		n := 0
		for _, f := range Decide(rules, s, action, analysis, nil, nil, noon).Findings {
			if f.Rule == "team.text" || f.Rule == "team.impact" {
				n++
			}
		}
		if n != want {
			t.Errorf("under %s %d of the rules fire, want %d", profile, n, want)
		}
	}
}
