package harnesses

import (
	"strings"
	"testing"
)

func TestOpenCode(t *testing.T) {
	binary := harness(t, "../opencode-linux-x64-baseline/bin/opencode")
	drive(t, openCode(t, binary, nil))
	t.Run("what a sub-agent may not is not done for it", func(t *testing.T) { t.Parallel(); subAgentMayNot(t, binary) })
}

// openCode is OpenCode, whose sub-agents are answered by a model of their own if there is one.
func openCode(t *testing.T, binary string, sub *model) agent {
	return agent{
		name:   "opencode",
		client: "opencode",
		shell: func(command string) toolCall {
			return toolCall{"bash", map[string]any{"command": command, "description": "work"}}
		},
		read: func(path string) toolCall { return toolCall{"read", map[string]any{"filePath": path}} },
		addServer: func(d *desk, name string, command ...string) {
			d.write("~/.config/opencode/opencode.json",
				compact(map[string]any{"mcp": map[string]any{name: map[string]any{"type": "local", "command": command}}}))
		},
		run: func(d *desk, m *model) {
			settings := map[string]any{"share": "disabled", "model": "one/any", "small_model": "one/any"}
			providers := map[string]any{"one": openCodeProvider(m)}
			if sub != nil {
				providers["two"] = openCodeProvider(sub)
				settings["agent"] = map[string]any{"general": map[string]any{"model": "two/any"}}
			}
			settings["provider"] = providers
			d.set("OPENCODE_CONFIG_CONTENT", compact(settings))
			d.set("OPENCODE_DISABLE_MODELS_FETCH", "1")
			d.set("OPENCODE_DISABLE_AUTOUPDATE", "1")
			d.set("OPENCODE_DISABLE_LSP_DOWNLOAD", "1")
			d.set("npm_config_registry", m.URL) // it looks for the types that plugins can be written with, and goes without
			out := d.must(binary, "run", "--auto", "Do it.")
			if strings.TrimSpace(out) != lastWords {
				t.Errorf("it ended with %q", out)
			}
		},
	}
}

// openCodeProvider is a model's provider, of a kind that comes with the program.
func openCodeProvider(m *model) map[string]any {
	return map[string]any{"npm": "@ai-sdk/openai-compatible", "options": map[string]any{"baseURL": m.URL + "/v1", "apiKey": "of-nobody"},
		"models": map[string]any{"any": map[string]any{"tool_call": true}}}
}

// A sub-agent works in a session of its own, whose calls raise the same events.
func subAgentMayNot(t *testing.T, binary string) {
	a := openCode(t, binary, nil)
	d := newDeskWith(t, a)
	d.write("~/kept.txt", "mine")
	sub := newModel(t, a.shell("touch ran.txt; rm -rf "+d.home), a.shell("echo hello > made.txt"))
	a = openCode(t, binary, sub)
	told := d.work(a, toolCall{"task", map[string]any{"description": "work", "prompt": "Do it.", "subagent_type": "general"}})
	wantIn(t, told[0], lastWords)
	of := sub.told()
	if len(of) != 2 {
		t.Fatalf("the sub-agent was told %q", of)
	}
	wantIn(t, of[0], "[fs.delete-root]")
	if d.exists("ran.txt") || !d.exists("~/kept.txt") || !d.exists("made.txt") {
		t.Fatal("what ran is not what was allowed")
	}
	d.wantLog("opencode: DECISION allow", "opencode: SAFETY_BLOCK_EVENT deny", "opencode: DECISION allow",
		"opencode: OUTCOME success", "opencode: OUTCOME success")
}
