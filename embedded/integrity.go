package embedded

import (
	"context"
	"fmt"
	"time"

	"interlock"
	"interlock/internal/admission/containment"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
)

// The times of the check of the whole log.
const (
	checkIntegrityEvery = 24 * time.Hour   // how often it is made (MACE 10: daily)
	checkIntegrityLook  = 10 * time.Minute // how often a process that lasts looks whether it is due
)

// CheckIntegrity reads the whole log and what is kept beside it, holds all of it against its proofs, and records what was found:
// INTEGRITY_CHECK_SUMMARY, and INTEGRITY_FAILURE with an alarm where something is wrong. An error says that the check could not be made.
func (b *Backend) CheckIntegrity(ctx context.Context, now time.Time) (found auditlog.IntegritySummary, err error) {
	_, before, err := b.integrity(ctx)
	if err != nil {
		return found, err
	}
	report, err := auditlog.Verify(ctx, b.Store, b.Key, auditlog.VerifyOptions{})
	if err != nil {
		return found, err
	}
	found = auditlog.IntegritySummary{Day: now.UTC().Format(time.DateOnly), From: before.To, To: report.Entries,
		Root: fmt.Sprintf("sha256:%x", report.Checkpoint.Root), Heads: report.Heads, Events: report.Entries, Signed: report.Signed}
	if report.Problem != nil {
		found.Failures = append(found.Failures, report.Problem.Error())
	}
	broken, err := BrokenSnapshots(ctx, b.Store)
	if err != nil {
		return found, err
	}
	declared, err := declaredManifests(ctx, b.Store)
	if err != nil {
		return found, err
	}
	for _, g := range auditlog.GrowingSnapshots() {
		grown, err := declaredGrown(ctx, b.Store, g)
		if err != nil {
			return found, err
		}
		declared = append(declared, grown...)
	}
	found.Snapshots = max(0, len(declared)-len(broken))
	for _, hold := range broken {
		found.Failures = append(found.Failures, hold.Why)
	}
	beside := func(wrong *ledger.Tampered) error {
		found.Failures = append(found.Failures, wrong.Name()+"; it is not believed")
		return nil
	}
	if err := b.Store.CheckStanding(ctx, beside); err != nil {
		return found, err
	}
	if err := b.IntegrityChecked(ctx, found); err != nil {
		return found, err
	}
	return found, b.Hold(ctx, broken...)
}

// NoteIntegrity records failures that somebody found who looked for them. What the newest failure says already leaves no further event,
// so that looking again and again fills no log.
func (b *Backend) NoteIntegrity(ctx context.Context, failures []string) error {
	newest, err := b.Store.Entries(ctx, interlock.EventIntegrity, ledger.Before(-1, 1))
	if err != nil {
		return err
	}
	if len(newest) == 1 {
		var known auditlog.IntegrityRecord
		if _, err := auditlog.Read(newest[0], &known); err == nil && known.Why == containment.IntegrityWhy(failures) {
			return nil
		}
	}
	return b.IntegrityFailed(ctx, failures)
}

// integrity is the newest check and when it was made.
func (b *Backend) integrity(ctx context.Context) (at time.Time, last auditlog.IntegritySummary, err error) {
	entries, err := b.Store.Entries(ctx, interlock.EventIntegritySummary, ledger.Before(-1, 1))
	if err != nil || len(entries) == 0 {
		return at, last, err
	}
	event, err := auditlog.Read(entries[0], &last)
	return event.Recorded, last, err
}

// CheckIntegrityUntil makes the check once a day, until ctx ends, by whichever process on this store finds it due first. What can't be
// checked is for tell, and is tried again.
func (b *Backend) CheckIntegrityUntil(ctx context.Context, now func() time.Time, tell func(error)) {
	ticker := time.NewTicker(checkIntegrityLook)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		last, _, err := b.integrity(ctx)
		if err == nil && now().Sub(last) >= checkIntegrityEvery {
			_, err = b.CheckIntegrity(ctx, now())
		}
		if err != nil && ctx.Err() == nil {
			tell(err)
		}
	}
}
