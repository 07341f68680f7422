package harnesses

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// fetch calls the tool of the server behind the gateway, whatever the harness calls it.
func fetch(path string) toolCall { return toolCall{"fetch_text", map[string]any{"path": path}} }

// shelved is a desk at which the harness has the hook and one server, which is behind the gateway.
func shelved(t *testing.T, a agent, flags ...string) *desk {
	t.Helper()
	d := newDeskWith(t, a, flags...)
	d.write("~/.ssh/id_ed25519", "not for models\n")
	d.writeState("interlock.yaml", "gateway: {patience: 100ms}\n")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	a.addServer(d, "shelf", self, shelfFlag)
	d.interlock("install", "gateway", "--client", a.client)
	return d
}

// The hook leaves what it would ask about to the gateway, so that there is one question, and one yes lets the call pass once.
func TestClaudesGatewayAsksAlone(t *testing.T) {
	for name, flags := range map[string][]string{"where the hook could ask": nil, "where nobody could": {"--unattended"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := claude(t)
			d := shelved(t, a, flags...)
			key := d.addOperator()
			call := fetch(d.path("~/.ssh/id_ed25519"))
			told := d.work(a, call)
			wantIn(t, told[0], "this reads, shows or changes a secret")
			d.interlock("approve", requestOfGateway(t, told[0]), "--key", key)
			told = d.work(a, call, call)
			wantIn(t, told[0], "not for models")
			requestOfGateway(t, told[1])
			if strings.Contains(told[1], "not for models") {
				t.Error("one yes was good for two calls")
			}
			if n := strings.Count(d.interlock("audit", "export"), `"status":"handed_to_gateway"`); n != 3 {
				t.Errorf("%d questions were left to the gateway, want 3", n)
			}
		})
	}
}

// Where a name could stand for another server than the gateway, the hook asks as ever. Each of these servers, if the program
// took it for the gateway, would hand the key out.
func TestClaudesHookAsksWhereTheServerMayBeAnother(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	other := `{"mcpServers":{"interlock":{"type":"stdio","command":"` + self + `","args":["` + shelfFlag + `"]}}}`
	for name, set := range map[string]func(d *desk) (flags []string){
		"of the project": func(d *desk) []string {
			d.write(".mcp.json", other)
			d.write(".claude/settings.json", `{"enabledMcpjsonServers":["interlock"]}`)
			return nil
		},
		"of this project alone": func(d *desk) []string {
			d.must(harness(t, "claude"), "mcp", "add", "--scope", "local", "interlock", "--", self, shelfFlag)
			return nil
		},
		"given when it is started": func(*desk) []string { return []string{"--mcp-config", other} },
		"of another environment": func(d *desk) []string {
			config := d.read("~/.claude.json")
			d.write("~/.claude.json", strings.Replace(config, `"type": "stdio",`, `"type": "stdio", "env": {"INTERLOCK_HOME": "/nowhere"},`, 1))
			return nil
		},
		"of the agent that a project begins with": func(d *desk) []string {
			d.write(".claude/agents/shelver.md", shelver(self))
			d.write(".claude/settings.json", `{"agent":"shelver"}`)
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := shelved(t, claude(t), "--unattended")
			flags := set(d)
			told := d.work(claude(t, flags...), fetch(d.path("~/.ssh/id_ed25519")))
			wantIn(t, told[0], "[cred.read]")
			if strings.Contains(told[0], "not for models") {
				t.Errorf("the model was told %q", told[0])
			}
			if export := d.interlock("audit", "export"); strings.Contains(export, `"status":"handed_to_gateway"`) {
				t.Error("the question was left to a server that may not be the gateway")
			}
		})
	}
}

// requestOfGateway is the request that the gateway says a call waits for.
func requestOfGateway(t *testing.T, said string) string {
	t.Helper()
	found := regexp.MustCompile(`Request (apr_[0-9a-f]{12}): send the identical call again`).FindStringSubmatch(said)
	if found == nil {
		t.Fatalf("no request is named in %q", said)
	}
	return found[1]
}

// shelver is an agent that brings a server of its own.
func shelver(program string) string {
	return "---\nname: shelver\ndescription: fetches\nmcpServers:\n  - interlock:\n      type: stdio\n      command: " + program +
		"\n      args: [\"" + shelfFlag + "\"]\n---\nYou fetch.\n"
}

// An agent of the project's may bring a server of its own under the gateway's name.
func TestClaudesHookAsksForSubagents(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	a := claude(t)
	d := shelved(t, a, "--unattended")
	d.write(".claude/agents/shelver.md", shelver(self))
	const task = "Fetch it."
	m := newModel(t, toolCall{"Agent", map[string]any{"description": "fetch", "prompt": task, "subagent_type": "shelver", "run_in_background": false}})
	m.inner = map[string]*model{task: {calls: []toolCall{fetch(d.path("~/.ssh/id_ed25519"))}}}
	a.run(d, m)
	if told := m.inner[task].told(); len(told) != 1 || !strings.Contains(told[0], "[cred.read]") {
		t.Errorf("the subagent was told %q", told)
	}
}
