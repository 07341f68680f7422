package admission

import (
	"context"
	"encoding/json"
	"time"

	"interlock"
)

// Store is the durable truth under admission: events, standing and calls, committed together or not at all.
//
// Several processes may share one store. Commit is serialisable over all of them and durable on return: when it returns
// nil, the events and everything the change spends or creates survive the loss of the process. When it returns an error
// nothing may be assumed either way, and nothing may be allowed.
//
// Standing is as the store is now. Known may come from memory: it holds everything this process has committed and is at
// most a few milliseconds behind what others have. That is enough to decide from, because Commit compares Change.Version,
// and what the change spends, in the same transaction and returns interlock.ErrConflict if either has moved; the decision
// is then made again from Standing. So a revocation, an approval or a setting of another process binds the next decision,
// and what can lag is which pending request an unanswered question is found under. Whatever does not end in such a Commit
// takes Standing.
//
// Hear keeps what add makes of what a run has heard, beside the log and for a day, unless add reports that nothing is new.
//
// Past is what commits have remembered of a run, as [interlock.Remember] keeps it. Like Known it may come from memory.
// Nothing compares it in Commit: of two actions of one run that are decided at the same moment, neither came after the other.
type Store interface {
	Standing(ctx context.Context) (interlock.Standing, error)
	Known(ctx context.Context) (interlock.Standing, error)
	Request(ctx context.Context, id string) (interlock.ApprovalRequest, bool, error) // whatever has become of it
	// how many requests this agent has opened since
	Asked(ctx context.Context, r interlock.Requester, since time.Time) (int, error)
	Past(ctx context.Context, run string) ([]interlock.PastAction, error)
	// those under which a commit has remembered a writing since
	Wrote(ctx context.Context, keys []string, since time.Time) ([]string, error)
	Heard(ctx context.Context, run string) (interlock.Heard, error) // nothing where nothing was heard
	Hear(ctx context.Context, run string, add func(interlock.Heard) (interlock.Heard, bool)) error
	FindCall(ctx context.Context, r interlock.Requester, action interlock.Digest) (interlock.Call, bool, error)
	Calls(ctx context.Context, limit int) ([]interlock.Call, error) // newest first: as they were decided, or ended
	SeeCall(ctx context.Context, eventID, event string) error       // remember that another harness event has seen the call
	Commit(ctx context.Context, c interlock.Change) (interlock.Receipt, error)
	Definitions(ctx context.Context, server, tool string) (approved, seen json.RawMessage, err error) // the texts of a pin
	EntryByID(ctx context.Context, eventID string) (interlock.Entry, bool, error)
	Close() error
}
