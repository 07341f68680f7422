package admission

import "interlock"

// watchFindings are what is asked about where nobody looks for what is unusual and nobody has accepted that: it counts as contingency
// (MASO's pitfalls), so that a person says yes to each action.
func (d *pendingDecision) watchFindings() []interlock.Finding {
	w := d.rules.Watch()
	if d.rules.Maso().Tier < 2 || !w.Off || w.Accepted != "" {
		return nil
	}
	return []interlock.Finding{{Gate: "phase", Rule: "phase.unwatched", Layer: 2, Verdict: interlock.Ask,
		Reason: "phase C (contingency): nobody looks for what is unusual (maso.watch.off), and nobody has accepted the risk, so every " +
			"action needs a person's yes",
		Suggestion: "tell an operator: name accepted_by and reason beside off in the rules, or take off out"}}
}
