package admission

import (
	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/admission/runs"
	"interlock/internal/ledger"
	"interlock/internal/origin"
)

// heardRefs names what an action's run has heard, where it may matter where its values come from.
func (d *pendingDecision) heardRefs() []ledger.Ref {
	if d.Requester.Run == "" || !runs.Outward(d.Action, d.impacts()) {
		return nil
	}
	return []ledger.Ref{core.Key(ledger.Heard, core.RunOf(d.Requester))}
}

// told is where the values of an action come from, by what was heard of its run through any process.
func (d *pendingDecision) told() *interlock.Origin {
	for _, ref := range d.heardRefs() {
		if heard := core.Found[ledger.HeardBody](&d.ground, ref); heard.Run != "" {
			return origin.Of(heard.Heard, heard.Run, d.Action, d.now)
		}
	}
	return nil
}
