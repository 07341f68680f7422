package gate

import (
	"interlock"
	"interlock/internal/impact"
	"interlock/internal/meter"
	"interlock/internal/ruleset"
)

// Cooldown denies what a gateway would carry out again although the same has just failed, or has failed too often. It is a
// denial and no question: there is nothing for a human to judge, and time answers it.
func Cooldown(_ *ruleset.Ruleset, snapshot interlock.Snapshot, _ interlock.Action, analysis impact.Analysis) []interlock.Finding {
	if snapshot.Failed == nil {
		return nil
	}
	changes := all(analysis.Impacts, func(i *interlock.Impact) bool { return i.Reversibility != interlock.Readonly })
	wait, spent := meter.Again(*snapshot.Failed, len(changes) > 0, snapshot.Taken)
	if wait <= 0 {
		return nil
	}
	f := interlock.Finding{Gate: "cooldown", Rule: "cooldown.failed", Layer: 3, Verdict: interlock.Deny,
		Reason:      "the same call failed a moment ago and nothing has changed since",
		Suggestion:  "find out why it failed and do something about it, or wait",
		Obligations: waiting(wait)}
	switch {
	case spent:
		f.Rule, f.Reason = "cooldown.budget", "the same call has failed as often as it may be tried in one run"
	case snapshot.Failed.Outcome == interlock.OutcomeUnknown:
		f.Rule, f.Reason = "cooldown.unknown", "the same call was begun a moment ago and nobody knows how it ended"
		f.Suggestion = "find out what it did before it is tried again"
	}
	return []interlock.Finding{f}
}
