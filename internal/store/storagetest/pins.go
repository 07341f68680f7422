package storagetest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"interlock"
	"interlock/internal/ledger"
)

// pins: what is known of a tool is there whole in every process from its commit, and moves the version, so that what was decided
// without it is decided again. The text that was approved stays beside the one seen last.
func pins(t *testing.T, place Place) {
	s, other := place.Open(t), place.Open(t)
	server := interlock.Pin{Server: "files", Status: interlock.PinApproved, Identity: "sha256:aa",
		SeenFrom: "sha256:aa", Since: Now}
	tool := interlock.Pin{Server: "files", Tool: "read", Status: interlock.PinApproved, Identity: "sha256:aa",
		Definition: "sha256:01", SeenFrom: "sha256:aa",
		Seen: "sha256:01", Since: Now}
	put := func(s Store, p interlock.Pin, text string) {
		t.Helper()
		before := current(t, other).Version
		commit(t, s, with(Decision("a"), func(c *ledger.Change) {
			c.Writes = ledger.Rows(server, p)
			if text != "" {
				ref := ledger.DefinitionOf(p.Server, p.Tool, p.Seen)
				c.Writes = append(c.Writes, ledger.Row{Kind: ref.Kind, Key: ref.Key, Body: []byte(text)})
			}
		}))
		want := map[string]interlock.Pin{ledger.PinKey("files", ""): server, ledger.PinKey("files", "read"): p}
		for _, store := range []Store{s, other, place.Open(t)} {
			if diff := cmp.Diff(want, current(t, store).Pins); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		}
		refused(t, other, with(Decision("a"), func(c *ledger.Change) { c.Version = before }), ledger.ErrConflict)
	}
	texts := func(approved, seen string) {
		t.Helper()
		for _, store := range []Store{s, other, place.Open(t)} {
			for digest, want := range map[interlock.Digest]string{tool.Definition: approved, tool.Seen: seen} {
				rows, _, err := store.Load(t.Context(), ledger.DefinitionOf("files", "read", digest))
				if err != nil || len(rows) != 1 || string(rows[0].Body) != want {
					t.Errorf("the text of %s is %v (%v), want %s", digest, rows, err, want)
				}
			}
		}
	}
	put(s, tool, `{"a":1}`)
	texts(`{"a":1}`, `{"a":1}`)
	tool.Status, tool.Why, tool.Seen, tool.Detail = interlock.PinQuarantined, interlock.PinChanged, "sha256:02", "the description"
	put(other, tool, `{"a":2}`)
	texts(`{"a":1}`, `{"a":2}`)
	tool.By = "olga"
	put(s, tool, "")
	texts(`{"a":1}`, `{"a":2}`)
	tool.Status, tool.Why, tool.Definition, tool.Former, tool.Since = interlock.PinApproved, "", "sha256:02",
		[]interlock.Digest{"sha256:01"}, Now.Add(time.Hour)
	put(other, tool, "")
	texts(`{"a":2}`, `{"a":2}`)
	put(s, tool, "") // once more changes no text
	texts(`{"a":2}`, `{"a":2}`)
}
