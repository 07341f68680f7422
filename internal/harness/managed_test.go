package harness

import (
	"path/filepath"
	"strings"
	"testing"
)

// An administrator's hooks are found where only they are registered, and nothing that users or projects say switches them off.
func TestClaudesManagedSettings(t *testing.T) {
	h := harnessNamed(t, "claude")
	hooks, err := h.install(nil, "linux", commandFor(h))
	if err != nil {
		t.Fatal(err)
	}
	const off, only = `{"disableAllHooks": true}`, `{"allowManagedHooksOnly": true}`
	for _, c := range []struct {
		name, user, managed, project, local string
		events                              int
		problems                            string // part of them; empty: none
	}{
		{name: "the user's", user: string(hooks), events: 6},
		{name: "an administrator's", managed: string(hooks), events: 6},
		{name: "both", user: string(hooks), managed: string(hooks), events: 12},
		{name: "off in the project", user: string(hooks), project: off, events: 6,
			problems: filepath.Join("project", ".claude", "settings.json") + " sets disableAllHooks"},
		{name: "off in the project for this user", user: string(hooks), local: off, events: 6, problems: "settings.local.json sets disableAllHooks"},
		{name: "off for an administrator's", managed: string(hooks), project: off, events: 6},
		{name: "an administrator's only", user: string(hooks), managed: only, events: 6,
			problems: "managed-settings.json sets allowManagedHooksOnly"},
		{name: "some of an administrator's", user: string(hooks), managed: strings.Replace(string(hooks), `"PreToolUse"`, `"Stop"`, 1),
			project: off, events: 11,
			problems: "sets disableAllHooks"},
		{name: "an administrator's of an earlier version", managed: strings.Replace(string(hooks), `"UserPromptSubmit"`, `"Stop"`, 1),
			project: off, events: 5},
		{name: "unreadable", user: string(hooks), project: "{", events: 6, problems: "can't be read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			home := t.TempDir()
			place := Place{Home: home, GOOS: "linux", System: filepath.Join(home, "etc")}
			project := filepath.Join(home, "project")
			for path, text := range map[string]string{h.Settings(place): c.user, place.managed(managedSettings): c.managed,
				filepath.Join(project, ".claude", "settings.json"): c.project, filepath.Join(project, ".claude", "settings.local.json"): c.local} {
				if text == "" {
					continue
				}
				if err := replace(path, []byte(text), nil); err != nil {
					t.Fatal(err)
				}
			}
			s, err := h.Status(place, "/opt/interlock")
			if err != nil || len(s.Registrations) != c.events {
				t.Errorf("%d registrations, want %d: %v", len(s.Registrations), c.events, err)
			}
			if got := strings.Join(h.SwitchedOff(place, project), "; "); (got == "") != (c.problems == "") || !strings.Contains(got, c.problems) {
				t.Errorf("problems %q, want %q", got, c.problems)
			}
		})
	}
}
