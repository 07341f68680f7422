package embedded_test

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"interlock"
	"interlock/embedded"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/pack"
	"interlock/internal/store/storagetest"
	"interlock/spec"
)

// events are a home's events of one type, oldest first.
func events(t *testing.T, b *embedded.Backend, kind interlock.EventType) []auditlog.Event {
	t.Helper()
	entries, err := b.Store.Entries(t.Context(), kind, ledger.Before(-1, 100))
	must(t, err)
	list := make([]auditlog.Event, len(entries))
	for i, e := range entries {
		event, err := auditlog.ParseEvent(e.Body)
		must(t, err)
		list[len(entries)-1-i] = event
	}
	return list
}

// TestSnapshotsAreDeclared: what a home decides under is declared by the events that say so anyway, once, and anew when a setting
// changes and not otherwise.
func TestSnapshotsAreDeclared(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	var manifests []string
	for _, settings := range []string{"", "", "quiet_hours: \"22:00-07:00\"\n", "quiet_hours: \"22:00-07:00\"\n", "max_questions: 7\n"} {
		must(t, os.MkdirAll(home, 0o700))
		must(t, os.WriteFile(filepath.Join(home, "interlock.yaml"), []byte(settings), 0o600))
		backend := opened(t, home)
		standing, err := backend.Ground(t.Context(), storagetest.Everything()...)
		must(t, err)
		manifests = append(manifests, standing.Settings["manifest"])
		text, found, err := backend.Store.Blob(t.Context(), interlock.Digest(standing.Settings["manifest"]))
		if err != nil || !found {
			t.Fatal(found, err)
		}
		m, err := auditlog.ReadManifest(text)
		must(t, err)
		for name, n := range m.Snapshots {
			if held, found, err := backend.Store.Blob(t.Context(), n.Blob); err != nil || !found || name != "ruleset" && !n.Holds(held) {
				t.Errorf("the snapshot of %s: %v, %v", name, found, err)
			}
		}
		must(t, backend.Close())
	}
	if manifests[0] == "" || manifests[0] != manifests[1] || manifests[1] == manifests[2] || manifests[2] != manifests[3] ||
		manifests[3] == manifests[4] {
		t.Errorf("manifests %q", manifests)
	}
	backend := opened(t, home)
	defer backend.Close()
	if n, m := len(events(t, backend, interlock.EventRuleset)), len(events(t, backend, interlock.EventMode)); n != 1 || m != 3 {
		t.Errorf("%d events of rules and %d of governance, want 1 and 3", n, m)
	}
}

// TestRegistryIsAChain: each change of who is known names what the registry is after it, which names what it was before; no hash of
// a token is in it.
func TestRegistryIsAChain(t *testing.T) {
	backend := opened(t, filepath.Join(t.TempDir(), "home"))
	defer backend.Close()
	must(t, backend.PutAgent(t.Context(), interlock.AgentRecord{ID: "one", TokenHash: "0123456789abcdef"}))
	must(t, backend.PutOperator(t.Context(), interlock.OperatorRecord{Name: "olga", Role: "operator"}))
	must(t, backend.PutAgent(t.Context(), interlock.AgentRecord{ID: "one", Allow: []string{"ls"}}))
	changes := events(t, backend, interlock.EventIdentity)
	if len(changes) != 3 {
		t.Fatalf("%d changes", len(changes))
	}
	before := interlock.Digest("")
	for _, e := range changes {
		now := interlock.Digest(e.Snapshots["registry"])
		text, found, err := backend.Store.Blob(t.Context(), now)
		if err != nil || !found || auditlog.BlobDigest(text) != now || bytes.Contains(text, []byte("0123456789abcdef")) {
			t.Fatalf("%s, %v, %v", text, found, err)
		}
		var r struct {
			Before interlock.Digest `json:"before"`
			Change json.RawMessage  `json:"change"`
		}
		must(t, json.Unmarshal(text, &r))
		if r.Before != before || !bytes.Equal(r.Change, e.Payload) {
			t.Errorf("%s does not follow %s", text, before)
		}
		before = now
	}
	standing, err := backend.Ground(t.Context(), storagetest.Everything()...)
	must(t, err)
	if standing.Settings["registry"] != string(before) {
		t.Errorf("the registry in force is %s, want %s", standing.Settings["registry"], before)
	}
}

// TestMissingSnapshotsStopTheServer: what lasts does not begin to decide under snapshots that the store does not hold.
func TestMissingSnapshotsStopTheServer(t *testing.T) {
	spec.Covers(t, "MACE-SNAP-3")
	of := func(setting string) string {
		return "WHERE digest = (SELECT json_extract(body, '$.value') FROM rows WHERE kind = 'setting' AND key = '" + setting + "')"
	}
	flipped := func(at string) string { // one byte of what is stored is another
		return "substr(body, 1, " + at + " - 1) || CASE substr(body, " + at + ", 1) WHEN x'00' THEN x'01' ELSE x'00' END || " +
			"substr(body, " + at + " + 1) "
	}
	for name, statement := range map[string]string{
		"the manifest of snapshots":      "DELETE FROM blobs " + of("manifest"),
		"the snapshot of governance":     "DELETE FROM blobs " + of("governance"),
		"the snapshot of safety_ruleset": "DELETE FROM blobs " + of("safety_ruleset"),
		"the snapshot of privacy":        "DELETE FROM blobs " + of("privacy"),
		"the snapshot of privacy ":       `UPDATE blobs SET body = CAST('{"a":1}' AS BLOB) ` + of("privacy"),
		"the snapshot of registry":       "DELETE FROM blobs " + of("registry"),
		"the snapshot of registry ":      `UPDATE blobs SET body = CAST('{"a":1}' AS BLOB) ` + of("registry"),
		"the snapshot of limits":         `UPDATE blobs SET body = CAST('{"a":1}' AS BLOB) ` + of("limits"),
		"the snapshot of ruleset":        "DELETE FROM blobs " + of("ruleset_text"),
		"the snapshot of ruleset ":       "UPDATE blobs SET body = " + flipped("20000") + of("ruleset_text"),
		"the snapshot of ruleset  ":      "UPDATE blobs SET body = " + flipped("length(body)") + of("ruleset_text"),
		"the snapshot of ruleset   ":     "UPDATE blobs SET body = substr(body, 1, length(body) - 40) " + of("ruleset_text"),
		"the snapshot of ruleset    ":    "UPDATE blobs SET body = (SELECT body FROM blobs " + of("limits") + ") " + of("ruleset_text"),
	} {
		name = strings.TrimSpace(name)
		t.Run(name, func(t *testing.T) {
			home := filepath.Join(t.TempDir(), "home")
			first := opened(t, home)
			must(t, first.PutAgent(t.Context(), interlock.AgentRecord{ID: "one"}))
			must(t, first.Close())
			db, err := sql.Open("sqlite", filepath.Join(home, "interlock.db"))
			must(t, err)
			result, err := db.Exec(statement)
			must(t, err)
			if n, err := result.RowsAffected(); n != 1 || err != nil {
				t.Fatalf("%d rows, %v", n, err)
			}
			must(t, db.Close())
			backend, err := embedded.Open(t.Context(), embedded.Config{Home: home})
			if err == nil {
				backend.Close()
				t.Fatal("it opened")
			}
			if !strings.Contains(err.Error(), "INTEGRITY_FAILURE: "+name+" in force is missing from the store or is not the one that was declared") {
				t.Error(err)
			}
		})
	}
}

// TestEarlierRegistriesAreVerified: what the registry ever was is looked for by whoever verifies the home, not only what it is now.
func TestEarlierRegistriesAreVerified(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	backend := opened(t, home)
	for _, name := range []string{"one", "two", "three"} {
		must(t, backend.PutAgent(t.Context(), interlock.AgentRecord{ID: name}))
	}
	second := interlock.Digest(events(t, backend, interlock.EventIdentity)[1].Snapshots["registry"])
	if found, err := embedded.BrokenSnapshots(t.Context(), backend.Store); err != nil || len(found) != 0 {
		t.Fatalf("of a sound home: %+v, %v", found, err)
	}
	must(t, backend.Close())
	db, err := sql.Open("sqlite", filepath.Join(home, "interlock.db"))
	must(t, err)
	_, err = db.Exec("DELETE FROM blobs WHERE digest = ?", string(second))
	must(t, err)
	must(t, db.Close())
	backend = opened(t, home)
	defer backend.Close()
	found, err := embedded.BrokenSnapshots(t.Context(), backend.Store)
	if err != nil || len(found) != 1 || found[0].Key != string(second) || !strings.HasPrefix(found[0].Why, "the snapshot of registry is missing") {
		t.Errorf("%+v, %v", found, err)
	}
}

// TestDecisionsNameWhoIsKnown: a decision is made under the registry in force, by whatever process it was changed, and the one before is
// left as it is.
func TestDecisionsNameWhoIsKnown(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	one, two := opened(t, home), opened(t, home)
	defer one.Close()
	defer two.Close()
	var named []interlock.Digest
	for _, change := range []func(){func() {}, func() { must(t, two.PutAgent(t.Context(), interlock.AgentRecord{ID: "new"})) }, func() {}} {
		change()
		answer := propose(t, one, "git status "+strings.Repeat("-s ", len(named)))
		must(t, one.Store.Recorded(t.Context(), 0, func(e interlock.Entry) error {
			if e.ID != answer.Event {
				return nil
			}
			var inputs auditlog.Inputs
			must(t, json.Unmarshal(e.Inputs, &inputs))
			text, found, err := one.Store.Blob(t.Context(), inputs.Base)
			if err != nil || !found {
				t.Fatal(found, err)
			}
			var base auditlog.Base
			must(t, json.Unmarshal(text, &base))
			named = append(named, base.Registry)
			return nil
		}))
	}
	standing, err := one.Ground(t.Context(), storagetest.Everything()...)
	must(t, err)
	now := interlock.Digest(standing.Settings["registry"])
	if len(named) != 3 || now == "" || named[0] != "" || named[1] != now || named[2] != now {
		t.Errorf("decisions name %q, and the registry is %q", named, now)
	}
}

// TestRulesetIsNotUnpackedAtStart: the longest snapshot is looked at as it is stored, and what was stored without a checksum is
// unpacked and read instead.
func TestRulesetIsNotUnpackedAtStart(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	backend := opened(t, home)
	defer backend.Close()
	standing, err := backend.Ground(t.Context(), storagetest.Everything()...)
	must(t, err)
	digest := interlock.Digest(standing.Settings["ruleset_text"])
	unchanged := func(want bool) {
		t.Helper()
		if is, known, err := backend.Store.Checking.BlobUnchanged(t.Context(), digest); is != want || known != want || err != nil {
			t.Errorf("unchanged %v, %v, %v; want %v", is, known, err, want)
		}
	}
	unchanged(true)
	text, _, err := backend.Store.Blob(t.Context(), digest)
	must(t, err)
	db, err := sql.Open("sqlite", filepath.Join(home, "interlock.db"))
	must(t, err)
	defer db.Close()
	_, err = db.Exec("UPDATE blobs SET body = ? WHERE digest = ?", pack.Pack(text), string(digest))
	must(t, err)
	unchanged(false)
	must(t, opened(t, home).Close())
	digest = "sha256:none"
	unchanged(false)
}
