package sqlite

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"interlock/internal/ledger"
	"interlock/internal/store/proof"
)

// forgetWhere deletes rows, at most so many. Those of a part that was tampered with stay: nobody could say afterwards what it lacks.
func (b *batch) forgetWhere(ctx context.Context, most int, where string, args ...any) error {
	var owners []int64
	err := b.store.writer.each(ctx, "SELECT owner FROM passing WHERE "+where+" LIMIT ?", append(args, most),
		func(scan func(...any) error) error {
			var owner int64
			err := scan(&owner)
			owners = append(owners, owner)
			return err
		})
	for _, owner := range owners {
		if err != nil {
			return err
		}
		err = b.forgetPassed(ctx, owner)
		if tampered := (*ledger.Tampered)(nil); errors.As(err, &tampered) {
			err = nil
		}
	}
	return err
}

// runKind is the kind of the rows that say where runs are in their sequences. They are the store's own, and no part of the ledger.
const runKind = "run"

// runLife is how long it is remembered where a run is. One that goes on after that goes on as another.
const runLife = 7 * 24 * time.Hour

// jobOf reads where a run is.
func jobOf(body []byte) (j job, err error) {
	next, seed, ok := strings.Cut(string(body), " ")
	if j.next, err = strconv.ParseInt(next, 10, 64); err == nil && !ok {
		err = fmt.Errorf("a run has no seed")
	}
	j.seed = seed
	return j, err
}

// keptRuns are the runs of the transaction as rows. Where one's part was tampered with it is not kept, and the run goes on as another
// in the next process: events are recorded whatever was done to what is beside them.
func (b *batch) keptRuns(ctx context.Context) (rows []passRow, err error) {
	until := b.store.at(&b.accepted[0].change).Add(runLife).UnixNano()
	for run, j := range b.touched { // the rows are sorted before they are written
		if len(b.store.jobs) >= maxJobs {
			b.store.jobs = map[string]job{}
		}
		b.store.jobs[run] = j
		owner := proof.PassNumber(runKind, run)
		if b.proved.Sound() {
			err := b.proved.ReadPass(ctx, owner)
			if tampered := (*ledger.Tampered)(nil); errors.As(err, &tampered) {
				continue
			}
			if err != nil {
				return nil, err
			}
		}
		body := append(strconv.AppendInt(nil, j.next, 10), " "+j.seed...)
		rows = append(rows, passRow{ledger.Row{Kind: runKind, Key: run, Body: body}, owner, until})
	}
	return rows, nil
}
