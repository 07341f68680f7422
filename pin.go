package interlock

import (
	"slices"
	"strings"
	"time"
)

// An Upstream is the server that would carry an action out: which one it is, what was started or reached, and the definition
// of the tool as that server gave it to this very connection. Only a gateway knows it.
type Upstream struct {
	Server   string `json:"server"`
	Identity Digest `json:"identity"` // of what was started or reached
	// the name it is pinned under: of a tool what the server calls it, of a prompt, a resource or a template see [PinnedPrompt];
	// empty where what is used has no definition of its own: a request of the server's, a resource that it does not list
	Tool       string `json:"tool,omitempty"`
	Definition Digest `json:"definition,omitempty"` // of what has that name
}

// What a server offers beside its tools is pinned like them, under its own name behind one of these. No tool is called so.
const (
	PinnedPrompt   = "/prompts/"
	PinnedResource = "/resources/" // and its URI
	PinnedTemplate = "/templates/" // and the template of its URIs
)

// PinKind says in a word what a pinned name refers to: the server itself, a tool of it, or what else it offers.
func PinKind(tool string) string {
	switch {
	case tool == "":
		return "server"
	case strings.HasPrefix(tool, PinnedPrompt):
		return "prompt"
	case strings.HasPrefix(tool, PinnedResource):
		return "resource"
	case strings.HasPrefix(tool, PinnedTemplate):
		return "template"
	}
	return "tool"
}

// PinSubject is how people and orders name what is pinned: SERVER, SERVER.TOOL, SERVER/prompts/NAME, SERVER/resources/URI or
// SERVER/templates/TEMPLATE. No server has a dot or a slash in its name, so that each of them names one thing.
func PinSubject(server, tool string) string {
	switch PinKind(tool) {
	case "server":
		return server
	case "tool":
		return server + "." + tool
	}
	return server + tool
}

// SplitPinSubject is PinSubject undone; one reports whether one thing of a server is named, and not all of it.
func SplitPinSubject(subject string) (server, tool string, one bool) {
	at := strings.IndexAny(subject, "./")
	if at < 0 {
		return subject, "", false
	}
	server, tool = subject[:at], subject[at:]
	if subject[at] == '.' {
		tool = tool[1:]
	}
	return server, tool, true
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
	PinUnreadable   PinReason = "unreadable"   // its definition can't be read, is too large, or is there twice
	PinOrdered      PinReason = "ordered"      // an operator put it there
)

// A Pin is what is known of one thing that a server behind the gateway offers, or of the server itself: what was approved, what
// was seen last, and whether it may be used.
type Pin struct {
	Server     string    `json:"server"`
	Tool       string    `json:"tool,omitempty"` // as in [Upstream]; empty: the server itself
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
	// of the server itself: lists beside that of its tools that were seen once, by [PinnedPrompt] and its like; what is in one
	// of them later is new
	Lists []string `json:"lists,omitempty"`
}

// Unsigned reports whether it is in use because first use was trusted, and no person has signed for it yet.
func (p Pin) Unsigned() bool { return p.Status == PinApproved && p.By == "" }

// From reports whether a server of this identity was approved with it.
func (p Pin) From(identity Digest) bool {
	return identity != "" && (p.Identity == identity || slices.Contains(p.Places, identity))
}
