package harnesses

import (
	"strings"
	"testing"
)

func TestClaude(t *testing.T) { drive(t, claude(t)) }

// claude is Claude Code without a terminal. Flags come after those every run has.
func claude(t *testing.T, flags ...string) agent {
	binary := harness(t, "claude")
	return agent{
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
			d.meetClaudesModel(m)
			out := d.must(binary, append([]string{"-p", "Do it.", "--allowedTools", claudesTools}, flags...)...)
			if strings.TrimSpace(out) != lastWords {
				t.Errorf("it ended with %q", out)
			}
		},
	}
}

// claudesTools are what the program runs without asking, as far as it goes by its own rules.
const claudesTools = "Agent,Bash,CronCreate,CronDelete,Edit,EnterWorktree,ExitWorktree,Monitor,NotebookEdit,Read,ScheduleWakeup," +
	"SendMessage,Skill,WebFetch,WebSearch,Workflow,Write,mcp__interlock"

// meetClaudesModel sets the environment in which the program speaks to a model of the test and to nobody else.
func (d *desk) meetClaudesModel(m *model) {
	d.set("ANTHROPIC_BASE_URL", m.URL)
	d.set("ANTHROPIC_API_KEY", "of-nobody")
	d.set("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
	d.set("ENABLE_TOOL_SEARCH", "false") // the model here does not look for tools; it knows them
}
