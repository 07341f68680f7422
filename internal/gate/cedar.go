package gate

import (
	"interlock"
	"interlock/internal/impact"
	"interlock/internal/ruleset"
)

// Cedar objects to what the ruleset's Cedar policies forbid, by who asks, what is done to what, and when.
func Cedar(rules *ruleset.Ruleset, snapshot interlock.Snapshot, action interlock.Action, analysis impact.Analysis) (found []interlock.Finding) {
	q := ruleset.CedarQuery{Agent: snapshot.Agent, User: snapshot.Agent.Principal, Action: action, Impacts: analysis.Impacts, At: snapshot.Taken}
	if basis := snapshot.Run; basis != nil {
		q.Run, q.User, q.Delegated = basis.Run, basis.User, len(basis.Links) > 0
	}
	for _, hit := range rules.Forbidden(q) {
		found = append(found, interlock.Finding{Gate: "cedar", Rule: hit.ID, Layer: hit.Layer, Verdict: hit.Verdict, Reason: hit.Reason,
			Impacts: hit.Impacts})
	}
	return found
}
