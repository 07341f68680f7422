package interlock

import (
	"cmp"
	"time"
)

// ActionStatus is the state of an action request. Executed, failed, invalidated, rejected, expired and withdrawn are terminal.
type ActionStatus string

// The statuses; see [ActionStatus.Leads] for the ways between them.
const (
	ActionPending     ActionStatus = "pending"
	ActionApproved    ActionStatus = "approved"
	ActionRejected    ActionStatus = "rejected"
	ActionExpired     ActionStatus = "expired"
	ActionWithdrawn   ActionStatus = "withdrawn"
	ActionExecuting   ActionStatus = "executing"
	ActionExecuted    ActionStatus = "executed"
	ActionFailed      ActionStatus = "failed"
	ActionInvalidated ActionStatus = "invalidated"
)

// A GovernedAction is what an action request asks for: an act upon the system itself, such as a quarantine or a change of a constant.
type GovernedAction struct {
	Type   string `json:"type"`             // such as sem_write; see quorum.Classes
	Target string `json:"target"`           // what it is done to
	Params string `json:"params,omitempty"` // what exactly, in whatever form its executor reads
}

// An ActionRequest asks people for an act of governance (MACE). It is bound to exactly one action under one set of rules, and its yes is
// used at most once.
type ActionRequest struct {
	ID            string         `json:"id"`
	Action        GovernedAction `json:"action"`
	Digest        Digest         `json:"action_digest"`
	Class         int            `json:"class"`  // 1 low to 4 emergency
	Origin        string         `json:"origin"` // operator, agent or system
	Requester     Requester      `json:"requester"`
	Role          string         `json:"requester_role,omitempty"` // where an operator asks
	Justification string         `json:"justification"`
	Evidence      []string       `json:"evidence,omitempty"` // ids of events

	Ruleset Digest `json:"ruleset_digest"`          // in force when it was made
	Policy  string `json:"policy,omitempty"`        // the manifest of snapshots likewise
	Module  Digest `json:"module_digest,omitempty"` // how its target stood then, where that is an agent

	Ballot  Ballot       `json:"ballot"`
	Display string       `json:"display"` // what the one who votes is shown; its digest is part of what is signed
	Created time.Time    `json:"created"`
	Expires time.Time    `json:"expires"`            // of the request as a whole, and of an approval nobody has used
	After   time.Time    `json:"effective,omitzero"` // an approval counts from then on
	Status  ActionStatus `json:"status"`
	Why     string       `json:"terminal_reason,omitempty"`
	By      string       `json:"executor,omitempty"` // who began to carry it out
	Review  string       `json:"reviews,omitempty"`  // the emergency override that it is the review of
	Overdue bool         `json:"overdue,omitempty"`  // people were told that this review is late
}

// A Ballot is who may vote on something, by which rule, and who has. All but the votes is fixed when it is made.
type Ballot struct {
	Approval string    `json:"required_approval_type"` // one of the Approval constants
	Quorum   int       `json:"quorum"`
	Roster   []Elector `json:"roster"`
	Hash     Digest    `json:"roster_hash"`
	Closes   time.Time `json:"vote_deadline"`
	Votes    []Order   `json:"votes,omitempty"`
}

// An Elector is one who may vote, as they were when the ballot was made.
type Elector struct {
	Name string `json:"name"`
	Role string `json:"role"`
	Keys Digest `json:"keys"` // of the credentials they had: a vote with others does not count
}

// What an action takes.
const (
	ApprovalAdmin   = "admin_single"         // one admin
	ApprovalNotify  = "admin_notify_council" // one admin, and a time in which the council knows
	ApprovalCouncil = "council_quorum"       // a majority of a quorum of the council
	ApprovalDual    = "superadmin_dual"      // a superadmin and an admin, who are two people
)

// CouncilTerms are the constants of governance, as the settings have them.
type CouncilTerms struct {
	Quorum  int           // votes that are neither missing nor abstentions
	Window  time.Duration // in which votes count
	Timeout time.Duration // of a request as a whole
	Wait    time.Duration // before an approval of an admin counts that the council is told of
	Review  time.Duration // in which the council looks at an emergency override
	Audit   time.Duration // how long an auditor reads unredacted, from when they were given that role
	Governs bool          // orders that change the rules or constants take the council too
	Second  bool          // who governs and votes signs with two factors
}

// Filled are the constants with the default in place of each that is zero.
func (t CouncilTerms) Filled() CouncilTerms {
	const day = 24 * time.Hour
	return CouncilTerms{Quorum: cmp.Or(t.Quorum, 3), Window: cmp.Or(t.Window, day), Timeout: cmp.Or(t.Timeout, 3*day),
		Wait: cmp.Or(t.Wait, day), Review: cmp.Or(t.Review, 3*day), Audit: cmp.Or(t.Audit, 90*day), Governs: t.Governs,
		Second: t.Second}
}

// Leads reports whether a request may go from one status to another. Nothing leaves a terminal one, so a yes is used once.
func (s ActionStatus) Leads(to ActionStatus) bool {
	switch s {
	case "":
		return to == ActionPending
	case ActionPending:
		return to == ActionApproved || to == ActionRejected || to == ActionExpired || to == ActionWithdrawn
	case ActionApproved:
		return to == ActionExecuting || to == ActionInvalidated
	case ActionExecuting:
		return to == ActionExecuted || to == ActionFailed || to == ActionInvalidated
	default:
		return false
	}
}

// Ended reports whether a status is terminal. One that nobody knows is.
func (s ActionStatus) Ended() bool {
	return s != ActionPending && s != ActionApproved && s != ActionExecuting
}
