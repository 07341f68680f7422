package embedded_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"interlock"
	"interlock/embedded"
	"interlock/internal/config"
	"interlock/internal/ledger"
)

// TestAStopRecordsAsAllDo: where the rules can't be used, what a stop records is without what the settings want out of the log.
func TestAStopRecordsAsAllDo(t *testing.T) {
	c := config.Defaults()
	c.Home, c.Privacy.Log = t.TempDir(), config.PrivacyRedact
	c.Rules = filepath.Join(c.Home, "rules")
	if err := os.MkdirAll(c.Rules, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(c.Rules, "own.yaml"), []byte("rules: [what is this"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := embedded.OpenConfig(t.Context(), c); !embedded.AboutRules(err) {
		t.Fatalf("the rules can be used: %v", err)
	}
	backend, err := embedded.OpenToStop(t.Context(), c, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer backend.Close()
	if _, err := backend.Kill(t.Context(), ledger.KillHard, "ada.lovelace@analytical.org was mailed by it", "a desk"); err != nil {
		t.Fatal(err)
	}
	stopped := false
	if err := backend.Store.Walk(t.Context(), func(e interlock.Entry) error {
		stopped = stopped || e.Type == interlock.EventKill
		if strings.Contains(string(e.Body), "ada.lovelace") {
			t.Errorf("%s says %s", e.Type, e.Body)
		}
		return nil
	}); err != nil || !stopped {
		t.Errorf("stopped: %t, %v", stopped, err)
	}
}
