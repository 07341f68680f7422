package interlock

import (
	"strconv"
	"strings"
)

// A Finding is one objection by a gate, a limit, a classifier or the judge. Findings can only tighten a decision.
type Finding struct {
	Gate        string       `json:"gate"`                 // which gate objects, e.g. "rules", "danger", "scope"
	Rule        string       `json:"rule"`                 // stable id of the rule, e.g. "fs.delete-system"
	Layer       int          `json:"layer"`                // 1 base laws, 2 security, 3 operational, 4 behavioural (ASA 6)
	Sublayer    int          `json:"sublayer,omitempty"`   // place inside the layer, 2.1 before 2.2; 0 is the layer itself (ASA 19.2)
	Verdict     Verdict      `json:"verdict"`              // what the finding argues for
	Reason      string       `json:"reason"`               // one sentence an agent may read; never the pattern, never a secret
	Suggestion  string       `json:"suggestion,omitempty"` // a tested alternative, where there is a safe one
	Heuristic   bool         `json:"heuristic,omitempty"`  // inferred rather than declared; an explicit autoApprove suppresses it
	Obligations []Obligation `json:"obligations,omitempty"`
	Impacts     []int        `json:"impacts,omitempty"` // evidence: indexes into the analysed impacts
	Tags        []string     `json:"tags,omitempty"`    // e.g. "ASI02", "LLM06"
}

// LayerText is the layer, with the place inside it where there is one: "2", or "2.1".
func (f *Finding) LayerText() string {
	if f.Sublayer > 0 {
		return strconv.Itoa(f.Layer) + "." + strconv.Itoa(f.Sublayer)
	}
	return strconv.Itoa(f.Layer)
}

// GeneralReason is the part of a finding's reason that its rule says of every action, without what it says of this one. It is for
// readers who may know that something was objected to and not what exactly was proposed. Whatever a rule's sentence
// holds, nothing of the action is left: gates put what they say of it behind the first colon and blank.
func GeneralReason(reason string) string {
	general, _, _ := strings.Cut(reason, ": ")
	return general
}

// An Obligation is something that must also happen before or while an allowed action runs.
type Obligation struct {
	Type string `json:"type"`           // one of the Obligation constants
	Note string `json:"note,omitempty"` // what exactly, for a reader
}

// Formed reports whether the obligation is to try an action in a form of its own, whose digest it notes.
func (o Obligation) Formed() bool {
	return o.Type == ObligationDryRun && strings.HasPrefix(o.Note, "sha256:")
}

// The obligation types.
const (
	ObligationConfirm   = "confirm"        // the requester's side must confirm
	ObligationVerify    = "verify"         // an out-of-band challenge
	ObligationAdmin     = "admin"          // an operator with the admin role
	ObligationCouncil   = "council"        // a quorum of the council
	ObligationDual      = "dual_signature" // two different people
	ObligationRedact    = "redact"         // parts of the output must be removed
	ObligationSandbox   = "sandbox"        // run under a sandbox profile
	ObligationDryRun    = "dry_run"        // run in a throw-away copy first
	ObligationApprovers = "approvers"      // operators of the roles and teams that Note lists, as "role:admin team:dba"
	ObligationWithin    = "answer_within"  // unanswered for as long as Note says, it is refused
	ObligationCooldown  = "cooldown"       // not before a time has passed
)
