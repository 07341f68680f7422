package clients

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"interlock/test/product"
)

// TestGatewayCarriesQuestions has a real server of the handshake revisions ask the Go SDK's client, under every revision that
// speaks: until 2025-11-25 by requests, and then in results of the same call.
func TestGatewayCarriesQuestions(t *testing.T) {
	t.Parallel()
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			_, env := newHome(t)
			runtime, path := script(t, "@modelcontextprotocol/server-everything/dist/index.js")
			gateway := exec.Command(product.Interlock(), "gateway", "--mode", "monitoring", "--name", "every", "--", runtime, path,
				"stdio")
			gateway.Env, gateway.Dir = env, t.TempDir()
			var forms, samples atomic.Int32
			client := mcp.NewClient(&mcp.Implementation{Name: "sdk", Version: "1"}, &mcp.ClientOptions{
				ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
					forms.Add(1)
					return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"name": "Ann Example"}}, nil
				},
				CreateMessageHandler: func(_ context.Context, r *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
					samples.Add(1)
					return &mcp.CreateMessageResult{Model: "m", Role: "assistant", Content: &mcp.TextContent{Text: "as sampled"}}, nil
				},
			})
			client.AddRoots(&mcp.Root{URI: "file:///srv/work", Name: "work"})
			session, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: gateway}, &mcp.ClientSessionOptions{ProtocolVersion: revision})
			if err != nil {
				t.Fatal(err)
			}
			defer session.Close()
			for _, call := range []struct {
				tool      string
				arguments map[string]any
				want      string
			}{
				{"every.trigger-elicitation-request", nil, "Ann Example"},
				{"every.trigger-sampling-request", map[string]any{"prompt": "hi", "maxTokens": 5}, "as sampled"},
				{"every.get-roots-list", nil, "file:///srv/work"},
			} {
				result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: call.tool, Arguments: call.arguments})
				if err != nil {
					t.Fatalf("%s: %v", call.tool, err)
				}
				text, err := json.Marshal(result)
				if err != nil || result.IsError || !strings.Contains(string(text), call.want) {
					t.Errorf("%s: %s, %v", call.tool, text, err)
				}
			}
			if forms.Load() != 1 || samples.Load() != 1 {
				t.Errorf("%d forms were shown and the model asked %d times", forms.Load(), samples.Load())
			}
			session.Close() // what is left to record is recorded by then
			output(t, env, "audit", "verify")
			events := map[string]int{}
			for line := range strings.Lines(output(t, env, "audit", "export")) {
				var e struct {
					Event struct {
						Actor string `json:"actor_id"`
						Type  string `json:"event_type"`
					} `json:"event"`
				}
				if err := json.Unmarshal([]byte(line), &e); err != nil {
					t.Fatal(err)
				}
				switch e.Event.Type {
				case "DECISION", "SAFETY_BLOCK_EVENT", "SAFETY_REVIEW_REQUEST": // which is what the last two are too
					events[e.Event.Actor+" decided"]++
				case "OUTCOME":
					events[e.Event.Actor+" ended"]++
				}
			}
			want := map[string]int{"gateway decided": 3, "gateway ended": 3, "server:every decided": 3, "server:every ended": 3}
			// The server asks for the roots by itself a third of a second after it began. Where that is during the call that is about
			// them, it asks twice.
			if events["server:every decided"] == 4 {
				want["server:every decided"], want["server:every ended"] = 4, 4
			}
			if diff := cmp.Diff(want, events); diff != "" {
				t.Errorf("each call and each question is decided once and ends once (-want +got):\n%s", diff)
			}
		})
	}
}

// TestGatewayCarriesQuestionsOverHTTP does so over HTTP on both sides, where the request that a call came with is long over when
// its server gets an answer.
func TestGatewayCarriesQuestionsOverHTTP(t *testing.T) {
	t.Parallel()
	address := serverOverHTTP(t, buildServer(t), false)
	home, env := newHome(t)
	settings := "mode: monitoring\ngateway:\n  trust_on_first_use: true\n  servers:\n  - name: far\n    url: " + address + "\n"
	if err := os.WriteFile(filepath.Join(home, "interlock.yaml"), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	token := addAgent(t, env, "client")
	endpoint := started(t, env, "mcp     ", "gateway", "--listen", "127.0.0.1:0")
	client := mcp.NewClient(&mcp.Implementation{Name: "sdk", Version: "1"}, &mcp.ClientOptions{
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"username": "ann", "email": "ann@example.org"}}, nil
		},
		CreateMessageHandler: func(context.Context, *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
			return &mcp.CreateMessageResult{Model: "m", Role: "assistant", Content: &mcp.TextContent{Text: "as sampled"}}, nil
		},
	})
	session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: endpoint, HTTPClient: &http.Client{Transport: bearer(token)}},
		&mcp.ClientSessionOptions{ProtocolVersion: "2026-07-28"})
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	for tool, call := range map[string]struct {
		arguments map[string]any
		want      string
	}{
		"far.test_elicitation": {map[string]any{"message": "who?"}, "ann@example.org"},
		"far.test_sampling":    {map[string]any{"prompt": "hi"}, "as sampled"},
	} {
		result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: call.arguments})
		if err != nil {
			t.Fatalf("%s: %v", tool, err)
		}
		text, err := json.Marshal(result)
		if err != nil || result.IsError || !strings.Contains(string(text), call.want) {
			t.Errorf("%s: %s, %v", tool, text, err)
		}
	}
}
