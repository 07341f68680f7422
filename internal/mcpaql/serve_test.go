package mcpaql_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"interlock"
	"interlock/internal/mcpaql"
	"interlock/spec"
)

// revisions are the revisions of the protocol that clients of today speak.
var revisions = []string{"2025-11-25", "2026-07-28"}

// connect joins a real client to the server in memory, at one revision.
func (f *fixture) connect(t *testing.T, revision string) (*mcp.ClientSession, <-chan error) {
	t.Helper()
	here, there := mcp.NewInMemoryTransports()
	ended := make(chan error, 1)
	go func() { ended <- f.server.Run(context.Background(), caller, there) }()
	return dial(t, here, revision), ended
}

func dial(t *testing.T, transport mcp.Transport, revision string) *mcp.ClientSession {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "somebody-else", Version: "1"}, nil)
	session, err := client.Connect(context.Background(), transport, &mcp.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	if got := session.InitializeResult().ProtocolVersion; got != revision {
		t.Fatalf("the server speaks %s, asked for %s", got, revision)
	}
	return session
}

// tool calls a tool and returns the envelope in the answer's text.
func tool(t *testing.T, session *mcp.ClientSession, name string, arguments any) map[string]any {
	t.Helper()
	result, err := session.CallTool(context.Background(), &mcp.CallToolParams{Name: name, Arguments: arguments})
	if err != nil {
		t.Fatal(err)
	}
	var answer map[string]any
	text := result.Content[0].(*mcp.TextContent).Text
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if result.IsError != (answer["success"] != true) {
		t.Errorf("isError %v beside %s", result.IsError, text)
	}
	return answer
}

func operation(name string, params map[string]any) map[string]any {
	return map[string]any{"operation": name, "params": params}
}

func toolNames(t *testing.T, session *mcp.ClientSession) []string {
	t.Helper()
	list, err := session.ListTools(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
		if tool.Description == "" || tool.InputSchema == nil || tool.Annotations.ReadOnlyHint != (tool.Name == "mcp_aql_read") {
			t.Errorf("%s: %+v", tool.Name, tool)
		}
	}
	return names
}

func TestARealClientPlaysAnExecutionInBothModesAndRevisions(t *testing.T) {
	spec.Covers(t, "AQL-3.3", "AQL-3.3-both")
	for _, revision := range revisions {
		for _, single := range []bool{false, true} {
			f := newFixture(t, func(c *mcpaql.Config) { c.Single = single })
			session, _ := f.connect(t, revision)
			want := []string{"mcp_aql_create", "mcp_aql_execute", "mcp_aql_read"}
			create, execute, read := want[0], want[1], want[2]
			if single {
				want, create, execute, read = []string{"mcp_aql"}, "mcp_aql", "mcp_aql", "mcp_aql"
			}
			if diff := cmp.Diff(want, toolNames(t, session)); diff != "" {
				t.Errorf("%s: tools (-want +got):\n%s", revision, diff)
			}
			list := tool(t, session, read, operation("introspect", map[string]any{"query": "operations"}))
			if mode := list["data"].(map[string]any)["_protocol"].(map[string]any)["mode"]; mode != map[bool]string{false: "semantic", true: "single"}[single] {
				t.Errorf("introspection says %v", mode)
			}
			id := tool(t, session, execute, operation("execute_agent", map[string]any{"element_name": "e"}))["data"].(map[string]any)["execution_id"]
			step := operation("record_execution_step", map[string]any{"element_name": "e", "next_action_hint": "ls", "execution_id": id})
			if d := tool(t, session, create, step)["data"].(map[string]any); d["continue"] != true {
				t.Errorf("%s: %v", revision, d)
			}
			if d := tool(t, session, execute,
				operation("complete_execution", map[string]any{"execution_id": id}))["data"].(map[string]any); d["status"] != "completed" {
				t.Errorf("%s: %v", revision, d)
			}
			answer := tool(t, session, create, operation("introspect", nil))
			if !single && answer["error"].(map[string]any)["code"] != "VALIDATION_ENDPOINT_MISMATCH" {
				t.Errorf("%s: %v", revision, answer)
			}
			if _, err := session.CallTool(context.Background(), &mcp.CallToolParams{Name: "mcp_aql_delete"}); err == nil {
				t.Error("an endpoint without operations has a tool")
			}
		}
	}
}

func TestThePromptTellsTheWholeLoop(t *testing.T) {
	session, _ := newFixture(t, nil).connect(t, "2025-11-25")
	prompt, err := session.GetPrompt(context.Background(), &mcp.GetPromptParams{Name: mcpaql.PromptName})
	if err != nil {
		t.Fatal(err)
	}
	text := prompt.Messages[0].Content.(*mcp.TextContent).Text
	for _, word := range []string{"execute_agent", "record_execution_step", "complete_execution", "abort_execution", "verify_challenge", "confirm_operation",
		"next_action_hint", "outcome", "continue: false", "stopped: true", "notifications", "Never guess"} {
		if !strings.Contains(text, word) {
			t.Errorf("the prompt says nothing of %s", word)
		}
	}
	if all := session.InitializeResult().Instructions; !strings.Contains(all, "record_execution_step") || !strings.Contains(all, mcpaql.PromptName) {
		t.Errorf("instructions: %s", all)
	}
}

func TestWhatAConnectionHeldEndsWithIt(t *testing.T) {
	spec.Covers(t, "AQL-2.3")
	f := dangerously(t, "destructive", interlock.TrustValidated)
	session, ended := f.connect(t, "2025-11-25")
	answer := tool(t, session, "mcp_aql_execute", operation("execute_agent", map[string]any{"element_name": "e"}))
	token := answer["error"].(map[string]any)["details"].(map[string]any)["confirmation_token"]
	tool(t, session, "mcp_aql_execute", operation("execute_agent", map[string]any{"element_name": "e", "_confirmation": token}))
	second := tool(t, session, "mcp_aql_execute",
		operation("execute_agent", map[string]any{"element_name": "f"}))["error"].(map[string]any)["details"].(map[string]any)["confirmation_token"]
	f.backend.taken()
	session.Close()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"TOKEN_REVOKED execute_agent the connection ended", "EXECUTION e cancelled"}, f.backend.taken()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	f.failure(mcpaql.Execute, fmt.Sprintf(`{"operation":"execute_agent","element_name":"f","_confirmation":%q}`, second), mcpaql.CodeTokenInvalid)
	f.failure(mcpaql.Create, `{"operation":"record_execution_step","element_name":"e","next_action_hint":"ls"}`, mcpaql.CodeConflict)
}

// One bad line is answered and the next is served: to the protocol's own reader it would be the end.
func TestBadLinesAreAnswered(t *testing.T) {
	f := newFixture(t, func(c *mcpaql.Config) { c.Limits.Request = 1000 })
	const ping = `{"jsonrpc":"2.0","id":%d,"method":"ping"}`
	lines := []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`not JSON`, fmt.Sprintf(ping, 2), `[` + fmt.Sprintf(ping, 3) + `]`, ``, `   `, fmt.Sprintf(ping, 4), `{"id":5}`,
		`{"jsonrpc":"1.0","id":6,"method":"ping"}`,
		`{"jsonrpc":"2.0","id":7,"method":"ping","x":"` + strings.Repeat("x", 100_000) + `"}`, `"text"`,
		fmt.Sprintf(ping, 8) + "\r", `{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}`, fmt.Sprintf(ping, 9),
		// A request's arguments, written as JSON in JSON, may be four times as long, and the rest of a line 64 KiB.
		`{"jsonrpc":"2.0","id":10,"method":"ping","params":{"_meta":{"x":"` + strings.Repeat("x", 67_000) + `"}}}`,
	}
	var out bytes.Buffer
	if err := f.server.RunStdio(context.Background(), caller, strings.NewReader(strings.Join(lines, "\n")+"\n"), &out); err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for _, line := range strings.Split(strings.TrimSpace(out.String()), "\n") {
		var m struct {
			ID    json.RawMessage
			Error *struct{ Code int }
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		code := 0
		if m.Error != nil {
			code = m.Error.Code
		}
		got[fmt.Sprintf("%s %d", m.ID, code)]++
	}
	want := map[string]int{"1 0": 1, "2 0": 1, "4 0": 1, "8 0": 1, "9 0": 1, "10 0": 1, "null -32700": 1, "null -32600": 4, "5 -32600": 1, "6 -32600": 1}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("answers by id and code (-want +got):\n%s\n%s", diff, out.String())
	}
}

// fakeTokens know two agents and one that is revoked.
type fakeTokens struct{}

func (fakeTokens) Agent(_ context.Context, token string) (interlock.AgentRecord, error) {
	switch token {
	case "one", "two":
		return interlock.AgentRecord{ID: token, Principal: "dev"}, nil
	case "old":
		return interlock.AgentRecord{ID: "old"}, interlock.Errorf(interlock.CodeUnauthorized, "", "this agent token is revoked")
	case "down":
		return interlock.AgentRecord{}, io.ErrUnexpectedEOF
	}
	return interlock.AgentRecord{}, interlock.Errorf(interlock.CodeUnauthorized, "", "unknown agent token")
}

// bearer sends an agent's token with every request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

func TestHTTPServesAgentsByTheirToken(t *testing.T) {
	f := newFixture(t, nil)
	server := httptest.NewServer(f.server.Handler(fakeTokens{}))
	defer server.Close()
	for _, revision := range revisions {
		session := func(token string) *mcp.ClientSession {
			return dial(t, &mcp.StreamableClientTransport{Endpoint: server.URL,
				HTTPClient: &http.Client{Transport: bearer(token)}, DisableStandaloneSSE: true}, revision)
		}
		one := session("one")
		id := tool(t, one, "mcp_aql_execute", operation("execute_agent", map[string]any{"element_name": "e"}))["data"].(map[string]any)["execution_id"]
		step := operation("record_execution_step", map[string]any{"element_name": "e", "next_action_hint": "ls", "execution_id": id})
		if d := tool(t, one, "mcp_aql_create", step)["data"].(map[string]any); d["continue"] != true {
			t.Errorf("%s: %v", revision, d)
		}
		if p := f.backend.proposals[len(f.backend.proposals)-1]; p.Requester.Agent != "one" || p.Requester.Principal != "dev" {
			t.Errorf("%s: proposed by %+v", revision, p.Requester)
		}
		// No session carries anything: another connection with the same token goes on, another token finds nothing.
		if d := tool(t, session("one"), "mcp_aql_create", step)["data"].(map[string]any); d["continue"] != true {
			t.Errorf("%s, another connection: %v", revision, d)
		}
		if answer := tool(t, session("two"), "mcp_aql_create", step); answer["error"].(map[string]any)["code"] != "NOT_FOUND_RESOURCE" {
			t.Errorf("%s, another agent: %v", revision, answer)
		}
	}
}

func TestHTTPRefusesWhoeverItDoesNotKnow(t *testing.T) {
	f := newFixture(t, nil)
	handler := f.server.Handler(fakeTokens{})
	for name, tc := range map[string]struct {
		header []string
		status int
		code   string
		events []string
	}{
		"no token":     {nil, 401, "PERMISSION_DENIED", nil},
		"two tokens":   {[]string{"Bearer one", "Bearer two"}, 401, "PERMISSION_DENIED", nil},
		"other scheme": {[]string{"Basic one"}, 401, "PERMISSION_DENIED", nil},
		"unknown":      {[]string{"Bearer three"}, 401, "PERMISSION_DENIED", nil},
		"revoked":      {[]string{"Bearer old"}, 401, "PERMISSION_DENIED", []string{"REFUSAL old this agent token is revoked"}},
		"store gone":   {[]string{"Bearer down"}, 500, "INTERNAL_ERROR", nil},
	} {
		r := httptest.NewRequest("POST", "/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
		r.Header["Authorization"] = tc.header
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		var answer struct {
			Success bool
			Error   struct{ Code, Message string }
		}
		if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || w.Code != tc.status || answer.Success ||
			answer.Error.Code != tc.code || answer.Error.Message == "" {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
		if (w.Code == 401) != (w.Header().Get("WWW-Authenticate") == "Bearer") {
			t.Errorf("%s: WWW-Authenticate %q", name, w.Header().Get("WWW-Authenticate"))
		}
		if diff := cmp.Diff(tc.events, f.backend.taken()); diff != "" {
			t.Errorf("%s: events (-want +got):\n%s", name, diff)
		}
	}
}

func TestADefectIsAnInternalErrorThatSaysNothing(t *testing.T) {
	f := newFixture(t, nil)
	f.start("e")
	f.backend.answer = func(interlock.Proposal) interlock.Answer { panic("the secret action") }
	failure := f.failure(mcpaql.Create, `{"operation":"record_execution_step","element_name":"e","next_action_hint":"ls"}`, mcpaql.CodeInternal)
	if strings.Contains(fmt.Sprint(failure), "secret") {
		t.Error(failure)
	}
	f.backend.answer = func(interlock.Proposal) interlock.Answer { return allowed() }
	if d := f.step("e", "ls"); d["continue"] != true {
		t.Errorf("after it: %v", d)
	}
}
