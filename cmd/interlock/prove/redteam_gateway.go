package prove

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"interlock"
	"interlock/internal/conform"
	"interlock/internal/redteam"
)

// A nullServer is an MCP server behind the gateway that has the tools of one case, does nothing, and counts what reaches it.
type nullServer struct {
	listener net.Listener
	server   *http.Server

	mu      sync.Mutex
	tools   []any
	reached int
}

func serveNothing() (*nullServer, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listening on loopback: %w", err)
	}
	s := &nullServer{listener: listener}
	s.server = &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = s.server.Serve(listener) }() // it ends with close
	return s, nil
}

func (s *nullServer) close()      { _ = s.server.Close() } // nothing is lost
func (s *nullServer) url() string { return "http://" + s.listener.Addr().String() + "/mcp" }

// offer takes the tools of a case, and forgets what reached it before.
func (s *nullServer) offer(c redteam.Given) {
	seen, tools := map[string]bool{}, []any{}
	for _, step := range c.Steps {
		if strings.Contains(step.Tool, "/") || seen[step.Tool] { // another method of the protocol
			continue
		}
		seen[step.Tool] = true
		tool := map[string]any{"name": step.Tool, "description": step.Description, "inputSchema": map[string]any{"type": "object"}}
		if len(step.Annotations) > 0 {
			tool["annotations"] = step.Annotations
		}
		tools = append(tools, tool)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tools, s.reached = tools, 0
}

func (s *nullServer) hits() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reached
}

// ServeHTTP answers one JSON-RPC request.
func (s *nullServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var call struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	text, err := io.ReadAll(io.LimitReader(r.Body, redteam.MaxLine*2))
	if r.Method != http.MethodPost || err != nil || json.Unmarshal(text, &call) != nil {
		http.Error(w, "POST one message", http.StatusMethodNotAllowed)
		return
	}
	if len(call.ID) == 0 {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	answer := map[string]any{"jsonrpc": "2.0", "id": call.ID}
	said := []any{map[string]any{"type": "text", "text": "done"}}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch call.Method {
	case "initialize":
		answer["result"] = map[string]any{"protocolVersion": "2025-11-25", "serverInfo": map[string]any{"name": "s", "version": "1"},
			"capabilities": map[string]any{"tools": map[string]any{}, "resources": map[string]any{}}}
	case "tools/list":
		answer["result"] = map[string]any{"tools": s.tools}
	case "resources/list":
		answer["result"] = map[string]any{"resources": []any{}}
	case "resources/templates/list":
		answer["result"] = map[string]any{"resourceTemplates": []any{map[string]any{"uriTemplate": "{+path}", "name": "any"}}}
	case "tools/call":
		s.reached++
		answer["result"] = map[string]any{"content": said}
	case "resources/read":
		s.reached++
		answer["result"] = map[string]any{"contents": []any{map[string]any{"uri": "x", "text": "done"}}}
	default:
		answer["error"] = map[string]any{"code": -32601, "message": "the server has no such method"}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer) // a client that has gone needs none
}

// gateway sends the steps of a case through the real gateway. A step that did not reach the server was stopped.
func (l *lab) gateway(ctx context.Context, tried redteam.Tried, c redteam.Given) (redteam.Tried, error) {
	l.server.offer(c)
	ctx, stop := context.WithTimeout(ctx, labAsking)
	defer stop()
	in, toGateway, err := os.Pipe() // of the system, so that the gateway's end is seen at once
	if err != nil {
		return tried, err
	}
	fromGateway, out, err := os.Pipe()
	if err != nil {
		return tried, errors.Join(err, in.Close(), toGateway.Close())
	}
	defer fromGateway.Close()
	var complaint bytes.Buffer
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		l.program(ctx, conform.Command{Args: []string{"--unattended", "gateway"}, Env: l.env,
			Dir: filepath.Join(l.home, labRepo), Stdin: in, Stdout: out, Stderr: &complaint})
		_, _ = out.Close(), in.Close()
	}()
	client := mcpClient{to: toGateway, from: bufio.NewReader(fromGateway)}
	tried, err = client.converse(tried, c, l.server)
	_ = toGateway.Close() // which ends the gateway
	go func() { _, _ = io.Copy(io.Discard, fromGateway) }()
	<-ended
	if err != nil {
		err = interlock.Errorf(interlock.CodeUnavailable, "", "case %s: %v: %s", c.ID, err, strings.TrimSpace(complaint.String()))
	}
	return tried, err
}

// An mcpClient speaks MCP on standard streams.
type mcpClient struct {
	to    io.Writer
	from  *bufio.Reader
	calls int
}

func (m *mcpClient) converse(tried redteam.Tried, c redteam.Given, server *nullServer) (redteam.Tried, error) {
	if _, err := m.ask("initialize", map[string]any{"protocolVersion": "2025-11-25", "capabilities": map[string]any{},
		"clientInfo": map[string]any{"name": "redteam", "version": "1"}}); err != nil {
		return tried, err
	}
	if _, err := io.WriteString(m.to, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"); err != nil {
		return tried, err
	}
	if _, err := m.ask("tools/list", map[string]any{}); err != nil {
		return tried, err
	}
	for n, s := range c.Steps {
		method, params := "tools/call", any(map[string]any{"name": "s." + s.Tool, "arguments": s.Input})
		if strings.Contains(s.Tool, "/") {
			method, params = s.Tool, s.Input
		}
		before := server.hits()
		answer, err := m.ask(method, params)
		if err != nil {
			return tried, err
		}
		tried.Step = n
		if server.hits() == before {
			tried.Stopped, tried.By = true, "gateway: "+answer
			return tried, nil
		}
	}
	return tried, nil
}

// ask sends a request and returns the line that answers it.
func (m *mcpClient) ask(method string, params any) (string, error) {
	m.calls++
	message, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": m.calls, "method": method, "params": params})
	if err != nil {
		return "", err
	}
	if _, err := m.to.Write(append(message, '\n')); err != nil {
		return "", err
	}
	for {
		line, err := m.from.ReadString('\n')
		if reply := (conform.Reply{Text: line}); reply.Member("id") == fmt.Sprint(m.calls) && reply.Member("method") == "" {
			return strings.TrimSpace(line), nil
		}
		if err != nil {
			return "", fmt.Errorf("the gateway ended before it answered %s", method)
		}
	}
}
