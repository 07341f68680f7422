package admission_test

import (
	"fmt"
	"testing"

	"interlock"
	"interlock/internal/phase"
	"interlock/spec"
)

// TestACapRaisesAPhase: whoever wants more records than its cap has room for is refused, and isolated where its tier has phases; whoever is
// only too fast waits, and at lower tiers nobody is isolated for it.
func TestACapRaisesAPhase(t *testing.T) {
	spec.Covers(t, "EC-2.3")
	spec.Covers(t, "EC-T2.3")
	for _, test := range []struct {
		tier    int
		measure string
		want    phase.Phase
	}{{2, "records, unknown: 1", phase.Alternate}, {1, "records, unknown: 1", ""}, {2, "actions", ""}} {
		h := newHouse(t, under(t, fmt.Sprintf("maso: {tier: %d}\nlimits:\n  - {id: team.cap, per: agent, measure: %s, most: 3, "+
			"escalate_at: 100%%, match: {kind: [read]}}\n",
			test.tier, test.measure)))
		for n := range 3 {
			if a := h.propose(fmt.Sprint("cat f", n)); a.Answer != interlock.Allow {
				t.Fatalf("%+v, call %d: %v %+v", test, n, a.Answer, a.Decisive())
			}
		}
		if a := h.propose("cat one too many"); a.Answer != interlock.Deny || a.Decisive().Rule != "limit.team.cap" {
			t.Errorf("%+v: %v %+v", test, a.Answer, a.Decisive())
		}
		if p, _ := h.phaseOf("agent:claude"); p != test.want {
			t.Errorf("%+v: the agent is in %q", test, p)
		}
	}
}
