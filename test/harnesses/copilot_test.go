package harnesses

import (
	"os"
	"strings"
	"testing"

	"interlock/test/product"
)

func TestCopilot(t *testing.T) { drive(t, copilotAgent(t, "claude-sonnet-4")) }

// copilotAgent is Copilot on a model of that name, which decides what tools the model is offered.
func copilotAgent(t *testing.T, name string) agent {
	binary := harness(t, "copilot")
	unpacked := product.Kept("copilot") // by the first run, for all of them
	return agent{
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
			d.set("COPILOT_MODEL", name)
			out := d.must(binary, "--prompt", "Do it.", "--allow-all-tools", "--silent")
			if !strings.HasSuffix(strings.TrimSpace(out), lastWords) { // the words of other agents it started stand before
				t.Errorf("it ended with %q", out)
			}
		},
	}
}

// TestCopilotTools has the tools that Copilot offers used for something harmless: nothing is asked about. Tools that it
// only offers online or at a terminal are not among them.
func TestCopilotTools(t *testing.T) {
	t.Parallel()
	a := copilotAgent(t, "claude-sonnet-4")
	d := newDeskWith(t, a)
	file := d.path("notes.txt")
	d.work(a,
		toolCall{"create", map[string]any{"path": file, "file_text": "one\n"}},
		toolCall{"edit", map[string]any{"path": file, "old_str": "one", "new_str": "two"}},
		toolCall{"view", map[string]any{"path": file}},
		toolCall{"view", map[string]any{"path": d.path("none.txt")}},
		toolCall{"grep", map[string]any{"pattern": "two", "paths": d.workspace}},
		toolCall{"glob", map[string]any{"pattern": "**/*.txt"}},
		toolCall{"bash", map[string]any{"command": "exit 3", "description": "Fail"}},
		toolCall{"list_bash", map[string]any{}},
		toolCall{"read_bash", map[string]any{"shellId": "none", "delay": 1}},
		toolCall{"stop_bash", map[string]any{"shellId": "none"}},
		toolCall{"sql", map[string]any{"description": "Plan", "query": "INSERT INTO todos (id, title) VALUES ('a', 'Do it')"}},
		toolCall{"sql", map[string]any{"description": "Done", "query": "UPDATE todos SET status = 'done' WHERE id = 'a'"}},
		toolCall{"session_store_sql", map[string]any{"description": "Look back", "query": "SELECT 1", "source": "local"}},
		toolCall{"skill", map[string]any{"skill": "customize-cloud-agent"}},
		toolCall{"list_agents", map[string]any{}},
		toolCall{"read_agent", map[string]any{"agent_id": "none"}},
		toolCall{"task", map[string]any{"name": "t", "prompt": "Run the tests.", "agent_type": "task", "description": "Test", "mode": "sync"}},
		toolCall{"fetch_copilot_cli_documentation", map[string]any{}},
	)
	var want []string
	for _, outcome := range []string{"success", "success", "success", "failure", "success", "success", "failure", "success", "failure",
		"success", "success", "success", "success", "success", "success", "failure", "success", "success"} {
		want = append(want, "copilot: DECISION allow", "copilot: OUTCOME "+outcome)
	}
	d.wantLog(want...)
}

// TestCopilotPatches has a model at work that edits by patches and searches by another name.
func TestCopilotPatches(t *testing.T) {
	t.Parallel()
	a := copilotAgent(t, "gpt-5.4")
	d := newDeskWith(t, a, "--unattended")
	d.write("~/.ssh/id_ed25519", "not for models\n")
	keys := d.path("~/.ssh/authorized_keys")
	patch := func(text string) toolCall {
		return toolCall{"apply_patch", map[string]any{"input": "*** Begin Patch\n" + text + "*** End Patch\n"}}
	}
	told := d.work(a,
		patch("*** Add File: new.txt\n+hello\n"),
		patch("*** Update File: new.txt\n@@\n-hello\n+bye\n"),
		patch("*** Add File: "+keys+"\n+ssh-ed25519 AAAA eve\n"),
		toolCall{"rg", map[string]any{"pattern": "bye", "paths": d.workspace}},
		toolCall{"rg", map[string]any{"pattern": "models", "output_mode": "content", "paths": d.path("~/.ssh/id_ed25519")}},
	)
	if content, err := os.ReadFile(d.path("new.txt")); string(content) != "bye\n" {
		t.Errorf("new.txt holds %q (%v)", content, err)
	}
	wantIn(t, told[2], "[persist.add]")
	wantIn(t, told[3], "new.txt")
	wantIn(t, told[4], "[cred.read]")
	if d.exists("~/.ssh/authorized_keys") || strings.Contains(told[4], "not for models") {
		t.Errorf("it was carried out: %q", told)
	}
}
