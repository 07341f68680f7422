package core

import (
	"context"
	"time"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
)

// ArchiveAge is how old entries are at least when they are archived: calls that wait for their outcome, what runs have heard and
// written, and what commits remember of blobs refer to younger ones.
const ArchiveAge = 72 * time.Hour

// MayArchive refuses to archive what something that is open still needs.
func (a *Core) MayArchive(ctx context.Context, before time.Time) error {
	if now := a.Config.Now(); before.After(now.Add(-ArchiveAge)) {
		return interlock.Errorf(interlock.CodeInvalid, "--before", "entries younger than %.0f hours stay: calls that wait for "+
			"their outcome and what runs have heard and written refer to them", ArchiveAge.Hours())
	}
	var oldest *interlock.ApprovalRequest
	for _, open := range []string{ledger.Is(interlock.RequestPending), ledger.Harnessed, ledger.Is(interlock.RequestApproved)} {
		first, _, err := a.Config.Store.Scan(ctx, Under(ledger.Request, open), ledger.UpTo(before.UnixNano()-1, 1))
		if err != nil {
			return err
		}
		for _, row := range first {
			r, ok := row.Value.(interlock.ApprovalRequest)
			if ok && (oldest == nil || r.Created.Before(oldest.Created)) {
				oldest = &r
			}
		}
	}
	if oldest != nil {
		return interlock.Errorf(interlock.CodeConflict, "--before",
			"the request %s of %s is open, and its answer refers to what was "+
				"recorded then; name a time before it, or answer it", oldest.ID, oldest.Created.UTC().Format(time.RFC3339))
	}
	return nil
}

// Archived records that the content of entries is in an archive. Only after it has returned without an error may the
// content leave the store.
func (a *Core) Archived(ctx context.Context, record auditlog.ArchiveRecord) (ledger.Receipt, error) {
	record.To = a.Redact(record.To)
	return a.Event(ctx, interlock.EventArchive, interlock.Requester{Agent: "interlock"}, "system", record)
}

// Installed records what was registered with a harness.
func (a *Core) Installed(ctx context.Context, record auditlog.InstalledRecord) error {
	_, err := a.Event(ctx, interlock.EventInstalled, interlock.Requester{Agent: "interlock"}, "system", record)
	return err
}

// Alarm records something that an operator should look at, and has people told.
func (a *Core) Alarm(ctx context.Context, kind, message string) error {
	_, err := a.Event(ctx, interlock.EventAlert, interlock.Requester{Agent: "interlock"}, "system",
		auditlog.AlertRecord{Code: kind, Message: a.Redact(message)})
	if a.Config.Alert != nil {
		a.Config.Alert(kind, a.Redact(message))
	}
	return err
}
