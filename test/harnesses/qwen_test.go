package harnesses

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestQwen(t *testing.T) {
	binary := harness(t, "qwen")
	a := agent{
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
	}
	drive(t, a)
	t.Run("a command that fails is recorded as failed", func(t *testing.T) { t.Parallel(); failureIsRecorded(t, a) })
	t.Run("a subagent's calls are judged", func(t *testing.T) { t.Parallel(); qwenSubagent(t, a) })
	t.Run("tools are judged as what they are", func(t *testing.T) { t.Parallel(); qwenTools(t, a) })
}

// qwenSubagent: the second call is the subagent's, and so is what it is told.
func qwenSubagent(t *testing.T, a agent) {
	d := newDeskWith(t, a)
	m := newModel(t, toolCall{"agent", map[string]any{"description": "work", "prompt": "Do it.",
		"subagent_type": "general-purpose", "run_in_background": false}},
		a.shell("touch ran.txt; rm -rf "+d.home))
	a.run(d, m)
	if d.exists("ran.txt") {
		t.Fatal("it ran")
	}
	wantIn(t, strings.Join(d.log(), "\n"), "qwen: SAFETY_BLOCK_EVENT deny")
}

// qwenTools: what needs nobody's leave asks for none. A notebook that is not there is not edited, but the edit is judged.
func qwenTools(t *testing.T, a agent) {
	d := newDeskWith(t, a)
	file := d.path("a.txt")
	d.work(a, toolCall{"write_file", map[string]any{"file_path": file, "content": "one two\n"}},
		toolCall{"read_file", map[string]any{"file_path": file}},
		toolCall{"edit", map[string]any{"file_path": file, "old_string": "one", "new_string": "three"}},
		toolCall{"glob", map[string]any{"pattern": "**/*.txt"}},
		toolCall{"grep_search", map[string]any{"pattern": "two"}},
		toolCall{"notebook_edit", map[string]any{"notebook_path": d.path("a.ipynb"), "cell_id": "1", "new_source": "x",
			"edit_mode": "insert", "cell_type": "code"}},
		toolCall{"zoom_image", map[string]any{"file_path": d.path("a.png"), "x1": 0, "y1": 0, "x2": 500, "y2": 500}},
		toolCall{"monitor", map[string]any{"command": "echo work", "description": "work"}},
		toolCall{"cron_list", map[string]any{}},
		toolCall{"get_goal", map[string]any{}},
		toolCall{"list_agents", map[string]any{}},
		toolCall{"skill", map[string]any{"skill": "simplify"}},
		toolCall{"report_findings", map[string]any{"findings": []any{}}})
	want := []string{"file write", "file read", "file edit", "file read", "file read", "file edit", "file read", "shell monitor", "tool cron_list",
		"tool get_goal", "tool list_agents", "tool skill", "tool report_findings"}
	if diff := cmp.Diff(want, d.allowed()); diff != "" {
		t.Errorf("what was allowed (-want +got):\n%s", diff)
	}
}
