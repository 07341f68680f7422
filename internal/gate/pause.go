package gate

import (
	"interlock"
	"interlock/internal/impact"
	"interlock/internal/ruleset"
)

// Pause refuses what a paused execution reports beside the action it waits for (MCP-AQL 8.6.4: after a pause nothing
// proceeds without a human). It is a denial and no further question, so that an agent which goes on reporting can't bury the
// request that waits under others; and no danger zone, because nothing is known against the action.
func Pause(_ *ruleset.Ruleset, snapshot interlock.Snapshot, _ interlock.Action, _ impact.Analysis) []interlock.Finding {
	if snapshot.Loop == nil || snapshot.Loop.Paused == "" {
		return nil
	}
	return []interlock.Finding{{Gate: "pause", Rule: "pause.waiting", Layer: 3, Verdict: interlock.Deny,
		Reason:     "this execution pauses until a human has answered request " + snapshot.Loop.Paused,
		Suggestion: "report the action that waits again once it is answered"}}
}
