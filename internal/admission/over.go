package admission

import (
	"slices"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/ledger"
	"interlock/internal/phase"
)

// phaseFindings are what the holds over a requester object to an action. Of one that stands in and has read for long enough nobody is asked
// where the system is in alternate for that one loss, and nothing else.
func (d *pendingDecision) phaseFindings() (found []interlock.Finding) {
	over, now := d.over, d.now
	if len(over) == 0 { // nearly always
		return nil
	}
	act, tier := core.ActOf(d.Requester, d.analysis), d.rules.TierFor(core.AgentOf(d.Requester, d.begun))
	alone := slices.ContainsFunc(over, func(h ledger.HoldBody) bool { return h.Alone(now) })
	for n := range over {
		h := &over[n]
		if h.Breaker != nil {
			if f, objects := h.Breaker.Object(h.Key); objects {
				found = append(found, f)
			}
			continue
		}
		if h.Name() == ledger.IntakeName {
			found = append(found, interlock.Finding{Gate: "hold", Rule: "hold.intake", Layer: 1, Verdict: interlock.Deny,
				Reason:     string(interlock.EventPause) + ": an admin has paused intake, and nothing new is let through",
				Suggestion: "wait; an admin lets things go on with: interlock hold resume"})
			continue
		}
		if h.Backup != nil {
			if f, objects := phase.ObjectBackup(h.Name(), h.Since, h.Hold, act, now); objects {
				found = append(found, f)
			}
			continue
		}
		if alone && h.Scope == ledger.HoldSystem && h.Trigger == phase.TriggerSpread && !h.Heals.IsZero() {
			continue
		}
		if f, objects := phase.Object(h.Name(), string(h.Scope), h.Since, h.Hold, act, tier); objects {
			found = append(found, f)
		}
	}
	return found
}
