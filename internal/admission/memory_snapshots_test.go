package admission_test

import (
	"strings"
	"testing"
	"time"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/admission/core"
	"interlock/internal/auditlog"
	"interlock/internal/memory"
	"interlock/internal/quorum"
	"interlock/spec"
)

// TestMemorySnapshots: each change of stable facts names what the memory is after it, by its sem_snapshot_hash and the one before; no value is
// in it, so that erasing a fact erases it here too.
func TestMemorySnapshots(t *testing.T) {
	spec.Covers(t, "MACE-SNAP-1")
	h := remembering(t, func(c *admission.Config) { c.Record = admission.Recorder{Governance: map[string]string{}} })
	carried := func(request string) {
		t.Helper()
		h.votes(request, "approve", "member-0", "member-1", "member-2")
		if got, err := h.executes(request, "executing", "ada"); err != nil || got.Status != interlock.ActionExecuted {
			t.Fatalf("%s %s, %v", got.Status, got.Why, err)
		}
	}
	before := interlock.Digest("")
	named := func(kind interlock.EventType) {
		t.Helper()
		now := interlock.Digest(h.signed(kind).Snapshots[auditlog.SnapshotMemory])
		text, found, err := h.store.Blob(t.Context(), now)
		if err != nil || !found || auditlog.BlobDigest(text) != now || !auditlog.IsChain(text, auditlog.MemorySchema) {
			t.Fatalf("%s of %s: %v, %v", text, kind, found, err)
		}
		hash, _ := h.hash()
		if !strings.Contains(string(text), `"sem_snapshot_hash":"`+hash+`"`) || strings.Contains(string(text), "tabs") ||
			before != "" && !strings.Contains(string(text), string(before)) || h.standing().Settings[core.SettingMemory] != string(now) {
			t.Errorf("after %s %s, where the hash is %s and the one before %s", kind, text, hash, before)
		}
		before = now
	}
	for _, key := range []string{"project/repo/main/style", "a/b/c/d"} {
		carried(h.put("good", memory.Put{Key: key, Value: "tabs, not spaces", Store: memory.Semantic}).Request)
		named(interlock.EventSemPut)
	}
	h.keeps("good", "a/b/c/e", "tabs for a while")
	if now := h.standing().Settings[core.SettingMemory]; now != string(before) {
		t.Errorf("an episodic fact changes it: %s", now)
	}
	carried(h.asks(quorum.ActStableDelete, "a/b/c/d of good", "ada").ID)
	named(interlock.EventSemDelete)
	h.now = h.now.Add(time.Minute)
	carried(h.asks(quorum.ActStableDelete, "memory:agent:good", "ada").ID)
	named(interlock.EventSemDelete)
	if hash, _ := h.hash(); hash != emptyHash(t) {
		t.Errorf("the hash of nothing is %s", hash)
	}
}
