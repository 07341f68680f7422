package interlock

// EventType names what an event records. The names are part of the log's format and never change.
type EventType string

// The event types.
const (
	EventDecision        EventType = "DECISION"              // an action was decided
	EventBlock           EventType = "SAFETY_BLOCK_EVENT"    // an action was denied or halted (MACE)
	EventReviewRequest   EventType = "SAFETY_REVIEW_REQUEST" // an action waits for a human (MACE)
	EventOutcome         EventType = "OUTCOME"               // what execution did
	EventApproval        EventType = "APPROVAL"              // a human answered a request
	EventApprovalRefused EventType = "APPROVAL_REFUSED"      // an answer was not accepted: wrong key, own request, expired
	EventApprovalExpired EventType = "APPROVAL_EXPIRED"      // nobody answered a request in time, or nobody used the answer
	// a question was answered in the harness that had put it, or its run went on without it
	EventSettled       EventType = "REQUEST_SETTLED"
	EventAlert         EventType = "ALERT"             // something an operator should look at (MACE)
	EventIntegrity     EventType = "INTEGRITY_FAILURE" // the store or the log contradicts itself (MACE)
	EventIncident      EventType = "SECURITY_INCIDENT" // an operator reports that something can't be trusted (MACE)
	EventHalt          EventType = "FORCE_HALT_REPLAY" // nothing is decided or made again under something (MACE)
	EventHaltClear     EventType = "FORCE_HALT_CLEAR"  // an operator's order ends that (MACE)
	EventKill          EventType = "KILL_SWITCH"       // everything is stopped (MASO)
	EventSignal        EventType = "SIGNAL"            // an observer told something of an agent (MASO)
	EventUsage         EventType = "USAGE_REPORT"      // what an agent used of models was reported
	EventJudgeAsked    EventType = "JUDGE_ASKED"       // judges are asked, and what that can cost was taken from their budgets
	EventJudgeTested   EventType = "JUDGE_TESTED"      // a judge was tested with what it must deny and what it must allow
	EventJudgedLate    EventType = "JUDGED_AFTER"      // a judge was heard of an action after it was let through, or could not be heard in time
	EventGroundRules   EventType = "GROUND_RULES"      // judges hold actions against other ground rules, by an order or since a start
	EventRedteam       EventType = "REDTEAM_REPORT"    // what came of attacks that were made out of a number and put to the gates (MACE)
	EventReport        EventType = "INCIDENT_CREATED"  // somebody outside or a person reports what is wrong (MACE)
	EventTriage        EventType = "INCIDENT_ACK"      // an operator says what becomes of such a report (MACE)
	EventBudget        EventType = "BUDGET_STEP"       // the use of a budget has reached a step of its ladder
	EventWatched       EventType = "ACTIVITY_WATCHED"  // how far the log was looked at for what is unusual (MASO)
	EventKillRelease   EventType = "KILL_RELEASED"     // an admin's order ends that (MASO)
	EventPhase         EventType = "PHASE_CHANGED"     // an agent, a type, a run, a layer or the system is in another phase
	EventRootCause     EventType = "ROOT_CAUSE"        // a person says what an emergency came of, before another one answers for leaving it
	EventLost          EventType = "AGENT_LOST"        // an agent that others need was lost: who stands in, and what waits
	EventSeconded      EventType = "ORDER_SECONDED"    // somebody of one team says yes to what somebody of another is to order
	EventProbe         EventType = "REVIEW_PROBE"      // questions with errors were put to operators on purpose; no answer permits anything
	EventBreaker       EventType = "BREAKER_TRIPPED"   // a breaker was opened, by refusals, a signal or an operator
	EventBreakerReset  EventType = "BREAKER_RESET"     // an operator has half-opened one, or it is whole
	EventRollback      EventType = "ROLLBACK_BEGUN"    // what an agent did, and all downstream of it, is being undone (MASO)
	EventRollbackStep  EventType = "ROLLBACK_STEP"     // how one step of that ended
	EventRollbackEnd   EventType = "ROLLBACK_ENDED"    // no step is open, and what stays
	EventMended        EventType = "STORE_MENDED"      // what somebody else did beside the log was put right, on an operator's order
	EventIdentity      EventType = "IDENTITY_CHANGE"   // an agent or operator was added or revoked
	EventRuleset       EventType = "RULESET_CHANGE"    // another ruleset digest is in force
	EventMode          EventType = "MODE_CHANGE"       // another mode or profile is in force
	EventRefusal       EventType = "REFUSAL"           // input was refused before it became an action
	EventSuppression   EventType = "RULE_SUPPRESSION"  // an operator keeps a rule silent somewhere, or ends that
	EventBlocked       EventType = "AGENT_BLOCKED"     // an agent may do nothing more until a human says otherwise
	EventUnblocked     EventType = "AGENT_UNBLOCKED"   // a right code or an admin has ended that
	EventChallenge     EventType = "CHALLENGE"         // a code was issued, or could not be delivered
	EventVerification  EventType = "VERIFICATION"      // a code was given: right, wrong, late or too often
	EventExecution     EventType = "EXECUTION"         // a monitored execution began, ended or was ended
	EventGrant         EventType = "STANDING_GRANT"    // an operator's bounded standing yes, or its end
	EventTrust         EventType = "TRUST_CHANGE"      // an agent's trust was raised, lowered or has expired
	EventPin           EventType = "TOOL_PIN"          // tools of a server were pinned, quarantined or approved
	EventSession       EventType = "OPERATOR_SESSION"  // an operator came into the console, left it, or was turned away
	EventRunRegistered EventType = "RUN_REGISTERED"    // a run of an agent was registered
	EventRunEnded      EventType = "RUN_ENDED"         // a run has ended
	EventRunBound      EventType = "RUN_BOUND"         // what is done in a harness's session counts as done in a run
	EventMessage       EventType = "MESSAGE"           // what became of a message between agents
	EventCheckpoint    EventType = "RUN_CHECKPOINT"    // an agent keeps what it was at, before its context is rotated
	EventRunPaused     EventType = "RUN_PAUSED"        // the time of a run is over
	EventRunChanged    EventType = "RUN_CHANGED"       // a person gave a run more time, or accepted other constraints for it
	EventTurn          EventType = "RUN_TURN"          // agents took one more turn of a conversation, or may take none
	EventPlan          EventType = "RUN_PLAN"          // what a run is to do was looked at, or a person has acknowledged it
	// an operator's order lets something be decided again that went to and fro
	EventCommitment EventType = "COMMITMENT_UNLOCKED"
	// what an action did in a throw-away copy, for the one who decides about it
	EventDryRun         EventType = "DRY_RUN"
	EventAccess         EventType = "admin_access_event"       // an operator reads what is kept sealed (MACE)
	EventArchive        EventType = "LOG_ARCHIVE"              // the content of old entries is in an archive and leaves the store
	EventShadow         EventType = "RULESET_SHADOW"           // a ruleset decides beside the one in force, or no more
	EventPromotion      EventType = "RULESET_PROMOTION"        // an operator orders that it be the one in force
	EventInstalled      EventType = "HOOK_INSTALLED"           // where a harness calls Interlock was registered, or taken out
	EventReplayRequest  EventType = "REPLAY_REQUEST"           // an operator has recorded decisions made again (MACE)
	EventReplayResult   EventType = "REPLAY_RESULT"            // what came of that (MACE)
	EventActionRequest  EventType = "ACTION_REQUEST"           // somebody asks for an act of governance (MACE)
	EventVote           EventType = "COUNCIL_VOTE"             // one member's signed vote on a request (MACE)
	EventActionStatus   EventType = "ACTION_REQUEST_STATUS"    // a request goes from one status to another (MACE)
	EventExecuted       EventType = "executed_event"           // what was approved was carried out (MACE)
	EventOverride       EventType = "EMERGENCY_OVERRIDE"       // a superadmin and an admin tighten at once (MACE)
	EventSafetyOverride EventType = "SAFETY_OVERRIDE"          // the council, or these two, set one rule aside for one job (MACE)
	EventReview         EventType = "EMERGENCY_REVIEW"         // the council's review of either: pending, ratified or rejected (MACE)
	EventReviewOverdue  EventType = "EMERGENCY_REVIEW_OVERDUE" // nobody has looked at it in time (MACE)
	EventPause          EventType = "SYSTEM_PAUSE"             // no agent may begin anything (MACE)
	EventResume         EventType = "SYSTEM_RESUME"            // an admin's order ends that (MACE)
	EventTokenIssued    EventType = "TOKEN_ISSUED"             // a confirmation token (MCP-AQL)
	EventTokenValidated EventType = "TOKEN_VALIDATED"
	EventTokenRejected  EventType = "TOKEN_REJECTED"
	EventTokenRevoked   EventType = "TOKEN_REVOKED"

	EventIntegritySummary EventType = "INTEGRITY_CHECK_SUMMARY" // what the daily check of the log and of what is beside it found (MACE)
	EventRedaction        EventType = "REDACTION_EVENT"         // parts of a text were taken out before anybody saw it or it was kept (MACE)
	EventPersonal         EventType = "PII_FLAGGED"             // personal data was not kept; what stays is its keyed hash (MACE)
	EventMemory           EventType = "MEMORY"                  // what became of a fact that an agent keeps
	EventSemPut           EventType = "sem_put"                 // a stable fact was written, as the council approved it (MACE)
	EventSemDelete        EventType = "sem_delete"              // one was deleted, or all of a source were taken back (MACE)
	EventRateLimit        EventType = "RATE_LIMIT"              // a quota had no room for an action, and when it will have (MACE)

	EventNodeDegraded  EventType = "NODE_DEGRADED"          // what failed, or a low trust value, has degraded a module (MACE)
	EventNodeOffline   EventType = "NODE_OFFLINE"           // or taken it offline (MACE)
	EventNodeHealthy   EventType = "NODE_HEALTHY"           // or it is healthy again
	EventRetry         EventType = "RETRY_ATTEMPT"          // a module tries once more what has failed (MACE)
	EventAccountReview EventType = "ACCOUNT_REVIEW_REQUEST" // an account met a fixed threshold of misuse: people are to look at it (MACE)

	EventConsent         EventType = "PII_CONSENT"        // what a person permits to be kept of them, or that the council approved it (MACE)
	EventConsentRevoked  EventType = "PII_CONSENT_REVOKE" // that a person permits it no more (MACE)
	EventPersonalKept    EventType = "PII_STORED"         // a text with personal data is kept with consent, sealed
	EventDataRequest     EventType = "DSR_REQUEST"        // a person asks for what is kept of them, or that it be deleted (MACE)
	EventDataDelete      EventType = "DSR_DELETE_REQUEST" // the council is asked to have it deleted (MACE)
	EventDeletedPersonal EventType = "deletion_manifest"  // what was deleted of a person, whose key is destroyed (MACE)
)

// An Entry is one event in its place in the log.
type Entry struct {
	Index  int64  // leaf number, from 0
	ID     string // the event id: sha256(job_seed:sequence_index:event_type)
	Type   EventType
	Body   []byte // canonical JSON of the whole event; the leaf is its RFC 6962 hash
	Hashes []byte // the tree hashes this leaf completes, level 0 first, 32 bytes each

	Checkpoint []byte // the signed head that ended this entry's commit; only on a commit's last entry
	Inputs     []byte // what the decision was made from, where it was asked for and is kept
}

// EventTypes lists every type of event, in the order they are documented in.
func EventTypes() []EventType {
	return []EventType{EventDecision, EventBlock, EventReviewRequest, EventOutcome, EventApproval, EventApprovalRefused,
		EventApprovalExpired, EventSettled, EventAlert,
		EventIntegrity, EventIncident, EventHalt, EventHaltClear, EventKill, EventKillRelease, EventSignal, EventUsage, EventBudget, EventWatched,
		EventPhase, EventRootCause, EventLost, EventSeconded, EventProbe, EventJudgeAsked, EventJudgeTested,
		EventJudgedLate, EventGroundRules,
		EventBreaker, EventBreakerReset,
		EventRollback, EventRollbackStep, EventRollbackEnd, EventMended, EventIdentity, EventRuleset, EventMode, EventRefusal,
		EventSuppression,
		EventBlocked, EventUnblocked, EventChallenge, EventVerification, EventExecution, EventGrant, EventTrust, EventPin,
		EventSession, EventRunRegistered, EventRunEnded, EventRunBound, EventCheckpoint, EventRunPaused, EventRunChanged,
		EventMessage, EventTurn, EventPlan, EventCommitment, EventDryRun, EventAccess, EventArchive, EventShadow, EventPromotion, EventInstalled,
		EventReplayRequest, EventReplayResult, EventRedteam, EventReport, EventTriage,
		EventActionRequest, EventVote, EventActionStatus, EventExecuted, EventOverride, EventSafetyOverride, EventReview,
		EventReviewOverdue,
		EventPause, EventResume,
		EventTokenIssued, EventTokenValidated, EventTokenRejected, EventTokenRevoked,
		EventIntegritySummary, EventRedaction, EventPersonal, EventMemory, EventSemPut, EventSemDelete, EventRateLimit,
		EventNodeDegraded, EventNodeOffline, EventNodeHealthy, EventRetry, EventAccountReview,
		EventConsent, EventConsentRevoked, EventPersonalKept, EventDataRequest, EventDataDelete, EventDeletedPersonal}
}
