package gate

import (
	"interlock"
	"interlock/internal/impact"
	"interlock/internal/ruleset"
)

// Policy objects where a glob of policy.deny or policy.requiresApproval matches the tool's name, any executed text, or
// what a hint names.
func Policy(rules *ruleset.Ruleset, _ interlock.Snapshot, action interlock.Action, analysis impact.Analysis) []interlock.Finding {
	var out []interlock.Finding
	if policyMeets(rules, ruleset.PolicyDeny, action, analysis) {
		out = append(out, interlock.Finding{Gate: "policy", Rule: "policy.deny", Layer: 2, Verdict: interlock.Deny,
			Reason: "an operator's policy denies this tool or command"})
	}
	if policyMeets(rules, ruleset.PolicyRequiresApproval, action, analysis) {
		out = append(out, interlock.Finding{Gate: "policy", Rule: "policy.requires-approval", Layer: 3, Verdict: interlock.Ask,
			Reason: "an operator's policy wants this tool or command approved each time"})
	}
	return out
}

func policyMeets(rules *ruleset.Ruleset, list int, action interlock.Action, analysis impact.Analysis) bool {
	if action.Tool != "" && rules.PolicyMatches(list, action.Tool) {
		return true
	}
	for _, t := range analysis.Texts {
		if rules.PolicyMatches(list, t.Value) {
			return true
		}
	}
	if action.Kind == interlock.KindHint && len(rules.Policy().Deny)+len(rules.Policy().RequiresApproval) > 0 {
		for _, name := range analysis.Spoken {
			if rules.PolicyMatches(list, name) {
				return true
			}
		}
	}
	return false
}

// AutoApproved reports whether policy.autoApprove covers the whole action: every executed text, or, for an action that
// is a tool call and executes nothing else, the tool's name; of a hint the hint itself and every command in it. One text that
// no glob covers leaves the action uncovered, so nothing rides along behind an approved command; and input that was not
// understood is never covered.
func AutoApproved(rules *ruleset.Ruleset, snapshot interlock.Snapshot, action interlock.Action, analysis impact.Analysis) bool {
	return loopApproves(snapshot.Loop, action, analysis) ||
		covered(func(text string) bool { return rules.PolicyMatches(ruleset.PolicyAutoApprove, text) }, action, analysis)
}

func covered(matches func(string) bool, action interlock.Action, analysis impact.Analysis) bool {
	for n := range analysis.Impacts {
		if !understood(&analysis.Impacts[n]) {
			return false
		}
	}
	isHint := action.Kind == interlock.KindHint
	if isHint && !matches(action.Input) {
		return false // what prose says beside a command would ride along
	}
	all := isHint
	for _, t := range analysis.Texts {
		if named := t.Kind == interlock.KindTool && action.Tool != "" && matches(action.Tool); !named && !matches(t.Value) {
			return false
		}
		all = true
	}
	return all
}
