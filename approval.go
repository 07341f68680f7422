package interlock

import (
	"strings"
	"time"
)

// RequestStatus is the state of an approval request. The zero value is pending and approves nothing.
type RequestStatus string

// The statuses. Denied, expired, spent and settled are terminal.
const (
	RequestPending  RequestStatus = "pending"
	RequestApproved RequestStatus = "approved"
	RequestDenied   RequestStatus = "denied"
	RequestExpired  RequestStatus = "expired"
	RequestSpent    RequestStatus = "spent"
	RequestSettled  RequestStatus = "settled" // in the harness, which had asked its own user: see [Settlement]
)

// An ApprovalRequest is the pending question an Ask leaves behind. It is bound to exactly one action by one requester
// under one ruleset, is answered at most once and spent at most once.
type ApprovalRequest struct {
	ID        string        `json:"id"`
	Action    Digest        `json:"action_digest"`
	Ruleset   Digest        `json:"ruleset_digest"`
	Requester Requester     `json:"requester"`
	Nonce     string        `json:"nonce"` // 128 random bits, hexadecimal
	Created   time.Time     `json:"created"`
	Expires   time.Time     `json:"expires"`
	Display   string        `json:"display"` // the redacted text an approver is shown; its digest is part of what is signed
	Reason    string        `json:"reason"`  // of the decisive finding
	Rule      string        `json:"rule"`
	Status    RequestStatus `json:"status"`
	First     *Approval     `json:"first_approval,omitempty"` // the first yes to a request that needs two people; it still waits
	Approval  *Approval     `json:"approval,omitempty"`
	Ballot    *Ballot       `json:"ballot,omitempty"` // of the council, where an obligation wants its quorum

	// Obligations of the decision. They say who may answer: with [ObligationAdmin] only an admin, with [ObligationDual] two
	// people, with [ObligationCouncil] a quorum of the council, and with an obligation that signatures can't discharge nobody.
	Obligations []Obligation `json:"obligations,omitempty"`

	// Harness says that the harness asked its own user at once. Then nobody else has to answer, though an operator may, and
	// what becomes of the call settles it.
	Harness bool        `json:"harness,omitempty"`
	Settled *Settlement `json:"settled,omitempty"`

	// DryRun is the id of the DRY_RUN event that the one who says yes is shown, where the obligations want one. Who signs fills
	// it in, so that it is signed with the rest; in the store it is in the approvals alone.
	DryRun string `json:"dry_run,omitempty"`

	// FirstUse is what the agent's type has not used before. A yes says that its agents may be asked about it like anything else.
	FirstUse *FirstUse `json:"first_use,omitempty"`

	// Judged is what judges said of it, for the one who answers: their view beside the agent's. It is a model's words, made from
	// what the agent wrote; secrets are taken out of it. It is no part of what is signed.
	Judged []Judgment `json:"judged,omitempty"`

	// Review is the level of risk by which its time was set: LOW, MEDIUM, HIGH or CRITICAL; empty where that has no say.
	Review string `json:"review,omitempty"`
	Warned int    `json:"warned,omitempty"` // the share of that time, in per cent, after which people were last told that it waits
}

// The shares of its time after which people are told that a question still waits.
const (
	WarnHalf = 50
	WarnLate = 80
)

// WarnAt is when people are next told that a question still waits, and after which share of its time; zero: no more.
func (r ApprovalRequest) WarnAt() (at time.Time, share int) {
	share = WarnHalf
	if r.Warned >= WarnHalf {
		share = WarnLate
	}
	if r.Review == "" || r.Status != RequestPending || r.Warned >= WarnLate {
		return time.Time{}, 0
	}
	return r.Created.Add(r.Expires.Sub(r.Created) / 100 * time.Duration(share)), share
}

// A FirstUse is what agents of a type have not used before.
type FirstUse struct {
	Type string   `json:"type"`
	Uses []string `json:"uses"` // such as "tool refund" or "shell git"
}

// A Settlement is how a question ended that a harness had put to its own user.
type Settlement struct {
	How SettledBy `json:"how"`
	At  time.Time `json:"at"`
}

// SettledBy says what showed that the question is over.
type SettledBy string

// What shows it. That a run went on says nothing of what its user answered: harnesses report no refusals.
const (
	SettledRan    SettledBy = "ran"     // its user let it run
	SettledFailed SettledBy = "failed"  // its user let it run, and it failed
	SettledNotRun SettledBy = "not-run" // the harness reports that it was not run
	SettledWentOn SettledBy = "went-on" // its run went on to something else
)

// Words says it as people do.
func (s Settlement) Words() string {
	switch s.How {
	case SettledRan:
		return "allowed in the harness: it ran"
	case SettledFailed:
		return "allowed in the harness: it ran and failed"
	case SettledNotRun:
		return "refused in the harness: it was not run"
	default:
		return "answered in the harness: its run went on to something else"
	}
}

// SettledAfter is what an outcome says of a question that a harness had put to its own user.
func SettledAfter(outcome OutcomeStatus) SettledBy {
	switch outcome {
	case OutcomeFailure:
		return SettledFailed
	case OutcomeSkipped:
		return SettledNotRun
	default:
		return SettledRan
	}
}

// Waits reports whether a request waits for an operator: not one that has been answered, is over, or is put to somebody else.
func (r ApprovalRequest) Waits(now time.Time) bool {
	return r.Status == RequestPending && !r.Harness && now.Before(r.Expires)
}

// State is the status in the words that lists use.
func (r ApprovalRequest) State() string {
	switch {
	case r.Settled != nil:
		return r.Settled.Words()
	case r.Status == RequestPending && r.Harness:
		return "asked in the harness"
	}
	return string(r.Status)
}

// Owes reports whether the request carries an obligation of a type.
func (r ApprovalRequest) Owes(obligation string) bool {
	return Decision{Obligations: r.Obligations}.Owes(obligation)
}

// Answered returns the request after an answer that counts: denied, approved, or, after the first yes of two people, still
// pending.
func (r ApprovalRequest) Answered(a Approval) ApprovalRequest {
	switch {
	case a.Verdict != Allow:
		r.Approval, r.Status = &a, RequestDenied
	case r.First == nil && r.NeedsTwo():
		r.First = &a
	default:
		r.Approval, r.Status = &a, RequestApproved
	}
	return r
}

// NeedsTwo reports whether two people must say yes.
func (r ApprovalRequest) NeedsTwo() bool {
	for _, o := range r.Obligations {
		if o.Type == ObligationDual {
			return true
		}
	}
	return false
}

// Kind is the kind of the action that is asked about, with which its display begins.
func (r ApprovalRequest) Kind() Kind {
	line, _, _ := strings.Cut(r.Display, "\n")
	kind, found := strings.CutPrefix(line, "kind: ")
	if !found {
		return "" // no kind is valid then
	}
	return Kind(kind)
}

// An Approval is one human's signed yes or no to a request.
type Approval struct {
	Request   string    `json:"request"`
	Verdict   Verdict   `json:"verdict"` // Allow or Deny
	Operator  string    `json:"operator"`
	Method    string    `json:"method,omitempty"` // one of the Method constants; empty is ssh
	Key       string    `json:"key"`              // fingerprint of the SSH key, id of the passkey, or of the session
	Statement string    `json:"statement"`        // the exact text that was signed
	Signature string    `json:"signature"`        // armored SSHSIG over Statement, or what the method has in its place
	Reason    string    `json:"reason,omitempty"`
	DryRun    string    `json:"dry_run,omitempty"` // id of the DRY_RUN event that was shown, where the request wants one
	Weak      string    `json:"weak,omitempty"`    // what the key lacks to prove a person: one of the Weak constants, or nothing
	At        time.Time `json:"at"`
}

// What an SSH key may lack to prove a person. Only the program that signs can see it, so this is its word.
const (
	WeakFile  = "no passphrase"                        // anything of the same user signs with it
	WeakAgent = "in an SSH agent, asked at a terminal" // which may sign without asking; somebody typed a word back
)

// The methods by which a human's answer is proved.
const (
	MethodSSH     = "ssh"     // SSHSIG, on the command line
	MethodPasskey = "passkey" // WebAuthn assertion whose challenge is the statement's SHA-256, in the console
	MethodSession = "session" // the server's signature that a console session gave the answer, where the browser runs no script
	MethodCode    = "code"    // the server's signature that an out-of-band code was given

	MethodCouncil   = "council"   // the votes on the request's ballot, each signed by itself
	MethodRequester = "requester" // no proof and no operator: the side that asked took its question back, which is only ever a no
)

// An Outcome is what executing an action did.
type Outcome struct {
	Action   Digest        `json:"action_digest,omitempty"`
	Event    string        `json:"event_id,omitempty"` // of the decision, where the reporter knows it
	Status   OutcomeStatus `json:"outcome"`
	Detail   string        `json:"detail,omitempty"` // redacted and bounded before it is recorded
	Duration time.Duration `json:"duration_ns,omitempty"`

	// Anywhere is the digest of the action with its directory left out, where the reporter knows only which directory the
	// harness is in afterwards. Together with the call's id it finds the call; it is not recorded.
	Anywhere Digest `json:"anywhere_digest,omitempty"`

	Sandboxed bool `json:"sandboxed,omitempty"` // it ran in Interlock's own sandbox, or what ran was `interlock exec` with it

	// What a run in a sandbox wrote, as far as the sandbox looked at it. How it differs from what was there is not recorded.
	Effects []Effect `json:"effects,omitempty"`
	Partial bool     `json:"partial,omitempty"` // there was more than is listed
	Overlay bool     `json:"overlay,omitempty"` // it wrote to a copy
	Kept    bool     `json:"kept,omitempty"`    // what is not held of it was carried over into the workspace

	Uses []string `json:"uses,omitempty"` // events whose output the action used, as its agent says; see [Proposal]
}

// OutcomeStatus is how execution ended.
type OutcomeStatus string

// The outcome statuses.
const (
	OutcomeSuccess OutcomeStatus = "success"
	OutcomeFailure OutcomeStatus = "failure"
	OutcomeSkipped OutcomeStatus = "skipped"
	OutcomeUnknown OutcomeStatus = "unknown" // it was begun, and the one that carried it out went away before saying how it ended
)
