package core

import (
	"context"
	"errors"
	"slices"
	"time"

	"interlock/internal/auditlog"
	"interlock/internal/ledger"
)

// maxRaces bounds how often a decision is made again because the standing moved under it: with the pauses in between about a
// second. Of three processes that write one row without end, each loses two of three races, and eight in a row now and then.
const maxRaces = 40

// Commit commits what build makes of a ground as it is in the store now, again if anything of it moved in between.
func (a *Core) Commit(ctx context.Context, on RowLoader,
	build func(ledger.Standing) (ledger.Change, error)) (ledger.Receipt, error) {
	return a.CommitOn(ctx, false, on, build)
}

// CommitOn commits what build makes of a ground, again from what is there now if that has moved in between. ground is asked
// for what it needs the first time from memory, if recall says so.
func (a *Core) CommitOn(ctx context.Context, recall bool, ground RowLoader,
	build func(ledger.Standing) (ledger.Change, error)) (ledger.Receipt, error) {
	load := LoadRows(a.Config.Store.Load)
	if recall {
		load = a.Config.Store.Recall
	}
	for race := 0; ; race++ {
		g, err := ground(ctx, load)
		load = a.Config.Store.Load
		if err != nil {
			return ledger.Receipt{}, err
		}
		change, err := build(g.Standing)
		if err != nil {
			return ledger.Receipt{}, err
		}
		if change.Version != 0 {
			if also := change.Reads; len(also) > 0 { // what build has read beside its ground is to be as it was too
				g.Reads = slices.Concat(g.Reads, also)
			}
			change.Reads = g.Reads
		}
		receipt, err := a.Config.Store.Commit(ctx, change)
		if errors.Is(err, ledger.ErrConflict) && race < maxRaces && stepAside(ctx, race) {
			continue
		}
		return receipt, err
	}
}

// stepAside lets others go first, for longer each time: where several processes write the same rows again and again, each gets
// through. A first race costs no time. It reports whether there is still time to try.
func stepAside(ctx context.Context, race int) bool {
	if race < 1 {
		return ctx.Err() == nil
	}
	select {
	case <-time.After(time.Millisecond << min(race, 5)):
		return true
	case <-ctx.Done():
		return false
	}
}

// The names under which what is in force is kept among the settings.
const (
	SettingManifest = "manifest"
	SettingRegistry = auditlog.SnapshotRegistry
	SettingMemory   = auditlog.SnapshotMemory
)

// ErrUnchanged ends a commit that has nothing to say.
var ErrUnchanged = errors.New("admission: nothing changed")
