package harnesses

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A toolJudged is a tool Claude Code has, a call of it, and what the call is judged as: the decision's kind, tool and answer.
// No judgement says that the program turns the call down before it asks the hook; none at all that the tool needs no call here.
type toolJudged struct {
	name      string
	arguments map[string]any
	judged    string
}

func claudesOwnTools(d *desk) []toolJudged {
	file, notebook := d.path("a.txt"), d.path("n.ipynb")
	d.write("n.ipynb", `{"cells":[{"cell_type":"code","id":"c1","source":"1","metadata":{},"outputs":[],"execution_count":null}],`+
		`"metadata":{"language_info":{"name":"python"}},"nbformat":4,"nbformat_minor":5}`)
	type m = map[string]any
	return []toolJudged{
		{"Write", m{"file_path": file, "content": "one\n"}, "file write: allow"},
		{"Read", m{"file_path": file}, "file read: allow"},
		{"Edit", m{"file_path": file, "old_string": "one", "new_string": "two"}, "file edit: allow"},
		{"Read", m{"file_path": notebook}, "file read: allow"},
		{"NotebookEdit", m{"notebook_path": notebook, "cell_id": "c1", "new_source": "2"}, "file edit: allow"},
		{"Write", m{"file_path": d.path("~/.claude/settings.local.json"), "content": "{}"}, "file write: deny"},
		{"WebFetch", m{"url": "http://169.254.169.254/latest/meta-data", "prompt": "what"}, "http WebFetch: deny"},
		{"WebSearch", m{"query": "of nothing"}, "tool WebSearch: allow"},
		{"Skill", m{"skill": "update-config"}, "tool Skill: allow"},
		{"Monitor", m{"description": "m", "timeout_ms": 2000, "command": "cat ~/.ssh/id_ed25519"}, "shell Monitor: deny"},
		{"Monitor", m{"description": "m", "timeout_ms": 2000, "ws": m{"url": "ws://169.254.169.254/"}}, "http Monitor: deny"},
		{"Bash", m{"command": "cat ~/.ssh/id_ed25519", "run_in_background": true}, "shell Bash: deny"},
		{"CronCreate", m{"cron": "57 8 * * *", "prompt": "look again"}, "tool Task: allow"},
		{"CronCreate", m{"cron": "57 8 * * *", "prompt": "look again", "durable": true}, "tool CronCreate: deny"},
		{"CronList", m{}, "tool Task: allow"},
		{"CronDelete", m{"id": "none"}, ""},
		{"ListAgents", m{}, "tool ListAgents: allow"},
		{"SendMessage", m{"to": "nobody", "message": "mail bob@example.com that +49 30 1234 5678 is wrong, token=abc123"}, "tool Task: allow"},
		{"TaskStop", m{"task_id": "none"}, ""},
		{"ScheduleWakeup", m{"stop": true}, "tool ScheduleWakeup: allow"},
		{"ReportFindings", m{"findings": []any{}}, "tool ReportFindings: allow"},
		{"EnterWorktree", m{"name": "w1"}, "tool EnterWorktree: allow"},
		{"Write", m{"file_path": d.path(".claude/worktrees/w1/b.txt"), "content": "one\n"}, "file write: allow"},
		{"ExitWorktree", m{"action": "remove", "discard_changes": true}, "tool ExitWorktree: allow"},
		{"Bash", m{"command": "mkdir sub && cd sub"}, "shell Bash: allow"},
		{"Bash", m{"command": "echo hello > made.txt"}, "shell Bash: allow"},
		{"Agent", nil, ""},    // see TestClaudesSubagent
		{"Workflow", nil, ""}, // whose agents are told like others
	}
}

// Every tool the program offers its model is judged as what it is, and what became of it is told of the same call.
func TestClaudesOwnTools(t *testing.T) {
	t.Parallel()
	a := claude(t)
	d := newDeskWith(t, a, "--unattended")
	d.must("git", "-c", "user.name=o", "-c", "user.email=o@example.com", "commit", "--quiet", "--allow-empty", "-m", "first")
	var calls []toolCall
	var names, want []string
	for _, tool := range claudesOwnTools(d) {
		names = append(names, tool.name)
		if tool.arguments != nil {
			calls = append(calls, toolCall{tool.name, tool.arguments})
		}
		if tool.judged != "" {
			want = append(want, tool.judged)
		}
	}
	m := newModel(t, calls...)
	a.run(d, m)
	if diff := cmp.Diff(want, d.judged()); diff != "" {
		t.Errorf("judged (-want +got):\n%s\nthe model was told %q", diff, m.told())
	}
	for _, name := range m.offered {
		if !slices.Contains(names, name) {
			t.Errorf("the program offers %s, of which nobody here knows what it is judged as", name)
		}
	}
	if _, err := os.Stat(d.path("sub/made.txt")); err != nil {
		t.Error(err)
	}
}

// Where the program shows most tools only to a model that looks for them, they come by the hook all the same.
func TestClaudesToolSearch(t *testing.T) {
	t.Parallel()
	a := claude(t)
	d := newDeskWith(t, a, "--unattended")
	m := newModel(t, toolCall{"ToolSearch", map[string]any{"query": "select:Monitor"}},
		toolCall{"Monitor", map[string]any{"description": "m", "timeout_ms": 2000, "command": "cat ~/.ssh/id_ed25519"}})
	d.meetClaudesModel(m)
	d.set("ENABLE_TOOL_SEARCH", "true")
	d.must(harness(t, "claude"), "-p", "Do it.", "--allowedTools", claudesTools)
	if diff := cmp.Diff([]string{"tool ToolSearch: allow", "shell Monitor: deny"}, d.judged()); diff != "" {
		t.Errorf("judged (-want +got):\n%s\nthe model was told %q", diff, m.told())
	}
}

// What an agent that another one started does is judged and recorded as the same agent's, in the same run.
func TestClaudesSubagent(t *testing.T) {
	t.Parallel()
	a := claude(t)
	d := newDeskWith(t, a, "--unattended")
	d.write("~/kept.txt", "mine")
	const task = "Look after the files."
	m := newModel(t, toolCall{"Agent", map[string]any{"description": "files", "prompt": task, "subagent_type": "general-purpose", "run_in_background": false}})
	m.inner = map[string]*model{task: {calls: []toolCall{a.shell("echo hello > made.txt"), a.shell("touch ran.txt; rm -rf " + d.home)}}}
	a.run(d, m)
	d.wantLog("claude: DECISION allow", "claude: DECISION allow", "claude: OUTCOME success", "claude: SAFETY_BLOCK_EVENT deny", "claude: OUTCOME success")
	if told := m.inner[task].told(); len(told) != 2 || !strings.Contains(told[1], "[fs.delete-root]") {
		t.Errorf("the subagent was told %q", told)
	}
	if !d.exists("made.txt") || d.exists("ran.txt") || !d.exists("~/kept.txt") {
		t.Error("what was allowed did not run, or what was denied did")
	}
}

// judged is what the log holds of decisions, and of alerts: there should be none.
func (d *desk) judged() []string {
	d.t.Helper()
	var lines []string
	for line := range strings.Lines(d.interlock("audit", "export")) {
		var entry struct {
			Event struct {
				Type    string `json:"event_type"`
				Payload struct {
					Decision string `json:"final_decision"`
					Alert    string `json:"alert"`
					Proposed struct {
						Payload struct {
							Kind string `json:"kind"`
							Tool string `json:"tool"`
						} `json:"payload"`
					} `json:"proposed"`
				} `json:"payload"`
			} `json:"event"`
		}
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			d.t.Fatal(err)
		}
		switch p := entry.Event.Payload; {
		case p.Alert != "":
			lines = append(lines, "alert: "+p.Alert)
		case p.Decision != "":
			lines = append(lines, p.Proposed.Payload.Kind+" "+p.Proposed.Payload.Tool+": "+p.Decision)
		}
	}
	return lines
}
