package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"interlock/spec"
)

// An agent that pauses tries everything it has, through every door of MCP-AQL, and does not go on.
func TestAPausedMCPAgentStaysPaused(t *testing.T) {
	spec.Covers(t, "AQL-8.6.4")
	for name, door := range map[string]struct {
		single  bool
		connect func(rig *mcpRig) func() *mcp.ClientSession
	}{
		"standard streams, semantic": {false, func(rig *mcpRig) func() *mcp.ClientSession {
			return func() *mcp.ClientSession { return rig.client("client", nil) }
		}},
		"standard streams, single": {true, func(rig *mcpRig) func() *mcp.ClientSession {
			return func() *mcp.ClientSession { return rig.client("client", nil, "--mode", "single") }
		}},
		"HTTP": {false, func(rig *mcpRig) func() *mcp.ClientSession {
			token, err := rig.output("agent", "add", "one", "--key", governed(rig.t, rig.home))
			if err != nil {
				rig.t.Fatal(err)
			}
			address := rig.up()
			return func() *mcp.ClientSession {
				session, err := mcp.NewClient(&mcp.Implementation{Name: "c", Version: "1"}, nil).Connect(context.Background(),
					&mcp.StreamableClientTransport{Endpoint: address, DisableStandaloneSSE: true,
						HTTPClient: &http.Client{Transport: withToken(strings.TrimSpace(token))}}, nil)
				if err != nil {
					rig.t.Fatal(err)
				}
				rig.t.Cleanup(func() { session.Close() })
				return session
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			rig := newRig(t)
			connect := door.connect(rig)
			call := func(session *mcp.ClientSession, operation string, params map[string]any) map[string]any {
				if !door.single {
					return rig.call(session, operation, params)
				}
				return singly(t, session, operation, params)
			}
			step := func(session *mcp.ClientSession, hint string, more ...any) map[string]any {
				params := map[string]any{"element_name": "task", "next_action_hint": hint}
				for n := 0; n < len(more); n += 2 {
					params[more[n].(string)] = more[n+1]
				}
				data, _ := call(session, "record_execution_step", params)["data"].(map[string]any)
				return data
			}
			session := connect()
			call(session, "execute_agent", map[string]any{"element_name": "task"})
			paused := step(session, "git status", "outcome", "failure")
			request, _ := paused["request_id"].(string)
			if paused["continue"] != false || request == "" {
				t.Fatalf("after a failure: %v", paused)
			}
			stays := func(how string, d map[string]any) {
				t.Helper()
				if d["continue"] != false || d["stopped"] != false || !strings.Contains(fmt.Sprint(d["request_id"], d["reason"]), request) {
					t.Errorf("%s: %v", how, d)
				}
			}
			stays("the same step, gone well", step(session, "git status", "outcome", "success"))
			stays("the same step, without an outcome", step(session, "git status"))
			stays("another step", step(session, "reading README.md"))
			stays("another step again", step(session, "reading README.md"))
			if a := call(session, "confirm_operation", map[string]any{"request_id": request}); a["success"] == true {
				t.Errorf("its own word: %v", a)
			}
			stays("after its own word", step(session, "git status"))
			call(session, "abort_execution", map[string]any{"element_name": "task"})
			call(session, "execute_agent", map[string]any{"element_name": "task"})
			stays("in a new execution", step(session, "reading README.md"))
			other := connect()
			if door.single || name != "HTTP" { // over HTTP the execution belongs to the token, whatever the connection
				call(other, "execute_agent", map[string]any{"element_name": "task"})
			}
			stays("over another connection", step(other, "reading README.md"))
			stays("over another connection, the same step", step(other, "git status"))
		})
	}
}

// singly carries out an operation through the one tool of single mode.
func singly(t *testing.T, session *mcp.ClientSession, operation string, params map[string]any) (answer map[string]any) {
	t.Helper()
	result, err := session.CallTool(context.Background(),
		&mcp.CallToolParams{Name: "mcp_aql", Arguments: map[string]any{"operation": operation, "params": params}})
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(result.Content[0].(*mcp.TextContent).Text), &answer); err != nil {
		t.Fatal(err)
	}
	return answer
}
