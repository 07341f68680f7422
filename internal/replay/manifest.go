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
	if s.Declared != nil {
		said, err := s.Declared(want)
		if err != nil {
			return declared{}, &Failure{Code: IntegrityFailure, Detail: fmt.Sprintf("the events that declare snapshots can't be read: %v", err),
				unsure: true}
		}
		if !said {
			return declared{}, failure(IntegrityFailure, "no signed event declares the manifest of snapshots")
		}
	}
	values := map[string]map[string]string{}
	for _, name := range []string{auditlog.SnapshotGovernance, auditlog.SnapshotLimits} {
		n := m.Snapshots[name]
		held, err := s.blob(n.Blob, "the snapshot of "+name)
		if err != nil {
			return declared{}, err
		}
		value := map[string]string{}
		if !n.Holds(held) || strictjson.DecodeTrusted(held, &value) != nil {
			return declared{}, failure(IntegrityFailure, "the snapshot of %s is not the one that the manifest names", name)
		}
		values[name] = value
	}
	governance := values[auditlog.SnapshotGovernance]
	d := declared{ruleset: m.Snapshots[auditlog.SnapshotRuleset], mode: governance["mode"], profile: governance["profile"]}
	if n, named := m.Snapshots[auditlog.SnapshotSafety]; named {
		held, err := s.blob(n.Blob, "the snapshot of "+auditlog.SnapshotSafety)
		if err != nil {
			return declared{}, err
		}
		if !n.Holds(held) {
			return declared{}, failure(IntegrityFailure, "the snapshot of %s is not the one that the manifest names", auditlog.SnapshotSafety)
		}
		d.texts = classify.NewLibrary(held)
	}
	return d, nil
}
