package gate

import (
	"interlock"
	"interlock/internal/impact"
	"interlock/internal/impact/fact"
	"interlock/internal/ruleset"
)

// Named returns the objections of the gates that hold for every call of a tool, whatever its arguments. texts are those that
// every such call has; a tool that runs what it is given has none, and then lists of texts tell nothing of it.
//
// It asks the gates themselves, of a call that shows nothing but its name: of each gate asked, what it finds then it finds in
// every call. That is not so of those that read impacts, nor of lists that an executed text may meet, of declarations with
// conditions, of rules that an operator's order silences somewhere, and of guesses that autoApprove may take back.
func Named(rules *ruleset.Ruleset, snapshot interlock.Snapshot, tool string, texts []fact.Text) []interlock.Finding {
	action := interlock.Action{Kind: interlock.KindTool, Tool: tool}
	analysis := impact.Analysis{Texts: texts}
	found := Standing(rules, snapshot, action, analysis)
	found = append(found, Pin(rules, snapshot, action, analysis)...)
	found = append(found, Policy(rules, snapshot, action, analysis)...)
	if _, known := rules.Profile(snapshot.Profile); !known {
		found = append(found, Profile(rules, snapshot, action, analysis)...)
	}
	for _, f := range Scope(rules, snapshot, action, analysis) {
		if f.Rule != "scope.not-listed" || len(texts) > 0 {
			found = append(found, f)
		}
	}
	for _, f := range Denylist(rules, snapshot, action, analysis) {
		if !silencedSomewhere(snapshot, f.Rule) && !(f.Heuristic && approvable(rules, action, texts)) {
			found = append(found, f)
		}
	}
	return append(found, namedDangers(rules, snapshot, action, texts)...)
}

func silencedSomewhere(snapshot interlock.Snapshot, rule string) bool {
	for _, s := range snapshot.Suppressions {
		if s.Rule == rule {
			return true
		}
	}
	return false
}

// namedDangers is what the matrix says of the least level that any call of the tool has: that which is declared for its name
// without a condition. The matrix only gets stricter with the level.
func namedDangers(rules *ruleset.Ruleset, snapshot interlock.Snapshot, action interlock.Action,
	texts []fact.Text) []interlock.Finding {
	analysis := impact.Analysis{Texts: texts}
	if approvable(rules, action, texts) {
		return nil
	}
	least := interlock.DangerSafe
	for _, d := range snapshot.Danger {
		if concerns(d.Name, action, analysis) {
			least = max(least, d.Level)
		}
	}
	declared := rules.Danger()
	for n := range declared {
		if d := &declared[n]; len(d.When) == 0 && concerns(d.Name, action, analysis) {
			least = max(least, d.Level)
		}
	}
	if verdict := matrix(least, trustOf(rules, snapshot), introspects(action)); verdict.Compare(interlock.Deny) < 0 {
		return nil
	}
	return []interlock.Finding{{Gate: "danger", Rule: "danger." + least.String(), Layer: 2, Verdict: interlock.Deny,
		Reason: "the operation is " + least.String() + " and the agent is not trusted that far"}}
}

// approvable reports whether policy.autoApprove might cover a call of the tool, and so take back what was inferred.
func approvable(rules *ruleset.Ruleset, action interlock.Action, texts []fact.Text) bool {
	if len(rules.Policy().AutoApprove) == 0 {
		return false
	}
	matches := rules.PolicyMatches(ruleset.PolicyAutoApprove, action.Tool)
	for _, t := range texts {
		matches = matches || rules.PolicyMatches(ruleset.PolicyAutoApprove, t.Value)
	}
	return matches || len(texts) == 0
}
