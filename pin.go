package interlock

import (
	"slices"
	"time"
)

// An Upstream is the server that would carry an action out: which one it is, what was started or reached, and the definition
// of the tool as that server gave it to this very connection. Only a gateway knows it.
type Upstream struct {
	Server   string `json:"server"`
	Identity Digest `json:"identity"` // of what was started or reached
	// as the server calls it; empty where the action is no tool's: a resource, a prompt, a request of the server's own
	Tool       string `json:"tool,omitempty"`
	Definition Digest `json:"definition,omitempty"` // of the tool
}

// PinStatus says whether what a pin is about may be used. The zero value is none of them and refuses.
type PinStatus string

// The statuses of a pin.
const (
	PinApproved    PinStatus = "approved"
	PinQuarantined PinStatus = "quarantined" // not shown and not called until an operator approves it
)

// PinReason says what put a tool, or a server, into quarantine. The words are part of rule ids and never change.
type PinReason string

// The reasons.
const (
	PinFirst   PinReason = "first"   // nobody has approved it yet, and first use is not trusted
	PinNew     PinReason = "new"     // the server began to offer it after it had been approved
	PinChanged PinReason = "changed" // its definition is not the approved one
	// its server is not the approved one: another command, other arguments, another address
	PinIdentity     PinReason = "identity"
	PinInstructions PinReason = "instructions" // its definition holds what reads as instructions to a model
	PinUnreadable   PinReason = "unreadable"   // its definition can't be read, is too large, or stands twice
	PinOrdered      PinReason = "ordered"      // an operator put it there
)

// A Pin is what is known of one tool of a server behind the gateway, or of the server itself: what was approved, what was
// seen last, and whether it may be used.
type Pin struct {
	Server     string    `json:"server"`
	Tool       string    `json:"tool,omitempty"` // as the server calls it; empty: the server itself
	Status     PinStatus `json:"status"`
	Why        PinReason `json:"why,omitempty"`        // of a quarantine
	Detail     string    `json:"detail,omitempty"`     // what exactly, for people
	Identity   Digest    `json:"identity,omitempty"`   // of the server, as approved
	Definition Digest    `json:"definition,omitempty"` // as approved
	Places     []Digest  `json:"places,omitempty"`     // identities under which it was approved as well, newest first
	Former     []Digest  `json:"former,omitempty"`     // definitions that were approved before and are not any more, newest first
	SeenFrom   Digest    `json:"seen_from,omitempty"`  // identity of the server that listed it last
	Seen       Digest    `json:"seen,omitempty"`       // definition that was listed last
	By         string    `json:"by,omitempty"`         // operator who gave it its status; empty: the gateway
	Since      time.Time `json:"since,omitzero"`       // when it got its status
}

// From reports whether a server of this identity was approved with it.
func (p Pin) From(identity Digest) bool {
	return identity != "" && (p.Identity == identity || slices.Contains(p.Places, identity))
}
