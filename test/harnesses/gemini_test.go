package harnesses

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestGemini(t *testing.T) {
	binary := harness(t, "gemini")
	a := agent{
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
	}
	drive(t, a)
	t.Run("a command that fails is recorded as failed", func(t *testing.T) { t.Parallel(); failureIsRecorded(t, a) })
	t.Run("a subagent's calls are judged", func(t *testing.T) { t.Parallel(); geminiSubagent(t, a) })
	t.Run("tools are judged as what they are", func(t *testing.T) { t.Parallel(); geminiTools(t, a) })
}

// geminiSubagent: the second call is the subagent's, and so is what it is told.
func geminiSubagent(t *testing.T, a agent) {
	d := newDeskWith(t, a)
	m := newModel(t, toolCall{"invoke_agent", map[string]any{"agent_name": "generalist", "prompt": "Do it."}}, a.shell("touch ran.txt; rm -rf "+d.home))
	a.run(d, m)
	if d.exists("ran.txt") {
		t.Fatal("it ran")
	}
	wantIn(t, strings.Join(d.log(), "\n"), "gemini: SAFETY_BLOCK_EVENT deny")
}

// geminiTools: what needs nobody's leave asks for none. Calls that need another's server only fail.
func geminiTools(t *testing.T, a agent) {
	d := newDeskWith(t, a)
	file := d.path("a.txt")
	d.work(a, toolCall{"write_file", map[string]any{"file_path": file, "content": "one two\n"}},
		toolCall{"read_file", map[string]any{"file_path": file}},
		toolCall{"replace", map[string]any{"file_path": file, "instruction": "count", "old_string": "one", "new_string": "three"}},
		toolCall{"list_directory", map[string]any{"dir_path": "."}},
		toolCall{"glob", map[string]any{"pattern": "**/*.txt"}},
		toolCall{"grep_search", map[string]any{"pattern": "two"}},
		toolCall{"update_topic", map[string]any{"strategic_intent": "work"}},
		toolCall{"write_todos", map[string]any{"todos": []any{map[string]any{"description": "work", "status": "in_progress"}}}},
		toolCall{"list_background_processes", map[string]any{}},
		toolCall{"activate_skill", map[string]any{"name": "skill-creator"}},
		toolCall{"enter_plan_mode", map[string]any{"reason": "work"}})
	want := []string{"file write", "file read", "file edit", "file read", "file read", "file read", "tool update_topic", "tool write_todos",
		"tool list_background_processes", "tool activate_skill", "tool enter_plan_mode"}
	if diff := cmp.Diff(want, d.allowed()); diff != "" {
		t.Errorf("what was allowed (-want +got):\n%s", diff)
	}
}
