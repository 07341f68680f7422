package lineage

import "testing"

func TestClaude(t *testing.T) {
	for command, want := range map[string]bool{
		"claude": true,
		"/usr/local/bin/claude -p go --allowedTools Bash,mcp__interlock": true,
		"node /usr/lib/node_modules/@anthropic-ai/claude-code/cli.js -c": true,
		"claude --mcp-config {}":                       false,
		"claude --mcp-config=/x":                       false,
		"claude --strict-mcp-config":                   false,
		"claude --settings x":                          false,
		"claude --setting-sources user":                false,
		"claude --agents {}":                           false,
		"claude --agent shelver":                       false,
		"claude --plugin-dir x":                        false,
		"claude -p --input-format stream-json":         false,
		"claude --something-new":                       false,
		"node /x/@anthropic-ai/claude-code/cli.js --x": false,
		"bash -c claude":                               false,
		"other claude":                                 false,
		"":                                             false,
	} {
		if _, got := claudeAmong([]Process{started("sh"), started(command)}); got != want {
			t.Errorf("%q is left its own servers: %v", command, got)
		}
	}
}
