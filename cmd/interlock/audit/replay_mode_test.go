package audit

import (
	"testing"

	"interlock"
	"interlock/internal/quorum"
	"interlock/internal/replay"
	"interlock/spec"
)

// TestReplayStops: an ordered replay stops at any failure; by force it goes on after a divergence and after nothing else, and
// without a mode everything is told.
func TestReplayStops(t *testing.T) {
	spec.Covers(t, "MACE-REP-3", "MACE-REP-4", "MACE-REPLAY-03")
	codes := []replay.Code{"MISSING_SNAPSHOT", "INTEGRITY_FAILURE", "MISSING_PERSISTED_AGENT_OUTPUT", "RESULT_MISMATCH",
		"REPLAY_DIVERGENCE", "FORCE_CONTINUE_REQUIRED"}
	for i, code := range []replay.Code{replay.MissingSnapshot, replay.IntegrityFailure, replay.MissingAgentOutput,
		replay.ResultMismatch, replay.Divergence, replay.ForceContinue} {
		if code != codes[i] {
			t.Errorf("%q is %q in the specification", code, codes[i])
		}
		diverged := code == replay.ResultMismatch || code == replay.Divergence
		for _, tc := range []struct {
			ordered *orderedReplay
			stops   bool
		}{{nil, false}, {&orderedReplay{mode: quorum.ReplayAudit}, true},
			{&orderedReplay{mode: quorum.ReplayProduction, forced: true}, !diverged}} {
			if got := tc.ordered.stops(code); got != tc.stops {
				t.Errorf("%s under %+v: stops %v", code, tc.ordered, got)
			}
		}
	}
	if event := interlock.EventReplayRequest + " " + interlock.EventReplayResult; event != "REPLAY_REQUEST REPLAY_RESULT" {
		t.Errorf("the events are %s", event)
	}
}
