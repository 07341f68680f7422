package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"interlock/internal/config"
)

func TestGatewayServers(t *testing.T) {
	home := write(t, `
gateway:
  listen: 127.0.0.1:7443
  servers:
    - name: github
      url: https://api.example.com/mcp
      headers: {Authorization: "Bearer keyring:github/me"}
      ca: /etc/ca.pem
      connect_timeout: 3s
    - {name: late, command: /bin/late, after: [files, off]}
    - {name: off, command: npx, enabled: false}
    - name: files
      command: npx
      args: [-y, "@modelcontextprotocol/server-filesystem", /srv]
      env: {TOKEN: env:FILES_TOKEN}
      dir: /srv
      stop_timeout: 1s
`)
	if err := os.MkdirAll(config.ClientDir(home), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(config.ClientFile(home, "cursor"), []byte("# mine\nservers:\n  - {name: own, command: own}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(home, "")
	if err != nil {
		t.Fatal(err)
	}
	github := config.GatewayServer{Name: "github", URL: "https://api.example.com/mcp",
		Headers: map[string]string{"Authorization": "Bearer keyring:github/me"}, CA: "/etc/ca.pem",
		Connect: config.Duration(3 * time.Second)}
	files := config.GatewayServer{Name: "files", Command: "npx",
		Args: []string{"-y", "@modelcontextprotocol/server-filesystem", "/srv"}, Env: map[string]string{"TOKEN": "env:FILES_TOKEN"},
		Dir: "/srv", Stop: config.Duration(time.Second)}
	late := config.GatewayServer{Name: "late", Command: "/bin/late", After: []string{"files", "off"}}
	for client, want := range map[string][]config.GatewayServer{"": {github, files, late}, "cursor": {{Name: "own", Command: "own"}, github, files, late}} {
		servers, err := c.WithClient(client)
		if err != nil {
			t.Fatal(err)
		}
		got, err := servers.Ordered()
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%q: %v (-want +got):\n%s", client, err, diff)
		}
	}
	for client, want := range map[string]string{
		"gemini": "--client: no servers were moved from gemini; run: interlock install gateway --client gemini",
		"../x":   `--client: "../x" is no name of a client; use lower-case letters, digits and -`,
	} {
		if _, err := c.WithClient(client); err == nil || err.Error() != want {
			t.Errorf("%s: %v", client, err)
		}
	}
}

func TestGatewayServersThatCantBeOrdered(t *testing.T) {
	for text, want := range map[string]string{
		"{name: a, command: x}, {name: a, command: y}":                         `gateway.servers: two servers are named "a"; names must differ`,
		"{name: a, command: x, after: [b]}":                                    `gateway.servers.a.after: there is no server "b"`,
		"{name: a, command: x, after: [b]}, {name: b, command: x, after: [a]}": `gateway.servers.a.after: leads back to the server itself`,
	} {
		c, err := config.Load(write(t, "gateway: {servers: ["+text+"]}\n"), "")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Gateway.Ordered(); err == nil || err.Error() != want {
			t.Errorf("%s: %v", text, err)
		}
	}
	for text, line := range map[string]string{
		"gateway:\n  servers:\n  - {name: a, port: 1}\n":            "interlock.yaml:3",
		"gateway:\n  servers:\n  - name: a\n    env: [a]\n":         "interlock.yaml:4",
		"gateway:\n  servers:\n  - {name: a, stop_timeout: late}\n": "interlock.yaml:3",
	} {
		if _, err := config.Load(write(t, text), ""); err == nil || !strings.Contains(err.Error(), line) {
			t.Errorf("%q: %v", text, err)
		}
	}
	home := write(t, "")
	if err := os.MkdirAll(config.ClientDir(home), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(config.ClientDir(home), "cursor.yaml"), []byte("server: []\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(home, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.WithClient("cursor"); err == nil || !strings.Contains(err.Error(), "cursor.yaml:1") {
		t.Error(err)
	}
}
