package gate

import (
	"interlock"
	"interlock/internal/impact"
	"interlock/internal/ruleset"
)

// Scope objects to what lies outside the lists an agent is limited to and outside the reach its profile grants. Several
// lists for one agent must all allow the action.
func Scope(rules *ruleset.Ruleset, snapshot interlock.Snapshot, action interlock.Action,
	analysis impact.Analysis) []interlock.Finding {
	var out []interlock.Finding
	lists := [][]string{snapshot.Agent.Allow}
	for _, s := range rules.Scopes() {
		if snapshot.Agent.ID != "" && ruleset.Glob(s.Agent, snapshot.Agent.ID) ||
			snapshot.Agent.Type != "" && ruleset.Glob(s.Agent, snapshot.Agent.Type) {
			lists = append(lists, s.Allow)
		}
	}
	for _, allow := range lists {
		if len(allow) > 0 && !listed(allow, action, analysis) {
			out = append(out, interlock.Finding{Gate: "scope", Rule: "scope.not-listed", Layer: 2, Verdict: interlock.Deny,
				Reason: "the tool or command is not among those this agent may use"})
			break
		}
	}
	if !snapshot.Agent.Revoked.IsZero() {
		out = append(out, interlock.Finding{Gate: "scope", Rule: "scope.revoked", Layer: 1, Verdict: interlock.Deny,
			Reason: "this agent's identity has been revoked"})
	}
	if p, ok := rules.Profile(snapshot.Profile); ok {
		beyond := all(analysis.Impacts, func(i *interlock.Impact) bool { return acts(i) && !p.Reaches(i.Reach) })
		if len(beyond) > 0 {
			out = append(out, interlock.Finding{Gate: "scope", Rule: "scope.reach", Layer: 3,
				Verdict: interlock.Ask, Impacts: beyond,
				Reason: "the action reaches further than the profile grants"})
		}
	}
	return out
}

// acts reports whether the impact changes anything or leaves the machine.
func acts(i *interlock.Impact) bool {
	return i.Reversibility != interlock.Readonly || i.Kind != interlock.ImpactRead
}

// listed reports whether the list names the tool, or everything the action would execute.
func listed(allow []string, action interlock.Action, analysis impact.Analysis) bool {
	if action.Tool != "" && anyGlob(allow, action.Tool) {
		return true
	}
	for _, t := range analysis.Texts {
		if !anyGlob(allow, t.Value) {
			return false
		}
	}
	return len(analysis.Texts) > 0
}

func anyGlob(globs []string, text string) bool {
	for _, g := range globs {
		if ruleset.Glob(g, text) {
			return true
		}
	}
	return false
}
