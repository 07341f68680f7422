package gate

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock"
	"interlock/internal/impact"
)

// TestPause: what a paused agent reports is refused or asked about, and the reason names what is waited for.
func TestPause(t *testing.T) {
	for name, tc := range map[string]struct {
		loop *interlock.Loop
		want []string
	}{
		"no execution": {nil, nil},
		"no pause":     {&interlock.Loop{}, nil},
		"another action": {&interlock.Loop{Paused: "apr_1"}, []string{
			"pause.waiting deny: this agent pauses until a human has answered request apr_1"}},
		"waiting for a code": {&interlock.Loop{Paused: "c", Verifying: "c"}, []string{
			"pause.waiting deny: this agent pauses until a human gives the code for challenge c"}},
		"the action": {&interlock.Loop{Asked: "apr_1"}, []string{
			"pause.asked ask: this agent pauses at this action, which passes once a human has approved request apr_1"}},
		"two pauses": {&interlock.Loop{Paused: "apr_2", Asked: "apr_1"}, []string{
			"pause.waiting deny: this agent pauses until a human has answered request apr_2",
			"pause.asked ask: this agent pauses at this action, which passes once a human has approved request apr_1"}},
	} {
		var got []string
		for _, f := range Pause(nil, interlock.Snapshot{Loop: tc.loop}, interlock.Action{}, impact.Analysis{}) {
			if got = append(got, f.Rule+" "+f.Verdict.String()+": "+f.Reason); !rows.OfPause(&f) {
				t.Errorf("%s: %s speaks of the action", name, f.Rule)
			}
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if rows.OfPause(&interlock.Finding{Gate: "loop", Rule: "loop.deny"}) {
		t.Error("a pattern's denial speaks of a pause")
	}
}
