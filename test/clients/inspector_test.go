package clients

import (
	"bytes"
	"encoding/json"
	"errors"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock/test/product"
)

// An inspector is the MCP Inspector's command line: every call is a process and a connection of its own.
type inspector struct {
	env    []string
	flags  []string // before the method
	server []string // after it: the command of a server on standard streams
}

// inspect runs one method. A tool's failure is exit status 5, with the answer on standard output all the same.
func (i inspector) inspect(t *testing.T, status int, method string, args ...string) map[string]any {
	t.Helper()
	line := append([]string{"--cli"}, i.flags...)
	line = append(append(line, "--method", method), args...)
	if len(i.server) > 0 {
		line = append(append(line, "--"), i.server...)
	}
	command := node(t, i.env, "@modelcontextprotocol/inspector/clients/launcher/build/index.js", line...)
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.Output()
	got := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	if got != status {
		t.Fatalf("%s %v: exit status %d, want %d: %s%s", method, args, got, status, out, stderr.String())
	}
	var answer map[string]any
	if err := json.Unmarshal(out, &answer); err != nil {
		t.Fatalf("%s %v: %v: %s", method, args, err, out)
	}
	return answer
}

// operation carries one out and returns the envelope.
func (i inspector) operation(t *testing.T, status int, tool, name, params string) map[string]any {
	t.Helper()
	result := i.inspect(t, status, "tools/call", "--tool-name", tool, "--tool-arg", "operation="+name, "--tool-arg", "params="+params)
	content, _ := result["content"].([]any)
	if len(content) != 1 {
		t.Fatalf("%s: %v", name, result)
	}
	var envelope map[string]any
	text, _ := content[0].(map[string]any)["text"].(string)
	if err := json.Unmarshal([]byte(text), &envelope); err != nil {
		t.Fatalf("%s: %v: %s", name, err, text)
	}
	return envelope
}

// eras are the two ways this client speaks: by a handshake as until 2025-11-25, and without one as from 2026-07-28.
var eras = []string{"legacy", "modern"}

// what the Inspector lists of a server.
func (i inspector) lists(t *testing.T) (names []string) {
	t.Helper()
	for _, kind := range []string{"tools", "prompts"} {
		items, _ := i.inspect(t, 0, kind+"/list")[kind].([]any)
		for _, item := range items {
			names = append(names, kind+" "+item.(map[string]any)["name"].(string))
		}
	}
	slices.Sort(names)
	return names
}

func TestInspectorOnStandardStreams(t *testing.T) {
	t.Parallel()
	for _, era := range eras {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			_, env := newHome(t)
			i := inspector{env: env, flags: []string{"--protocol-era", era}, server: []string{product.Interlock(), "mcp", "--agent",
				"inspector"}}
			want := []string{"prompts safety_loop", "tools mcp_aql_create", "tools mcp_aql_execute", "tools mcp_aql_read"}
			if diff := cmp.Diff(want, i.lists(t)); diff != "" {
				t.Errorf("lists (-want +got):\n%s", diff)
			}
			answer := i.operation(t, 0, "mcp_aql_read", "introspect", `{"query":"operations","name":"record_execution_step"}`)
			operation, _ := answer["data"].(map[string]any)["operation"].(map[string]any)
			if operation["name"] != "record_execution_step" || operation["endpoint"] != "create" {
				t.Errorf("introspection: %v", answer)
			}
			i.server = append(i.server, "--mode", "single")
			started := i.operation(t, 0, "mcp_aql", "execute_agent", `{"element_name":"task"}`)
			if data, _ := started["data"].(map[string]any); data["status"] != "running" {
				t.Errorf("an execution: %v", started)
			}
			i.operation(t, 5, "mcp_aql", "record_execution_step", `{"element_name":"task","next_action_hint":"ls"}`) // it ended with its connection
		})
	}
}

// Over HTTP every call of this client is a connection of its own, so an execution lives by its handle and the agent's token.
func TestInspectorOverHTTP(t *testing.T) {
	t.Parallel()
	for _, era := range eras {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			_, env := newHome(t)
			endpoint, token := up(t, env)
			i := inspector{env: env, flags: []string{"--server-url", endpoint, "--header", "Authorization: Bearer " + token, "--protocol-era", era}}
			prompt, err := json.Marshal(i.inspect(t, 0, "prompts/get", "--prompt-name", "safety_loop"))
			if err != nil || !strings.Contains(string(prompt), "record_execution_step") {
				t.Errorf("the prompt: %s, %v", prompt, err)
			}
			started := i.operation(t, 0, "mcp_aql_execute", "execute_agent", `{"element_name":"task"}`)
			handle, _ := started["data"].(map[string]any)["execution_id"].(string)
			step := func(hint string) map[string]any {
				text, err := json.Marshal(map[string]string{"element_name": "task", "execution_id": handle, "next_action_hint": hint})
				if err != nil {
					t.Fatal(err)
				}
				directive, _ := i.operation(t, 0, "mcp_aql_create", "record_execution_step", string(text))["data"].(map[string]any)
				return directive
			}
			if d := step("git status"); d["continue"] != true || d["execution_id"] != handle {
				t.Errorf("a harmless step: %v", d)
			}
			if d := step("rm -rf /"); d["continue"] != false || d["stopped"] != true {
				t.Errorf("a catastrophic step: %v", d)
			}
			refused := i.operation(t, 5, "mcp_aql_execute", "execute_agent", `{"element_name":"another"}`)
			if failure, _ := refused["error"].(map[string]any); failure["code"] != "PERMISSION_DENIED" {
				t.Errorf("a stopped agent starts another execution: %v", refused)
			}
			i.flags[3] = "Authorization: Bearer ilk_nobody"
			if denied := node(t, env, "@modelcontextprotocol/inspector/clients/launcher/build/index.js",
				append(append([]string{"--cli"}, i.flags...), "--method", "tools/list")...).Run(); denied == nil {
				t.Error("a token nobody has is accepted")
			}
		})
	}
}
