package harness

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// codexTrusting is what Codex writes when it is told to trust the hooks as they are installed here.
const codexTrusting = `[hooks.state.'SETTINGS:user_prompt_submit:0:0']
trusted_hash = 'sha256:00'

[hooks.state.'SETTINGS:pre_tool_use:0:0']
trusted_hash = "sha256:bca259a71c42b028fe4b7454459b88eeaa0210d1798742d8fe50143a501c031f"
[hooks.state.'SETTINGS:permission_request:0:0']
trusted_hash = "sha256:dd7c40d07f509b77f4aad8243d3bafa11a0939f73412280f70292393df669490"
[hooks.state.'SETTINGS:post_tool_use:0:0']
trusted_hash = "sha256:6380f3167906d01b9cb8b0d1582160c561a6022b821661f8bb322c0048e4054a"
`

// TestCodexHash: what Codex says that the hash of such hooks is.
func TestCodexHash(t *testing.T) {
	for _, c := range []struct {
		event, group, handler, want string
	}{
		{"PreToolUse", `{"matcher": "*"}`,
			`{"type": "command", "command": "/opt/interlock hook --agent codex --event PreToolUse", "timeout": 120}`,
			"sha256:cd594c503cda34b807a3b2197af64788e034661d172beab28f713c344994e0a1"},
		{"PermissionRequest", `{}`, `{"type": "command", "command": "/opt/interlock hook --agent codex --event PermissionRequest", "timeout": 120, "statusMessage": "Asking <Interlock> & co"}`, "sha256:233548e61ec507442af250ec5ce850369502c60e457f5042594f41d01103086c"},
		{"PostToolUse", `{"matcher": "Bash"}`, `{"type": "command", "command": "/opt/interlock hook"}`,
			"sha256:82eee0960dd42347815847198a252c57015ea25fd65b52660764b98ab03c5f70"},
		{"PostToolUse", `{"matcher": "Bash"}`, `{"type": "command", "command": "/opt/interlock hook", "new": true}`, ""},
	} {
		group, handler := decoded([]byte(c.group)).(map[string]any), decoded([]byte(c.handler)).(map[string]any)
		if got := codexHash(c.event, group, handler); got != c.want {
			t.Errorf("%s %s: %q, want %q", c.event, c.handler, got, c.want)
		}
	}
}

// TestCodexManaged: what an administrator registers for everybody needs no trust, and only what pins hooks holds against a user who
// switches them off.
func TestCodexManaged(t *testing.T) {
	handler := func(event string) string {
		return "[[hooks." + event + "]]\nmatcher = \"*\"\n[[hooks." + event + ".hooks]]\ntype = \"command\"\ncommand = \"/opt/interlock hook --agent codex --event " + event + "\"\n"
	}
	all := handler("PreToolUse") + handler("PermissionRequest") + handler("PostToolUse")
	for _, c := range []struct {
		name, requirements, config string
		installed                  bool
		events, missing            []string
		problems                   string
	}{
		{name: "nothing", requirements: "[features]\nhooks = true\n"},
		{name: "whole", requirements: all, events: []string{"PreToolUse", "PermissionRequest", "PostToolUse"}, missing: []string{"UserPromptSubmit"}},
		{name: "one event", requirements: handler("PreToolUse"), events: []string{"PreToolUse"},
			missing: []string{"PermissionRequest", "PostToolUse", "UserPromptSubmit"}},
		{name: "one event, the others by the user", requirements: handler("PreToolUse"), installed: true,
			events:   []string{"PreToolUse", "PermissionRequest", "PostToolUse", "UserPromptSubmit", "PreToolUse"},
			problems: "trust the hooks for PermissionRequest, PostToolUse, UserPromptSubmit and"},
		{name: "switched off by the user", requirements: all, config: "[features]\nhooks = false\n",
			events: []string{"PreToolUse", "PermissionRequest", "PostToolUse"}, missing: []string{"UserPromptSubmit"}, problems: "switches hooks off"},
		{name: "pinned", requirements: "[features]\nhooks = true\n" + all, config: "[features]\nhooks = false\n",
			events: []string{"PreToolUse", "PermissionRequest", "PostToolUse"}, missing: []string{"UserPromptSubmit"}},
		{name: "somebody else's", requirements: strings.ReplaceAll(all, "/opt/interlock", "/opt/other")},
	} {
		t.Run(c.name, func(t *testing.T) {
			place := Place{Home: t.TempDir(), GOOS: "linux", System: t.TempDir()}
			h := harnessNamed(t, "codex")
			files := map[string]string{filepath.Join(place.System, "codex", "requirements.toml"): c.requirements,
				filepath.Join(place.Home, ".codex", "config.toml"): c.config}
			if c.installed {
				text, err := h.install(nil, "linux", commandFor(h))
				if err != nil {
					t.Fatal(err)
				}
				files[h.Settings(place)] = string(text)
			}
			for path, text := range files {
				if err := replace(path, []byte(text), nil); err != nil {
					t.Fatal(err)
				}
			}
			s, err := h.Status(place, "/opt/interlock")
			if err != nil {
				t.Fatal(err)
			}
			var events []string
			for _, r := range s.Registrations {
				events = append(events, r.Event)
			}
			if diff := cmp.Diff([][]string{c.events, c.missing}, [][]string{events, append([]string(nil), s.Missing...)}); diff != "" {
				t.Errorf("events and what is missing (-want +got):\n%s", diff)
			}
			if got := strings.Join(s.Problems, "; "); (c.problems == "") != (got == "") || !strings.Contains(got, c.problems) {
				t.Errorf("problems %q, want %q", got, c.problems)
			}
		})
	}
}

// TestCodexProject: hooks of a project run where its folder, or one that holds it, is trusted, and the user's settings trust them.
func TestCodexProject(t *testing.T) {
	for config, want := range map[string][]string{
		"": {"has not been told to trust PROJECT and passes over its hooks", "has not been told to trust the hooks for"},
		"[projects.'PROJECT']\ntrust_level = \"trusted\"\n":                 {"has not been told to trust the hooks for"},
		"[projects.'PARENT']\ntrust_level = \"trusted\"\n":                  {"has not been told to trust the hooks for"},
		"[projects.'PROJECT']\ntrust_level = \"untrusted\"\n":               {"passes over its hooks", "has not been told to trust the hooks for"},
		"[projects.'PROJECT']\ntrust_level = \"trusted\"\n" + codexTrusting: nil,
	} {
		parent := t.TempDir()
		place := Place{Home: t.TempDir(), GOOS: "linux", System: t.TempDir(), Project: filepath.Join(parent, "work")}
		h := harnessNamed(t, "codex")
		text, err := h.install(nil, "linux", commandFor(h))
		if err != nil {
			t.Fatal(err)
		}
		named := strings.NewReplacer("PROJECT", place.Project, "PARENT", parent, "SETTINGS", h.Settings(place))
		for path, content := range map[string]string{h.Settings(place): string(text),
			filepath.Join(place.Home, ".codex", "config.toml"): named.Replace(config)} {
			if err := replace(path, []byte(content), nil); err != nil {
				t.Fatal(err)
			}
		}
		s, err := h.Status(place, "/opt/interlock")
		if err != nil {
			t.Fatal(err)
		}
		if !slices.EqualFunc(s.Problems, want, func(got, part string) bool { return strings.Contains(got, named.Replace(part)) }) {
			t.Errorf("%q: problems %q, want %q", config, s.Problems, want)
		}
	}
}
