package storagetest

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"interlock"
	"interlock/internal/ledger"
)

// suppressions: an order is there whole in every process's standing from its commit until it is lifted, and both move the
// version, so that what was decided without it is decided again.
func suppressions(t *testing.T, p Place) {
	s, other := p.Open(t), p.Open(t)
	before, err := Whole(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	want := interlock.Suppression{ID: "sup_1", Rule: "net.upload", Agent: "claude", Path: "/repo", Command: "curl *",
		Denials: true, Reason: "nightly",
		Operator: "olga", Created: Now, Expires: Now.Add(time.Hour), Key: "SHA256:x", Statement: "statement",
		Signature: "signature"}
	begin := Decision("olga")
	begin.Version, begin.Writes = before.Version, ledger.Rows(want)
	commit(t, s, begin)
	for _, store := range []Store{s, other, p.Open(t)} {
		standing, err := Whole(t.Context(), store)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(map[string]interlock.Suppression{"sup_1": want}, standing.Suppressions); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	stale := Decision("a")
	stale.Version = before.Version
	if _, err := other.Commit(t.Context(), stale); !errors.Is(err, ledger.ErrConflict) {
		t.Errorf("a decision made without the order was committed: %v", err)
	}
	end := Decision("olga")
	end.Writes = []ledger.Row{ledger.Ended(ledger.Order, "sup_1")}
	commit(t, other, end)
	standing, err := Whole(t.Context(), s)
	if err != nil || len(standing.Suppressions) != 0 {
		t.Errorf("after it was lifted: %v, %v", standing.Suppressions, err)
	}
}
