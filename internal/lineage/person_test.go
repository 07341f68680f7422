package lineage

import "testing"

func TestMachine(t *testing.T) {
	for command, want := range map[string]string{
		"claude --continue": "claude",
		"node /usr/lib/node_modules/@openai/codex/bin/x.js": "@openai/codex",
		"node --max-old-space-size=1 /usr/local/bin/gemini": "gemini",
		"/bin/sh /usr/local/bin/claude":                     "claude",
		"/opt/interlock --home /x gateway --name a -- b":    "interlock gateway",
		"interlock hook --agent claude":                     "interlock hook",
		"interlock exec -- ls":                              "interlock exec",
		"/usr/lib/interlock-hook --agent claude":            "a hook",
		`C:\Users\dana\AppData\claude.exe`:                  "claude",
		"interlock up":                                      "",
		"vim claude":                                        "",
		"bash -l":                                           "",
		"bash -c claude-notes":                              "",
		"cursor /home/dana/project":                         "", // whose terminal a person types into
		"tmux":                                              "",
		"":                                                  "",
	} {
		if got := started(command).machine(); got != want {
			t.Errorf("%q is %q, want %q", command, got, want)
		}
	}
	if _, found := among([]Process{{Args: []string{"bash"}, Env: []string{"HOME=/x", "CODEX_SANDBOX=seatbelt"}}}); !found {
		t.Error("what a harness set for the shell above is not seen")
	}
	if _, found := among([]Process{{Args: []string{"bash"}, Env: []string{"CLAUDECODE=", "CLAUDECODES=1"}}}); found {
		t.Error("an empty variable, or another one, is taken for a harness's")
	}
	for path, want := range map[string]bool{"0::/user.slice/app.slice/app-claude-1234.scope": true, "0::/user.slice/session-3.scope": false,
		"5:cpu:/amp": false, "0::/app-opencode@1.service": true} {
		if _, found := grouped([]string{path}); found != want {
			t.Errorf("%s: %v", path, found)
		}
	}
}
