package governance

import (
	"interlock"
	"interlock/internal/admission/core"
)

// GovernanceOrders are what orders of these verbs do.
func (a *Governance) GovernanceOrders() map[interlock.Verb]core.OrderHandler {
	return map[interlock.Verb]core.OrderHandler{
		interlock.VerbUnblock:        {Reads: readChallenge, Find: findChallenge, Do: a.unblock},
		interlock.VerbNewCode:        {Reads: readChallenge, Find: findChallenge, Do: a.newCode},
		interlock.VerbPromote:        {Reads: readAgent, Find: a.findAgent, Do: a.changeTrust},
		interlock.VerbDemote:         {Reads: readAgent, Find: a.findAgent, Do: a.changeTrust},
		interlock.VerbGrant:          {Reads: core.ReadStanding, Find: a.findGranted, Do: a.grant},
		interlock.VerbEndGrant:       {Reads: core.ReadEnded, Find: findGrant, Do: a.endGrant},
		interlock.VerbSuppress:       {Reads: core.ReadStanding, Find: a.findSuppressed, Do: a.suppress},
		interlock.VerbLift:           {Reads: core.ReadEnded, Find: findSuppression, Do: a.lift},
		interlock.VerbAddOperator:    {Reads: readPeople, Do: a.addOperator},
		interlock.VerbChangeOperator: {Reads: readPeople, Do: a.changeOperator},
		interlock.VerbAddAgent:       {Reads: readPeople, Do: a.addAgent},
		interlock.VerbRevoke:         {Reads: readPeople, Do: a.revoke},
		interlock.VerbWeakKeys:       {Reads: readWeakKeys, Do: a.setWeakKeys},
		interlock.VerbRequest:        {Reads: readAsked, Do: a.requestAction},
		interlock.VerbVote:           {Reads: readVoted, Find: findVoted, Do: a.vote},
		interlock.VerbWithdraw:       {Reads: readAction, Find: findAction, Do: a.withdraw},
		interlock.VerbExecute:        {Reads: readAction, Find: findAction, Do: a.execute},
		interlock.VerbPause:          {Reads: readIntake, Find: findIntake, Do: a.pauseIntake},
		interlock.VerbResume:         {Reads: readIntake, Find: findIntake, Do: a.resumeIntake},
		interlock.VerbMend:           {Find: a.findMend, Do: a.mend},
		interlock.VerbReadSealed:     {Do: a.readSealed},
		interlock.VerbSecond:         {Reads: readSeconded, Do: a.second},
		interlock.VerbAdoptRules:     {Do: a.adoptRules},
		interlock.VerbAdoptSettings:  {Reads: readSettingsOrder, Do: a.adoptSettings},
		interlock.VerbPromoteRules:   {Do: a.promoteRules},
		interlock.VerbConsent:        {Reads: readConsent, Do: a.consent},
		interlock.VerbRevokeConsent:  {Reads: readConsentNamed, Find: findConsent, Do: a.revokeConsent},
		interlock.VerbDataRequest:    {Reads: readPerson, Find: findPerson, Do: a.dataRequest, Last: a.openPerson},
	}
}
