package auditlog

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"

	"interlock"
	"interlock/internal/strictjson"
)

// The schemas of snapshots and of what lists them.
const (
	ManifestSchema   = "interlock.manifest/v1"
	RulesetSchema    = "interlock.ruleset/v1"
	GovernanceSchema = "interlock.governance/v1"
	LimitsSchema     = "interlock.limits/v1"
	RegistrySchema   = "interlock.registry/v1"
	SafetySchema     = "interlock.safety-ruleset/v1"
)

// The names of snapshots, in manifests and in events.
const (
	SnapshotRuleset    = "ruleset"
	SnapshotGovernance = "governance"
	SnapshotLimits     = "limits"
	SnapshotRegistry   = "registry"
	SnapshotSafety     = "safety_ruleset" // what texts are classified by; none in manifests of before
)

// seedNamespace is the namespace of every snapshot's id: they are those of one program.
const seedNamespace = "interlock"

// SnapshotID is a snapshot's id as MACE has it: the lower-case hexadecimal SHA-256 of configuration hash, schema version and seed
// namespace, joined by colons.
func SnapshotID(config, schema, namespace string) string {
	sum := sha256.Sum256([]byte(config + ":" + schema + ":" + namespace))
	return hex.EncodeToString(sum[:])
}

// A SnapshotName names a snapshot: by its id, by what the id is made of, and by the blob that holds it.
type SnapshotName struct {
	ID        string           `json:"id"`
	Config    string           `json:"config_hash"` // hexadecimal SHA-256 of the text; a ruleset's is the one its digest names
	Schema    string           `json:"schema_version"`
	Namespace string           `json:"seed_namespace"`
	Blob      interlock.Digest `json:"blob"`
}

// NameSnapshot names a snapshot by its text.
func NameSnapshot(schema string, text []byte) SnapshotName {
	sum := sha256.Sum256(text)
	return named(schema, hex.EncodeToString(sum[:]), BlobDigest(text))
}

// NameRuleset names a ruleset by its digest, and by the blob that holds its text.
func NameRuleset(ruleset, text interlock.Digest) SnapshotName {
	return named(RulesetSchema, strings.TrimPrefix(string(ruleset), "sha256:"), text)
}

func named(schema, config string, blob interlock.Digest) SnapshotName {
	return SnapshotName{ID: SnapshotID(config, schema, seedNamespace), Config: config, Schema: schema,
		Namespace: seedNamespace, Blob: blob}
}

// Sound reports whether the id is what it says that it is made of.
func (n *SnapshotName) Sound() bool { return n.ID == SnapshotID(n.Config, n.Schema, n.Namespace) }

// Holds reports whether a text is the one that is named.
func (n *SnapshotName) Holds(text []byte) bool {
	sum := sha256.Sum256(text)
	return n.Sound() && n.Config == hex.EncodeToString(sum[:]) && n.Blob == BlobDigest(text)
}

// A Manifest declares the snapshots that a process decides under. Every decision names it, through what it was made from, and an
// event by which people govern, which the log's key signs by itself, says since when it is in force.
type Manifest struct {
	Schema    string                  `json:"schema"`
	Snapshots map[string]SnapshotName `json:"snapshots"`
}

// Text is the canonical text of the manifest, which its digest is over.
func (m Manifest) Text() ([]byte, error) { return strictjson.Marshal(&m) }

// ReadManifest reads a manifest and refuses one that lacks a snapshot or names one by an id that is not its own.
func ReadManifest(text []byte) (Manifest, error) {
	var m Manifest
	if err := strictjson.DecodeTrusted(text, &m); err != nil || m.Schema != ManifestSchema {
		return m, errors.New("it is of no form that is known here")
	}
	for _, name := range []string{SnapshotRuleset, SnapshotGovernance, SnapshotLimits, SnapshotSafety} {
		n, found := m.Snapshots[name]
		if !found && name == SnapshotSafety {
			continue
		}
		if !found {
			return m, errors.New("it names no snapshot of " + name)
		}
		if !n.Sound() {
			return m, errors.New("the id of its snapshot of " + name + " is not made of what it names")
		}
	}
	return m, nil
}

// A Registry is who is known, as a chain: what one change made of the registry before it. Its text holds no token's hash.
type Registry struct {
	Schema string           `json:"schema"`
	Before interlock.Digest `json:"before,omitempty"` // the registry that was changed; none where nothing was recorded of it
	Change any              `json:"change"`           // the payload of the event that changed it
}

// Text is the canonical text of the registry, which its digest is over.
func (r Registry) Text() ([]byte, error) { return strictjson.Marshal(r) }
