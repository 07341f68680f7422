package ledger

import "time"

// A Watch is what somebody wants to hear of who waits for others to write.
type Watch struct {
	Kinds []string // of rows; none: whatever is written, entries of the log among it
	// how late what another process has written may be told. A store that is told of it itself tells at once; one that has to look
	// looks as often as the one who waits most eagerly wants. What this process writes is told at once in any case
	Within time.Duration
}
