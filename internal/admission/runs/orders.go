package runs

import (
	"interlock"
	"interlock/internal/admission/core"
)

// RunsOrders are what orders of these verbs do.
func (a *Runs) RunsOrders() map[interlock.Verb]core.OrderHandler {
	return map[interlock.Verb]core.OrderHandler{
		interlock.VerbBeginRollback:    {Reads: readRollback, Find: a.findRollback, Do: a.beginRollback, Last: a.endDownstream},
		interlock.VerbTellRollback:     {Reads: readRollbackStep, Find: findRollbackStep, Do: a.tellStep},
		interlock.VerbChangeRun:        {Reads: readChangedRun, Find: findChangedRun, Do: a.changeRun},
		interlock.VerbUnlockCommitment: {Reads: readCommitment, Find: findCommitment, Do: a.unlockCommitment},
	}
}
