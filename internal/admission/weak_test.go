package admission_test

import (
	"strings"
	"testing"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/quorum"
)

// TestWeakKeys: what a key without a passphrase signed counts only where a person permitted it, is marked then, and no more once the
// person who permitted it is gone.
func TestWeakKeys(t *testing.T) {
	h := newHouse(t)
	h.employ("ada", quorum.RoleAdmin)
	h.employ("bob", quorum.RoleOperator)
	answer := func(command string) error {
		t.Helper()
		request := h.propose(command).Request
		standing := h.standing()
		_, err := h.Resolve(t.Context(), interlock.Approval{Request: request, Verdict: interlock.Allow, Operator: "bob",
			Key: "fingerprint of bob's", Statement: quorum.Statement(standing.Requests[request], interlock.Allow, "bob"), Signature: "bob's",
			Weak: interlock.WeakFile})
		return err
	}
	const refusal = "this key has no passphrase"
	if err := answer("git push --force origin one"); err == nil || !strings.Contains(err.Error(), refusal) {
		t.Fatalf("by default: %v", err)
	}
	permit := func(detail string) error {
		h.now = h.now.Add(1)
		given := h.about(core.WeakKeysSubject, detail)("ada")
		given.Verb = interlock.VerbWeakKeys
		_, err := h.CarryOut(t.Context(), given.Signed(interlock.MethodPasskey, "fingerprint of ada's", "ada's"))
		return err
	}
	if err := permit("perhaps"); err == nil {
		t.Error("an order that says nothing was carried out")
	}
	if err := permit(core.WeakKeysMay); err != nil {
		t.Fatal(err)
	}
	if err := answer("git push --force origin two"); err != nil {
		t.Fatalf("permitted: %v", err)
	}
	if err := answer("git push --force origin five"); err != nil {
		t.Fatal(err)
	}
	if a := h.propose("git push --force origin two"); a.Answer != interlock.Allow {
		t.Errorf("what such a key approved: %v", a.Answer)
	}
	if err := permit(core.WeakKeysMayNot); err != nil {
		t.Fatal(err)
	}
	if a := h.propose("git push --force origin five"); a.Answer == interlock.Allow {
		t.Error("what such a key approved counts when it may not sign any more")
	}
	if err := answer("git push --force origin three"); err == nil || !strings.Contains(err.Error(), refusal) {
		t.Errorf("refused again: %v", err)
	}
	if err := permit(core.WeakKeysMay); err != nil {
		t.Fatal(err)
	}
	if err := h.PutOperator(t.Context(), interlock.OperatorRecord{Name: "ada", Role: quorum.RoleAdmin, Revoked: h.now}); err != nil {
		t.Fatal(err)
	}
	if err := answer("git push --force origin four"); err == nil || !strings.Contains(err.Error(), refusal) {
		t.Errorf("when who permitted it is gone: %v", err)
	}
}
