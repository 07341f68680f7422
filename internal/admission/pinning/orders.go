package pinning

import (
	"interlock"
	"interlock/internal/admission/core"
)

// PinningOrders are what orders of these verbs do.
func (a *Pins) PinningOrders() map[interlock.Verb]core.OrderHandler {
	return map[interlock.Verb]core.OrderHandler{
		interlock.VerbApproveTool:    {Reads: readPins, Do: a.changePins},
		interlock.VerbQuarantineTool: {Reads: readPins, Do: a.changePins},
		interlock.VerbSignTools:      {Reads: readPins, Do: a.signPins},
	}
}
