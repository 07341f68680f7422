package harnesses

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock/test/product"
)

// The models that Codex ships with call tools from scripts ("code mode"); one it knows nothing of, such as somebody's own, calls
// them directly.
const (
	codexScripting = "gpt-6-sol"
	codexDirect    = "a-model-of-ones-own"
)

func TestCodex(t *testing.T)                     { drive(t, codexAgent(t, codexScripting)) }
func TestCodexCallingToolsDirectly(t *testing.T) { drive(t, codexAgent(t, codexDirect)) }

// codexAgent is Codex CLI without a terminal. Its own sandbox is off: it needs rights that a container may not give, and what
// is looked at here is Interlock's hook, which Codex asks in either case.
func codexAgent(t *testing.T, called string) agent {
	binary := harness(t, "codex")
	return agent{
		name:   "codex",
		client: "codex",
		shell: func(command string) toolCall {
			return toolCall{"exec_command", map[string]any{"cmd": command}}
		},
		read: func(path string) toolCall { return toolCall{"view_image", map[string]any{"path": path}} }, // the only tool that reads files
		addServer: func(d *desk, name string, command ...string) {
			d.must(binary, append([]string{"mcp", "add", name, "--"}, command...)...)
		},
		run: func(d *desk, m *model) {
			trustCodexHooks(d, binary)
			if out := runCodex(d, m, binary, called); strings.TrimSpace(out) != lastWords {
				t.Errorf("it ended with %q", out)
			}
		},
	}
}

// runCodex lets Codex work without trusting anything first.
func runCodex(d *desk, m *model, binary, called string) string {
	d.t.Helper()
	return d.must(binary, append(append([]string{"exec", "--sandbox", "danger-full-access", "Do it."}, codexModel(d, m, called)...), codexStaysHome()...)...)
}

// codexModel are the flags that lead Codex to the model.
func codexModel(d *desk, m *model, called string) []string {
	d.set("KEY_OF_NOBODY", "of-nobody")
	return []string{"-c", "model=" + called, "-c", "model_provider=here",
		"-c", `model_providers.here={name="here",base_url="` + m.URL + `/v1",wire_api="responses",env_key="KEY_OF_NOBODY"}`}
}

// codexStaysHome are the flags under which Codex asks for nothing on the network but its model.
func codexStaysHome() []string {
	return []string{"-c", "analytics.enabled=false", "--disable", "plugins"}
}

// A patch reaches Codex in two ways, and it carries both out itself: by the tool, and by a command line of that name.
func TestCodexPatches(t *testing.T) {
	patch := func(path string) string { return "*** Begin Patch\n*** Add File: " + path + "\n+made\n*** End Patch" }
	for _, way := range []struct {
		name string
		call func(patch string) toolCall
	}{
		{"by the tool", func(patch string) toolCall { return toolCall{"apply_patch", map[string]any{"input": patch}} }},
		{"in a command line", func(patch string) toolCall {
			return toolCall{"exec_command", map[string]any{"cmd": "apply_patch <<'END'\n" + patch + "\nEND\n"}}
		}},
	} {
		t.Run(way.name, func(t *testing.T) {
			t.Parallel()
			a := codexAgent(t, codexScripting)
			d := newDeskWith(t, a)
			told := d.work(a, way.call(patch("made.txt")), way.call(patch(d.path("~/.bashrc"))))
			if content, err := os.ReadFile(d.path("made.txt")); string(content) != "made\n" {
				t.Errorf("made.txt holds %q (%v): %q", content, err, told[0])
			}
			wantIn(t, told[1], "[persist.add]")
			if d.exists("~/.bashrc") {
				t.Error("the refused patch was applied")
			}
		})
	}
}

// What Codex's own tools do beside running commands and changing files is nothing to ask about.
func TestCodexOwnTools(t *testing.T) {
	a := codexAgent(t, codexScripting)
	d := newDeskWith(t, a)
	d.write("dot.png", "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x00\x00\x00\x00:~\x9bU\x00\x00\x00\n"+
		"IDATx\x9cc`\x00\x00\x00\x02\x00\x01H\xaf\xa4q\x00\x00\x00\x00IEND\xaeB`\x82")
	calls := []toolCall{
		{"view_image", map[string]any{"path": "dot.png"}}, {"list_mcp_resources", map[string]any{}}, {"list_mcp_resource_templates", map[string]any{}},
		{"get_goal", map[string]any{}}, {"create_goal", map[string]any{"objective": "to be done"}}, {"update_goal", map[string]any{"status": "complete"}},
		{"curr_time", map[string]any{}},
	}
	var want []string
	for _, text := range d.work(a, calls...) {
		if strings.Contains(text, "PreToolUse hook") {
			t.Errorf("the model was told %q", text)
		}
		want = append(want, "codex: DECISION allow", "codex: OUTCOME success")
	}
	d.wantLog(want...)
}

// Where Codex asks its user too, a call raises two events, and is judged and recorded once. What was refused is not asked about.
func TestCodexAsksItsUser(t *testing.T) {
	binary := harness(t, "codex")
	a := codexAgent(t, codexDirect)
	d := newDeskWith(t, a)
	trustCodexHooks(d, binary)
	m := newModel(t, a.shell("touch ran.txt"), a.shell("git push --force origin main; touch pushed.txt"))
	withCodexServer(d, binary, codexModel(d, m, codexDirect), func(s *codexServer) {
		var started struct {
			Thread struct {
				ID string `json:"id"`
			} `json:"thread"`
		}
		answer := s.ask("thread/start", map[string]any{"cwd": d.workspace, "approvalPolicy": "untrusted", "sandbox": "danger-full-access"})
		if err := json.Unmarshal(answer, &started); err != nil {
			t.Fatal(err)
		}
		s.ask("turn/start", map[string]any{"threadId": started.Thread.ID, "input": []any{map[string]any{"type": "text", "text": "Do it."}}})
		s.until(func(m codexMessage) bool { return m.Method == "turn/completed" })
		if diff := cmp.Diff([]string{"item/commandExecution/requestApproval"}, s.allowed); diff != "" {
			t.Errorf("what the user was asked (-want +got):\n%s", diff)
		}
	})
	if !d.exists("ran.txt") || d.exists("pushed.txt") {
		t.Errorf("the model was told %q", m.told())
	}
	d.wantLog("codex: DECISION allow", "codex: OUTCOME success", "codex: SAFETY_REVIEW_REQUEST deny")
}

// Codex passes over hooks that it was not told to trust as they stand, and doctor says so, whatever the reason.
func TestCodexTrust(t *testing.T) {
	binary := harness(t, "codex")
	a := codexAgent(t, codexScripting)
	d := newDeskWith(t, a)
	want := func(when string, called bool, problem string) {
		t.Helper()
		runCodex(d, newModel(t, a.shell("touch ran.txt; git push --force origin main")), binary, codexScripting)
		if got := !d.exists("ran.txt"); got != called {
			t.Errorf("%s: Codex asked the hook: %v", when, got)
		}
		os.RemoveAll(d.path("ran.txt"))
		if got := codexComplaints(d); (got == "") != (problem == "") || !strings.Contains(got, problem) {
			t.Errorf("%s: doctor says %q, want %q", when, got, problem)
		}
	}
	want("new", false, "Codex has not been told to trust the hooks for PreToolUse, PermissionRequest, PostToolUse")
	trustCodexHooks(d, binary)
	want("trusted", true, "")
	d.interlock("install", "codex", "--unattended")
	want("changed", false, "the hooks for PreToolUse, PermissionRequest, PostToolUse are not as they were")
	trustCodexHooks(d, binary)
	want("trusted again", true, "")
	d.must(binary, "features", "disable", "hooks")
	want("switched off", false, "switches hooks off")
}

// codexComplaints is what doctor finds wrong with Codex's hooks.
func codexComplaints(d *desk) string {
	d.t.Helper()
	out, _, _ := d.run(product.Interlock(), "doctor", "--json")
	var report struct {
		Checks []struct{ Name, Harness, Status, Detail string }
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		d.t.Fatalf("doctor says %q: %v", out, err)
	}
	var found []string
	for _, c := range report.Checks {
		if c.Harness == "codex" && c.Status != "ok" {
			found = append(found, c.Detail)
		}
	}
	return strings.Join(found, "; ")
}
