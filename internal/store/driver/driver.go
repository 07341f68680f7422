// Package driver is what a store is opened with, whichever backend keeps it. What it must be able to do is store.Port, what it must
// prove is store/proof.
package driver

import (
	"time"

	"interlock"
	"interlock/internal/ledger"
)

// A Sealer turns drafts into entries and signs the head that covers them.
type Sealer interface {
	// Check says whether a draft can be sealed at all, and what is known of it before it is.
	Check(d *ledger.Draft) (ledger.Checked, error)
	// CheckHead verifies that a head was signed by this sealer's key.
	CheckHead(head ledger.Head) error
	// Tag is a digest of some texts that only a holder of the log's key can make.
	Tag(texts ...[]byte) [32]byte
	// Seal places drafts after head; draft i is number sequences[i] of the run whose seed is its Seed. The
	// entries' bodies stand in room where they fit into its capacity.
	Seal(head ledger.Head, drafts []ledger.Draft, sequences []int64, room []byte) ([]interlock.Entry, ledger.Head, error)
}

// Options configure a store.
type Options struct {
	Sealer   Sealer        // required unless ReadOnly
	ReadOnly bool          // for auditors: nothing is created or changed
	Brief    bool          // the process makes a few commits and exits: no background work, and Close leaves cleaning up to others
	Begun    bool          // a log was begun here: if it is missing or empty, it is lost and no other is begun in its place
	Patience time.Duration // how long to wait for another process; 0 is 10 s
	Now      func() time.Time
	// Noticed is told once of each row that is there and not as Interlock wrote it, and of each that is gone; may be nil. It
	// may commit.
	Noticed func(*ledger.Tampered)
	Needs   []Part // what the store must have beside the port; without one of them it is not opened
}

// A Part is the name of what not every backend can do.
type Part string
