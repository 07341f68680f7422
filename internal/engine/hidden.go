package engine

import (
	"interlock"
	"interlock/internal/gate"
	"interlock/internal/impact/fact"
	"interlock/internal/ruleset"
)

// Hidden reports whether [Decide] denies every call of a tool to whom the snapshot is about, whatever the arguments, and names
// the finding by which it does: who may call it in no way need not see it. texts are those that every call of this name has;
// without them what is looked for in texts tells nothing. A tool is not hidden if any call of it might pass, or be asked about.
func Hidden(rules *ruleset.Ruleset, snapshot interlock.Snapshot, tool string, texts []fact.Text) (interlock.Finding, bool) {
	if rules == nil {
		return refusal("no-ruleset", "no rules are loaded, so nothing is allowed"), true
	}
	switch snapshot.Mode {
	case interlock.Monitoring, interlock.Logging, interlock.Disabled:
		return interlock.Finding{}, false // verdicts don't bind
	}
	found := gate.Named(rules, snapshot, tool, texts)
	for _, f := range ordered(gate.Gates(), found) {
		if f.Verdict.Compare(interlock.Deny) >= 0 {
			return f, true
		}
	}
	return interlock.Finding{}, false
}
