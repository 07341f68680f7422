package quorum

import (
	"slices"
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
	Always  string                 // the subject, where there is only one
	Writes  string                 // the kind of row that carrying it out changes; empty: it leaves its event and nothing else
	Event   interlock.EventType    // that says it was carried out
	Own     bool                   // proved by an operator's own key or passkey only, not by the server's word for a session
	Person  bool                   // proved by a passkey or a security key only
	Act     string                 // the type of governed action that it is where the council governs; empty: it is none
	Detail  int                    // bytes its detail may have where that is more than a sentence: a record with a public key

	Did     string  // what its giver is told it did, of its subject and of who gave it: "{subject} is held by order of {operator}"
	Signer  string  // whose key would do, where it takes more than to be in office
	Command Command // that gives it
	Form    Form    // by which it is given in the console; without a title it isn't
}

// A Form is how an order is given in the console.
type Form struct {
	Title  string // of the page on which it is signed
	Effect string // what it does, for who is to sign it, of its {subject} and its {detail}
	Takes  string // what it takes beside a subject and a reason, one of the constants below; empty: nothing
	// the page on which one sees what came of it: {id} is the order's after its "ord_", {subject} what it is about, and {whole} what
	// that is a part of
	After string
}

// What orders take beside a subject and a reason. Where what an order does turns on that, the console has words of its own.
const (
	TakesChallenge = "challenge"     // nothing; its subject is a challenge that was not ended
	TakesLevel     = "level"         // of an agent's trust, and for a certificate how long it runs
	TakesTool      = "tool"          // nothing; its subject is a tool or server that is known
	TakesApproved  = "approved"      // the digest of what was shown that waits for an approval
	TakesSigned    = "signed"        // the digest of what was shown that nobody has signed for
	TakesOperator  = "operator"      // an operator's record
	TakesAgent     = "agent"         // an agent's record
	TakesName      = "name"          // nothing; its subject is a person or an agent
	TakesWeakKeys  = "weak keys"     // whether they may sign
	TakesSettings  = "settings"      // all of them
	TakesMode      = "mode"          // in which everything is stopped
	TakesStop      = "stop"          // nothing; its detail is the stop that it ends
	TakesActor     = "actor"         // nothing; its subject is what a phase is on
	TakesBreaker   = "breaker"       // nothing; its subject is what a breaker guards
	TakesPhase     = "phase"         // a stricter phase
	TakesStepBack  = "step back"     // the phase before
	TakesPlan      = "rollback plan" // the digest of the plan that was shown
	TakesStep      = "rollback step" // how it ended
	TakesScope     = "scope"         // where a rule is silent and how long; a page of its own
)

// A Command is the command that gives an order: what it is called and, where a subject and a reason are all that it takes, what help
// says of it. One without help is written for its order alone.
type Command struct {
	Name     string // after its group's: "hold set"
	Help     string // in a line
	Detail   string // beside that
	Argument string // what the subject is called there
	About    string // what help says of it
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
func Verbs() []Verb { return slices.Clone(verbs) }

var verbs = []Verb{
	{Name: interlock.VerbUnblock, Loosens: true, Role: roleGoverns, Needs: needsAdmin,
		Subject: "a challenge's id", Writes: "challenge", Event: interlock.EventUnblocked,
		Did:     "lifted {subject} as {operator}",
		Command: Command{Name: "block lift"},
		Form: Form{Title: "Lift a block", Takes: TakesChallenge, After: "/challenges",
			Effect: "The agent may act again at once, without a code."}},
	{Name: interlock.VerbNewCode, Loosens: true, Role: roleAnswers, Needs: needsAnswer,
		Subject: "a challenge's id", Writes: "challenge", Event: interlock.EventChallenge,
		Command: Command{Name: "block code"},
		Form: Form{Title: "Issue a new code", Takes: TakesChallenge, After: "/challenges",
			Effect: "A fresh code replaces the one in force. It is shown once, on the next page, and goes nowhere else. " +
				"Give it to the agent's side only if you mean it to go on."}},
	{Name: interlock.VerbPromote, Loosens: true, Role: roleGoverns, Needs: needsAdmin,
		Subject: "an agent", Writes: "agent", Act: ActTrust, Event: interlock.EventTrust,
		Command: Command{Name: "trust promote"},
		Form: Form{Title: "Raise an agent's trust", Takes: TakesLevel, After: "/trust",
			Effect: "The agent is trusted one level further. The reason is recorded as the evidence."}},
	{Name: interlock.VerbDemote, Role: roleAnswers, Needs: needsAnswer,
		Subject: "an agent", Writes: "agent", Act: ActTrust, Event: interlock.EventTrust,
		Command: Command{Name: "trust demote"},
		Form: Form{Title: "Lower an agent's trust", Takes: TakesLevel, After: "/trust",
			Effect: "The agent is trusted less, at once."}},
	{Name: interlock.VerbGrant, Loosens: true, Stands: true, Role: roleAnswers,
		Needs:   "this operator's role may not give standing grants",
		Subject: "an agent", Writes: "order", Event: interlock.EventGrant,
		Signer:  "who may give grants",
		Command: Command{Name: "grant give"}},
	{Name: interlock.VerbEndGrant, Role: roleAnswers, Needs: needsAnswer,
		Subject: "a grant's id", Writes: "order", Event: interlock.EventGrant,
		Did: "{subject} ended by {operator}",
		Command: Command{Name: "grant end", Help: "End a standing grant, from now on.", Argument: "id",
			About: "The grant's id, as interlock grant list shows it."}},
	{Name: interlock.VerbSuppress, Loosens: true, Stands: true, Role: roleAnswers,
		Needs:   "this operator's role may not suppress rules",
		Subject: "a rule", Writes: "order", Event: interlock.EventSuppression,
		Signer:  "who may suppress rules",
		Command: Command{Name: "rules suppress"},
		Form: Form{Title: "Keep a rule silent", Takes: TakesScope, After: "/rules/{subject}",
			Effect: "The rule objects no more where the order says, until it expires or is lifted. Everything else that " +
				"objects still does, and each decision it touches names the order."}},
	{Name: interlock.VerbLift, Role: roleAnswers, Needs: needsAnswer,
		Subject: "a suppression's id", Writes: "order", Event: interlock.EventSuppression,
		Did: "{subject} ended by {operator}",
		Command: Command{Name: "rules unsuppress", Help: "End such an order.", Argument: "id",
			About: "The suppression's id, as interlock rules suppressions lists it."}},
	{Name: interlock.VerbRevoke, Loosens: true, Role: roleGoverns, Needs: needsAdmin,
		Subject: "an agent or an operator", Writes: "agent or operator", Act: ActRoster, Event: interlock.EventIdentity, Own: true,
		Command: Command{Name: "operator revoke"},
		Form: Form{Title: "Revoke", Takes: TakesName, After: "/agents",
			Effect: "{subject} has no rights here any more, at once. What they approved and nobody has used counts no " +
				"longer."}},
	{Name: interlock.VerbAddOperator, Loosens: true, Role: roleGoverns, Needs: needsAdmin,
		Subject: "an operator", Writes: "operator", Act: ActRoster, Event: interlock.EventIdentity, Own: true, Detail: maxRecord,
		Command: Command{Name: "operator add"},
		Form:    Form{Title: "Add an operator", Takes: TakesOperator, After: "/agents"}},
	{Name: interlock.VerbChangeOperator, Loosens: true, Role: ValidRole, Needs: needsAnswer, // one's own; see admission
		Subject: "an operator", Writes: "operator", Act: ActRoster, Event: interlock.EventIdentity, Own: true, Detail: maxRecord,
		Command: Command{Name: "operator change"},
		Form:    Form{Title: "Change an operator", Takes: TakesOperator, After: "/agents"}},
	{Name: interlock.VerbAddAgent, Loosens: true, Role: roleGoverns, Needs: needsAdmin,
		Subject: "an agent", Writes: "agent", Event: interlock.EventIdentity, Own: true, Detail: maxRecord,
		Command: Command{Name: "agent add"},
		Form:    Form{Title: "Add an agent", Takes: TakesAgent, After: "/agents"}},
	{Name: interlock.VerbApproveTool, Loosens: true, Reason: true, Role: roleAnswers, Needs: needsAnswer,
		Subject: "SERVER or SERVER.TOOL", Writes: "pin", Event: interlock.EventPin,
		Did:     "{subject}: approved by order of {operator}",
		Command: Command{Name: "tools approve"},
		Form: Form{Title: "Approve what a server offers", Takes: TakesApproved, After: "/tools",
			Effect: "Agents see it and may call it, as far as the rules let them. The detail is the digest of what you " +
				"were shown: if the server changes it before this counts, it does not count."}},
	{Name: interlock.VerbQuarantineTool, Reason: true, Role: roleAnswers, Needs: needsAnswer,
		Subject: "SERVER or SERVER.TOOL", Writes: "pin", Event: interlock.EventPin,
		Did:     "{subject}: put into quarantine by order of {operator}",
		Command: Command{Name: "tools quarantine"},
		Form: Form{Title: "Put into quarantine", Takes: TakesTool, After: "/tools",
			Effect: "No agent sees it or can call it any more, from the next call on."}},
	{Name: interlock.VerbSignTools, Loosens: true, Role: roleAnswers, Needs: needsAnswer,
		Subject: "SERVER or SERVER.TOOL", Writes: "pin", Event: interlock.EventPin,
		Did:     "{subject}: signed by order of {operator}",
		Command: Command{Name: "tools sign"},
		Form: Form{Title: "Sign for what is in use", Takes: TakesSigned, After: "/tools",
			Effect: "It stays in use, by your word from now on instead of its first use. The detail is the digest of what " +
				"you were shown; what is taken or changes later does not count as signed, and what is in quarantine " +
				"stays there."}},
	{Name: interlock.VerbReadSealed, Loosens: true, Reason: true, Role: roleGovernsOrAudits,
		Needs:   "this order needs an operator with the admin or the auditor role",
		Subject: "which recorded inputs", Event: interlock.EventAccess,
		Command: Command{Name: "replay run"}},
	{Name: interlock.VerbWeakKeys, Loosens: true, Reason: true, Role: roleGoverns, Needs: needsAdmin, Person: true, Own: true,
		Subject: "the home", Writes: "setting", Event: interlock.EventIdentity,
		Command: Command{Name: "operator weak-keys"},
		Form: Form{Title: "Keys without a passphrase", Takes: TakesWeakKeys, After: "/agents",
			Effect: "Of SSH keys without a passphrase it says: {detail}. Anything that runs as their owner's user can use such a key."}},
	{Name: interlock.VerbPromoteRules, Loosens: true, Reason: true, Role: roleGoverns, Needs: needsAdmin,
		Subject: "the digest of a ruleset", Writes: "candidate", Act: ActPolicy, Event: interlock.EventPromotion,
		Command: Command{Name: "rules promote"}},
	{Name: interlock.VerbAdoptRules, Loosens: true, Reason: true, Role: roleGoverns, Needs: needsAdmin,
		Subject: "the digest of a ruleset", Act: ActPolicy, Event: interlock.EventPromotion,
		Command: Command{Name: "rules adopt"}},
	{Name: interlock.VerbAdoptGround, Loosens: true, Reason: true, Role: roleGoverns, Needs: needsAdmin, Own: true,
		Subject: "the digest of ground rules", Act: ActPolicy, Event: interlock.EventGroundRules,
		Command: Command{Name: "judge rules adopt"}},
	{Name: interlock.VerbAdoptSettings, Loosens: true, Reason: true, Role: roleGoverns, Needs: needsAdmin, Own: true,
		Subject: "the home's settings", Writes: "setting", Act: ActConstant, Event: interlock.EventMode, Detail: maxRecord,
		Command: Command{Name: "settings adopt"},
		Form:    Form{Title: "The settings", Takes: TakesSettings, After: "/system"}},
	{Name: interlock.VerbHold, Reason: true, Role: roleGoverns, Needs: needsAdmin,
		Subject: "a hold's name", Writes: "hold", Event: interlock.EventIncident,
		Did: "{subject} is held by order of {operator}",
		Command: Command{Name: "hold set", Help: "Report that a snapshot can't be trusted: nothing is decided or made again under it.",
			Argument: "what", About: "ruleset:DIGEST, manifest:DIGEST or event:ID.", Why: "What happened, for the record.",
			Detail: "An admin's signed order; it is recorded as SECURITY_INCIDENT and FORCE_HALT_REPLAY. A hold on the ruleset in " +
				"force has every action refused until it is cleared."},
		Form: Form{Title: "Report what can't be trusted", After: "/system",
			Effect: "Nothing is decided or made again under {subject} until somebody clears the hold. A hold on the " +
				"ruleset in force has every action refused."}},
	{Name: interlock.VerbClearHold, Loosens: true, Reason: true, Role: roleForces,
		Needs:   "this order needs an operator with the admin role, or one of the council",
		Subject: "a hold's name", Writes: "hold", Act: ActClearHalt, Event: interlock.EventHaltClear,
		Did:     "{subject} is held no more, by order of {operator}",
		Command: Command{Name: "hold clear"},
		Form: Form{Title: "End a hold", After: "/system",
			Effect: "What was held is decided and made again under {subject}. What is still broken is held again when it " +
				"is next looked at."}},
	{Name: interlock.VerbTriage, Reason: true, Role: roleAnswers, Needs: needsAnswer,
		Subject: "the event of a report", Event: interlock.EventTriage,
		Command: Command{Name: "report triage"}},
	{Name: interlock.VerbKill, Reason: true, Role: roleAnswers, Needs: needsAnswer,
		Subject: "everything", Always: interlock.KillSubject, Writes: "hold", Event: interlock.EventKill,
		Did:     "stopped by order of {operator}",
		Command: Command{Name: "kill now"},
		Form: Form{Title: "Stop everything", Takes: TakesMode, After: "/system",
			Effect: "Every call of every agent is halted at once, in every mode. Agents' tokens are refused, servers " +
				"behind the gateway and sandboxes are ended. What hooks have let through can't be called back. Only an " +
				"admin's signed order lets everything go on."}},
	{Name: interlock.VerbReleaseKill, Loosens: true, Reason: true, Role: roleGoverns, Needs: needsAdmin, Own: true,
		Subject: "everything", Always: interlock.KillSubject, Writes: "hold", Event: interlock.EventKillRelease,
		Did:     "{subject} goes on by order of {operator}",
		Command: Command{Name: "kill release"},
		Form: Form{Title: "Let everything go on", Takes: TakesStop, After: "/system",
			Effect: "Every agent may go on at once, as far as the rules let it."}},
	{Name: interlock.VerbTightenPhase, Reason: true, Role: roleAnswers, Needs: needsAnswer,
		Subject: "what a phase is on", Writes: "hold", Act: ActQuarantine, Event: interlock.EventPhase,
		Command: Command{Name: "phase set"},
		Form: Form{Title: "Move to a stricter phase", Takes: TakesPhase, After: "/system/phases",
			Effect: "At once {subject} goes to phase {detail}. Back it goes one step at a time, by people."}},
	{Name: interlock.VerbLoosenPhase, Loosens: true, Reason: true, Role: roleForces, // which of them: see package phase
		Needs:   "a phase is loosened by an operator with the role admin or superadmin, and emergency by superadmin or council",
		Subject: "what a phase is on", Writes: "hold", Act: ActUnquarantine, Event: interlock.EventPhase,
		Command: Command{Name: "phase set"},
		Form: Form{Title: "Loosen a phase by one step", Takes: TakesStepBack, After: "/system/phases",
			Effect: "At once {subject} goes back to phase {detail}, and what that phase lets pass passes."}},
	{Name: interlock.VerbRootCause, Loosens: true, Reason: true, Role: roleForces,
		Needs:   "this order needs an operator with the admin role, or one of the council",
		Subject: "what a phase is on", Writes: "hold", Event: interlock.EventRootCause,
		Did:     "the root cause of the emergency of {subject} is on record, by {operator}",
		Command: Command{Name: "phase cause"},
		Form: Form{Title: "Name the root cause of an emergency", Takes: TakesActor, After: "/system/phases",
			Effect: "It is put on record what the emergency of {subject} came of. No phase changes by it: another person " +
				"answers for leaving the emergency."}},
	{Name: interlock.VerbSecond, Loosens: true, Reason: true, Role: roleAnswers, Needs: needsAnswer, Own: true,
		Subject: "what another team is to order", Writes: "setting", Event: interlock.EventSeconded,
		Did: "{operator} has seconded it; somebody of another team orders it within a day",
		Command: Command{Name: "operator second",
			Help:     "Say yes, as the first of two teams, to what weakens how actions are classified.",
			Argument: "what",
			About: "The digest of what another team is to order, as the refusal of that order, or interlock grant range " +
				"--show, prints it.",
			Detail: "From tier 2 on, rules, settings and pre-approved ranges that weaken how actions are classified take people of two " +
				"teams. This is the first word, and counts for a day, for exactly what the digest names; an admin of another team then " +
				"gives the order itself."},
		Form: Form{Title: "Say yes for another team's order", After: "/grants",
			Effect: "With it somebody of another team may give the one order that has this digest, within 24 hours. Know " +
				"what the digest is of before you sign."}},
	{Name: interlock.VerbTripBreaker, Reason: true, Role: roleAnswers, Needs: needsAnswer,
		Subject: "what a breaker guards", Writes: "hold", Event: interlock.EventBreaker,
		Did: "the breaker of {subject} is open, by order of {operator}",
		Command: Command{Name: "breaker trip", Help: "Open a breaker: everything of an agent, or of a type, is refused.",
			Argument: "on", About: "agent:NAME or type:NAME.", JSON: true,
			Detail: "A signed order, recorded as BREAKER_TRIPPED. A breaker that somebody opened stays open until somebody resets it."},
		Form: Form{Title: "Open a breaker", Takes: TakesBreaker, After: "/system/phases",
			Effect: "Everything of {subject} is refused from now on, until somebody resets the breaker."}},
	{Name: interlock.VerbResetBreaker, Loosens: true, Reason: true, Role: roleAnswers, Needs: needsAnswer,
		Subject: "what a breaker guards", Writes: "hold", Event: interlock.EventBreakerReset,
		Did: "the breaker of {subject} is reset, by order of {operator}",
		Command: Command{Name: "breaker reset", Help: "Half-open an open breaker; close a half-open one under which enough went well.",
			Argument: "on", About: "agent:NAME or type:NAME.", JSON: true,
			Detail: "A signed order, recorded as BREAKER_RESET. Half-open, a breaker lets one action run at a time until its " +
				"outcome is known; a refusal opens it for twice as long. After three that went well, resetting it again closes it."},
		Form: Form{Title: "Reset a breaker", Takes: TakesBreaker, After: "/system/phases",
			Effect: "An open breaker of {subject} lets one action run at a time; one under which enough went well is " +
				"closed; any other begins again."}},
	{Name: interlock.VerbBeginRollback, Reason: true, Role: roleGoverns, Needs: needsAdmin,
		Subject: "agent:NAME since TIME, or event:ID", Writes: "rollback", Event: interlock.EventRollback, Detail: maxRecord,
		Command: Command{Name: "rollback begin"},
		Form: Form{Title: "Begin a rollback", Takes: TakesPlan, After: "/system/rollbacks/rb_{id}",
			Effect: "The agents that the detail names are isolated, what they had asked and been allowed expires, grants " +
				"that they were given since end, and runs that were delegated downstream end. Every other step is for " +
				"people. The detail is the digest of the plan that you were shown."}},
	{Name: interlock.VerbTellRollback, Reason: true, Role: roleAnswers, Needs: needsAnswer,
		Subject: "ROLLBACK/STEP", Writes: "rollback", Event: interlock.EventRollbackStep,
		Command: Command{Name: "rollback done"},
		Form: Form{Title: "Say how a step ended", Takes: TakesStep, After: "/system/rollbacks/{whole}",
			Effect: "It is put on record how this step ended. Nothing is carried out and nothing permitted by it. The last " +
				"step that is told ends the rollback."}},
	{Name: interlock.VerbChangeRun, Loosens: true, Reason: true, Role: roleAnswers, Needs: needsAnswer,
		Subject: "a run's id", Writes: "run or checkpoint", Event: interlock.EventRunChanged,
		Command: Command{Name: "runs extend"}},
	{Name: interlock.VerbUnlockCommitment, Loosens: true, Reason: true, Role: roleAnswers, Needs: needsAnswer,
		Subject: "a commitment's name", Writes: "commitment", Event: interlock.EventCommitment,
		Did: "{subject} is unlocked, by order of {operator}",
		Command: Command{Name: "commitments unlock", Help: "Let what went to and fro, and is locked, be decided anew.",
			Argument: "name", About: "The commitment, as it is listed.",
			Detail: "A signed order, recorded as COMMITMENT_UNLOCKED. What was decided last stands, and may be " +
				"reversed as often as one that was made anew."},
		Form: Form{Title: "Unlock a commitment", After: "/system/plans",
			Effect: "What went to and fro may be decided again. What was decided last stays until then."}},
	{Name: interlock.VerbMend, Loosens: true, Reason: true, Role: roleGoverns, Needs: needsAdmin,
		Subject: "the store", Event: interlock.EventMended,
		Command: Command{Name: "audit mend"}},
	{Name: interlock.VerbRequest, Reason: true, Role: ValidRole, Needs: needsAnswer,
		Subject: "a type of governed action", Writes: "action_request", Event: interlock.EventActionRequest,
		Own: true, Detail: maxRecord,
		Command: Command{Name: "request create"}},
	{Name: interlock.VerbVote, Loosens: true, Role: roleForces,
		Needs:   "this order needs an operator who votes: one of the council, or an admin where an admin's word is wanted",
		Subject: "a request's id", Writes: "action_request or request", Event: interlock.EventVote, Own: true,
		Command: Command{Name: "request vote"}},
	{Name: interlock.VerbWithdraw, Role: ValidRole, Needs: needsAnswer,
		Subject: "a request's id", Writes: "action_request", Event: interlock.EventActionStatus, Own: true,
		Command: Command{Name: "request withdraw"}},
	{Name: interlock.VerbExecute, Loosens: true, Role: roleForces,
		Needs:   "this order needs an operator with the admin role, or one of the council",
		Subject: "a request's id", Writes: "action_request", Event: interlock.EventActionStatus, Own: true,
		Command: Command{Name: "request execute"}},
	{Name: interlock.VerbPause, Reason: true, Role: roleGoverns, Needs: needsAdmin,
		Subject: "intake", Always: interlock.PauseSubject, Writes: "hold", Event: interlock.EventPause,
		Did: "{subject} is paused by order of {operator}",
		Command: Command{Name: "hold pause", Help: "Pause intake: no agent begins anything.",
			Detail: "An admin's signed order, recorded as SYSTEM_PAUSE. Every action that is proposed from then on is denied; " +
				"what was let through before goes on to its end. interlock kill stops that as well."},
		Form: Form{Title: "Pause intake", After: "/system",
			Effect: "Every action that is proposed from now on is denied, until an admin lets intake go on. What was let " +
				"through before goes on to its end."}},
	{Name: interlock.VerbResume, Loosens: true, Reason: true, Role: roleGoverns, Needs: needsAdmin, Own: true,
		Subject: "intake", Always: interlock.PauseSubject, Writes: "hold", Event: interlock.EventResume,
		Did: "{subject} goes on by order of {operator}",
		Command: Command{Name: "hold resume", Help: "End that pause.",
			Detail: "An admin's signed order, recorded as SYSTEM_RESUME."},
		Form: Form{Title: "Let intake go on", After: "/system",
			Effect: "What agents propose is decided again, as far as the rules let it."}},
	{Name: interlock.VerbConsent, Loosens: true, Reason: true, Role: roleAnswers, Needs: needsAnswer, Own: true,
		Subject: "a person's id", Writes: "consent", Event: interlock.EventConsent, Detail: maxRecord,
		Command: Command{Name: "privacy consent"}},
	{Name: interlock.VerbRevokeConsent, Role: roleAnswers, Needs: needsAnswer,
		Subject: "a consent's id", Writes: "consent", Event: interlock.EventConsentRevoked,
		Did: "the consent {subject} is revoked by {operator}",
		Command: Command{Name: "privacy revoke", Help: "Put on record that a person consents no more.", Argument: "consent",
			About:  "The consent's id, as interlock privacy list shows it.",
			Detail: "A signed order, recorded as PII_CONSENT_REVOKE. What is kept already stays sealed until it is deleted."},
		Form: Form{Title: "Revoke a consent", After: "/system/privacy",
			Effect: "Nothing more is kept on it. What is kept already stays sealed until it is deleted."}},
	{Name: interlock.VerbDataRequest, Loosens: true, Reason: true, Role: roleForces, Own: true,
		Needs:   "this order needs an operator with the admin role, or one of the council: personal data is for nobody else",
		Subject: "a person's id", Writes: "action_request", Event: interlock.EventDataRequest,
		Command: Command{Name: "privacy export"}},
	{Name: interlock.VerbReplay, Loosens: true, Reason: true, Role: roleReplays, Needs: needsReplay,
		Subject: "which decisions", Event: interlock.EventReplayRequest,
		Command: Command{Name: "replay run"}},
	{Name: interlock.VerbForceContinue, Loosens: true, Reason: true, Role: roleForces, Needs: needsReplay,
		Subject: "which decisions", Event: interlock.EventReplayRequest,
		Command: Command{Name: "replay run"}},
}

// VerbOf finds a verb. One that nobody knows counts for nobody, and would loosen.
func VerbOf(name interlock.Verb) (verb Verb, known bool) {
	for n := range verbs {
		if verbs[n].Name == name {
			return verbs[n], true
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

// Seconds reports whether an operator with this role signs with two factors where that is set (MACE governance, roles).
func Seconds(role string) bool { return roleForces(role) }

func roleGovernsOrAudits(role string) bool { return roleGoverns(role) || role == RoleAuditor }

func roleForces(role string) bool { return roleGoverns(role) || role == RoleCouncil }

func roleReplays(role string) bool {
	return roleForces(role) || role == RoleOperator || role == RoleAuditor
}
