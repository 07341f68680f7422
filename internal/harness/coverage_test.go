package harness

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestCoveragePage keeps docs/reference/coverage.md and the table the same.
func TestCoveragePage(t *testing.T) {
	const path = "../../docs/reference/coverage.md"
	var b strings.Builder
	b.WriteString(`<!-- Generated from internal/harness/coverage.go by: go test ./internal/harness -update -->
# What hooks don't cover

A hook sees what its harness shows and stops what its harness lets it stop. These are the known ways in which an agent can
act without a refusable event, or in which a refusal does not hold. No hook can close them; use the sandbox, the gateway or the
harness's own settings. ` + "`interlock doctor`" + ` prints the rows of every installed harness and proves that its registered command line
refuses.

| harness | versions | what is not covered | what helps |
|---|---|---|---|
`)
	for _, g := range Gaps() {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", g.Agent, g.Versions, g.What, g.Instead)
	}
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(page), b.String()); diff != "" {
		t.Errorf("docs/reference/coverage.md is stale; go test ./internal/harness -update\n%s", diff)
	}
	for _, name := range Names() {
		if len(GapsOf(name)) == 0 {
			t.Errorf("%s has no known gaps, which is not believable", name)
		}
	}
}

// TestStatus: what doctor learns of settings, good and bad.
func TestStatus(t *testing.T) {
	for _, c := range []struct {
		name, harness, settings, config string
		edit                            func(string) string
		missing                         []string
		problems                        string
	}{
		{name: "whole", harness: "claude"},
		{name: "one event lost", harness: "claude", edit: func(s string) string { return strings.Replace(s, `"PreToolUse"`, `"PreToolUs"`, 1) },
			missing: []string{"PreToolUse"}},
		{name: "switched off", harness: "claude", settings: `{"disableAllHooks": true}`, problems: "disableAllHooks is set"},
		{name: "switched off", harness: "gemini", settings: `{"hooksConfig": {"enabled": false}}`, problems: "hooksConfig.enabled is false"},
		{name: "named as switched off", harness: "gemini",
			settings: `{"hooksConfig": {"enabled": true, "disabled": ["lint", "interlock"], /* mine */ }}`, problems: "hooksConfig.disabled names interlock"},
		{name: "others switched off", harness: "gemini", settings: `{"hooksConfig": {"disabled": ["lint"]}, "disableAllHooks": false}`},
		{name: "a switch that can't be read", harness: "gemini", settings: `{"hooksConfig": true}`, problems: "hooksConfig can't be read"},
		{name: "switched off", harness: "qwen", settings: `{"disableAllHooks": true}`, problems: "disableAllHooks is set"},
		{name: "not trusted", harness: "codex", problems: "hooks for PreToolUse, PermissionRequest, PostToolUse, UserPromptSubmit and skips"},
		{name: "partly trusted", harness: "codex", config: strings.Replace(codexTrusting, "trusted_hash", "enabled = true #", 2),
			problems: "hooks for PreToolUse, UserPromptSubmit and skips"},
		{name: "trusted", harness: "codex", config: codexTrusting},
		{name: "changed since", harness: "codex", config: codexTrusting,
			edit:     func(s string) string { return strings.ReplaceAll(s, `"timeout": 120`, `"timeout": 121`) },
			problems: "hooks for PreToolUse, PermissionRequest, PostToolUse are not as they were"},
		{name: "changed in ways not known", harness: "codex", config: codexTrusting,
			edit: func(s string) string { return strings.ReplaceAll(s, `"timeout"`, `"limit"`) }},
		{name: "one switched off", harness: "codex", config: codexTrusting + "enabled = false\n", problems: "the hooks for PostToolUse are switched off"},
		{name: "all switched off", harness: "codex", config: codexTrusting + "[features]\nhooks = false\n", problems: "switches hooks off"},
		{name: "cut short", harness: "codex", config: "[hooks", problems: "not known whether Codex trusts"},
		{name: "whole", harness: "cursor"}, {name: "whole", harness: "copilot"}, {name: "whole", harness: "gemini"},
		{name: "whole", harness: "opencode"},
		{name: "one event lost", harness: "opencode", edit: func(s string) string { return strings.Replace(s, "\"tool.execute.after\": [", "\"x\": [", 1) },
			missing: []string{"tool.execute.after"}, problems: "is not as this version writes it; run: interlock install opencode"},
		{name: "its refusals are swallowed", harness: "opencode", edit: func(s string) string { return strings.ReplaceAll(s, "throw ", "void ") },
			problems: "is not as this version writes it"},
	} {
		t.Run(c.harness+" "+c.name, func(t *testing.T) {
			place := Place{Home: t.TempDir(), GOOS: "linux", System: t.TempDir()}
			h := harnessNamed(t, c.harness)
			path := h.Settings(place)
			text, err := h.install([]byte(c.settings), "linux", commandFor(h))
			if err != nil {
				t.Fatal(err)
			}
			if c.edit != nil {
				text = []byte(c.edit(string(text)))
			}
			if err := replace(path, text, nil); err != nil {
				t.Fatal(err)
			}
			if c.config != "" {
				config := strings.ReplaceAll(c.config, "SETTINGS", path)
				if err := replace(strings.TrimSuffix(path, "hooks.json")+"config.toml", []byte(config), nil); err != nil {
					t.Fatal(err)
				}
			}
			s, err := h.Status(place, "/opt/interlock")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.missing, s.Missing); diff != "" {
				t.Errorf("missing: want - got +\n%s", diff)
			}
			if got := strings.Join(s.Problems, "; "); (c.problems == "") != (got == "") || !strings.Contains(got, c.problems) {
				t.Errorf("problems %q, want %q", got, c.problems)
			}
			if len(s.Registrations) != len(h.Events)-len(c.missing) {
				t.Errorf("%d registrations", len(s.Registrations))
			}
			for _, r := range s.Registrations {
				line := strings.Join(append(r.Argv, r.Shell), " ")
				if !strings.Contains(line, "/opt/interlock hook --agent "+c.harness+" --event "+r.Event) {
					t.Errorf("%s runs %q", r.Event, line)
				}
			}
		})
	}
	h := harnessNamed(t, "claude")
	if s, err := h.Status(Place{Home: t.TempDir()}, "x"); err != nil || s.Exists || len(s.Registrations) != 0 {
		t.Errorf("nothing there: %+v %v", s, err)
	}
}

// TestCopilotSwitchedOff: a repository's settings that switch Copilot's hooks off are found, and nothing else is.
func TestCopilotSwitchedOff(t *testing.T) {
	project := t.TempDir()
	for name, text := range map[string]string{".github/copilot/settings.local.json": `{"disableAllHooks":true}`,
		".github/copilot/settings.json": `{"disableAllHooks":false}`, ".claude/settings.json": `{"disableAllHooks":`} {
		path := filepath.Join(project, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got := harnessNamed(t, "copilot").SwitchedOff(Place{Home: t.TempDir()}, project)
	if len(got) != 2 || !strings.Contains(got[0], "settings.local.json: disableAllHooks is set") || !strings.Contains(got[1], "can't be read") {
		t.Errorf("%q", got)
	}
	if got := harnessNamed(t, "cursor").SwitchedOff(Place{Home: t.TempDir()}, project); len(got) > 0 {
		t.Errorf("%q", got)
	}
}

// TestSwitchedOff: a project's settings can let the user's hooks not run.
func TestSwitchedOff(t *testing.T) {
	for _, c := range []struct{ harness, file, settings, want string }{
		{"gemini", ".gemini/settings.json", `{"hooksConfig": {"enabled": false}}`, "FILE: hooksConfig.enabled is false, so no hook runs"},
		{"gemini", ".gemini/settings.json", `{"hooksConfig": {"disabled": ["interlock"]}}`,
			"FILE: hooksConfig.disabled names interlock, so its hooks don't run"},
		{"gemini", ".gemini/settings.json", `{"hooksConfig": {"enabled": true}}`, ""},
		{"gemini", ".gemini/settings.json", `{"hooksConfig"`, "FILE can't be read, so it is not known whether it switches hooks off"},
		{"gemini", ".qwen/settings.json", `{"disableAllHooks": true}`, ""},
		{"qwen", ".qwen/settings.json", `{"disableAllHooks": true}`, "FILE: disableAllHooks is set, so no hook runs"},
		{"codex", ".codex/hooks.json", `{"disableAllHooks": true}`, ""},
	} {
		place, project := Place{Home: t.TempDir(), GOOS: "linux"}, t.TempDir()
		file := filepath.Join(project, filepath.FromSlash(c.file))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(c.settings), 0o600); err != nil {
			t.Fatal(err)
		}
		got := strings.ReplaceAll(strings.Join(harnessNamed(t, c.harness).SwitchedOff(place, project), "\n"), file, "FILE")
		if got != c.want {
			t.Errorf("%s with %s in %s: %q", c.harness, c.settings, c.file, got)
		}
	}
}

// TestLines: what is printed for the harnesses that are registered by hand names every event once.
func TestLines(t *testing.T) {
	for name, want := range map[string]int{"windsurf": 8, "cline": 3} {
		text, known := Lines(name, "linux", "/opt/my tools/interlock", func(event string) []string { return HookArgs(name, event, "/h", true) })
		if !known || strings.Count(text, "--home /h --unattended") != want || strings.Count(text, "'/opt/my tools/interlock' hook --agent "+name) != want {
			t.Errorf("%s (%v):\n%s", name, known, text)
		}
	}
	if _, known := Lines("vi", "linux", "x", nil); known {
		t.Error("an unknown harness has lines")
	}
}
