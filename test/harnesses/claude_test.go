package harnesses

import (
	"strings"
	"testing"
)

func TestClaude(t *testing.T) {
	binary := harness(t, "claude")
	drive(t, agent{
		name:   "claude",
		client: "claude-code",
		asks:   true,
		shell: func(command string) toolCall {
			return toolCall{"Bash", map[string]any{"command": command, "description": "work"}}
		},
		read: func(path string) toolCall { return toolCall{"Read", map[string]any{"file_path": path}} },
		addServer: func(d *desk, name string, command ...string) {
			d.must(binary, append([]string{"mcp", "add", "--scope", "user", name, "--"}, command...)...)
		},
		run: func(d *desk, m *model) {
			d.set("ANTHROPIC_BASE_URL", m.URL)
			d.set("ANTHROPIC_API_KEY", "of-nobody")
			d.set("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
			d.set("ENABLE_TOOL_SEARCH", "false") // the model here does not look for tools; it knows them
			out := d.must(binary, "-p", "Do it.", "--allowedTools", "Bash,Read,mcp__interlock")
			if strings.TrimSpace(out) != lastWords {
				t.Errorf("it ended with %q", out)
			}
		},
	})
}
