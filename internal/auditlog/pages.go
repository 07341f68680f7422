package auditlog

import (
	"context"
	"errors"
	"strconv"

	"interlock"
	"interlock/internal/ledger"
)

// Pages is a log that is read in parts and by name.
type Pages interface {
	// Entries returns a span of the log's entries, whose places are their indexes; of one type, or of all if it is empty. The span's
	// After is not looked at: the next page begins beside the last entry of this one.
	Entries(ctx context.Context, kind interlock.EventType, span ledger.Span) ([]interlock.Entry, error)
	// Entry finds an entry by its event id.
	Entry(ctx context.Context, id string) (e interlock.Entry, found bool, err error)
}

// EntryAt is the entry at an index.
func EntryAt(ctx context.Context, log Pages, index int64) (e interlock.Entry, found bool, err error) {
	entries, err := log.Entries(ctx, "", ledger.From(index, 1))
	if err != nil || len(entries) != 1 || entries[0].Index != index {
		return e, false, err
	}
	return entries[0], true, nil
}

// Named is the entry that somebody names by its index or by its event id.
func Named(ctx context.Context, log Pages, name string) (interlock.Entry, error) {
	var e interlock.Entry
	var found bool
	index, err := strconv.ParseInt(name, 10, 64)
	if err == nil && index >= 0 && len(name) < 20 {
		e, found, err = EntryAt(ctx, log, index)
	} else {
		e, found, err = log.Entry(ctx, name)
	}
	if err == nil && !found {
		err = interlock.Errorf(interlock.CodeNotFound, "event", "the log has no event %.80q", name)
	}
	return e, err
}

// UpTo is a log as far as one of its heads: what was appended since is left out, so that a copy ends in the checkpoint that
// covers it.
func UpTo(source Source, head ledger.Head) Source { return upTo{source, head} }

type upTo struct {
	Source
	head ledger.Head
}

// errReached ends a walk at the head.
var errReached = errors.New("reached")

// Walk visits the entries before the head.
func (u upTo) Walk(ctx context.Context, visit func(interlock.Entry) error) error {
	err := u.Source.Walk(ctx, func(e interlock.Entry) error {
		if e.Index >= u.head.Size {
			return errReached
		}
		return visit(e)
	})
	if errors.Is(err, errReached) {
		return nil
	}
	return err
}
