package admission

import "interlock"

// governanceOrders are what orders of these verbs do.
func (a *Admission) governanceOrders() map[interlock.Verb]deed {
	return map[interlock.Verb]deed{
		interlock.VerbUnblock:        {reads: readChallenge, find: findChallenge, do: a.unblock},
		interlock.VerbNewCode:        {reads: readChallenge, find: findChallenge, do: a.newCode},
		interlock.VerbPromote:        {reads: readAgent, find: a.findAgent, do: a.changeTrust},
		interlock.VerbDemote:         {reads: readAgent, find: a.findAgent, do: a.changeTrust},
		interlock.VerbGrant:          {reads: readStanding, find: a.findGranted, do: a.grant},
		interlock.VerbEndGrant:       {reads: readEnded, find: findGrant, do: a.endGrant},
		interlock.VerbSuppress:       {reads: readStanding, find: a.findSuppressed, do: a.suppress},
		interlock.VerbLift:           {reads: readEnded, find: findSuppression, do: a.lift},
		interlock.VerbAddOperator:    {reads: readPeople, do: a.addOperator},
		interlock.VerbChangeOperator: {reads: readPeople, do: a.changeOperator},
		interlock.VerbAddAgent:       {reads: readPeople, do: a.addAgent},
		interlock.VerbRevoke:         {reads: readPeople, do: a.revoke},
		interlock.VerbWeakKeys:       {reads: readWeakKeys, do: a.setWeakKeys},
		interlock.VerbRequest:        {reads: readAsked, do: a.requestAction},
		interlock.VerbVote:           {reads: readVoted, find: findVoted, do: a.vote},
		interlock.VerbWithdraw:       {reads: readAction, find: findAction, do: a.withdraw},
		interlock.VerbExecute:        {reads: readAction, find: findAction, do: a.execute},
		interlock.VerbPause:          {reads: readIntake, find: findIntake, do: a.pauseIntake},
		interlock.VerbResume:         {reads: readIntake, find: findIntake, do: a.resumeIntake},
		interlock.VerbMend:           {find: a.findMend, do: a.mend},
		interlock.VerbReadSealed:     {do: a.readSealed},
		interlock.VerbSecond:         {reads: readSeconded, do: a.second},
		interlock.VerbAdoptRules:     {do: a.adoptRules},
		interlock.VerbAdoptSettings:  {reads: readSettingsOrder, do: a.adoptSettings},
		interlock.VerbPromoteRules:   {do: a.promoteRules},
	}
}

// containmentOrders are what orders of these verbs do.
func (a *Admission) containmentOrders() map[interlock.Verb]deed {
	return map[interlock.Verb]deed{
		interlock.VerbHold:         {reads: readHold, find: findHoldable, do: a.reportIncident},
		interlock.VerbClearHold:    {reads: readHold, find: findHold, do: a.clearHold},
		interlock.VerbTriage:       {do: a.triage},
		interlock.VerbKill:         {reads: readKill, find: a.findKill, do: a.orderKill},
		interlock.VerbReleaseKill:  {reads: readKill, find: a.findKill, do: a.releaseKill, last: a.killReleased},
		interlock.VerbTightenPhase: {reads: readMoved, find: findActor, do: a.tightenPhase},
		interlock.VerbLoosenPhase:  {reads: readMoved, find: findActor, do: a.loosenPhase},
		interlock.VerbRootCause:    {reads: readMoved, find: findActor, do: a.nameCause},
		interlock.VerbTripBreaker:  {reads: readMoved, find: findActor, do: a.tripBreaker},
		interlock.VerbResetBreaker: {reads: readMoved, find: findActor, do: a.resetBreaker},
	}
}

// pinningOrders are what orders of these verbs do.
func (a *Admission) pinningOrders() map[interlock.Verb]deed {
	return map[interlock.Verb]deed{
		interlock.VerbApproveTool:    {reads: readPins, do: a.changePins},
		interlock.VerbQuarantineTool: {reads: readPins, do: a.changePins},
		interlock.VerbSignTools:      {reads: readPins, do: a.signPins},
	}
}

// judgingOrders are what orders of these verbs do.
func (a *Admission) judgingOrders() map[interlock.Verb]deed {
	return map[interlock.Verb]deed{
		interlock.VerbAdoptGround: {do: a.adoptGround},
	}
}

// runsOrders are what orders of these verbs do.
func (a *Admission) runsOrders() map[interlock.Verb]deed {
	return map[interlock.Verb]deed{
		interlock.VerbBeginRollback:    {reads: readRollback, find: a.findRollback, do: a.beginRollback},
		interlock.VerbTellRollback:     {reads: readRollbackStep, find: findRollbackStep, do: a.tellStep},
		interlock.VerbChangeRun:        {reads: readChangedRun, find: findChangedRun, do: a.changeRun},
		interlock.VerbUnlockCommitment: {reads: readCommitment, find: findCommitment, do: a.unlockCommitment},
	}
}
