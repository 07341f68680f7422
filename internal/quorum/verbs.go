package quorum

import "interlock"

// A Verb says of one kind of order what it takes to count and what it does. Adding an order begins with a row of [Verbs].
type Verb struct {
	Name interlock.Verb
	// lets more happen than before: nobody orders it for themselves, and no session that began with a passkey does without it
	Loosens bool
	Stands  bool                   // decisions consult it until it ends; the others are carried out once
	Reason  bool                   // it says why, for the record
	Role    func(role string) bool // of an operator whose order counts
	Needs   string                 // what somebody with another role is told
	Subject string                 // what its subject names
	Writes  string                 // the kind of row that carrying it out changes; empty: it leaves its event and nothing else
	Event   interlock.EventType    // that says it was carried out
	Own     bool                   // proved by an operator's own key or passkey only, not by the server's word for a session
	Person  bool                   // proved by a passkey or a security key only
	Detail  int                    // bytes its detail may have where that is more than a sentence: a record with a public key
}

// What an operator with another role is told.
const (
	needsAdmin  = "this order needs an operator with the admin role"
	needsAnswer = "this operator's role may not give orders"
	needsReplay = "this operator's role may not order a replay, or its going on by force"
)

// maxRecord bounds what an order says of a person or an agent: the longest public key that is taken, and some names.
const maxRecord = 6 << 10

// Verbs lists every kind of order.
func Verbs() []Verb {
	return []Verb{
		{Name: interlock.VerbUnblock, Loosens: true, Role: roleGoverns, Needs: needsAdmin,
			Subject: "a challenge's id", Writes: "challenge", Event: interlock.EventUnblocked},
		{Name: interlock.VerbNewCode, Loosens: true, Role: roleAnswers, Needs: needsAnswer,
			Subject: "a challenge's id", Writes: "challenge", Event: interlock.EventChallenge},
		{Name: interlock.VerbPromote, Loosens: true, Role: roleGoverns, Needs: needsAdmin,
			Subject: "an agent", Writes: "agent", Event: interlock.EventTrust},
		{Name: interlock.VerbDemote, Role: roleAnswers, Needs: needsAnswer,
			Subject: "an agent", Writes: "agent", Event: interlock.EventTrust},
		{Name: interlock.VerbGrant, Loosens: true, Stands: true, Role: roleAnswers,
			Needs:   "this operator's role may not give standing grants",
			Subject: "an agent", Writes: "order", Event: interlock.EventGrant},
		{Name: interlock.VerbEndGrant, Role: roleAnswers, Needs: needsAnswer,
			Subject: "a grant's id", Writes: "order", Event: interlock.EventGrant},
		{Name: interlock.VerbSuppress, Loosens: true, Stands: true, Role: roleAnswers,
			Needs:   "this operator's role may not suppress rules",
			Subject: "a rule", Writes: "order", Event: interlock.EventSuppression},
		{Name: interlock.VerbLift, Role: roleAnswers, Needs: needsAnswer,
			Subject: "a suppression's id", Writes: "order", Event: interlock.EventSuppression},
		{Name: interlock.VerbRevoke, Loosens: true, Role: roleGoverns, Needs: needsAdmin,
			Subject: "an agent or an operator", Writes: "agent or operator", Event: interlock.EventIdentity, Own: true},
		{Name: interlock.VerbAddOperator, Loosens: true, Role: roleGoverns, Needs: needsAdmin,
			Subject: "an operator", Writes: "operator", Event: interlock.EventIdentity, Own: true, Detail: maxRecord},
		{Name: interlock.VerbChangeOperator, Loosens: true, Role: ValidRole, Needs: needsAnswer, // one's own; see admission
			Subject: "an operator", Writes: "operator", Event: interlock.EventIdentity, Own: true, Detail: maxRecord},
		{Name: interlock.VerbAddAgent, Loosens: true, Role: roleGoverns, Needs: needsAdmin,
			Subject: "an agent", Writes: "agent", Event: interlock.EventIdentity, Own: true, Detail: maxRecord},
		{Name: interlock.VerbApproveTool, Loosens: true, Reason: true, Role: roleAnswers, Needs: needsAnswer,
			Subject: "SERVER or SERVER.TOOL", Writes: "pin", Event: interlock.EventPin},
		{Name: interlock.VerbQuarantineTool, Reason: true, Role: roleAnswers, Needs: needsAnswer,
			Subject: "SERVER or SERVER.TOOL", Writes: "pin", Event: interlock.EventPin},
		{Name: interlock.VerbSignTools, Loosens: true, Role: roleAnswers, Needs: needsAnswer,
			Subject: "SERVER or SERVER.TOOL", Writes: "pin", Event: interlock.EventPin},
		{Name: interlock.VerbReadSealed, Loosens: true, Reason: true, Role: roleGovernsOrAudits,
			Needs:   "this order needs an operator with the admin or the auditor role",
			Subject: "which recorded inputs", Event: interlock.EventAccess},
		{Name: interlock.VerbWeakKeys, Loosens: true, Reason: true, Role: roleGoverns, Needs: needsAdmin, Person: true, Own: true,
			Subject: "the home", Writes: "setting", Event: interlock.EventIdentity},
		{Name: interlock.VerbPromoteRules, Loosens: true, Reason: true, Role: roleGoverns, Needs: needsAdmin,
			Subject: "the digest of a ruleset", Writes: "candidate", Event: interlock.EventPromotion},
		{Name: interlock.VerbAdoptRules, Loosens: true, Reason: true, Role: roleGoverns, Needs: needsAdmin,
			Subject: "the digest of a ruleset", Event: interlock.EventPromotion},
		{Name: interlock.VerbAdoptGround, Loosens: true, Reason: true, Role: roleGoverns, Needs: needsAdmin, Own: true,
			Subject: "the digest of ground rules", Event: interlock.EventGroundRules},
		{Name: interlock.VerbAdoptSettings, Loosens: true, Reason: true, Role: roleGoverns, Needs: needsAdmin, Own: true,
			Subject: "the home's settings", Writes: "setting", Event: interlock.EventMode, Detail: maxRecord},
		{Name: interlock.VerbHold, Reason: true, Role: roleGoverns, Needs: needsAdmin,
			Subject: "a hold's name", Writes: "hold", Event: interlock.EventIncident},
		{Name: interlock.VerbClearHold, Loosens: true, Reason: true, Role: roleForces,
			Needs:   "this order needs an operator with the admin role, or one of the council",
			Subject: "a hold's name", Writes: "hold", Event: interlock.EventHaltClear},
		{Name: interlock.VerbTriage, Reason: true, Role: roleAnswers, Needs: needsAnswer,
			Subject: "the event of a report", Event: interlock.EventTriage},
		{Name: interlock.VerbKill, Reason: true, Role: roleAnswers, Needs: needsAnswer,
			Subject: "everything", Writes: "hold", Event: interlock.EventKill},
		{Name: interlock.VerbReleaseKill, Loosens: true, Reason: true, Role: roleGoverns, Needs: needsAdmin, Own: true,
			Subject: "everything", Writes: "hold", Event: interlock.EventKillRelease},
		{Name: interlock.VerbTightenPhase, Reason: true, Role: roleAnswers, Needs: needsAnswer,
			Subject: "what a phase is on", Writes: "hold", Event: interlock.EventPhase},
		{Name: interlock.VerbLoosenPhase, Loosens: true, Reason: true, Role: roleForces, // which of them: see package phase
			Needs:   "a phase is loosened by an operator with the role admin or superadmin, and emergency by superadmin or council",
			Subject: "what a phase is on", Writes: "hold", Event: interlock.EventPhase},
		{Name: interlock.VerbRootCause, Loosens: true, Reason: true, Role: roleForces,
			Needs:   "this order needs an operator with the admin role, or one of the council",
			Subject: "what a phase is on", Writes: "hold", Event: interlock.EventRootCause},
		{Name: interlock.VerbSecond, Loosens: true, Reason: true, Role: roleAnswers, Needs: needsAnswer, Own: true,
			Subject: "what another team is to order", Writes: "setting", Event: interlock.EventSeconded},
		{Name: interlock.VerbTripBreaker, Reason: true, Role: roleAnswers, Needs: needsAnswer,
			Subject: "what a breaker guards", Writes: "hold", Event: interlock.EventBreaker},
		{Name: interlock.VerbResetBreaker, Loosens: true, Reason: true, Role: roleAnswers, Needs: needsAnswer,
			Subject: "what a breaker guards", Writes: "hold", Event: interlock.EventBreakerReset},
		{Name: interlock.VerbBeginRollback, Reason: true, Role: roleGoverns, Needs: needsAdmin,
			Subject: "agent:NAME since TIME, or event:ID", Writes: "rollback", Event: interlock.EventRollback, Detail: maxRecord},
		{Name: interlock.VerbTellRollback, Reason: true, Role: roleAnswers, Needs: needsAnswer,
			Subject: "ROLLBACK/STEP", Writes: "rollback", Event: interlock.EventRollbackStep},
		{Name: interlock.VerbChangeRun, Loosens: true, Reason: true, Role: roleAnswers, Needs: needsAnswer,
			Subject: "a run's id", Writes: "run or checkpoint", Event: interlock.EventRunChanged},
		{Name: interlock.VerbUnlockCommitment, Loosens: true, Reason: true, Role: roleAnswers, Needs: needsAnswer,
			Subject: "a commitment's name", Writes: "commitment", Event: interlock.EventCommitment},
		{Name: interlock.VerbMend, Loosens: true, Reason: true, Role: roleGoverns, Needs: needsAdmin,
			Subject: "the store", Event: interlock.EventMended},
		{Name: interlock.VerbRequest, Reason: true, Role: ValidRole, Needs: needsAnswer,
			Subject: "a type of governed action", Writes: "action_request", Event: interlock.EventActionRequest, Own: true, Detail: maxRecord},
		{Name: interlock.VerbVote, Loosens: true, Role: roleForces,
			Needs:   "this order needs an operator who votes: one of the council, or an admin where an admin's word is wanted",
			Subject: "a request's id", Writes: "action_request or request", Event: interlock.EventVote, Own: true},
		{Name: interlock.VerbWithdraw, Role: ValidRole, Needs: needsAnswer,
			Subject: "a request's id", Writes: "action_request", Event: interlock.EventActionStatus, Own: true},
		{Name: interlock.VerbExecute, Loosens: true, Role: roleForces,
			Needs:   "this order needs an operator with the admin role, or one of the council",
			Subject: "a request's id", Writes: "action_request", Event: interlock.EventActionStatus, Own: true},
		{Name: interlock.VerbPause, Reason: true, Role: roleGoverns, Needs: needsAdmin,
			Subject: "intake", Writes: "hold", Event: interlock.EventPause},
		{Name: interlock.VerbResume, Loosens: true, Reason: true, Role: roleGoverns, Needs: needsAdmin, Own: true,
			Subject: "intake", Writes: "hold", Event: interlock.EventResume},
		{Name: interlock.VerbReplay, Loosens: true, Reason: true, Role: roleReplays, Needs: needsReplay,
			Subject: "which decisions", Event: interlock.EventReplayRequest},
		{Name: interlock.VerbForceContinue, Loosens: true, Reason: true, Role: roleForces, Needs: needsReplay,
			Subject: "which decisions", Event: interlock.EventReplayRequest},
	}
}

// VerbOf finds a verb. One that nobody knows counts for nobody, and would loosen.
func VerbOf(name interlock.Verb) (verb Verb, known bool) {
	for _, v := range Verbs() {
		if v.Name == name {
			return v, true
		}
	}
	return Verb{Name: name, Loosens: true}, false
}

// Loosens reports whether what is ordered lets more happen than before.
func Loosens(name interlock.Verb) bool {
	verb, _ := VerbOf(name)
	return verb.Loosens
}

// Governs reports whether an operator with this role may change who else there is.
func Governs(role string) bool { return roleGoverns(role) }

func roleGoverns(role string) bool { return role == RoleAdmin || role == RoleSuperadmin }

func roleGovernsOrAudits(role string) bool { return roleGoverns(role) || role == RoleAuditor }

func roleForces(role string) bool { return roleGoverns(role) || role == RoleCouncil }

func roleReplays(role string) bool {
	return roleForces(role) || role == RoleOperator || role == RoleAuditor
}
