package engine

import (
	"strings"
	"time"

	"interlock"
	"interlock/internal/gate"
	"interlock/internal/impact"
	"interlock/internal/ruleset"
)

// suppressed takes out the findings that an operator's order in force keeps silent, and returns in their place what says so.
// Orders reach rules, and rows by which a profile asks; what is at layer 1, halts or protects Interlock they do not, and
// nothing of an operation whose danger level is forbidden. Whatever else objects stays.
func suppressed(gates gate.Table, found []interlock.Finding, rules *ruleset.Ruleset, snapshot *interlock.Snapshot,
	action interlock.Action,
	analysis impact.Analysis, danger interlock.Danger, now time.Time) (kept, notices []interlock.Finding) {
	if len(snapshot.Suppressions) == 0 || danger >= interlock.DangerForbidden {
		return found, nil
	}
	for _, f := range found {
		order := silencing(gates, f, rules, snapshot, action, analysis, now)
		if order == nil {
			kept = append(kept, f)
			continue
		}
		notices = append(notices, interlock.Finding{Gate: "suppression", Rule: f.Rule, Layer: f.Layer, Verdict: interlock.Allow,
			Impacts: f.Impacts, Reason: "suppressed by " + order.Operator + " until " + order.Expires.UTC().Format("2006-01-02 15:04 MST") +
				" (" + order.ID + "): " + order.Reason})
	}
	return kept, notices
}

// silencing finds the order that keeps a finding silent.
func silencing(gates gate.Table, f interlock.Finding, rules *ruleset.Ruleset, snapshot *interlock.Snapshot,
	action interlock.Action,
	analysis impact.Analysis,
	now time.Time) *interlock.Suppression {
	if !gates.Of(f.Gate).Suppressible {
		return nil
	}
	if _, err := rules.Suppressible(f.Rule); err != nil || f.Layer <= 1 || f.Verdict.Compare(interlock.Deny) > 0 {
		return nil
	}
	for n := range snapshot.Suppressions {
		s := &snapshot.Suppressions[n]
		if s.Rule == f.Rule && s.InForce(now) && (f.Verdict == interlock.Ask || s.Denials) &&
			inScope(s, f, snapshot, action, analysis) {
			return s
		}
	}
	return nil
}

// inScope reports whether all that an order names holds: the agent, the place of everything the finding is about, and each
// text that would be executed.
func inScope(s *interlock.Suppression, f interlock.Finding, snapshot *interlock.Snapshot, action interlock.Action,
	analysis impact.Analysis) bool {
	if s.Agent == "" && s.Path == "" && s.Command == "" ||
		s.Agent != "" && (snapshot.Agent.ID == "" || !ruleset.Glob(s.Agent, snapshot.Agent.ID)) {
		return false
	}
	if s.Path != "" {
		for _, n := range f.Impacts {
			place := analysis.Impacts[n].Target
			if !strings.HasPrefix(place, "/") && !strings.HasPrefix(place, "~") {
				place = action.Dir // no path: a host, a name
			}
			if !lies(place, s.Path) {
				return false
			}
		}
		if len(f.Impacts) == 0 && !lies(action.Dir, s.Path) {
			return false
		}
	}
	if s.Command == "" {
		return true
	}
	for _, t := range analysis.Texts {
		if !ruleset.Glob(s.Command, t.Value) {
			return false
		}
	}
	return len(analysis.Texts) > 0
}

// lies reports whether a path is in a directory or is it.
func lies(place, directory string) bool {
	rest, found := strings.CutPrefix(place, directory)
	return found && (rest == "" || rest[0] == '/') && !strings.Contains(rest+"/", "/../")
}
