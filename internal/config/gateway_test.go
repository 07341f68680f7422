package config_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock/internal/config"
)

func TestGatewayOverHTTP(t *testing.T) {
	c, err := config.Load(write(t, `
gateway:
  listen: 0.0.0.0:7443
  allow_remote: true
  url: https://tools.example.com/mcp
  hosts: [tools.internal]
  origins: [https://app.example.com]
  sessions: 50
  connections: 100
  connections_per_address: 10
  auth:
    issuers:
    - name: corp
      issuer: https://login.example.com
      audience: [https://tools.example.com/mcp]
      jwks: https://login.example.com/keys
      algorithms: [ES256]
      agent_claim: azp
      principal_claim: email
      scopes: [tools]
  tls: {cert: /etc/tls/cert.pem, key: /etc/tls/key.pem, client_ca: /etc/tls/agents.pem, client: optional, client_name: uri}
`), "")
	want := config.Gateway{GatewayHTTP: config.GatewayHTTP{Listen: "0.0.0.0:7443", Remote: true, URL: "https://tools.example.com/mcp",
		Hosts: []string{"tools.internal"}, Origins: []string{"https://app.example.com"}, Sessions: 50, Connections: 100, PerAddress: 10,
		Auth: config.GatewayAuth{Issuers: []config.GatewayIssuer{{Name: "corp", Issuer: "https://login.example.com",
			Audience: []string{"https://tools.example.com/mcp"}, JWKS: "https://login.example.com/keys", Algorithms: []string{"ES256"},
			Agent: "azp", Principal: "email", Scopes: []string{"tools"}}}},
		TLS: config.GatewayTLS{Cert: "/etc/tls/cert.pem", Key: "/etc/tls/key.pem", ClientCA: "/etc/tls/agents.pem", Client: "optional", Agent: "uri"}}}
	if diff := cmp.Diff(want, c.Gateway); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	for text, line := range map[string]string{
		"gateway:\n  port: 1\n":                                  "interlock.yaml:2",
		"gateway:\n  auth:\n    issuers:\n    - {password: x}\n": "interlock.yaml:4",
		"gateway:\n  tls: {client_ca: [a]}\n":                    "interlock.yaml:2",
		"gateway:\n  record: some\n":                             `gateway.record: "some" is not known; name all or objections`,
		"gateway:\n  sessions: -1\n":                             "gateway.sessions: must be at least 1",
		"gateway:\n  connections: -1\n":                          "gateway.connections: must be at least 1",
		"gateway:\n  connections_per_address: -1\n":              "gateway.connections_per_address: must be at least 1",
	} {
		if _, err := config.Load(write(t, text), ""); err == nil || !strings.Contains(err.Error(), line) {
			t.Errorf("%q: error %v, want it to name %s", text, err, line)
		}
	}
}

// TestResultTexts: under the profile of MACE the answers of servers are classified unless the settings say otherwise.
func TestResultTexts(t *testing.T) {
	for settings, want := range map[string]config.TextRuleset{
		"":                          "",
		"gateway: {texts: results}": config.TextsResults,
		"profile: mace-stage1":      config.TextsMACE,
		"profile: mace-stage1\ngateway: {texts: off}": config.TextsOff,
		"profile: supervised":                         "",
	} {
		c, err := config.Load(write(t, settings), "")
		if err != nil || c.ResultTexts() != want {
			t.Errorf("%q: texts %q, %v, want %q", settings, c.ResultTexts(), err, want)
		}
	}
}
