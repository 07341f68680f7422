package mcpguard_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"interlock"
	"interlock/embedded"
	"interlock/mcpguard"
)

// outcomes are what the log of a home says of how calls ended, oldest first.
func outcomes(t *testing.T, home string) []string {
	t.Helper()
	backend, err := embedded.Open(t.Context(), embedded.Config{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	defer backend.Close()
	var all []string
	if err := backend.Store.Walk(t.Context(), func(e interlock.Entry) error {
		if e.Type == interlock.EventOutcome || e.Type == interlock.EventBlock || e.Type == interlock.EventReviewRequest || e.Type == interlock.EventRefusal {
			var body struct {
				Payload struct {
					Outcome string `json:"outcome"`
					Code    string `json:"code"`
				} `json:"payload"`
			}
			if err := json.Unmarshal(e.Body, &body); err != nil {
				return err
			}
			all = append(all, strings.Trim(string(e.Type)+" "+body.Payload.Outcome+body.Payload.Code, " "))
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return all
}

func open(t *testing.T, change func(*mcpguard.Config)) (*mcpguard.Guard, string) {
	t.Helper()
	c := mcpguard.Config{Name: "shell", Home: t.TempDir(), Agent: "tester"}
	if err := os.WriteFile(filepath.Join(c.Home, "interlock.yaml"), []byte("gateway: {patience: 20ms}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(&c)
	}
	guard, err := mcpguard.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { guard.Close() })
	return guard, c.Home
}

// A tool remembers what reached it.
type tool struct {
	mu   sync.Mutex
	came []string
}

func (o *tool) server() *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "shell", Version: "1"}, nil)
	for name, form := range map[string]any{"run_command": nil, "write_file": json.RawMessage(`{"type":"object","required":["n"]}`)} {
		server.AddTool(&mcp.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`), OutputSchema: form}, o.run)
	}
	return server
}

func (o *tool) run(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	o.mu.Lock()
	o.came = append(o.came, string(r.Params.Arguments))
	o.mu.Unlock()
	switch {
	case strings.Contains(string(r.Params.Arguments), "fail"):
		return nil, errors.New("it failed")
	case strings.Contains(string(r.Params.Arguments), "false"):
		return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: "no"}}}, nil
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "ran"}}}, nil
}

func (o *tool) heard() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.came)
}

// status is the status in a refusal, or the text of a result.
func status(t *testing.T, result *mcp.CallToolResult, err error) string {
	t.Helper()
	if err != nil {
		return "error"
	}
	if refused, ok := result.StructuredContent.(map[string]any); ok {
		return refused["status"].(string)
	}
	if refused, ok := result.Meta["interlock/answer"].(map[string]any); ok {
		return "in _meta " + refused["status"].(string)
	}
	return result.Content[0].(*mcp.TextContent).Text
}

// TestBothWays: through the middleware and through the handler the same calls reach the server, in the form that was judged,
// the others don't, and the log says how each ended.
func TestBothWays(t *testing.T) {
	for name, connect := range map[string]func(t *testing.T, guard *mcpguard.Guard, server *mcp.Server) mcp.Transport{
		"middleware": func(t *testing.T, guard *mcpguard.Guard, server *mcp.Server) mcp.Transport {
			server.AddReceivingMiddleware(guard.Middleware())
			here, there := mcp.NewInMemoryTransports()
			if _, err := server.Connect(t.Context(), there, nil); err != nil {
				t.Fatal(err)
			}
			return here
		},
		"handler": func(t *testing.T, guard *mcpguard.Guard, server *mcp.Server) mcp.Transport {
			web := httptest.NewServer(guard.Handler(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil)))
			t.Cleanup(web.Close)
			return &mcp.StreamableClientTransport{Endpoint: web.URL}
		},
		"handler without sessions": func(t *testing.T, guard *mcpguard.Guard, server *mcp.Server) mcp.Transport {
			web := httptest.NewServer(guard.Handler(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server },
				&mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true})))
			t.Cleanup(web.Close)
			return &mcp.StreamableClientTransport{Endpoint: web.URL}
		},
	} {
		t.Run(name, func(t *testing.T) {
			guard, home := open(t, nil)
			o := &tool{}
			session, err := mcp.NewClient(&mcp.Implementation{Name: "client", Version: "1"}, nil).Connect(t.Context(), connect(t, guard, o.server()), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer session.Close()
			if tools, err := session.ListTools(t.Context(), nil); err != nil || len(tools.Tools) != 2 {
				t.Fatalf("%+v %v", tools, err)
			}
			var got []string
			for _, arguments := range []string{`{"z":1.0,"command":"git status"}`, `{"command":"false"}`,
				`{"command":"rm -rf /"}`, `{"command":"git push --force origin main"}`} {
				result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "run_command", Arguments: json.RawMessage(arguments)})
				got = append(got, status(t, result, err))
			}
			if diff := cmp.Diff([]string{"ran", "no", "denied", "pending_approval"}, got); diff != "" {
				t.Errorf("the client got (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]string{`{"command":"git status","z":1}`, `{"command":"false"}`}, o.heard()); diff != "" {
				t.Errorf("the server got (-want +got):\n%s", diff)
			}
			result, err := session.CallTool(t.Context(),
				&mcp.CallToolParams{Name: "write_file", Arguments: map[string]any{"path": filepath.Join(home, "log.key"), "content": "mine"}})
			if got := status(t, result, err); got != "in _meta denied" {
				t.Errorf("where the tool declares the form of its results: %s", got)
			}
			session.Close()
			guard.Close()
			want := []string{"OUTCOME failure", "OUTCOME success", "SAFETY_BLOCK_EVENT", "SAFETY_BLOCK_EVENT", "SAFETY_REVIEW_REQUEST"}
			got = outcomes(t, home)
			slices.Sort(got) // an answer may be with the client before its outcome is in the log
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("the log (-want +got):\n%s", diff)
			}
		})
	}
}

// TestHandlerRefusesWhatIsNoMessage: nothing that could be read in two ways reaches the server, and a caller who is not known
// reaches nothing.
func TestHandlerRefusesWhatIsNoMessage(t *testing.T) {
	known := true
	guard, home := open(t, func(c *mcpguard.Config) {
		c.Caller = func(_ context.Context, header http.Header) (agent, principal string, err error) {
			if !known {
				return "", "", errors.New("no token")
			}
			return header.Get("X-Agent"), "alice", nil
		}
	})
	reached := 0
	handler := guard.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reached++
		body, _ := io.ReadAll(r.Body)
		if strings.Contains(string(body), "explode") {
			panic(http.ErrAbortHandler)
		}
		w.WriteHeader(http.StatusNoContent)
	}))
	post := func(body string) (code int) {
		defer func() { _ = recover() }()
		r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(body))
		r.Header.Set("X-Agent", "tester")
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		return w.Code
	}
	const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_note","arguments":`
	for name, body := range map[string]string{
		"no JSON": "x", "a batch": `[` + call + `{}}}]`, "a name twice": call + `{"a":1,"a":2}}}`,
		"a member twice": `{"jsonrpc":"2.0","id":1,"method":"tools/call","method":"ping"}`,
		"another case":   `{"jsonrpc":"2.0","id":1,"Method":"tools/call","method":"ping"}`, "too long": call + `{"a":"` + strings.Repeat("x", 5<<20) + `"}}}`,
	} {
		if code := post(body); reached != 0 {
			t.Errorf("%s reached the server (%d)", name, code)
		}
	}
	if post(call + `{}}}`); reached != 1 {
		t.Error("what may pass did not")
	}
	if post(call + `{"a":"explode"}}}`); reached != 2 {
		t.Error("what may pass did not")
	}
	if post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`); reached != 3 {
		t.Error("a notification did not pass")
	}
	known = false
	if code := post(call + `{}}}`); code != http.StatusUnauthorized || reached != 3 {
		t.Errorf("an unknown caller got %d", code)
	}
	guard.Close()
	got := outcomes(t, home)
	want := []string{"OUTCOME unknown", "OUTCOME unknown", "REFUSAL invalid", "REFUSAL invalid", "REFUSAL invalid", "REFUSAL invalid", "REFUSAL invalid"}
	if slices.Sort(got); cmp.Diff(want, got) != "" {
		t.Errorf("the log (-want +got):\n%s", cmp.Diff(want, got))
	}
}

// TestOpenNamesTheField: what is wrong with a configuration is said.
func TestOpenNamesTheField(t *testing.T) {
	for name, c := range map[string]mcpguard.Config{"no name": {Home: t.TempDir()}, "a dot": {Name: "a.b", Home: t.TempDir()}} {
		if guard, err := mcpguard.Open(t.Context(), c); err == nil || !strings.Contains(err.Error(), "name") {
			t.Errorf("%s: %v %v", name, guard, err)
		}
	}
}
