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
	PrivacySchema    = "interlock.privacy/v1"
	MemorySchema     = "interlock.memory/v1"
)

// The names of snapshots, in manifests and in events.
const (
	SnapshotRuleset    = "ruleset"
	SnapshotGovernance = "governance"
	SnapshotLimits     = "limits"
	SnapshotRegistry   = "registry"
	SnapshotSafety     = "safety_ruleset" // what texts are classified by; none in manifests of before
	SnapshotPrivacy    = "privacy"        // what personal data is, and how it is kept; likewise
	SnapshotMemory     = "memory"
	SnapshotSaid       = "external_output" // what a service answered a module, where its registration has that kept
)

// Declared are the snapshots that a manifest names beside the ruleset's, in the order in which they are looked at.
func Declared() []string {
	return []string{SnapshotGovernance, SnapshotLimits, SnapshotSafety, SnapshotPrivacy}
}

// sinceBefore reports whether a manifest may lack a snapshot: there was none when the oldest were written.
func sinceBefore(name string) bool { return name == SnapshotSafety || name == SnapshotPrivacy }

// A Growing snapshot grows by one change after another, each recorded by an event that the log's key signs by itself and that names what
// came of it. Decisions name the one they were made under, beside the manifest.
type Growing struct {
	Name, Schema string
	Events       []interlock.EventType
}

// GrowingSnapshots are those that there are.
func GrowingSnapshots() []Growing {
	return []Growing{
		{SnapshotRegistry, RegistrySchema, []interlock.EventType{interlock.EventIdentity, interlock.EventTrust}},
		{SnapshotMemory, MemorySchema, []interlock.EventType{interlock.EventSemPut, interlock.EventSemDelete}},
	}
}

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
	for _, name := range append(Declared(), SnapshotRuleset) {
		n, found := m.Snapshots[name]
		if !found && sinceBefore(name) {
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

// A Chain is a growing snapshot: what a change made of the one before it. It holds no token's hash, and no fact's value: what is
// deleted of a person is deleted here as well.
type Chain struct {
	Schema string           `json:"schema"`
	Before interlock.Digest `json:"before,omitempty"`            // the one that was changed; none where nothing was recorded of it
	Change any              `json:"change"`                      // the payload of the event that changed it, or the list of them
	Facts  string           `json:"sem_snapshot_hash,omitempty"` // of memory: over all stable facts that are answered since
}

// Text is the canonical text of the snapshot, which its digest is over.
func (c Chain) Text() ([]byte, error) { return strictjson.Marshal(c) }

// IsChain reports whether a text is a growing snapshot of a schema.
func IsChain(text []byte, schema string) bool {
	var c struct {
		Schema string `json:"schema"`
	}
	return strictjson.DecodeSome(text, &c) == nil && c.Schema == schema
}
