package gate

import (
	"time"

	"interlock"
	"interlock/internal/impact"
	"interlock/internal/ruleset"
)

// Limit objects to what a limit has to count and can't: what does not say how much it is, what says what can't be, and money of a
// currency that no limit counts. Whether there is room is found out where it is taken, see [NoRoom].
func Limit(rules *ruleset.Ruleset, snapshot interlock.Snapshot, action interlock.Action, analysis impact.Analysis) []interlock.Finding {
	var out []interlock.Finding
	for _, c := range rules.Charges(snapshot.Profile, &snapshot.Agent, action.Kind, analysis.Impacts) {
		object := func(verdict interlock.Verdict, impacts []int, reason string) {
			if len(impacts) > 0 {
				out = append(out, interlock.Finding{Gate: NameLimit, Rule: "limit." + c.Limit.ID, Layer: 3, Verdict: verdict, Reason: reason,
					Impacts: impacts})
			}
		}
		object(interlock.Deny, c.Wrong, "the limit "+c.Limit.ID+" can't count this: an amount is less than nothing, more than there is "+
			"or of no currency that is known")
		object(interlock.Deny, c.Foreign, "this commits money of another currency than the limit "+c.Limit.ID+" counts, and none counts that")
		object(interlock.Ask, c.Unknown, "this does not say how much it is, which the limit "+c.Limit.ID+" counts")
	}
	return out
}

const NameLimit = "limit"

// NoRoom is what a limit objects to an action that it has no room for. For how long that is so is said where time brings room back.
func NoRoom(l *ruleset.Limit, escalates bool, wait time.Duration) interlock.Finding {
	f := interlock.Finding{Gate: NameLimit, Rule: "limit." + l.ID, Layer: 3, Verdict: l.Verdict,
		Reason: "the limit " + l.ID + " has no room left for this", Suggestion: "an operator can say more about it: interlock limits"}
	if escalates {
		f.Verdict = interlock.Ask
		f.Reason = "this would use more of the limit " + l.ID + " than is given out without a human"
		return f
	}
	if wait > 0 {
		f.Suggestion = "wait until there is room again"
		if l.Verdict == interlock.Deny {
			f.Obligations = waiting(wait)
		}
	}
	return f
}
