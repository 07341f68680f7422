package gate

import (
	"interlock"
	"interlock/internal/impact"
	"interlock/internal/ruleset"
)

// Standing halts whatever an agent under a hard block proposes, through every door (MCP-AQL 8.8.3).
func Standing(_ *ruleset.Ruleset, snapshot interlock.Snapshot, _ interlock.Action, _ impact.Analysis) []interlock.Finding {
	if snapshot.Block == "" {
		return nil
	}
	return []interlock.Finding{{Gate: "standing", Rule: "standing.blocked", Layer: 1, Verdict: interlock.Halt,
		Reason: "this agent is blocked until a human gives the code for challenge " + snapshot.Block + " or an admin lifts the block"}}
}
