package admission

import (
	"context"

	"interlock"
)

// Store is the durable truth under admission: events, standing and calls, committed together or not at all.
//
// Several processes may share one store. Commit is serialisable over all of them and durable on return: when it returns
// nil, the events and everything the change spends or creates survive the loss of the process. When it returns an error
// nothing may be assumed either way, and nothing may be allowed. Standing may be answered from memory, because Commit
// compares Change.Version in the same transaction and returns interlock.ErrConflict if the standing has moved.
type Store interface {
	Standing(ctx context.Context) (interlock.Standing, error)
	FindCall(ctx context.Context, r interlock.Requester, action interlock.Digest) (interlock.Call, bool, error)
	SeeCall(ctx context.Context, eventID, event string) error // remember that another harness event has seen the call
	Commit(ctx context.Context, c interlock.Change) (interlock.Receipt, error)
	EntryByID(ctx context.Context, eventID string) (interlock.Entry, bool, error)
	Close() error
}
