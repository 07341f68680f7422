package embedded

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/store"
)

// heldSnapshots refuses to decide under snapshots that the store does not hold as they were declared: who asks later what was in
// force could not be told. Hooks leave this to the processes that last, because an agent waits for them to start.
func heldSnapshots(ctx context.Context, port *store.Store) error {
	refs := []ledger.Ref{{Kind: ledger.Setting, Key: "manifest"}}
	for _, g := range auditlog.GrowingSnapshots() {
		refs = append(refs, ledger.Ref{Kind: ledger.Setting, Key: g.Name})
	}
	rows, _, err := port.Load(ctx, refs...)
	if err != nil {
		return err
	}
	said := map[string]interlock.Digest{}
	for _, row := range rows {
		said[row.Key] = interlock.Digest(ledger.SettingOf(row))
	}
	manifest := said["manifest"]
	if manifest == "" {
		return nil
	}
	err = heldUnder(ctx, port, manifest)
	for _, g := range auditlog.GrowingSnapshots() {
		if err == nil && said[g.Name] != "" { // under the manifest's name, which hooks look for
			err = heldGrown(ctx, port, g, said[g.Name], string(manifest))
		}
	}
	return err
}

// heldGrown is heldSnapshots of a growing snapshot. hold is the key of what is held where it is not as it was declared.
func heldGrown(ctx context.Context, port *store.Store, g auditlog.Growing, digest interlock.Digest, hold string) error {
	text, found, err := port.Blob(ctx, digest)
	if err == nil && found && auditlog.BlobDigest(text) == digest && auditlog.IsChain(text, g.Schema) {
		return nil
	}
	return broken(ctx, port, digest, "the snapshot of "+g.Name, err, brokenSnapshot{missing: !found && err == nil,
		Hold: ledger.HoldBody{Scope: ledger.HoldManifest, Key: hold}})
}

// heldUnder is heldSnapshots of those that one manifest names.
func heldUnder(ctx context.Context, port *store.Store, manifest interlock.Digest) error {
	bad := func(what string, found bool, err error) error {
		return broken(ctx, port, manifest, what, err, brokenSnapshot{missing: !found && err == nil,
			Hold: ledger.HoldBody{Scope: ledger.HoldManifest, Key: string(manifest)}})
	}
	text, found, err := port.Blob(ctx, manifest)
	if err != nil || !found || auditlog.BlobDigest(text) != manifest {
		return bad("the manifest of snapshots", found, err)
	}
	m, err := auditlog.ReadManifest(text)
	if err != nil {
		return bad("the manifest of snapshots", true, nil)
	}
	for _, name := range auditlog.Declared() {
		n, named := m.Snapshots[name]
		if !named {
			continue // the manifest is of before there was one
		}
		text, found, err := port.Blob(ctx, n.Blob)
		if err != nil || !found || !n.Holds(text) {
			return bad("the snapshot of "+name, found, err)
		}
	}
	// Nine tenths of what there is to read are not unpacked: whether somebody wrote another text, with a checksum of its own, is seen
	// where it is read.
	n := m.Snapshots[auditlog.SnapshotRuleset]
	unchanged, known, err := blobUnchanged(ctx, port, n.Blob)
	if err == nil && !known {
		text, found, err = port.Blob(ctx, n.Blob)
		unchanged = found && auditlog.BlobDigest(text) == n.Blob
	} else {
		found = true
	}
	if err != nil || !unchanged {
		return broken(ctx, port, n.Blob, "the snapshot of "+auditlog.SnapshotRuleset, err, brokenSnapshot{missing: !found && err == nil,
			Hold: ledger.HoldBody{Scope: ledger.HoldRuleset, Key: "sha256:" + n.Config}})
	}
	return nil
}

// blobUnchanged is what a store can tell of a blob without unpacking it, if it can.
func blobUnchanged(ctx context.Context, port *store.Store, blob interlock.Digest) (unchanged, known bool, err error) {
	if port.Checking == nil {
		return false, false, nil
	}
	return port.Checking.BlobUnchanged(ctx, blob)
}

// A brokenSnapshot is one that the store does not hold as it was declared, and what is held because of it.
type brokenSnapshot struct {
	error
	Hold    ledger.HoldBody
	missing bool // it is not there at all
}

func (b brokenSnapshot) Unwrap() error { return b.error }

// broken is the error that a snapshot is not there as it was declared. Where nothing at all can be read just now, that says nothing of
// what is there, and nothing is held.
func broken(ctx context.Context, port *store.Store, blob interlock.Digest, what string, unread error, found brokenSnapshot) error {
	refusal := interlock.Errorf(interlock.CodeUnavailable, "store",
		"%s: %s in force is missing from the store or is not the one that was "+
			"declared; keep the file as evidence, run interlock audit verify, and restore a backup",
		interlock.EventIntegrity, what)
	if unread != nil {
		if _, _, err := blobUnchanged(ctx, port, blob); err != nil {
			return refusal
		}
	}
	found.error, found.Hold.Why = refusal, what+" is missing from the store or is not the one that was declared"
	return found
}

// holdBroken records that a snapshot is broken and has nothing decided under it: hooks, which do not look themselves, learn it from
// that. The error is what was found, and if that could not be recorded says so too.
func holdBroken(ctx context.Context, adm *admission.Admission, found error) error {
	var b brokenSnapshot
	if !errors.As(found, &b) {
		return found
	}
	if err := adm.Hold(ctx, b.Hold); err != nil {
		return errors.Join(found, fmt.Errorf("what was found could not be recorded: %w", err))
	}
	return found
}

// BrokenSnapshots are those that decisions were ever made under and that the store does not hold as they were declared, as what is to be
// held because of them. An archive takes snapshots along that nothing younger names: where there are archives, only the ones in
// force have to be there.
func BrokenSnapshots(ctx context.Context, port *store.Store) (found []ledger.HoldBody, err error) {
	manifests, err := declaredManifests(ctx, port)
	if err != nil {
		return nil, err
	}
	archives, err := port.Entries(ctx, interlock.EventArchive, ledger.Before(-1, 1))
	if err != nil {
		return nil, err
	}
	look := func(err error, inForce bool) error {
		var b brokenSnapshot
		if !errors.As(err, &b) {
			return err
		}
		same := func(h ledger.HoldBody) bool { return h.Name() == b.Hold.Name() }
		if (inForce || !b.missing || len(archives) == 0) && !slices.ContainsFunc(found, same) {
			found = append(found, b.Hold)
		}
		return nil
	}
	if err := look(heldSnapshots(ctx, port), true); err != nil {
		return nil, err
	}
	for _, manifest := range manifests {
		if err := look(heldUnder(ctx, port, manifest), false); err != nil {
			return nil, err
		}
	}
	for _, g := range auditlog.GrowingSnapshots() {
		declared, err := declaredGrown(ctx, port, g)
		if err != nil {
			return nil, err
		}
		for _, digest := range declared {
			if err := look(heldGrown(ctx, port, g, digest, string(digest)), false); err != nil {
				return nil, err
			}
		}
	}
	return found, nil
}

// declaredManifests are those that events by which people govern name, newest first.
func declaredManifests(ctx context.Context, port *store.Store) ([]interlock.Digest, error) {
	return declaredBy(ctx, port, func(e interlock.Entry) (string, error) {
		after, err := auditlog.SettingsAfter(e)
		return after["manifest"], err
	}, interlock.EventRuleset, interlock.EventMode)
}

// declaredGrown are likewise what a growing snapshot ever was.
func declaredGrown(ctx context.Context, port *store.Store, g auditlog.Growing) ([]interlock.Digest, error) {
	return declaredBy(ctx, port, func(e interlock.Entry) (string, error) {
		event, err := auditlog.ParseEvent(e.Body)
		return event.Snapshots[g.Name], err
	}, g.Events...)
}

// declaredBy are the snapshots that events of some types name, each once.
func declaredBy(ctx context.Context, port *store.Store, named func(interlock.Entry) (string, error),
	kinds ...interlock.EventType) (list []interlock.Digest, err error) {
	const page = 256
	known := map[interlock.Digest]bool{"": true}
	for _, kind := range kinds {
		for before := int64(-1); ; {
			entries, err := port.Entries(ctx, kind, ledger.Before(before, page))
			if err != nil {
				return nil, err
			}
			for _, e := range entries {
				name, err := named(e)
				if err != nil {
					return nil, err
				}
				if digest := interlock.Digest(name); !known[digest] {
					known[digest], list = true, append(list, digest)
				}
				before = e.Index
			}
			if len(entries) < page || before == 0 {
				break
			}
		}
	}
	return list, nil
}
