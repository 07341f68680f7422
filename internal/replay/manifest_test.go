package replay_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"interlock"
	"interlock/embedded"
	"interlock/internal/auditlog"
	"interlock/internal/config"
	"interlock/internal/ledger"
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
		"no privacy": {func(h *home, _ interlock.Digest, m auditlog.Manifest) {
			h.blobs[m.Snapshots[auditlog.SnapshotPrivacy].Blob] = nil
		}, replay.MissingSnapshot, "the snapshot of privacy is not kept"},
		"a byte of the privacy": {func(h *home, _ interlock.Digest, m auditlog.Manifest) {
			h.blobs[m.Snapshots[auditlog.SnapshotPrivacy].Blob] = []byte(`{"max_kept":"9"}`)
		}, replay.IntegrityFailure, "the snapshot of privacy is not the one"},
		"a foreign privacy": {func(h *home, d interlock.Digest, _ auditlog.Manifest) {
			swapped(h, d, func(m *auditlog.Manifest) {
				n := m.Snapshots[auditlog.SnapshotPrivacy]
				n.Blob = m.Snapshots[auditlog.SnapshotLimits].Blob
				m.Snapshots[auditlog.SnapshotPrivacy] = n
			})
		}, replay.IntegrityFailure, "the snapshot of privacy is not the one that the manifest names"},
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

// known is a home in which somebody is known before anything is decided.
func known(t *testing.T) *home {
	t.Helper()
	return decidedAfter(t, config.PrivacyKeep, func(b *embedded.Backend) {
		if err := b.PutAgent(t.Context(), interlock.AgentRecord{ID: "one"}); err != nil {
			t.Fatal(err)
		}
	}, shell("a", "ls"))
}

// A decision names who was known when it was made, and is not made again where that is missing, flipped, foreign or undeclared. Before
// anything of the kind is recorded there is nothing to name.
func TestGrowingSnapshotsFailClosed(t *testing.T) {
	spec.Covers(t, "MACE-SNAP-1", "MACE-SNAP-3")
	if h := decided(t, shell("a", "ls")); baseText(t, h).Registry != "" || baseText(t, h).Memory != "" || h.again(0) != nil {
		t.Errorf("of nothing: %+v, %v", baseText(t, h), h.again(0))
	}
	for name, test := range map[string]struct {
		damage func(h *home, registry interlock.Digest)
		code   replay.Code
		says   string
	}{
		"as it was": {func(*home, interlock.Digest) {}, "", ""},
		"missing": {func(h *home, d interlock.Digest) { h.blobs[d] = nil }, replay.MissingSnapshot,
			"the snapshot of registry is not kept"},
		"flipped": {func(h *home, d interlock.Digest) { h.blobs[d] = []byte(`{"schema":"interlock.registry/v1"}`) },
			replay.IntegrityFailure, "the snapshot of registry is not the one that the inputs name"},
		"foreign": {func(h *home, d interlock.Digest) {
			foreign := []byte(`{"schema":"interlock.memory/v1"}`)
			h.blobs[auditlog.BlobDigest(foreign)] = foreign
			swapBase(t, h, func(b *auditlog.Base) { b.Registry = auditlog.BlobDigest(foreign) })
		}, replay.IntegrityFailure, "the snapshot of registry is of no form that is known here"},
		"foreign memory": {func(h *home, d interlock.Digest) {
			swapBase(t, h, func(b *auditlog.Base) { b.Memory = d })
		}, replay.IntegrityFailure, "the snapshot of memory is of no form that is known here"},
		"undeclared": {func(h *home, d interlock.Digest) {
			h.sources.Declared = func(what interlock.Digest) (bool, error) { return what != d, nil }
		}, replay.IntegrityFailure, "no signed event declares the snapshot of registry"},
	} {
		t.Run(name, func(t *testing.T) {
			h := known(t)
			registry := baseText(t, h).Registry
			if registry == "" {
				t.Fatal("no registry is named")
			}
			fresh := replay.Sources{Blob: h.sources.Blob, Ruleset: h.sources.Ruleset, Redact: h.sources.Redact}
			test.damage(h, registry)
			fresh.Declared = h.sources.Declared
			h.sources = fresh
			err := h.again(0)
			var f *replay.Failure
			if test.code == "" && err == nil {
				return
			}
			if !errors.As(err, &f) || f.Code != test.code || !strings.Contains(f.Detail, test.says) {
				t.Errorf("%v, want %s: …%s…", err, test.code, test.says)
			}
			if f != nil && (f.On.Scope != ledger.HoldManifest || f.On.Key == "") {
				t.Errorf("what is held for it: %+v", f.On)
			}
		})
	}
}

// baseText is what the first decision of a home shares with others.
func baseText(t *testing.T, h *home) auditlog.Base {
	t.Helper()
	r, err := h.sources.Read(h.entries[0])
	if err != nil {
		t.Fatal(err)
	}
	return r.Base
}

// swap makes a home's first decision name another manifest, in a record whose digests all fit.
func swap(t *testing.T, h *home, was interlock.Digest, manifest []byte) {
	t.Helper()
	h.blobs[auditlog.BlobDigest(manifest)] = manifest
	swapBase(t, h, func(b *auditlog.Base) { b.Manifest = auditlog.BlobDigest(manifest) })
	if bytes.Contains(h.entries[0].Body, []byte(was)) {
		t.Fatal("the event names the manifest itself")
	}
}

// swapBase gives a home's first decision another base, in a record whose digests all fit.
func swapBase(t *testing.T, h *home, change func(*auditlog.Base)) {
	t.Helper()
	r, err := h.sources.Read(h.entries[0])
	if err != nil {
		t.Fatal(err)
	}
	change(&r.Base)
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
	if _, err := strictjson.Canonical(h.entries[0].Body); err != nil {
		t.Fatal(err)
	}
}
