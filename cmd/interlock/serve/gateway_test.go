package serve

import (
	"strings"
	"testing"
)

func TestServerName(t *testing.T) {
	for command, want := range map[string]string{
		"notes-server":            "notes-server",
		"/usr/bin/notes.server x": "notes-server",
		"npx -y @modelcontextprotocol/server-filesystem@2.1.0 /tmp": "server-filesystem",
		"uvx mcp-server-git --repository .":                         "mcp-server-git",
		"uv run server.py":                                          "server",
		"node dist/index.js stdio":                                  "index",
		"docker run -i --rm mcp/fetch:latest":                       "fetch",
		"python -m mcp_server":                                      "mcp_server",
		"npx":                                                       "npx",
		"npx -y":                                                    "npx",
		strings.Repeat("x", 100):                                    strings.Repeat("x", 64),
	} {
		if got := serverName(strings.Fields(command)); got != want {
			t.Errorf("%.60s is called %q, want %q", command, got, want)
		}
	}
}
