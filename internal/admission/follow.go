package admission

import (
	"context"
	"time"

	"interlock/internal/ledger"
)

// A Watcher tells of what is written; see [Store].
type Watcher interface {
	Watch(ctx context.Context, what ledger.Watch) (changed <-chan struct{}, err error)
}

// Watch makes an Admission a [Watcher].
func (a *Admission) Watch(ctx context.Context, what ledger.Watch) (<-chan struct{}, error) {
	return a.config.Store.Watch(ctx, what)
}

// Follow calls look now, and again whenever what is watched may have changed, until look fails, ctx ends or the store is closed. It
// looks no more often than what.Within: of what comes faster it sees several changes at once, and of what comes after a while it
// hears at once. Its error is look's, or why nothing can be watched; that ctx has ended is none.
func Follow(ctx context.Context, from Watcher, what ledger.Watch, look func(context.Context) error) error {
	changed, err := from.Watch(ctx, what) // before the first look, so that nothing comes in between
	if err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	rest := time.NewTimer(0)
	defer rest.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-rest.C:
		}
		if err := look(ctx); err != nil {
			return err
		}
		rest.Reset(what.Within)
		more := false
		select {
		case _, more = <-changed:
		case <-ctx.Done():
		}
		if !more {
			return nil
		}
	}
}
