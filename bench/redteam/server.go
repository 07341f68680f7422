package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// serveFlag starts this program as the server behind the gateway: serveFlag TOOLS MARK. What carries the mark was reached.
const serveFlag = "-serve-behind-gateway"

// unknownMethod is what the server says to a method that it does not have, so that this is not taken for a stop.
const unknownMethod = "the server has no such method"

type message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  any             `json:"result,omitempty"`
	Error   json.RawMessage `json:"error,omitempty"`
}

// serve is a server that has the given tools, answers every call with the mark and does nothing.
func serve(in io.Reader, out io.Writer, tools, mark string) int {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 4<<20)
	write := json.NewEncoder(out)
	for lines.Scan() {
		var m message
		if json.Unmarshal(lines.Bytes(), &m) != nil || len(m.ID) == 0 {
			continue
		}
		answer := message{Version: "2.0", ID: m.ID}
		said := []any{map[string]any{"type": "text", "text": mark}}
		switch m.Method {
		case "initialize":
			var params struct {
				Version string `json:"protocolVersion"`
			}
			if json.Unmarshal(m.Params, &params) != nil {
				continue
			}
			answer.Result = map[string]any{"protocolVersion": params.Version,
				"serverInfo":   map[string]any{"name": "s", "version": "1"},
				"capabilities": map[string]any{"tools": map[string]any{}, "resources": map[string]any{}}}
		case "tools/list":
			answer.Result = map[string]any{"tools": json.RawMessage(tools)}
		case "tools/call":
			answer.Result = map[string]any{"content": said}
		case "resources/list":
			answer.Result = map[string]any{"resources": []any{}}
		case "resources/templates/list":
			answer.Result = map[string]any{"resourceTemplates": []any{map[string]any{"uriTemplate": "{+path}", "name": "any"}}}
		case "resources/read":
			answer.Result = map[string]any{"contents": []any{map[string]any{"uri": "x", "text": mark}}}
		default:
			answer.Error = json.RawMessage(`{"code":-32601,"message":"` + unknownMethod + `"}`)
		}
		if write.Encode(answer) != nil {
			return 1
		}
	}
	return 0
}

// gateway sends the steps of a case through the real gateway to the server above. What reached it was allowed.
func (l *lab) gateway(c redCase) (r result) {
	tools := []any{}
	seen := map[string]bool{}
	for _, s := range c.Steps {
		if strings.Contains(s.Tool, "/") || seen[s.Tool] {
			continue
		}
		seen[s.Tool] = true
		tool := map[string]any{"name": s.Tool, "description": s.Description, "inputSchema": map[string]any{"type": "object"}}
		if len(s.Annotations) > 0 {
			tool["annotations"] = s.Annotations
		}
		tools = append(tools, tool)
	}
	list, err := json.Marshal(tools)
	if err != nil {
		return result{err: err}
	}
	self, err := os.Executable()
	if err != nil {
		return result{err: err}
	}
	const mark = "the-server-was-reached"
	command := exec.Command(l.program, "--unattended", "gateway", "--name", "s", "--", self, serveFlag, string(list), mark)
	command.Dir, command.Env = l.home+"/app", l.env
	client := gatewayClient{}
	if client.in, err = command.StdinPipe(); err != nil {
		return result{err: err}
	}
	out, err := command.StdoutPipe()
	if err != nil {
		return result{err: err}
	}
	client.out = bufio.NewReader(out)
	if err := command.Start(); err != nil {
		return result{err: err}
	}
	killer := time.AfterFunc(patience, func() { _ = command.Process.Kill() })
	defer killer.Stop()
	r = client.converse(c, mark)
	client.in.Close()
	if _, err := io.Copy(io.Discard, client.out); r.err == nil {
		r.err = err
	}
	if err := command.Wait(); err != nil && r.err == nil {
		r.err = fmt.Errorf("the gateway: %w", err)
	}
	return r
}

type gatewayClient struct {
	in    io.WriteCloser
	out   *bufio.Reader
	calls int
}

func (g *gatewayClient) converse(c redCase, mark string) (r result) {
	hello := map[string]any{"protocolVersion": "2025-11-25", "capabilities": map[string]any{},
		"clientInfo": map[string]any{"name": "redteam", "version": "1"}}
	if _, r.err = g.ask("initialize", hello); r.err != nil {
		return r
	}
	if _, r.err = io.WriteString(g.in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"); r.err != nil {
		return r
	}
	if _, r.err = g.ask("tools/list", map[string]any{}); r.err != nil {
		return r
	}
	for _, s := range c.Steps {
		method, params := "tools/call", any(map[string]any{"name": "s." + s.Tool, "arguments": s.Input})
		if strings.Contains(s.Tool, "/") {
			method, params = s.Tool, s.Input
		}
		var answer []byte
		if answer, r.err = g.ask(method, params); r.err != nil {
			return r
		}
		r.reason = string(answer)
		if bytes.Contains(answer, []byte(unknownMethod)) {
			r.err = fmt.Errorf("the server behind the gateway has no %s", method)
			return r
		}
		if !bytes.Contains(answer, []byte(mark)) {
			r.verdicts = append(r.verdicts, "stop")
			return r
		}
		r.verdicts = append(r.verdicts, "allow")
	}
	return r
}

// ask sends a request and returns the answer's line.
func (g *gatewayClient) ask(method string, params any) ([]byte, error) {
	g.calls++
	id := fmt.Appendf(nil, "%d", g.calls)
	encoded, err := json.Marshal(params)
	if err != nil {
		return nil, err
	}
	line, err := json.Marshal(message{Version: "2.0", ID: id, Method: method, Params: encoded})
	if err != nil {
		return nil, err
	}
	if _, err := g.in.Write(append(line, '\n')); err != nil {
		return nil, err
	}
	for {
		line, err := g.out.ReadBytes('\n')
		if err != nil {
			return nil, errors.New("the gateway ended before it answered")
		}
		var m message
		if json.Unmarshal(line, &m) == nil && bytes.Equal(m.ID, id) && m.Method == "" {
			return line, nil
		}
	}
}
