package core

import (
	"context"

	"interlock"
	"interlock/internal/ledger"
)

// Store is the durable truth under admission: events and what is kept beside them, committed together or not at all.
//
// Several processes may share one store. Commit is serialisable over all of them and durable on return: when it returns
// nil, the events and everything the change spends or creates survive the loss of the process. When it returns an error
// nothing may be assumed either way, and nothing may be allowed.
//
// Load returns the rows of the ledger that refs name as they are now, and the version to compute a change from. Recall may come
// from memory: it holds everything this process has committed and is at most a few milliseconds behind what others have. That
// is enough to decide from, because Commit holds what Change.Reads names, and what the change spends, against the file in the
// same transaction, and returns interlock.ErrConflict if any of it has moved; the decision is then made again from Load. So a
// revocation, an approval or an order of another process binds the next decision. Whatever does not end in such a Commit takes
// Load. Pages and lists take Scan and Count, which read so much and no more.
//
// Watch tells a waiting caller that some of what it names may have changed since Watch returned, in this process or in another,
// so that nobody who waits has to look again and again. Signals that nobody has taken yet are one, and none is lost: who looks
// after each signal sees everything. A store may tell too much, and what it can't be sure of it tells; it never tells too little.
// What this process writes is told at once, what others write within the time it names, which a store that is notified itself
// need not take. The channel is closed when ctx ends and when the store is closed.
//
// Note writes one row without an event, of a kind that permits nothing: what change makes of it as it is now (nil where there is
// none), or nothing where that is nil. change may be asked twice, if others write the row meanwhile.
type Store interface {
	// the rows that refs name, as they are now, and as this process last saw them
	Load(ctx context.Context, refs ...ledger.Ref) (rows []ledger.Row, version int64, err error)
	Recall(ctx context.Context, refs ...ledger.Ref) (rows []ledger.Row, version int64, err error)
	// a page of the rows under a mark, and where the next one begins: the zero place where nothing follows
	Scan(ctx context.Context, mark ledger.Ref, span ledger.Span) (rows []ledger.Row, next ledger.Place, err error)
	Count(ctx context.Context, mark ledger.Ref, span ledger.Span) (int, error) // of the rows that Scan would return
	Note(ctx context.Context, row ledger.Ref, change func(value any) (any, error)) error
	Commit(ctx context.Context, c ledger.Change) (ledger.Receipt, error)
	Watch(ctx context.Context, what ledger.Watch) (changed <-chan struct{}, err error)
	Entry(ctx context.Context, eventID string) (interlock.Entry, bool, error)
	Close() error
}
