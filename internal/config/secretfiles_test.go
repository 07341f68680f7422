package config_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock/internal/config"
	"interlock/spec"
)

// TestSecretFiles: every place where settings may name a file with a secret is known, so that it is guarded like the home.
func TestSecretFiles(t *testing.T) {
	spec.Covers(t, "ASA-11.3-3")
	c, err := config.Load(write(t, `
judge:
  judges: [{name: far, wire: anthropic, url: https://api.example.com, model: m-1, key: "file:/k/judge"},
    {name: other, wire: anthropic, url: https://api.example.com, model: m-2, key: env:KEY}]
  reasoning: [{url: https://api.example.com, model: m-3, key: "file:~/k/reasoning"}]
ship_to: [{to: https://siem.example.com/, token: "file:/k/ship"}]
otlp_to: {to: https://otel.example.com/, token: "file:/k/otlp"}
channels: [{kind: slack, name: one, url: "file:/k/slack"}, {kind: ntfy, name: two, url: https://ntfy.example.com/x, token: "file:/k/./ntfy"}]
gateway: {servers: [{name: notes, command: notes, env: {TOKEN: "file:/k/env"}}, {name: web, url: https://mcp.example.com,
  headers: {Authorization: "Bearer file:/k/header"}}]}
`), "")
	if err != nil {
		t.Fatal(err)
	}
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	got := c.SecretFiles()
	slices.Sort(got)
	want := []string{"/k/env", "/k/header", "/k/judge", "/k/ntfy", "/k/otlp", "/k/ship", "/k/slack", filepath.Join(home, "k/reasoning")}
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if none := (&config.Config{}).SecretFiles(); none != nil {
		t.Errorf("settings without secrets name %v", none)
	}
}
