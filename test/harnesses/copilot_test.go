package harnesses

import (
	"strings"
	"testing"
)

func TestCopilot(t *testing.T) {
	binary := harness(t, "copilot")
	unpacked := t.TempDir() // by the first run, for all of them
	drive(t, agent{
		name:   "copilot",
		client: "copilot",
		shell: func(command string) toolCall {
			return toolCall{"bash", map[string]any{"command": command, "description": "work"}}
		},
		read: func(path string) toolCall { return toolCall{"view", map[string]any{"path": path}} },
		addServer: func(d *desk, name string, command ...string) {
			d.must(binary, append([]string{"mcp", "add", name, "--"}, command...)...)
		},
		run: func(d *desk, m *model) {
			d.set("COPILOT_PKG_CACHE_HOME", unpacked)
			d.set("COPILOT_OFFLINE", "true")
			d.set("COPILOT_PROVIDER_TYPE", "anthropic")
			d.set("COPILOT_PROVIDER_BASE_URL", m.URL)
			d.set("COPILOT_PROVIDER_API_KEY", "of-nobody")
			d.set("COPILOT_MODEL", "claude-sonnet-4")
			out := d.must(binary, "--prompt", "Do it.", "--allow-all-tools", "--silent")
			if strings.TrimSpace(out) != lastWords {
				t.Errorf("it ended with %q", out)
			}
		},
	})
}
