package harnesses

import (
	"strings"
	"testing"
)

func TestGemini(t *testing.T) {
	binary := harness(t, "gemini")
	drive(t, agent{
		name:   "gemini",
		client: "gemini",
		alone:  true,
		settle: func(d *desk) {
			d.write("~/.gemini/settings.json", `{
  "general": {"enableAutoUpdate": false, "enableAutoUpdateNotification": false},
  "privacy": {"usageStatisticsEnabled": false},
  "security": {"auth": {"selectedType": "gemini-api-key"}}
}`)
		},
		shell: func(command string) toolCall {
			return toolCall{"run_shell_command", map[string]any{"command": command, "description": "work"}}
		},
		read: func(path string) toolCall { return toolCall{"read_file", map[string]any{"file_path": path}} },
		addServer: func(d *desk, name string, command ...string) {
			d.must(binary, append([]string{"mcp", "add", "--scope", "user", name}, command...)...)
		},
		run: func(d *desk, m *model) {
			d.set("GOOGLE_GEMINI_BASE_URL", m.URL)
			d.set("GEMINI_API_KEY", "of-nobody")
			d.set("GEMINI_CLI_TRUST_WORKSPACE", "true")
			// Its own file tools stay in the workspace, to which the home is added.
			out := d.must(binary, "--model", "gemini-2.5-flash", "--approval-mode", "yolo", "--include-directories", d.home, "--prompt", "Do it.")
			if strings.TrimSpace(out) != lastWords {
				t.Errorf("it ended with %q", out)
			}
		},
	})
}
