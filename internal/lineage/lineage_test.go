package lineage

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

func started(command string) Process {
	return Process{Args: strings.Fields(command), Input: true, Output: true}
}

func TestPrompts(t *testing.T) {
	for command, want := range map[string]bool{
		"copilot": true,
		"/usr/local/bin/copilot --allow-all-tools":                          false,
		"node /usr/lib/node_modules/@github/copilot/index.js":               true,
		"node --no-warnings /usr/lib/node_modules/@github/copilot/a --yolo": false,
		"node /x/copilot.js -p fix_it":                                      false,
		"copilot --prompt=go":                                               false,
		"copilot --mode=autopilot":                                          false,
		"copilot --allow-tool=shell(ls)":                                    true,
		"bash -c interlock_hook_--agent_copilot":                            false,
		"node server.js copilot":                                            false,
		"":                                                                  false,
	} {
		if got := Prompts([]Process{started("sh"), started(command)}); got != want {
			t.Errorf("%q shows prompts: %v", command, got)
		}
	}
	if piped := started("copilot"); Prompts([]Process{{Args: piped.Args, Output: true}}) {
		t.Error("it shows prompts although its own prompt was piped to it")
	}
	if prompts, _ := Look("copilot", func(string) string { return "1" }); prompts {
		t.Error("COPILOT_ALLOW_ALL does not count")
	}
}

func TestAlone(t *testing.T) {
	for _, c := range []struct {
		agent, command string
		change         func(*Process)
		want           bool
	}{
		{"gemini", "gemini", nil, false},
		{"gemini", "gemini fix_it", nil, false}, // at a terminal it goes on from there
		{"gemini", "gemini -m fast -p go", nil, true},
		{"gemini", "gemini --prompt=go", nil, true},
		{"gemini", "gemini -yp go", nil, true},
		{"gemini", "node --max-old-space-size=9 /opt/@google/gemini-cli/bundle/gemini.js -p go", nil, true},
		{"gemini", "gemini", func(p *Process) { p.Input = false }, true},
		{"gemini", "gemini", func(p *Process) { p.Output = false }, true},
		{"gemini", "gemini", func(p *Process) { p.CI = true }, true},
		{"gemini", "gemini --acp", func(p *Process) { p.Input, p.Output = false, false }, false},
		{"gemini", "gemini -i go", func(p *Process) { p.CI = true }, false},
		{"gemini", "vi gemini.md", func(p *Process) { p.Input = false }, true}, // taken for it; only an ask is refused then
		{"gemini", "make -p", func(p *Process) { p.Input = false }, false},
		{"qwen", "node /opt/@qwen-code/qwen-code/cli-entry.js", nil, false},
		{"qwen", "node /opt/@qwen-code/qwen-code/cli-entry.js go", func(p *Process) { p.Input = false }, true},
		{"qwen", "qwen", func(p *Process) { p.Output = false }, false},
		{"qwen", "gemini -p go", nil, false},
	} {
		p := started(c.command)
		if c.change != nil {
			c.change(&p)
		}
		if got := Alone(c.agent, []Process{started("sh"), p}); got != c.want {
			t.Errorf("%s as %q with %+v alone: %v", c.agent, c.command, p, got)
		}
	}
}

// TestLook runs this test once more below a shell named as Gemini CLI is, without a terminal.
func TestLook(t *testing.T) {
	const below = "LINEAGE_TEST_BELOW"
	if os.Getenv(below) != "" {
		_, alone := Look("gemini", os.Getenv)
		if want := ancestors(1) != nil; alone != want {
			t.Errorf("alone: %v", alone)
		}
		return
	}
	if _, err := exec.LookPath("sh"); err != nil {
		t.Logf("there is no shell here to be started by: %v", err)
		return
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	script := t.TempDir() + "/gemini"
	if err := os.WriteFile(script, []byte(`"$1" -test.run '^TestLook$'; exit $?`), 0o600); err != nil {
		t.Fatal(err)
	}
	command := exec.Command("sh", script, self)
	command.Env = append(os.Environ(), below+"=1")
	if out, err := command.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
