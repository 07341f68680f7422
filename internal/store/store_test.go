package store_test

import (
	"crypto/rand"
	"strings"
	"testing"

	"interlock/internal/auditlog"
	"interlock/internal/store"
)

// A store that lacks a part somebody needs is not opened, and the error names the part; nobody finds out later.
func TestAMissingPartIsAnErrorAtStart(t *testing.T) {
	home := t.TempDir()
	private, _, err := auditlog.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	sealer, err := auditlog.NewSealer(private)
	if err != nil {
		t.Fatal(err)
	}
	if store.Exists(home) {
		t.Error("there is a store before one was made")
	}
	full, err := store.Open(home, store.Options{Sealer: sealer, Needs: []store.Part{store.PartArchiving, store.PartChecking, store.PartMending}})
	if err != nil {
		t.Fatal(err)
	}
	if full.Archiving == nil || full.Need(store.PartArchiving) != nil {
		t.Error("a store opened with a part does not have it")
	}
	if err := full.Close(); err != nil {
		t.Fatal(err)
	}
	if !store.Exists(home) {
		t.Error("there is no store after one was made")
	}
	reading, err := store.Open(home, store.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer reading.Close()
	if reading.Archiving != nil || reading.Mending != nil {
		t.Error("a store opened for reading can let go of entries, or be mended")
	}
	for _, part := range []store.Part{store.PartArchiving, "telepathy"} {
		if s, err := store.Open(home, store.Options{ReadOnly: true, Needs: []store.Part{part}}); err == nil {
			s.Close()
			t.Errorf("a store without %s was opened", part)
		} else if !strings.Contains(err.Error(), string(part)) {
			t.Errorf("the error does not name %s: %v", part, err)
		}
	}
}
