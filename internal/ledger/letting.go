package ledger

import (
	"time"

	"interlock"
)

// BlobLag is how much longer ago a store may say that a blob was last named than it was, and something to spare: not every
// commit that names one says so again.
const BlobLag = 72 * time.Hour

// A Letting says what leaves a store because it is in an archive.
type Letting struct {
	From, UpTo int64                 // entries, the last exclusively
	Stay       []interlock.EventType // types whose content stays all the same
	Before     time.Time             // blobs go that nothing has named since [BlobLag] before
	Keep       []interlock.Digest    // but for these
}
