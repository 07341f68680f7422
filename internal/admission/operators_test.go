package admission_test

import (
	"errors"
	"fmt"
	"testing"

	"interlock"
	"interlock/internal/ledger"
	"interlock/internal/store/storagetest"
)

// One passkey is one person: whoever registers one that somebody has is refused, also if that somebody has registered it a moment
// ago, and however many operators there are.
func TestOnePasskeyIsOnePerson(t *testing.T) {
	h := newHouse(t)
	c := storagetest.Decision("setup")
	for n := range 1100 { // more than are read at once
		name := fmt.Sprintf("op%04d", n)
		c.Writes = append(c.Writes, ledger.Rows(interlock.OperatorRecord{Name: name, Role: "viewer", SSHKey: name, Created: h.now})...)
	}
	if _, err := h.store.Commit(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	key := interlock.Passkey{ID: "one", PublicKey: "public"}
	anybody := func(*interlock.OperatorRecord) error { return nil }
	h.store.commit = func(next func() (ledger.Receipt, error)) (ledger.Receipt, error) {
		h.store.commit = nil
		if err := h.RegisterPasskey(t.Context(), "op1099", key, anybody); err != nil { // another is first, unseen by who has looked
			t.Error(err)
		}
		return next()
	}
	err := h.RegisterPasskey(t.Context(), "op0001", key, anybody)
	var refusal *interlock.Error
	if !errors.As(err, &refusal) || refusal.Code != interlock.CodeConflict {
		t.Errorf("two have one passkey: %v", err)
	}
	for _, taken := range []interlock.Passkey{{ID: "one", PublicKey: "other"}, {ID: "other", PublicKey: "public"}} {
		if err := h.RegisterPasskey(t.Context(), "op0002", taken, anybody); !errors.As(err, &refusal) || refusal.Code != interlock.CodeConflict {
			t.Errorf("%+v is registered again: %v", taken, err)
		}
	}
	failure := errors.New("not this one")
	if err := h.RegisterPasskey(t.Context(), "op0003", interlock.Passkey{ID: "two", PublicKey: "two"},
		func(*interlock.OperatorRecord) error { return failure }); !errors.Is(err, failure) {
		t.Errorf("what allow said came back as %v", err)
	}
}
