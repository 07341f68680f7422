package interlock

import "time"

// A Verb names what an operator orders.
type Verb string

// The verbs. Each is signed, also where it tightens.
const (
	VerbUnblock  Verb = "unblock"   // end a hard block; Subject is the challenge's id; loosens
	VerbNewCode  Verb = "new-code"  // issue a new code; Subject is the challenge's id; loosens
	VerbPromote  Verb = "promote"   // raise an agent's trust by one level; Subject is the agent, Detail the level; loosens
	VerbDemote   Verb = "demote"    // lower it; Subject is the agent, Detail the level
	VerbEndGrant Verb = "end-grant" // revoke a standing grant; Subject is its id
	VerbRevoke   Verb = "revoke"    // revoke an agent or an operator; Subject is its name; loosens, as one fewer then watches

	// register a person, or an agent; Subject is the name, Detail what is to be known of them; they loosen
	VerbAddOperator Verb = "add-operator"
	VerbAddAgent    Verb = "add-agent"
	// change a person's role, teams, key or passkeys; Subject is the name, Detail what becomes different; loosens
	VerbChangeOperator Verb = "change-operator"

	// approve what a server, or a tool of it, shows; Subject is its name, Detail the digest of what was looked at; loosens
	VerbApproveTool    Verb = "approve-tool"
	VerbQuarantineTool Verb = "quarantine-tool" // put it into quarantine; Subject is its name
	// vouch for what is in use since its first use; Subject is its name, Detail the digest of what was looked at; loosens, as it
	// is then in use by a person's word
	VerbSignTools  Verb = "sign-tools"
	VerbReadSealed Verb = "read-sealed" // read recorded inputs that hold secrets; Subject says which; loosens
	// put the ruleset into force that decides in the shadow; Subject is its digest, Detail that of the one it replaces; loosens
	VerbPromoteRules Verb = "promote-rules"
	// let keys sign that any process of their owner can use; Subject is the home, Detail whether they may; loosens
	VerbWeakKeys Verb = "weak-keys"
	// have the rules in the rules directory count as ordered; Subject is the ruleset's digest, Detail that of the documents; loosens
	VerbAdoptRules Verb = "adopt-rules"
	// have a judge hold actions against other ground rules; Subject is their digest as a judge is sent them, Detail that of what the
	// operator adds; loosens
	VerbAdoptGround Verb = "adopt-ground-rules"
	// have the settings count as ordered; Subject is the home's settings, Detail what of them is other than by default; loosens
	VerbAdoptSettings Verb = "adopt-settings"
	// report that a snapshot can't be trusted, so that nothing is decided or made again under it; Subject names the hold; tightens
	VerbHold Verb = "hold"
	// end a hold; Subject is its name; loosens
	VerbClearHold Verb = "clear-hold"
	// say what becomes of a report of what is wrong; Subject is the event that recorded it, Detail the state; permits nothing
	VerbTriage Verb = "triage"
	// stop everything; Subject is [KillSubject], Detail how: hard or graduated; tightens
	VerbKill Verb = "kill"
	// end that; Subject is [KillSubject], Detail which stop, by when it began; loosens
	VerbReleaseKill Verb = "release-kill"
	// move to a stricter phase; Subject names the hold, such as agent:builder, Detail the phase and the one agent that goes on; tightens
	VerbTightenPhase Verb = "tighten-phase"
	// move one step back; Subject and Detail likewise, with what proves that nothing tainted lives on; loosens
	VerbLoosenPhase Verb = "loosen-phase"
	// say what an emergency came of; Subject names the hold; loosens, as it is the first of the two words that end one
	VerbRootCause    Verb = "root-cause"
	VerbTripBreaker  Verb = "trip-breaker"  // open a breaker; Subject is what it guards, such as agent:builder; tightens
	VerbResetBreaker Verb = "reset-breaker" // half-open a breaker; Subject likewise; loosens
	// begin to undo what was compromised and all downstream of it; Subject is agent:NAME since TIME or event:ID, Detail which plan was
	// shown and whom to isolate; tightens
	VerbBeginRollback Verb = "begin-rollback"
	// tell how a step of that ended; Subject is ROLLBACK/STEP, Detail done or failed and what stays; permits nothing
	VerbTellRollback Verb = "tell-rollback"
	// give a run more time, or accept other constraints for it; Subject is its id, Detail which; loosens
	VerbChangeRun Verb = "change-run"
	// let what was decided, and locked because it went to and fro, be decided again; Subject is its name; loosens
	VerbUnlockCommitment Verb = "unlock-commitment"
	// put right what somebody else has done to what is beside the log; Subject is [MendSubject], Detail names what was shown; loosens
	VerbMend Verb = "mend"
	// say yes, as the first of two teams, to what weakens how actions are classified; Subject names that by its digest; loosens
	VerbSecond Verb = "second"
	// ask for an act of governance; Subject is its type, Detail the rest; permits nothing
	VerbRequest Verb = "request"
	// vote on a request; Subject is its id, Detail names what was shown and what is voted; loosens
	VerbVote Verb = "vote"
	// take one's own request back; Subject is its id
	VerbWithdraw Verb = "withdraw-request"
	// begin to carry an approved request out, or tell how that ended; Subject is its id, Detail executing, executed or failed; loosens
	VerbExecute Verb = "execute-request"
	VerbPause   Verb = "pause"  // let no agent begin anything; Subject is [PauseSubject]; tightens
	VerbResume  Verb = "resume" // end that; Subject likewise; loosens
	// put on record what a person permits to be kept of them; Subject names them, Detail what; loosens
	VerbConsent       Verb = "pii-consent"
	VerbRevokeConsent Verb = "pii-consent-revoke" // end that; Subject is the consent's id
	// act on a person's request about what is kept of them; Subject names them, Detail is export or delete; loosens
	VerbDataRequest Verb = "dsr-request"
	// make recorded decisions again; Subject says which, Detail is the mode; loosens
	VerbReplay Verb = "replay"
	// go on with that after a divergence; Subject and Detail likewise; loosens
	VerbForceContinue Verb = "force-continue"

	// those that stand until they end, and have terms of their own; they loosen
	VerbGrant    Verb = "grant"    // say yes in advance; Subject is the agent; see [Grant]
	VerbSuppress Verb = "suppress" // keep a rule silent; Subject is the rule; see [Suppression]
	VerbLift     Verb = "lift"     // end a suppression; Subject is its id
)

// MendSubject is what an order to mend is about.
const MendSubject = "store"

// KillSubject is what orders to stop everything, and to let it go on, are about.
const KillSubject = "everything"

// PauseSubject is what orders to pause intake, and to resume it, are about.
const PauseSubject = "intake"

// An Order is an operator's act other than the answer to a request. It counts only with a proof over its
// statement, see package quorum.
type Order struct {
	ID       string    `json:"id"` // makes the statement unique; an order counts once
	Verb     Verb      `json:"verb"`
	Subject  string    `json:"subject"`
	Detail   string    `json:"detail,omitempty"`
	Reason   string    `json:"reason,omitempty"`
	Operator string    `json:"operator"`
	At       time.Time `json:"at"`
	Expires  time.Time `json:"expires,omitzero"` // of the order if it has not been carried out, minutes after At

	Method    string `json:"method,omitempty"` // one of the Method constants
	Key       string `json:"key,omitempty"`
	Statement string `json:"statement,omitempty"`
	Signature string `json:"signature,omitempty"`
	Weak      string `json:"weak,omitempty"` // see [Approval]
}
