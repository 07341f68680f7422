package vault_test

import (
	"bytes"
	"testing"

	"interlock/internal/auditlog"
	"interlock/internal/vault"
)

// What is sealed is opened by its key and no other, and not after a byte was changed.
func TestSealAndOpen(t *testing.T) {
	private, public := pair(t)
	seal, err := vault.Sealer(public + "\n")
	if err != nil {
		t.Fatal(err)
	}
	text := []byte(`{"secret":"hunter2"}`)
	sealed, err := seal(text)
	if err != nil || !bytes.HasPrefix(sealed, []byte(auditlog.SealedIntro)) || bytes.Contains(sealed, []byte("hunter2")) {
		t.Fatalf("%q, %v", sealed, err)
	}
	open := opener(t, private)
	if got, err := open(sealed, 1<<10); err != nil || !bytes.Equal(got, text) {
		t.Fatalf("%q, %v", got, err)
	}
	if _, err := open(sealed, int64(len(text)-1)); err == nil {
		t.Error("a text over the bound is opened")
	}
	other, _ := pair(t)
	if _, err := opener(t, other)(sealed, 1<<10); err == nil {
		t.Error("another key opens it")
	}
	sealed[len(sealed)-1] ^= 1
	if _, err := open(sealed, 1<<10); err == nil {
		t.Error("what was changed is opened")
	}
}

func TestBadKeys(t *testing.T) {
	if _, err := vault.Sealer("age1nonsense"); err == nil {
		t.Error("nonsense is a public key")
	}
	if _, err := vault.Opener("AGE-SECRET-KEY-1"); err == nil {
		t.Error("nonsense is a private key")
	}
}

func pair(t *testing.T) (private, public string) {
	t.Helper()
	private, public, err := vault.Generate()
	if err != nil {
		t.Fatal(err)
	}
	return private, public
}

func opener(t *testing.T, private string) func([]byte, int64) ([]byte, error) {
	t.Helper()
	open, err := vault.Opener(private)
	if err != nil {
		t.Fatal(err)
	}
	return open
}
