package replay_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/internal/replay"
	"interlock/internal/strictjson"
	"interlock/spec"
)

// manifestOf is what the first decision of a home was made under.
func manifestOf(t *testing.T, h *home) (interlock.Digest, auditlog.Manifest) {
	t.Helper()
	r, err := h.sources.Read(h.entries[0])
	if err != nil {
		t.Fatal(err)
	}
	text, err := h.sources.Blob(r.Base.Manifest)
	if err != nil {
		t.Fatal(err)
	}
	m, err := auditlog.ReadManifest(text)
	if err != nil {
		t.Fatal(err)
	}
	return r.Base.Manifest, m
}

// The first event of a run, which is durable before anything of the run may happen, names the snapshots that it is decided under,
// and so does each after it.
func TestARunDeclaresItsSnapshots(t *testing.T) {
	spec.Covers(t, "MACE-SNAP-1")
	h := decided(t, shell("a", "ls"), shell("a", "rm -rf /"), shell("b", "ls"))
	want, m := manifestOf(t, h)
	for n := range h.entries {
		r, err := h.sources.Read(h.entries[n])
		if err != nil || r.Base.Manifest != want {
			t.Errorf("decision %d is under %s (%v), want %s", n, r.Base.Manifest, err, want)
		}
	}
	governance, err := h.sources.Blob(m.Snapshots[auditlog.SnapshotGovernance].Blob)
	if err != nil || !bytes.Contains(governance, []byte(`"mode":"enforcing"`)) || !bytes.Contains(governance, []byte(`"profile":"guard"`)) {
		t.Errorf("governance is %s, %v", governance, err)
	}
	limits, err := h.sources.Blob(m.Snapshots[auditlog.SnapshotLimits].Blob)
	if err != nil || !bytes.Contains(limits, []byte(`"max_questions":"100"`)) {
		t.Errorf("limits are %s, %v", limits, err)
	}
	if n := m.Snapshots[auditlog.SnapshotRuleset]; "sha256:"+n.Config != string(h.rules.Digest()) {
		t.Errorf("the ruleset is %+v", n)
	}
}

// Whatever snapshot is missing or another, nothing is decided again under it.
func TestSnapshotsFailClosed(t *testing.T) {
	spec.Covers(t, "MACE-SNAP-3", "MACE-REPLAY-02")
	swapped := func(h *home, was interlock.Digest, change func(*auditlog.Manifest)) { // a manifest that is sound but for one thing
		_, m := manifestOf(t, h)
		change(&m)
		text, err := m.Text()
		if err != nil {
			t.Fatal(err)
		}
		swap(t, h, was, text)
	}
	for name, test := range map[string]struct {
		damage func(h *home, manifest interlock.Digest, m auditlog.Manifest)
		code   replay.Code
		says   string
	}{
		"no manifest": {func(h *home, d interlock.Digest, _ auditlog.Manifest) { h.blobs[d] = nil },
			replay.MissingSnapshot, "the manifest of snapshots is not kept"},
		"no governance": {func(h *home, _ interlock.Digest, m auditlog.Manifest) {
			h.blobs[m.Snapshots[auditlog.SnapshotGovernance].Blob] = nil
		}, replay.MissingSnapshot, "the snapshot of governance is not kept"},
		"no limits": {func(h *home, _ interlock.Digest, m auditlog.Manifest) {
			h.blobs[m.Snapshots[auditlog.SnapshotLimits].Blob] = nil
		}, replay.MissingSnapshot, "the snapshot of limits is not kept"},
		"a byte of the limits": {func(h *home, _ interlock.Digest, m auditlog.Manifest) {
			h.blobs[m.Snapshots[auditlog.SnapshotLimits].Blob] = []byte(`{"max_questions":"9"}`)
		}, replay.IntegrityFailure, "the snapshot of limits is not the one"},
		"a byte of the manifest": {func(h *home, d interlock.Digest, _ auditlog.Manifest) { h.blobs[d] = []byte(`{}`) },
			replay.IntegrityFailure, "the manifest of snapshots is not the one"},
		"nothing declares it": {func(h *home, _ interlock.Digest, _ auditlog.Manifest) {
			h.sources.Declared = func(interlock.Digest) (bool, error) { return false, nil }
		}, replay.IntegrityFailure, "no signed event declares the manifest"},
		"what declares it can't be read": {func(h *home, _ interlock.Digest, _ auditlog.Manifest) {
			h.sources.Declared = func(interlock.Digest) (bool, error) { return false, errors.New("the disk is on fire") }
		}, replay.IntegrityFailure, "can't be read: the disk is on fire"},
		"another ruleset": {func(h *home, d interlock.Digest, _ auditlog.Manifest) {
			swapped(h, d, func(m *auditlog.Manifest) {
				m.Snapshots[auditlog.SnapshotRuleset] = auditlog.NameRuleset("sha256:00", "sha256:00")
			})
		}, replay.IntegrityFailure, "the manifest names another ruleset than the event"},
		"an id of something else": {func(h *home, d interlock.Digest, _ auditlog.Manifest) {
			swapped(h, d, func(m *auditlog.Manifest) {
				n := m.Snapshots[auditlog.SnapshotLimits]
				n.ID = strings.Repeat("0", 64)
				m.Snapshots[auditlog.SnapshotLimits] = n
			})
		}, replay.IntegrityFailure, "the id of its snapshot of limits is not made of what it names"},
		"another mode": {func(h *home, d interlock.Digest, _ auditlog.Manifest) {
			other := []byte(`{"mode":"disabled","profile":"guard"}`)
			h.blobs[auditlog.BlobDigest(other)] = other
			swapped(h, d, func(m *auditlog.Manifest) {
				m.Snapshots[auditlog.SnapshotGovernance] = auditlog.NameSnapshot(auditlog.GovernanceSchema, other)
			})
		}, replay.IntegrityFailure, "the snapshot of governance is not that of the decision"},
	} {
		t.Run(name, func(t *testing.T) {
			h := decided(t, shell("a", "ls"))
			digest, m := manifestOf(t, h)
			fresh := replay.Sources{Blob: h.sources.Blob, Ruleset: h.sources.Ruleset, Redact: h.sources.Redact, Open: h.sources.Open}
			h.sources = fresh // which has read nothing yet
			test.damage(h, digest, m)
			h.sources = replay.Sources{Blob: h.sources.Blob, Ruleset: h.sources.Ruleset, Redact: h.sources.Redact,
				Open: h.sources.Open, Declared: h.sources.Declared}
			err := h.again(0)
			var f *replay.Failure
			if !errors.As(err, &f) || f.Code != test.code || !strings.Contains(f.Detail, test.says) {
				t.Errorf("%v, want %s: …%s…", err, test.code, test.says)
			}
		})
	}
}

// swap makes a home's first decision name another manifest, in a record whose digests all fit.
func swap(t *testing.T, h *home, was interlock.Digest, manifest []byte) {
	t.Helper()
	r, err := h.sources.Read(h.entries[0])
	if err != nil {
		t.Fatal(err)
	}
	h.blobs[auditlog.BlobDigest(manifest)] = manifest
	r.Base.Manifest = auditlog.BlobDigest(manifest)
	base, err := r.Base.Text()
	if err != nil {
		t.Fatal(err)
	}
	h.blobs[auditlog.BlobDigest(base)] = base
	r.Inputs.Base = auditlog.BlobDigest(base)
	if h.entries[0].Inputs, err = r.Inputs.Text(); err != nil {
		t.Fatal(err)
	}
	old := []byte(r.Event.Snapshots["inputs"])
	h.entries[0].Body = bytes.Replace(h.entries[0].Body, old, []byte(auditlog.InputsDigest(h.entries[0].Inputs)), 1)
	if bytes.Contains(h.entries[0].Body, []byte(was)) {
		t.Fatal("the event names the manifest itself")
	}
	if _, err := strictjson.Canonical(h.entries[0].Body); err != nil {
		t.Fatal(err)
	}
}
