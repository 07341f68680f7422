package auditlog_test

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"interlock/internal/auditlog"
	"interlock/spec"
)

// TestSnapshotID holds the ids of snapshots to MACE's formula.
func TestSnapshotID(t *testing.T) {
	spec.Covers(t, "MACE-ID-2")
	text := []byte(`{"mode":"enforcing"}`)
	config := sha256.Sum256(text)
	want := sha256.Sum256([]byte(hex.EncodeToString(config[:]) + ":interlock.governance/v1:interlock"))
	n := auditlog.NameSnapshot(auditlog.GovernanceSchema, text)
	if n.ID != hex.EncodeToString(want[:]) || !n.Sound() || !n.Holds(text) {
		t.Errorf("%+v, want the id %x", n, want)
	}
	// The same with fixed values, computed by other means.
	if got := auditlog.SnapshotID("aa", "v1", "seed"); got != "06630c1cdddd3ad1056aadc7b5f9d70e0ddea2f821a1e628ef0088100531c7e7" {
		t.Errorf("got %s", got)
	}
	if n.Holds([]byte(`{"mode":"disabled"}`)) {
		t.Error("another text is held to be the snapshot")
	}
	for _, change := range []func(*auditlog.SnapshotName){
		func(n *auditlog.SnapshotName) { n.Config = n.Config[1:] + "0" },
		func(n *auditlog.SnapshotName) { n.Schema = "interlock.governance/v2" },
		func(n *auditlog.SnapshotName) { n.Namespace = "other" },
	} {
		other := n
		if change(&other); other.Sound() {
			t.Errorf("%+v is sound", other)
		}
	}
}

// A manifest is read as it was written, and nothing else is read as one.
func TestManifestsAreReadAsWritten(t *testing.T) {
	m := auditlog.Manifest{Schema: auditlog.ManifestSchema, Snapshots: map[string]auditlog.SnapshotName{
		"ruleset": auditlog.NameRuleset("sha256:00", "sha256:01"), "limits": auditlog.NameSnapshot(auditlog.LimitsSchema, []byte("{}")),
		"governance": auditlog.NameSnapshot(auditlog.GovernanceSchema, []byte(`{"a":"<b>"}`))}}
	got, err := m.Text()
	if err != nil {
		t.Fatal(err)
	}
	read, err := auditlog.ReadManifest(got)
	if err != nil || len(read.Snapshots) != 3 {
		t.Errorf("%+v, %v", read, err)
	}
	for name, text := range map[string]string{"nothing": `{}`, "another schema": `{"schema":"x","snapshots":{}}`,
		"no snapshots": `{"schema":"interlock.manifest/v1","snapshots":{}}`, "no JSON": `{`} {
		if _, err := auditlog.ReadManifest([]byte(text)); err == nil {
			t.Errorf("%s is read as a manifest", name)
		}
	}
}
