package conform

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"strings"
	"time"
)

// Streams are the standard input and output of a command that runs until it is closed, and what it wrote besides.
type Streams struct {
	io.Writer
	io.Reader
	errs  *tail
	close func()
}

// Close ends the command and waits for that.
func (s *Streams) Close() error {
	s.close()
	return nil
}

// Diagnostics is what the command wrote to standard error.
func (s *Streams) Diagnostics() string { return s.errs.String() }

// Streams starts a command that speaks on standard streams. The caller closes it.
func (h *House) Streams(ctx context.Context, args ...string) *Streams {
	ctx, stop := context.WithCancel(ctx)
	in, to := io.Pipe()
	from, out := io.Pipe()
	errs, ended := &tail{}, make(chan struct{})
	go func() {
		defer close(ended)
		h.program(ctx, Command{Args: args, Env: h.environment(), Dir: h.Work, Stdin: in, Stdout: out, Stderr: errs})
		_ = out.Close()
		_ = in.Close()
	}()
	return &Streams{Writer: to, Reader: from, errs: errs, close: func() {
		_ = to.Close() // which ends a command that reads
		go func() { _, _ = io.Copy(io.Discard, from) }()
		late := time.AfterFunc(upTime, stop)
		<-ended
		late.Stop()
		stop()
	}}
}

// A Session is a client's connection to a command that speaks MCP on standard streams.
type Session struct {
	*Streams
	h     *House
	door  string
	lines *bufio.Reader
	calls int
}

// Session starts such a command. The caller closes it.
func (h *House) Session(ctx context.Context, args ...string) *Session {
	streams := h.Streams(ctx, args...)
	return &Session{Streams: streams, h: h, door: strings.Join(args, " "), lines: bufio.NewReader(streams)}
}

// Send sends a message, and returns the answer to it once that comes; what is no request has none.
func (s *Session) Send(message string) Reply {
	var reply Reply
	defer func() { s.h.d.note(Step{Door: s.door, Sent: message, Answer: reply.Text}) }()
	if _, err := io.WriteString(s, message+"\n"); err != nil {
		reply.Text = s.Diagnostics()
		return reply
	}
	want := Reply{Text: message}.Member("id")
	if want == "" {
		return reply
	}
	late := time.AfterFunc(upTime, func() { _ = s.Close() })
	defer late.Stop()
	for {
		line, err := s.lines.ReadString('\n')
		if got := (Reply{Status: 200, Text: strings.TrimSpace(line)}); got.Member("id") == want {
			reply = got
			return reply
		}
		if err != nil {
			reply.Text = s.Diagnostics()
			return reply
		}
	}
}

// Greet makes a session what MCP clients make of it before their first call.
func (s *Session) Greet() Reply {
	reply := s.Send(hello)
	s.Send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	s.calls = 1 // that of hello
	return reply
}

// Tool calls a tool and returns the text that it answers with, or the whole answer where there is none.
func (s *Session) Tool(name string, arguments any) Reply {
	s.calls++
	return toolAnswer(s.Send(toolMessage(s.calls, name, arguments)))
}

// Ask sends a request of the protocol that is no call of a tool.
func (s *Session) Ask(method string) Reply {
	s.calls++
	text, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": s.calls, "method": method}) // texts and a number
	return s.Send(string(text))
}

// Tool calls a tool at the server's MCP endpoint as an agent with a token, which keeps no session.
func (h *House) Tool(ctx context.Context, agent, name string, arguments any) Reply {
	return toolAnswer(h.Raw(ctx, agent, "POST", "/mcp", toolMessage(1, name, arguments)))
}

func toolMessage(id int, name string, arguments any) string {
	text, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "method": "tools/call",
		"params": map[string]any{"name": name, "arguments": arguments}})
	if err != nil {
		return err.Error() // which no server takes for a message
	}
	return string(text)
}

// toolAnswer is the text of a tool's answer.
func toolAnswer(r Reply) Reply {
	if text := r.Member("result.content.0.text"); text != "" {
		r.Text = text
	}
	return r
}
