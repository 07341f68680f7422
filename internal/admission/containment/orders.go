package containment

import (
	"interlock"
	"interlock/internal/admission/core"
)

// ContainmentOrders are what orders of these verbs do.
func (a *Containment) ContainmentOrders() map[interlock.Verb]core.OrderHandler {
	return map[interlock.Verb]core.OrderHandler{
		interlock.VerbHold:         {Reads: readHold, Find: findHoldable, Do: a.reportIncident},
		interlock.VerbClearHold:    {Reads: readHold, Find: findHold, Do: a.clearHold},
		interlock.VerbTriage:       {Reads: a.readTriage, Do: a.triage},
		interlock.VerbKill:         {Reads: readKill, Find: a.findKill, Do: a.orderKill},
		interlock.VerbReleaseKill:  {Reads: readKill, Find: a.findKill, Do: a.releaseKill, Last: a.killReleased},
		interlock.VerbTightenPhase: {Reads: readMoved, Find: findActor, Do: a.tightenPhase},
		interlock.VerbLoosenPhase:  {Reads: readMoved, Find: findActor, Do: a.loosenPhase},
		interlock.VerbRootCause:    {Reads: readMoved, Find: findActor, Do: a.nameCause},
		interlock.VerbTripBreaker:  {Reads: readMoved, Find: findActor, Do: a.tripBreaker},
		interlock.VerbResetBreaker: {Reads: readMoved, Find: findActor, Do: a.resetBreaker},
	}
}
