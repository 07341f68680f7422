package gate

import (
	"interlock"
	"interlock/internal/impact"
	"interlock/internal/ruleset"
)

// Pause holds what a paused agent reports (MCP-AQL 8.6.4: after a pause nothing proceeds without a human), in whatever execution.
// Anything but the action that waits is denied and not asked about, so that an agent which goes on reporting can't bury the
// request that waits under others; it is no danger zone, because nothing is known against the action. The action itself is
// asked about whatever else is reported of it: that nothing objects to it now, since the agent no longer says that a step
// failed, is no answer.
func Pause(_ *ruleset.Ruleset, snapshot interlock.Snapshot, _ interlock.Action, _ impact.Analysis) []interlock.Finding {
	l := snapshot.Loop
	if l == nil {
		return nil
	}
	var out []interlock.Finding
	if l.Paused != "" {
		reason := "this agent pauses until a human has answered request " + l.Paused
		if l.Verifying != "" {
			reason = "this agent pauses until a human gives the code for challenge " + l.Verifying
		}
		out = append(out, interlock.Finding{Gate: "pause", Rule: "pause.waiting", Layer: 3, Verdict: interlock.Deny,
			Reason: reason, Suggestion: "report the action that waits again once it is answered"})
	}
	if l.Asked != "" {
		out = append(out, interlock.Finding{Gate: "pause", Rule: "pause.asked", Layer: 4, Verdict: interlock.Ask,
			Reason: "this agent pauses at this action, which passes once a human has approved request " + l.Asked})
	}
	return out
}

// OfPause reports whether a finding speaks of a pause and not of the action that is reported during it.
func (t Table) OfPause(f *interlock.Finding) bool {
	return t.Of(f.Gate).Waits || f.Rule == ruleVerifying
}
