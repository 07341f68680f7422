package embedded

import (
	"context"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/store"
)

// heldSnapshots refuses to decide under snapshots that the store does not hold as they were declared: who asks later what was in
// force could not be told. Hooks leave this to the processes that last, because an agent waits for them to start.
func heldSnapshots(ctx context.Context, port *store.Store) error {
	rows, _, err := port.Load(ctx, ledger.Ref{Kind: ledger.Setting, Key: "manifest"})
	if err != nil {
		return err
	}
	manifest := interlock.Digest("")
	if len(rows) > 0 {
		manifest = interlock.Digest(ledger.SettingOf(rows[0]))
	}
	if manifest == "" {
		return nil
	}
	bad := func(what string) error {
		return interlock.Errorf(interlock.CodeUnavailable, "store",
			"%s: %s in force is missing from the store or is not the one that was "+
				"declared; keep the file as evidence, run interlock audit verify, and restore a backup",
			interlock.EventIntegrity, what)
	}
	text, found, err := port.Blob(ctx, manifest)
	if err != nil || !found || auditlog.BlobDigest(text) != manifest {
		return bad("the manifest of snapshots")
	}
	m, err := auditlog.ReadManifest(text)
	if err != nil {
		return bad("the manifest of snapshots")
	}
	for _, name := range []string{auditlog.SnapshotRuleset, auditlog.SnapshotGovernance, auditlog.SnapshotLimits} {
		n := m.Snapshots[name]
		if name == auditlog.SnapshotRuleset && port.Checking != nil {
			// Nine tenths of what there is to read are not unpacked: whether somebody wrote another text, with a checksum of its
			// own, is seen where it is read.
			unchanged, known, err := port.Checking.BlobUnchanged(ctx, n.Blob)
			if err != nil || known && !unchanged {
				return bad("the snapshot of " + name)
			}
			if known {
				continue
			}
		}
		text, found, err := port.Blob(ctx, n.Blob)
		if err != nil || !found || auditlog.BlobDigest(text) != n.Blob || name != auditlog.SnapshotRuleset && !n.Holds(text) {
			return bad("the snapshot of " + name)
		}
	}
	return nil
}
