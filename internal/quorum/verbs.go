package quorum

import (
	"strings"

	"interlock"
)

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

	Did     string  // what its giver is told it did, of its subject and of who gave it: "{subject} is held by order of {operator}"
	Signer  string  // whose key would do, where it takes more than to be in office
	Command Command // that gives it, where a subject and a reason are all it takes
}

// A Command is a command that gives an order of a subject and a reason: what it is called and what help says of it.
type Command struct {
	Name     string // after its group's: "hold set"
	Help     string // in a line
	Detail   string // beside that
	Argument string // what the subject is called there
	About    string // what help says of it
	Always   string // the subject where it is always the same; then it has no argument
	Why      string // what help says of the reason; empty: that it is for the record
	JSON     bool   // it prints JSON where somebody wants that
}

// Says is what is told of an order of this verb that was carried out.
func (v Verb) Says(subject, operator string) string {
	return strings.NewReplacer("{subject}", subject, "{operator}", operator).Replace(v.Did)
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
			Subject: "a challenge's id", Writes: "challenge", Event: interlock.EventUnblocked,
			Did: "lifted {subject} as {operator}"},
		{Name: interlock.VerbNewCode, Loosens: true, Role: roleAnswers, Needs: needsAnswer,
			Subject: "a challenge's id", Writes: "challenge", Event: interlock.EventChallenge},
		{Name: interlock.VerbPromote, Loosens: true, Role: roleGoverns, Needs: needsAdmin,
			Subject: "an agent", Writes: "agent", Event: interlock.EventTrust},
		{Name: interlock.VerbDemote, Role: roleAnswers, Needs: needsAnswer,
			Subject: "an agent", Writes: "agent", Event: interlock.EventTrust},
		{Name: interlock.VerbGrant, Loosens: true, Stands: true, Role: roleAnswers,
			Needs:   "this operator's role may not give standing grants",
			Subject: "an agent", Writes: "order", Event: interlock.EventGrant,
			Signer: "who may give grants"},
		{Name: interlock.VerbEndGrant, Role: roleAnswers, Needs: needsAnswer,
			Subject: "a grant's id", Writes: "order", Event: interlock.EventGrant,
			Did: "{subject} ended by {operator}",
			Command: Command{Name: "grant end", Help: "End a standing grant, from now on.", Argument: "id",
				About: "The grant's id, as interlock grant list shows it."}},
		{Name: interlock.VerbSuppress, Loosens: true, Stands: true, Role: roleAnswers,
			Needs:   "this operator's role may not suppress rules",
			Subject: "a rule", Writes: "order", Event: interlock.EventSuppression,
			Signer: "who may suppress rules"},
		{Name: interlock.VerbLift, Role: roleAnswers, Needs: needsAnswer,
			Subject: "a suppression's id", Writes: "order", Event: interlock.EventSuppression,
			Did: "{subject} ended by {operator}",
			Command: Command{Name: "rules unsuppress", Help: "End such an order.", Argument: "id",
				About: "The suppression's id, as interlock rules suppressions lists it."}},
		{Name: interlock.VerbRevoke, Loosens: true, Role: roleGoverns, Needs: needsAdmin,
			Subject: "an agent or an operator", Writes: "agent or operator", Event: interlock.EventIdentity, Own: true},
		{Name: interlock.VerbAddOperator, Loosens: true, Role: roleGoverns, Needs: needsAdmin,
			Subject: "an operator", Writes: "operator", Event: interlock.EventIdentity, Own: true, Detail: maxRecord},
		{Name: interlock.VerbChangeOperator, Loosens: true, Role: ValidRole, Needs: needsAnswer, // one's own; see admission
			Subject: "an operator", Writes: "operator", Event: interlock.EventIdentity, Own: true, Detail: maxRecord},
		{Name: interlock.VerbAddAgent, Loosens: true, Role: roleGoverns, Needs: needsAdmin,
			Subject: "an agent", Writes: "agent", Event: interlock.EventIdentity, Own: true, Detail: maxRecord},
		{Name: interlock.VerbApproveTool, Loosens: true, Reason: true, Role: roleAnswers, Needs: needsAnswer,
			Subject: "SERVER or SERVER.TOOL", Writes: "pin", Event: interlock.EventPin,
			Did: "{subject}: approved by order of {operator}"},
		{Name: interlock.VerbQuarantineTool, Reason: true, Role: roleAnswers, Needs: needsAnswer,
			Subject: "SERVER or SERVER.TOOL", Writes: "pin", Event: interlock.EventPin,
			Did: "{subject}: put into quarantine by order of {operator}"},
		{Name: interlock.VerbSignTools, Loosens: true, Role: roleAnswers, Needs: needsAnswer,
			Subject: "SERVER or SERVER.TOOL", Writes: "pin", Event: interlock.EventPin,
			Did: "{subject}: signed by order of {operator}"},
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
			Subject: "a hold's name", Writes: "hold", Event: interlock.EventIncident,
			Did: "{subject} is held by order of {operator}",
			Command: Command{Name: "hold set", Help: "Report that a snapshot can't be trusted: nothing is decided or made again under it.",
				Argument: "what", About: "ruleset:DIGEST, manifest:DIGEST or event:ID.", Why: "What happened, for the record.",
				Detail: "An admin's signed order; it is recorded as SECURITY_INCIDENT and FORCE_HALT_REPLAY. A hold on the ruleset in force has every\n" +
					"action refused until it is cleared."}},
		{Name: interlock.VerbClearHold, Loosens: true, Reason: true, Role: roleForces,
			Needs:   "this order needs an operator with the admin role, or one of the council",
			Subject: "a hold's name", Writes: "hold", Event: interlock.EventHaltClear,
			Did: "{subject} is held no more, by order of {operator}"},
		{Name: interlock.VerbTriage, Reason: true, Role: roleAnswers, Needs: needsAnswer,
			Subject: "the event of a report", Event: interlock.EventTriage},
		{Name: interlock.VerbKill, Reason: true, Role: roleAnswers, Needs: needsAnswer,
			Subject: "everything", Writes: "hold", Event: interlock.EventKill,
			Did: "stopped by order of {operator}"},
		{Name: interlock.VerbReleaseKill, Loosens: true, Reason: true, Role: roleGoverns, Needs: needsAdmin, Own: true,
			Subject: "everything", Writes: "hold", Event: interlock.EventKillRelease,
			Did: "{subject} goes on by order of {operator}"},
		{Name: interlock.VerbTightenPhase, Reason: true, Role: roleAnswers, Needs: needsAnswer,
			Subject: "what a phase is on", Writes: "hold", Event: interlock.EventPhase},
		{Name: interlock.VerbLoosenPhase, Loosens: true, Reason: true, Role: roleForces, // which of them: see package phase
			Needs:   "a phase is loosened by an operator with the role admin or superadmin, and emergency by superadmin or council",
			Subject: "what a phase is on", Writes: "hold", Event: interlock.EventPhase},
		{Name: interlock.VerbRootCause, Loosens: true, Reason: true, Role: roleForces,
			Needs:   "this order needs an operator with the admin role, or one of the council",
			Subject: "what a phase is on", Writes: "hold", Event: interlock.EventRootCause,
			Did: "the root cause of the emergency of {subject} is on record, by {operator}"},
		{Name: interlock.VerbSecond, Loosens: true, Reason: true, Role: roleAnswers, Needs: needsAnswer, Own: true,
			Subject: "what another team is to order", Writes: "setting", Event: interlock.EventSeconded,
			Did: "{operator} has seconded it; somebody of another team orders it within a day",
			Command: Command{Name: "operator second", Help: "Say yes, as the first of two teams, to what weakens how actions are classified.",
				Argument: "what",
				About:    "The digest of what another team is to order, as the refusal of that order, or interlock grant range --show, prints it.",
				Detail: "From tier 2 on, rules, settings and pre-approved ranges that weaken how actions are classified take people of two " +
					"teams. This is the\nfirst word, and counts for a day, for exactly what the digest names; an admin of another team then gives the order itself."}},
		{Name: interlock.VerbTripBreaker, Reason: true, Role: roleAnswers, Needs: needsAnswer,
			Subject: "what a breaker guards", Writes: "hold", Event: interlock.EventBreaker,
			Did: "the breaker of {subject} is open, by order of {operator}",
			Command: Command{Name: "breaker trip", Help: "Open a breaker: everything of an agent, or of a type, is refused.",
				Argument: "on", About: "agent:NAME or type:NAME.", JSON: true,
				Detail: "A signed order, recorded as BREAKER_TRIPPED. A breaker that somebody opened stays open until somebody resets it."}},
		{Name: interlock.VerbResetBreaker, Loosens: true, Reason: true, Role: roleAnswers, Needs: needsAnswer,
			Subject: "what a breaker guards", Writes: "hold", Event: interlock.EventBreakerReset,
			Did: "the breaker of {subject} is reset, by order of {operator}",
			Command: Command{Name: "breaker reset", Help: "Half-open an open breaker; close a half-open one under which enough went well.",
				Argument: "on", About: "agent:NAME or type:NAME.", JSON: true,
				Detail: "A signed order, recorded as BREAKER_RESET. Half-open, a breaker lets one action run at a time until its outcome is known; a\n" +
					"refusal opens it for twice as long. After three that went well, resetting it again closes it."}},
		{Name: interlock.VerbBeginRollback, Reason: true, Role: roleGoverns, Needs: needsAdmin,
			Subject: "agent:NAME since TIME, or event:ID", Writes: "rollback", Event: interlock.EventRollback, Detail: maxRecord},
		{Name: interlock.VerbTellRollback, Reason: true, Role: roleAnswers, Needs: needsAnswer,
			Subject: "ROLLBACK/STEP", Writes: "rollback", Event: interlock.EventRollbackStep},
		{Name: interlock.VerbChangeRun, Loosens: true, Reason: true, Role: roleAnswers, Needs: needsAnswer,
			Subject: "a run's id", Writes: "run or checkpoint", Event: interlock.EventRunChanged},
		{Name: interlock.VerbUnlockCommitment, Loosens: true, Reason: true, Role: roleAnswers, Needs: needsAnswer,
			Subject: "a commitment's name", Writes: "commitment", Event: interlock.EventCommitment,
			Did: "{subject} is unlocked, by order of {operator}",
			Command: Command{Name: "commitments unlock", Help: "Let what went to and fro, and is locked, be decided anew.",
				Argument: "name", About: "The commitment, as it is listed.",
				Detail: "A signed order, recorded as COMMITMENT_UNLOCKED. What was decided last stands, and may be reversed as often as one that was " +
					"made anew."}},
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
			Subject: "intake", Writes: "hold", Event: interlock.EventPause,
			Did: "{subject} is paused by order of {operator}",
			Command: Command{Name: "hold pause", Help: "Pause intake: no agent begins anything.", Always: interlock.PauseSubject,
				Detail: "An admin's signed order, recorded as SYSTEM_PAUSE. Every action that is proposed from then on is denied; what was let through\n" +
					"before goes on to its end. interlock kill stops that as well."}},
		{Name: interlock.VerbResume, Loosens: true, Reason: true, Role: roleGoverns, Needs: needsAdmin, Own: true,
			Subject: "intake", Writes: "hold", Event: interlock.EventResume,
			Did: "{subject} goes on by order of {operator}",
			Command: Command{Name: "hold resume", Help: "End that pause.", Always: interlock.PauseSubject,
				Detail: "An admin's signed order, recorded as SYSTEM_RESUME."}},
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
