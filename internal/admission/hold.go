package admission

import (
	"interlock"
	"interlock/internal/admission/containment"
	"interlock/internal/ledger"
)

// holdFindings object to every action where a hold is on what it is decided under. Nothing lowers a denial of layer 1.
func (d *pendingDecision) holdFindings() (found []interlock.Finding) {
	if len(d.begun.Others) == 0 {
		return nil
	}
	for _, h := range d.begun.Holds() {
		if h.Scope != ledger.HoldRuleset && h.Scope != ledger.HoldManifest {
			continue
		}
		found = append(found, interlock.Finding{Gate: "hold", Rule: "hold." + string(h.Scope), Layer: 1, Verdict: interlock.Deny,
			Reason: string(h.Cause) + ": nothing is decided under the " + containment.HeldWhat(h.Scope) + " in force until an admin clears the hold " +
				h.Name(),
			Suggestion: "tell an operator: `interlock hold list` says what was found, `interlock hold clear` ends it"})
	}
	return found
}
