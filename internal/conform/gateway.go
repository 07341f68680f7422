package conform

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

func gatewayChecks() []Check {
	return []Check{
		{IDs: []string{"EC-ENV-5"}, Drives: "gateway before a server of the check's own, HTTP API", Do: opaque},
		{IDs: []string{"EC-ENV-13"}, Drives: "gateway before a server of the check's own that counts", Do: cooldown},
	}
}

// A toolServer is a throw-away MCP server over HTTP that counts what reaches it.
type toolServer struct {
	listener net.Listener
	server   *http.Server
	mu       sync.Mutex
	calls    map[string]int
}

// serveTools starts one. Its tools are look, which answers, break, which fails, and wipe, which says of itself that it destroys.
func serveTools() (*toolServer, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listening on loopback: %w", err)
	}
	t := &toolServer{listener: listener, calls: map[string]int{}}
	t.server = &http.Server{Handler: t, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = t.server.Serve(listener) }() // it ends with close
	return t, nil
}

func (t *toolServer) close()      { _ = t.server.Close() } // nothing is lost
func (t *toolServer) url() string { return "http://" + t.listener.Addr().String() + "/mcp" }

// reached is how often a tool was called.
func (t *toolServer) reached(tool string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.calls[tool]
}

// ServeHTTP answers one JSON-RPC request.
func (t *toolServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var call struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params struct {
			Name string `json:"name"`
		} `json:"params"`
	}
	text, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	if r.Method != http.MethodPost || err != nil || json.Unmarshal(text, &call) != nil {
		http.Error(w, "POST one message", http.StatusMethodNotAllowed)
		return
	}
	if len(call.ID) == 0 {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	var result any
	switch call.Method {
	case "initialize":
		result = map[string]any{"protocolVersion": "2025-11-25", "capabilities": map[string]any{"tools": map[string]any{}},
			"serverInfo": map[string]any{"name": "throw-away", "version": "1"}}
	case "tools/list":
		tool := func(name string, hints map[string]any) map[string]any {
			return map[string]any{"name": name, "description": name + " something", "annotations": hints,
				"inputSchema": map[string]any{"type": "object", "properties": map[string]any{"what": map[string]any{"type": "string"}}}}
		}
		result = map[string]any{"tools": []any{tool("read_page", map[string]any{"readOnlyHint": true}), tool("read_broken",
			map[string]any{"readOnlyHint": true}),
			tool("wipe", map[string]any{"destructiveHint": true})}}
	case "tools/call":
		t.mu.Lock()
		t.calls[call.Params.Name]++
		t.mu.Unlock()
		result = map[string]any{"content": []any{map[string]any{"type": "text", "text": "done " + call.Params.Name}},
			"isError": call.Params.Name == "read_broken"}
	default:
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"jsonrpc": "2.0", "id": call.ID, "error": map[string]any{"code": -32601, "message": "not here"}})
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"jsonrpc": "2.0", "id": call.ID, "result": result}) // a client that has gone needs none
}

// through sends messages to a gateway on standard streams, each once the one before is answered, and returns the answers by the ids of
// the requests.
func (h *House) through(ctx context.Context, messages ...string) map[string]Reply {
	return h.throughDoor(ctx, []string{"gateway"}, messages...)
}

// throughDoor is through with another command that speaks MCP on standard streams.
func (h *House) throughDoor(ctx context.Context, args []string, messages ...string) map[string]Reply {
	ctx, stop := context.WithTimeout(ctx, upTime)
	defer stop()
	session, replies := h.Session(ctx, args...), map[string]Reply{}
	defer session.Close()
	for _, message := range messages {
		if reply := session.Send(message); reply.Status != 0 {
			replies[reply.Member("id")] = reply
		}
	}
	return replies
}

const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},` +
	`"clientInfo":{"name":"conformance","version":"1"}}}`

// toolCall is a message that calls a tool of the throw-away server.
func toolCall(id int, tool, what string) string {
	text, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": map[string]any{"name": "pages." + tool,
		"arguments": map[string]any{"what": what}}}) // texts only
	return string(text)
}

// behind is a home whose gateway is in front of a server.
func behind(ctx context.Context, d *Driver, name string, t *toolServer) (*House, error) {
	return d.House(ctx, Plan{Name: name, Settings: "gateway: {trust_on_first_use: true, servers: [{name: pages, url: \"" + t.url() + "\"}]}\n",
		Rules: `
rules:
  - id: team.no-pelicans
    layer: 3
    match: {pattern: "pelican[0-9]+", text: [shell]}
    verdict: deny
    reason: this is nothing for agents
    tests: {block: ["echo pelican1"], pass: ["echo heron"]}
policy: {deny: ["*flamingo*", "*wipe*"]}
`})
}

func opaque(ctx context.Context, d *Driver) (string, error) {
	t, err := serveTools()
	if err != nil {
		return "", err
	}
	defer t.close()
	h, err := behind(ctx, d, "opaque", t)
	if err != nil {
		return "", err
	}
	if err := h.Agents(ctx, "prober"); err != nil {
		return "", err
	}
	replies := h.through(ctx, hello, toolCall(2, "read_page", "heron"), toolCall(3, "wipe", "flamingo"), toolCall(4, "read_page", "rm -rf /"),
		toolCall(5, "nothing", "x"))
	var leaks []string
	for _, id := range []string{"3", "4", "5"} {
		for _, hint := range []string{"team.yaml", "(?", "[0-9]", "regexp", ".go:", "goroutine", h.Home} {
			if strings.Contains(replies[id].Text, hint) {
				leaks = append(leaks, id+" says "+hint)
			}
		}
	}
	got, err := h.Expect(ctx, "prober", Shell("touch flamingo"), "deny")
	if err != nil {
		return "", err
	}
	for _, hint := range []string{"team.yaml", "*flamingo*", "(?", "regexp", h.Home} {
		if strings.Contains(got.Reason, hint) {
			leaks = append(leaks, "a reason says "+hint)
		}
	}
	return "denials and errors say that and by which id, and no pattern, file or place in the code; nothing refused reached the server", First(
		Unless(strings.Contains(replies["2"].Text, "done read_page"), "what is harmless does not pass: %s", replies["2"].Text),
		Unless(strings.Contains(replies["3"].Text, `"isError":true`) && t.reached("wipe") == 0, "a denied call reached its server"),
		Unless(replies["5"].Text != "", "a tool that is not there is not answered"),
		Unless(len(leaks) == 0, "told to the agent: %s", strings.Join(leaks, ", ")))
}

func cooldown(ctx context.Context, d *Driver) (string, error) {
	t, err := serveTools()
	if err != nil {
		return "", err
	}
	defer t.close()
	h, err := behind(ctx, d, "cooldown", t)
	if err != nil {
		return "", err
	}
	messages := []string{hello}
	for n := range 5 {
		messages = append(messages, toolCall(n+2, "read_broken", "the same"))
	}
	replies, refused := h.through(ctx, messages...), 0
	for _, r := range replies { // a count
		if strings.Contains(r.Text, "retry_cooldown") {
			refused++
		}
	}
	return fmt.Sprintf("of five identical calls that fail the server saw %d; %d were refused with the time to wait", t.reached("read_broken"), refused),
		Unless(len(replies) == 6 && t.reached("read_broken") == 1 && refused == 4, "the server saw %d of %d, %d were refused", t.reached("read_broken"),
			len(replies), refused)
}
