package clients

import (
	"context"
	"encoding/json"
	"net/http"
	"os/exec"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"interlock/test/product"
)

// TestGoSDK drives the program with the Go SDK's client, on standard streams and over HTTP, at every revision of the protocol it
// speaks: the whole way from an execution to its end.
func TestGoSDK(t *testing.T) {
	t.Parallel()
	for _, revision := range mcp.SupportedProtocolVersions() {
		for _, door := range []string{"stdio", "http"} {
			t.Run(revision+" "+door, func(t *testing.T) {
				t.Parallel()
				_, env := newHome(t)
				var transport mcp.Transport
				if door == "http" {
					endpoint, token := up(t, env)
					transport = &mcp.StreamableClientTransport{Endpoint: endpoint, HTTPClient: &http.Client{Transport: bearer(token)}}
				} else {
					command := exec.Command(product.Interlock(), "mcp")
					command.Env = env
					transport = &mcp.CommandTransport{Command: command}
				}
				session, err := mcp.NewClient(&mcp.Implementation{Name: "sdk", Version: "1"}, nil).Connect(t.Context(), transport,
					&mcp.ClientSessionOptions{ProtocolVersion: revision})
				if err != nil {
					t.Fatal(err)
				}
				defer session.Close()
				if got := session.InitializeResult().ProtocolVersion; got != revision {
					t.Fatalf("the revision is %s", got)
				}
				wholeWay(t, session)
			})
		}
	}
}

func wholeWay(t *testing.T, session *mcp.ClientSession) {
	t.Helper()
	prompt, err := session.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "safety_loop"})
	if err != nil || len(prompt.Messages) != 1 {
		t.Fatalf("the prompt: %+v, %v", prompt, err)
	}
	call := func(tool, operation string, params map[string]any) map[string]any {
		t.Helper()
		result, err := session.CallTool(context.Background(),
			&mcp.CallToolParams{Name: tool, Arguments: map[string]any{"operation": operation, "params": params}})
		if err != nil {
			t.Fatalf("%s: %v", operation, err)
		}
		var envelope struct {
			Success bool
			Data    map[string]any
		}
		text := result.Content[0].(*mcp.TextContent).Text
		if err := json.Unmarshal([]byte(text), &envelope); err != nil || !envelope.Success || result.IsError {
			t.Fatalf("%s: %v: %s", operation, err, text)
		}
		return envelope.Data
	}
	handle := call("mcp_aql_execute", "execute_agent", map[string]any{"element_name": "task"})["execution_id"]
	for _, step := range []struct {
		hint    string
		goes    any
		waiting bool
	}{{"git status", true, false}, {"git push --force origin main", false, true}} {
		d := call("mcp_aql_create", "record_execution_step", map[string]any{"element_name": "task", "execution_id": handle, "next_action_hint": step.hint})
		if _, waiting := d["request_id"]; d["continue"] != step.goes || waiting != step.waiting || d["stopped"] != false {
			t.Errorf("%s: %v", step.hint, d)
		}
	}
	if ended := call("mcp_aql_execute", "abort_execution", map[string]any{"execution_id": handle, "reason": "enough"}); ended["status"] != "cancelled" {
		t.Errorf("the end: %v", ended)
	}
}

// bearer sends an agent's token with every request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}
