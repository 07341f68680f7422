package ledger

import (
	"encoding/json"
	"errors"
	"time"

	"interlock"
	"interlock/internal/meter"
)

// ErrConflict means a [Change] was computed from values that have moved since: load again and decide again.
var ErrConflict = errors.New("the standing changed since it was read")

// A Draft is an event before the store has placed it: no sequence, no hashes. Payload is canonical JSON, redacted.
type Draft struct {
	Type      interlock.EventType
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

	Checked Checked // what a store has learned of it before it queued it; whatever a caller puts there is not looked at
}

// Checked is what checking a draft says of the event that it becomes, so that it need not be found out where everybody waits.
type Checked struct {
	Content string // the hash of its payload
	At      int    // where the payload begins in the event's text, unless its run's seed is of another length
}

// A Blob is a text that events name by digest: part of what many decisions were made from. It is stored once.
type Blob struct {
	Digest interlock.Digest
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
	Left       []Row    `json:"-"`          // what its spends left of the rows they took from, in their order
}

// A Change is one atomic step of the store: events and everything they spend or create, or nothing.
type Change struct {
	Version int64   // of the ledger it was computed from; 0 if it depends on nothing that is kept
	Events  []Draft // at least one
	Blobs   []Blob  // what the events name and the store may not have yet

	// Reads names all that the change was computed from. With them only what they name must be as it was at Version; without
	// them, nothing that binds may have changed since.
	Reads  []Ref
	Writes []Row   // what is kept from now on, or has ended; versions are the store's to give
	Spends []Spend // what it uses up
	Mend   *Mend   // what it puts right beside the log; for stores that can, see [Mend]
}

// A Row is one thing that is kept in the ledger beside the log: an agent, a request, an operator's order. What its body
// means is its kind's matter, see [Kinds]; a store keeps it and compares its version.
type Row struct {
	Kind    string
	Key     string // within the kind
	Version int64  // of the ledger when it last changed in a way that decisions made before must notice; 0: never
	Body    []byte // nil once it has ended: the row stays, so that those who have read it notice
	Value   any    // what the body says, where it was loaded; nobody changes it
}

// A Ref names rows that something was computed from: the one under a key of its kind, or all that stand under a mark. It
// may name what is not there, and then it is noticed when it comes.
type Ref struct {
	Kind string
	Key  string
	Mark string // where there is no key
}

// A Spend takes from what a row has left, if it has as much: one call of an approval, one of a grant, one of a counter. A
// store decides it inside its own transaction, after the change before and before the change after, so that many who spend
// from one row don't race: one that finds too little is told what is there, and the others go on.
//
// A kind whose rows say what was used, and not what is left, takes with the spend how much there is room for: so much in all with
// what is taken now or, with a window, within one that ends now. There a row that is not there has used nothing yet.
type Spend struct {
	Kind   string
	Key    string
	Take   int64
	Room   int64
	Window time.Duration
}

// Bound is what it takes from.
func (s Spend) Bound() meter.Bound { return meter.Bound{Most: s.Room, Window: s.Window} }
