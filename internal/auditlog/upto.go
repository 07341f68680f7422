package auditlog

import (
	"context"
	"errors"

	"interlock"
	"interlock/internal/ledger"
)

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
