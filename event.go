package interlock

import (
	"encoding/json"
	"time"
)

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
	EventAlert           EventType = "ALERT"                 // something an operator should look at (MACE)
	EventIntegrity       EventType = "INTEGRITY_FAILURE"     // the store or the log contradicts itself (MACE)
	EventIdentity        EventType = "IDENTITY_CHANGE"       // an agent or operator was added or revoked
	EventRuleset         EventType = "RULESET_CHANGE"        // another ruleset digest is in force
	EventMode            EventType = "MODE_CHANGE"           // another mode or profile is in force
	EventRefusal         EventType = "REFUSAL"               // input was refused before it became an action
	EventSuppression     EventType = "RULE_SUPPRESSION"      // an operator keeps a rule silent somewhere, or ends that
	EventBlocked         EventType = "AGENT_BLOCKED"         // an agent may do nothing more until a human says otherwise
	EventUnblocked       EventType = "AGENT_UNBLOCKED"       // a right code or an admin has ended that
	EventChallenge       EventType = "CHALLENGE"             // a code was issued, or could not be delivered
	EventVerification    EventType = "VERIFICATION"          // a code was given: right, wrong, late or too often
	EventExecution       EventType = "EXECUTION"             // a monitored execution began, ended or was ended
	EventGrant           EventType = "STANDING_GRANT"        // an operator's bounded standing yes, or its end
	EventTrust           EventType = "TRUST_CHANGE"          // an agent's trust was raised, lowered or has expired
	EventPin             EventType = "TOOL_PIN"              // tools of a server were pinned, quarantined or approved
	EventSession         EventType = "OPERATOR_SESSION"      // an operator came into the console, left it, or was turned away
	// what an action did in a throw-away copy, for whoever decides about it
	EventDryRun         EventType = "DRY_RUN"
	EventAccess         EventType = "admin_access_event" // an operator reads what is kept sealed (MACE)
	EventArchive        EventType = "LOG_ARCHIVE"        // the content of old entries is in an archive and leaves the store
	EventShadow         EventType = "RULESET_SHADOW"     // a ruleset decides beside the one in force, or no more
	EventPromotion      EventType = "RULESET_PROMOTION"  // an operator orders that it be the one in force
	EventReplayRequest  EventType = "REPLAY_REQUEST"     // an operator has recorded decisions made again (MACE)
	EventReplayResult   EventType = "REPLAY_RESULT"      // what came of that (MACE)
	EventTokenIssued    EventType = "TOKEN_ISSUED"       // a confirmation token (MCP-AQL)
	EventTokenValidated EventType = "TOKEN_VALIDATED"
	EventTokenRejected  EventType = "TOKEN_REJECTED"
	EventTokenRevoked   EventType = "TOKEN_REVOKED"
)

// A Draft is an event before the store has placed it: no sequence, no hashes. Payload is canonical JSON, redacted.
type Draft struct {
	Type      EventType
	Run       string // run the event belongs to; the store maps it to a job seed that no caller chose
	Seed      string // fresh random job seed, used if the store has not seen Run before
	Trace     string
	Actor     string
	Role      string // "agent", "operator" or "system"
	Recorded  time.Time
	Snapshots map[string]string // snapshot ids by name, e.g. "ruleset", "snapshot"
	Payload   json.RawMessage
	// what a decision was made from, which Snapshots names as "inputs": JSON text, or sealed. It is stored beside the event
	Inputs []byte
}

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

// A Blob is a text that events name by digest: part of what many decisions were made from. It is stored once.
type Blob struct {
	Digest Digest
	Text   []byte
}

// A Head is the state of the log at its right edge: enough to append without reading what came before.
type Head struct {
	Size       int64
	Last       string // record hash of the newest entry, the next entry's prev_hash
	Edge       []byte // roots of the perfect subtrees on the right edge, largest first, 32 bytes each
	Checkpoint []byte // the newest signed checkpoint; empty for an empty log
}

// A Receipt is what a commit gives back: proof that its events are durable.
type Receipt struct {
	First      int64    `json:"first"` // index of the commit's first entry
	Events     []string `json:"events"`
	Checkpoint []byte   `json:"checkpoint"` // signed head that covers them
}

// A Change is one atomic step of the store: events and everything they spend or create, or nothing.
type Change struct {
	Version int64   // of the ledger it was computed from; 0 if it depends on nothing that stands
	Events  []Draft // at least one
	Blobs   []Blob  // what the events name and the store may not have yet

	// Reads names all that the change was computed from. With them only what they name must be as it was at Version; without
	// them, nothing that binds may have changed since.
	Reads  []Ref
	Writes []Row   // what stands from now on, or has ended; versions are the store's to give
	Spends []Spend // what it uses up; see package ledger
}

// A Call remembers how one tool call was decided, so that its second event and its outcome find it. A call is found by
// Requester.Agent, Requester.Run and Action, or by Requester.Call where the harness gives ids.
type Call struct {
	Requester Requester     `json:"requester"`
	Action    Digest        `json:"action"`
	Anywhere  Digest        `json:"anywhere,omitempty"` // the same with its directory left out; only where the call has an id
	Events    []string      `json:"events"`             // harness events that have seen it
	Decision  Decision      `json:"decision"`
	EventID   string        `json:"event_id"` // of the decision; empty until that is recorded
	Request   string        `json:"request,omitempty"`
	Gateway   bool          `json:"gateway,omitempty"` // its question was left to Interlock's own gateway
	At        time.Time     `json:"at"`
	Outcome   OutcomeStatus `json:"outcome,omitempty"`
}

// EventTypes lists every type of event, in the order they are documented in.
func EventTypes() []EventType {
	return []EventType{EventDecision, EventBlock, EventReviewRequest, EventOutcome, EventApproval, EventApprovalRefused,
		EventApprovalExpired, EventAlert,
		EventIntegrity, EventIdentity, EventRuleset, EventMode, EventRefusal, EventSuppression,
		EventBlocked, EventUnblocked, EventChallenge, EventVerification, EventExecution, EventGrant, EventTrust, EventPin,
		EventSession, EventDryRun, EventAccess, EventArchive, EventShadow, EventPromotion, EventReplayRequest,
		EventReplayResult,
		EventTokenIssued, EventTokenValidated, EventTokenRejected, EventTokenRevoked}
}
