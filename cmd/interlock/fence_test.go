package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPeopleAreToldOfAMachineThatGoverns: each attempt reaches the channels, also from a command that ends at once.
func TestPeopleAreToldOfAMachineThatGoverns(t *testing.T) {
	home, channel := t.TempDir(), newReceiver(t)
	settings := fmt.Sprintf("channels: [{kind: webhook, url: %q, key: env:CHANNEL_KEY}]\n", channel.address)
	if err := os.WriteFile(filepath.Join(home, "interlock.yaml"), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	approve := command(t, home, "approve", "apr_0123456789ab")
	approve.Env = append(approve.Env, "CHANNEL_KEY=sixteen-characters-and-more", "CLAUDECODE=1")
	out, err := approve.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "this takes a person") {
		t.Fatalf("%v: %s", err, out)
	}
	if told := channel.alerts(); len(told) != 1 {
		t.Errorf("people were told %d times", len(told))
	}
}
