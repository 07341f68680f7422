package harnesses

import (
	"strings"
	"testing"
)

func TestQwen(t *testing.T) {
	binary := harness(t, "qwen")
	drive(t, agent{
		name:    "qwen",
		client:  "qwen",
		alone:   true,
		advised: true,
		settle: func(d *desk) {
			d.write("~/.qwen/settings.json", `{
  "general": {"enableAutoUpdate": false},
  "privacy": {"usageStatisticsEnabled": false},
  "tools": {"toolSearch": {"enabled": false}} // the model here does not look for tools; it knows them
}`)
		},
		shell: func(command string) toolCall {
			return toolCall{"run_shell_command", map[string]any{"command": command, "description": "work", "is_background": false}}
		},
		read: func(path string) toolCall { return toolCall{"read_file", map[string]any{"file_path": path}} },
		addServer: func(d *desk, name string, command ...string) {
			d.must(binary, append([]string{"mcp", "add", "--scope", "user", name}, command...)...)
		},
		run: func(d *desk, m *model) {
			d.set("OPENAI_BASE_URL", m.URL+"/v1")
			d.set("OPENAI_API_KEY", "of-nobody")
			d.set("OPENAI_MODEL", "any")
			out := d.must(binary, "--auth-type", "openai", "--approval-mode", "yolo", "Do it.")
			if strings.TrimSpace(out) != lastWords {
				t.Errorf("it ended with %q", out)
			}
		},
	})
}
