// Package notice says what is taken to a human, and keeps what only that human may read from being printed on the way.
package notice

import (
	"time"

	"interlock"
)

// A Secret is text that must reach one place and no other. However it is printed, formatted, encoded or logged, it says that
// it is withheld; only Reveal returns it.
type Secret string

// withheld is written wherever a Secret would have been.
const withheld = "[withheld]"

// Reveal returns the text.
func (s Secret) Reveal() string { return string(s) }

// String withholds the text.
func (Secret) String() string { return withheld }

// GoString withholds the text.
func (Secret) GoString() string { return withheld }

// MarshalText withholds the text.
func (Secret) MarshalText() ([]byte, error) { return []byte(withheld), nil }

// A Notice is what a channel takes to a human. Everything in it but the code has been redacted.
type Notice struct {
	Severity  interlock.Tier      // what it is about; a channel has a floor below which it takes nothing
	Kind      string              // block, verify, request, answered, alert or test
	Challenge string              // id of the challenge the code answers
	Request   string              // id of the approval request that waits
	Requester interlock.Requester // who asks
	Harness   bool                // its harness asks its own user: it waits for nobody who is told
	Status    string              // of the request, where it waits no more
	Rule      string              // of the decisive finding
	Reason    string
	Display   string // the action, complete
	Code      Secret // answers the challenge, once; empty if there is nothing to answer
	Expires   time.Time
}

// A Delivery says where a notice went.
type Delivery struct {
	Channels []string // that took it
	Failed   []string // that did not, each with why; holds no secret
}
