package clients

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestGatewayGoSDK drives the gateway with the Go SDK's client over HTTP at every revision it speaks, before the suite's server.
func TestGatewayGoSDK(t *testing.T) {
	t.Parallel()
	server := buildServer(t)
	_, env := newHome(t)
	endpoint, token := gatewayBefore(t, env, "suite", nil, server)
	for _, revision := range mcp.SupportedProtocolVersions() {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			var progress []float64
			client := mcp.NewClient(&mcp.Implementation{Name: "sdk", Version: "1"}, &mcp.ClientOptions{
				ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
					mu.Lock()
					defer mu.Unlock()
					progress = append(progress, r.Params.Progress)
				}})
			session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: endpoint, HTTPClient: &http.Client{Transport: bearer(token)}},
				&mcp.ClientSessionOptions{ProtocolVersion: revision})
			if err != nil {
				t.Fatal(err)
			}
			defer session.Close()
			if got := session.InitializeResult().ProtocolVersion; got != revision {
				t.Errorf("the revision is %s", got)
			}
			var tools []string
			for tool, err := range session.Tools(t.Context(), nil) {
				if err != nil {
					t.Fatal(err)
				}
				tools = append(tools, tool.Name)
			}
			if !slices.Contains(tools, "suite.test_simple_text") {
				t.Errorf("the tools are %v", tools)
			}
			simple, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "suite.test_simple_text"})
			if err != nil || simple.IsError || simple.Content[0].(*mcp.TextContent).Text != "This is a simple text response for testing." {
				t.Errorf("a call: %+v, %v", simple, err)
			}
			params := &mcp.CallToolParams{Name: "suite.test_tool_with_progress", Meta: mcp.Meta{"progressToken": "p"}}
			if _, err := session.CallTool(t.Context(), params); err != nil {
				t.Error(err)
			}
			mu.Lock()
			if diff := cmp.Diff([]float64{0, 50, 100}, progress); diff != "" {
				t.Errorf("progress (-want +got):\n%s", diff)
			}
			mu.Unlock()
			failed, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "suite.test_error_handling"})
			if err != nil || !failed.IsError {
				t.Errorf("a tool's own error: %+v, %v", failed, err)
			}
			resource, err := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "test://static-text"})
			if err != nil || len(resource.Contents) != 1 {
				t.Errorf("a resource: %+v, %v", resource, err)
			}
		})
	}
}

// TestGatewayInspector drives the gateway with the Inspector's command line over HTTP, in both eras of the protocol.
func TestGatewayInspector(t *testing.T) {
	t.Parallel()
	server := buildServer(t)
	for _, era := range eras {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			_, env := newHome(t)
			endpoint, token := gatewayBefore(t, env, "suite", nil, server)
			i := inspector{env: env, flags: []string{"--server-url", endpoint, "--header", "Authorization: Bearer " + token, "--protocol-era", era}}
			names := i.lists(t)
			if !slices.Contains(names, "tools suite.test_simple_text") || !slices.Contains(names, "prompts suite.test_simple_prompt") {
				t.Errorf("lists: %v", names)
			}
			result, err := json.Marshal(i.inspect(t, 0, "tools/call", "--tool-name", "suite.test_simple_text"))
			if err != nil || !strings.Contains(string(result), "This is a simple text response") {
				t.Errorf("a call: %s, %v", result, err)
			}
		})
	}
}

// TestGatewayPassesNoCredential looks at what a server over HTTP is sent: nothing of the credential, cookies or addresses that an
// agent shows the gateway.
func TestGatewayPassesNoCredential(t *testing.T) {
	t.Parallel()
	path := buildServer(t)
	for _, stateless := range []bool{false, true} {
		target, err := url.Parse(serverOverHTTP(t, path, stateless))
		if err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		var sent []string
		between := httptest.NewServer(&httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL = target
			head, err := httputil.DumpRequest(r.In, false)
			mu.Lock()
			defer mu.Unlock()
			if sent = append(sent, string(head)); err != nil {
				t.Error(err)
			}
		}})
		t.Cleanup(between.Close) // after the gateway, which keeps a stream open
		home, env := newHome(t)
		settings := "gateway:\n  trust_on_first_use: true\n  servers:\n  - name: far\n    url: " + between.URL + "\n    headers: {Authorization: \"Bearer env:FAR_TOKEN\"}\n"
		if err := os.WriteFile(filepath.Join(home, "interlock.yaml"), []byte(settings), 0o600); err != nil {
			t.Fatal(err)
		}
		env = append(env, "FAR_TOKEN=of-the-gateway")
		token := addAgent(t, env, "client")
		endpoint := started(t, env, "mcp     ", "gateway", "--listen", "127.0.0.1:0")
		carry := carrier{"Authorization": "Bearer " + token, "Cookie": "agent-cookie=1", "X-Forwarded-For": "10.9.8.7", "Mcp-Param-X": "agent-param"}
		session, err := mcp.NewClient(&mcp.Implementation{Name: "agent-program", Version: "1"}, nil).Connect(t.Context(),
			&mcp.StreamableClientTransport{Endpoint: endpoint, HTTPClient: &http.Client{Transport: carry}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "far.test_simple_text"}); err != nil || result.IsError {
			t.Errorf("a call: %+v, %v", result, err)
		}
		session.Close()
		mu.Lock()
		all := strings.Join(sent, "\n")
		mu.Unlock()
		if !strings.Contains(all, "Bearer of-the-gateway") {
			t.Errorf("the server got no credential of its own:\n%s", all)
		}
		// One that keeps sessions does not know the revision its client speaks, and is met with the handshake.
		if modern := strings.Contains(all, "Mcp-Method: tools/call"); modern != stateless {
			t.Errorf("a server that keeps sessions: %v; it is sent\n%s", !stateless, all)
		}
		for _, secret := range []string{token, "agent-cookie", "10.9.8.7", "agent-param", "ilk_"} {
			if strings.Contains(all, secret) {
				t.Errorf("the server was sent %q:\n%s", secret, all)
			}
		}
	}
}

// carrier sends headers with every request.
type carrier map[string]string

func (c carrier) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for name, value := range c {
		r.Header.Set(name, value)
	}
	return http.DefaultTransport.RoundTrip(r)
}
