package engine

import (
	"testing"
	"time"

	"interlock"
	"interlock/internal/impact"
)

// What may only run in a sandbox is denied where there is none, whatever else is said for it; where there is one, the
// question is asked as any other and answered as any other.
func TestWhatNeedsASandboxIsDeniedWithoutOne(t *testing.T) {
	rules := shipped(t)
	needs := interlock.Finding{Gate: "rules", Rule: "own.sandboxed", Layer: 3, Verdict: interlock.Ask, Reason: "only in a sandbox",
		Obligations: []interlock.Obligation{{Type: interlock.ObligationSandbox}}}
	for _, test := range []struct {
		name      string
		sandboxed bool
		mode      interlock.Mode
		findings  []interlock.Finding
		verdict   interlock.Verdict
		answer    interlock.Verdict
		first     string
	}{
		{"no sandbox", false, interlock.Enforcing, []interlock.Finding{needs}, interlock.Deny, interlock.Deny, "sandbox.needed"},
		{"a sandbox", true, interlock.Enforcing, []interlock.Finding{needs}, interlock.Ask, interlock.Ask, "own.sandboxed"},
		{"nothing needs one", false, interlock.Enforcing, nil, interlock.Allow, interlock.Allow, ""},
		{"monitoring says it and lets it pass", false, interlock.Monitoring, []interlock.Finding{needs}, interlock.Deny, interlock.Allow, "sandbox.needed"},
	} {
		t.Run(test.name, func(t *testing.T) {
			snapshot := interlock.Snapshot{Mode: test.mode, Profile: "guard", Attended: true, Sandboxed: test.sandboxed,
				Agent: interlock.AgentRecord{ID: "a"}}
			d := Decide(rules, snapshot, interlock.Action{Kind: interlock.KindShell, Input: "ls"}, impact.Analysis{}, test.findings, nil, time.Unix(1, 0))
			first := ""
			if f := d.Decisive(); f != nil {
				first = f.Rule
			}
			if d.Verdict != test.verdict || d.Answer != test.answer || first != test.first {
				t.Errorf("verdict %v, answer %v, named %q; want %v, %v, %q", d.Verdict, d.Answer, first, test.verdict, test.answer, test.first)
			}
		})
	}
}
