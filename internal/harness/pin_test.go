package harness

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"testing"

	"interlock/internal/auditlog"
)

// TestServerKey: a server is believed under the key that was pinned, and under none that anybody else could have put there.
func TestServerKey(t *testing.T) {
	user, home := t.TempDir(), t.TempDir()
	renew := func() { // a home's key, as a new log has it
		private, _, err := auditlog.GenerateKey(rand.Reader)
		if err == nil {
			err = os.WriteFile(filepath.Join(home, privateKeyName), []byte(private+"\n"), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := ServerKey(user, "claude", home); err == nil {
		t.Error("a home without a key has a server")
	}
	renew()
	key, err := ServerKey(user, "claude", home)
	if err != nil || key.Pin() == "" {
		t.Fatalf("%q %v", key.Pin(), err)
	}
	for _, of := range []string{home, "/another home", home} { // pinning twice leaves one line
		if err := Pin(user, "claude", of, key.Pin()); err != nil {
			t.Fatal(err)
		}
	}
	if same, err := ServerKey(user, "claude", home); err != nil || same.Pin() != key.Pin() {
		t.Errorf("%q %v", same.Pin(), err)
	}
	renew()
	if other, err := ServerKey(user, "claude", home); err == nil {
		t.Errorf("another key %q than was pinned", other.Pin())
	}
	if _, err := ServerKey(user, "codex", home); err != nil { // which pinned nothing
		t.Error(err)
	}
	if err := Pin(user, "claude", home, ""); err == nil {
		t.Error("no key was pinned")
	}
	if os.Getuid() >= 0 { // where files have rights
		if err := os.Chmod(PinFile(user, "claude"), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := ServerKey(user, "claude", home); err == nil {
			t.Error("anybody may write the pins")
		}
		if err := os.Chmod(filepath.Join(home, privateKeyName), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := ServerKey(user, "codex", home); err == nil {
			t.Error("anybody may read the key")
		}
	}
}
