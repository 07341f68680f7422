package judging

import (
	"interlock"
	"interlock/internal/admission/core"
)

// JudgingOrders are what orders of these verbs do.
func (a *Judging) JudgingOrders() map[interlock.Verb]core.OrderHandler {
	return map[interlock.Verb]core.OrderHandler{
		interlock.VerbAdoptGround: {Do: a.adoptGround},
	}
}
