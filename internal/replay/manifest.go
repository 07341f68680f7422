package replay

import (
	"fmt"
	"strings"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/internal/classify"
	"interlock/internal/ledger"
	"interlock/internal/strictjson"
)

// manifest checks the snapshots that a decision was made under: they are what the manifest names, the manifest is
// what the decision names, and an event that the log's key signed by itself declared it. What is missing or another
// is a *[Failure], so that nothing is decided under what can't be shown. A record of before there were manifests
// names none.
func (s *Sources) manifest(r *Record) error {
	want := r.Base.Manifest
	if want == "" {
		return nil
	}
	if s.Held != nil && s.Held(ledger.HoldManifest, string(want)) {
		return halt(ledger.HoldManifest, string(want))
	}
	m, known := s.manifests[want]
	if !known {
		var err error
		if m, err = s.readManifest(want); err != nil {
			return broken(err, ledger.HoldManifest, string(want))
		}
		if s.manifests == nil {
			s.manifests = map[interlock.Digest]declared{}
		}
		s.manifests[want] = m
	}
	if m.ruleset.Config != strings.TrimPrefix(r.Event.Snapshots["ruleset"], "sha256:") {
		return failure(IntegrityFailure, "the manifest names another ruleset than the event")
	}
	if m.mode != r.Base.Snapshot.Mode.String() || m.profile != r.Base.Snapshot.Profile {
		return failure(IntegrityFailure, "the snapshot of governance is not that of the decision")
	}
	return nil
}

// A declared manifest is one that was read and is what it says, with what a decision is held against.
type declared struct {
	ruleset       auditlog.SnapshotName
	mode, profile string
	texts         *classify.Library // what texts are classified by; nil: none was declared
}

func (s *Sources) readManifest(want interlock.Digest) (declared, error) {
	text, err := s.blob(want, "the manifest of snapshots")
	if err != nil {
		return declared{}, err
	}
	m, err := auditlog.ReadManifest(text)
	if err != nil {
		return declared{}, failure(IntegrityFailure, "the manifest of snapshots: %v", err)
	}
	if err := s.said(want, "the manifest of snapshots"); err != nil {
		return declared{}, err
	}
	d := declared{ruleset: m.Snapshots[auditlog.SnapshotRuleset]}
	for _, name := range auditlog.Declared() {
		n, named := m.Snapshots[name]
		if !named {
			continue // the manifest is of before there was one
		}
		held, err := s.blob(n.Blob, "the snapshot of "+name)
		if err != nil {
			return declared{}, err
		}
		value := map[string]string{}
		if !n.Holds(held) || name != auditlog.SnapshotSafety && strictjson.DecodeTrusted(held, &value) != nil {
			return declared{}, failure(IntegrityFailure, "the snapshot of %s is not the one that the manifest names", name)
		}
		switch name {
		case auditlog.SnapshotGovernance:
			d.mode, d.profile = value["mode"], value["profile"]
		case auditlog.SnapshotSafety:
			d.texts = classify.NewLibrary(held)
		}
	}
	return d, nil
}

// grown checks the growing snapshots that a decision was made under: who was known, and what agents kept as stable facts. They are what
// the decision names, and an event that the log's key signed by itself said so. A record of before names none, and neither does one of a
// home where nothing of the kind was ever changed.
func (s *Sources) grown(r *Record) error {
	for _, g := range auditlog.GrowingSnapshots() {
		want := r.Base.Grown(g.Name)
		if want == "" || s.checked[g.Name+string(want)] {
			continue
		}
		if s.Held != nil && s.Held(ledger.HoldManifest, string(want)) {
			return halt(ledger.HoldManifest, string(want))
		}
		if err := s.readGrown(g, want); err != nil {
			return broken(err, ledger.HoldManifest, string(want))
		}
		if s.checked == nil {
			s.checked = map[string]bool{}
		}
		s.checked[g.Name+string(want)] = true
	}
	return nil
}

func (s *Sources) readGrown(g auditlog.Growing, want interlock.Digest) error {
	what := "the snapshot of " + g.Name
	text, err := s.blob(want, what)
	if err != nil {
		return err
	}
	if !auditlog.IsChain(text, g.Schema) {
		return failure(IntegrityFailure, "%s is of no form that is known here", what)
	}
	return s.said(want, what)
}

// said refuses what no event declares.
func (s *Sources) said(want interlock.Digest, what string) error {
	if s.Declared == nil {
		return nil
	}
	said, err := s.Declared(want)
	if err != nil {
		return &Failure{Code: IntegrityFailure, Detail: fmt.Sprintf("the events that declare snapshots can't be read: %v", err), unsure: true}
	}
	if !said {
		return failure(IntegrityFailure, "no signed event declares %s", what)
	}
	return nil
}
