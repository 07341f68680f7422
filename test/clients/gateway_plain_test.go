package clients

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// A plain is a client that sends JSON-RPC as it is told, on standard streams or over HTTP, and keeps what comes as it came. It
// answers what servers ask of clients, always the same way.
type plain struct {
	t         *testing.T
	roots     string // the directory that its user works in
	revision  string
	abilities string         // what it says it can do
	in        io.WriteCloser // of a server on standard streams
	address   string         // of one over HTTP
	header    http.Header

	mu   sync.Mutex
	came []rpcMessage
	hang map[string]context.CancelFunc // hangs up on an answer, by the request's id
	news chan struct{}                 // replaced whenever something came
	next int
}

type rpcMessage struct {
	ID     json.RawMessage `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  json.RawMessage `json:"error,omitempty"`
}

const (
	stateless = "2026-07-28" // the revision without a handshake
	takesAll  = `{"sampling":{},"roots":{"listChanged":true},"elicitation":{"form":{},"url":{}}}`
)

// startPlain starts a server, or a gateway, and shakes hands with it under a revision that has a handshake.
func startPlain(t *testing.T, command *exec.Cmd, revision, abilities string) *plain {
	t.Helper()
	in, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if testing.Verbose() {
		command.Stderr = os.Stderr
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	c := &plain{t: t, roots: command.Dir, revision: revision, abilities: abilities, in: in, news: make(chan struct{})}
	t.Cleanup(func() {
		in.Close()
		command.Process.Kill()
		command.Wait()
	})
	go c.read(bufio.NewReaderSize(out, 1<<20), "")
	c.begin()
	return c
}

// reachPlain does the same with one that is reached over HTTP.
func reachPlain(t *testing.T, address, token, roots, revision, abilities string) *plain {
	t.Helper()
	c := &plain{t: t, roots: roots, revision: revision, abilities: abilities, address: address, news: make(chan struct{}),
		header: http.Header{}, hang: map[string]context.CancelFunc{}}
	c.header.Set("Content-Type", "application/json")
	c.header.Set("Accept", "application/json, text/event-stream")
	if token != "" {
		c.header.Set("Authorization", "Bearer "+token)
	}
	c.begin()
	return c
}

func (c *plain) begin() {
	c.t.Helper()
	if c.revision == stateless {
		if c.header != nil {
			c.header.Set("MCP-Protocol-Version", c.revision)
		}
		return
	}
	c.call("initialize", `{"protocolVersion":"`+c.revision+`","capabilities":`+c.abilities+`,"clientInfo":{"name":"plain","version":"1"}}`)
	if c.header != nil {
		c.header.Set("MCP-Protocol-Version", c.revision)
	}
	if c.header != nil {
		c.stream() // before the server has its first word, which comes where it is listened for
	}
	c.send("notifications/initialized", `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

// stream opens the stream on which a server over HTTP says what belongs to no request.
func (c *plain) stream() {
	c.t.Helper()
	request, err := http.NewRequestWithContext(c.t.Context(), http.MethodGet, c.address, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	request.Header = c.header.Clone()
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		c.t.Fatal(err)
	}
	go c.read(bufio.NewReader(answer.Body), "data:")
}

// send sends one message. What comes in answer is kept when it comes.
func (c *plain) send(method, text string) {
	if c.in != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		io.WriteString(c.in, text+"\n")
		return
	}
	ctx, cancel := context.WithCancel(c.t.Context())
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.address, strings.NewReader(text))
	if err != nil {
		return
	}
	request.Header = c.header.Clone()
	if c.revision == stateless {
		request.Header.Set("Mcp-Method", method)
		var named struct {
			ID     json.RawMessage
			Params struct{ Name, URI string }
		}
		if json.Unmarshal([]byte(text), &named) == nil && named.Params.Name+named.Params.URI != "" {
			request.Header.Set("Mcp-Name", named.Params.Name+named.Params.URI)
		}
		c.mu.Lock()
		c.hang[string(named.ID)] = cancel
		c.mu.Unlock()
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return // nothing comes, and whoever waits for it says so
	}
	if id := answer.Header.Get("Mcp-Session-Id"); id != "" {
		c.header.Set("Mcp-Session-Id", id)
	}
	defer answer.Body.Close()
	mark := ""
	if strings.HasPrefix(answer.Header.Get("Content-Type"), "text/event-stream") {
		mark = "data:"
	}
	c.read(bufio.NewReader(answer.Body), mark)
}

// read keeps the messages that stand on lines with a mark.
func (c *plain) read(out *bufio.Reader, mark string) {
	for {
		line, err := out.ReadBytes('\n')
		if text, ok := bytes.CutPrefix(line, []byte(mark)); ok {
			c.keep(text)
		}
		if err != nil {
			return
		}
	}
}

func (c *plain) keep(text []byte) {
	var e rpcMessage
	if json.Unmarshal(text, &e) != nil {
		return
	}
	if e.Method != "" && e.ID != nil {
		go c.send("", fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, e.ID, c.answer(e.Method)))
	}
	c.mu.Lock()
	c.came = append(c.came, e)
	close(c.news)
	c.news = make(chan struct{})
	c.mu.Unlock()
}

// answer answers a server's request.
func (c *plain) answer(method string) string {
	switch method {
	case "roots/list":
		return `{"roots":[{"uri":"file://` + c.roots + `","name":"work"}]}`
	case "sampling/createMessage":
		return `{"model":"m","role":"assistant","content":{"type":"text","text":"sampled"},"stopReason":"endTurn"}`
	case "elicitation/create":
		return `{"action":"decline"}`
	}
	return `{}`
}

// until waits for a message that fits.
func (c *plain) until(what string, fits func(e rpcMessage) bool) rpcMessage {
	c.t.Helper()
	late := time.After(time.Minute)
	for {
		c.mu.Lock()
		for _, e := range c.came {
			if fits(e) {
				c.mu.Unlock()
				return e
			}
		}
		news := c.news
		c.mu.Unlock()
		select {
		case <-news:
		case <-late:
			c.t.Fatalf("%s never came", what)
		}
	}
}

// start sends a request and returns its id. One of 2026-07-28 says with each request what a handshake says once.
func (c *plain) start(method, params string) (id string) {
	c.t.Helper()
	c.mu.Lock()
	c.next++
	id = fmt.Sprint(c.next)
	c.mu.Unlock()
	if c.revision == stateless {
		params = c.withMeta(params)
	}
	text := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, method, params)
	if c.in != nil {
		c.send(method, text)
	} else {
		go c.send(method, text)
	}
	return id
}

// cancel takes a request back. Without a session a client over HTTP has nothing to say it with, and hangs up.
func (c *plain) cancel(id string) {
	c.mu.Lock()
	hang := c.hang[id]
	c.mu.Unlock()
	if hang != nil {
		hang()
		return
	}
	c.send("notifications/cancelled", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`+id+`,"reason":"enough"}}`)
}

func (c *plain) call(method, params string) rpcMessage {
	c.t.Helper()
	id := c.start(method, params)
	return c.until("the answer to "+method, func(e rpcMessage) bool { return e.Method == "" && string(e.ID) == id })
}

// answered makes a call again while its result asks for input, with the answers to what it asks, and returns its end. What was
// asked is kept like a server's own request.
func (c *plain) answered(method, params string, answer rpcMessage) rpcMessage {
	c.t.Helper()
	for {
		var result struct {
			Type  string                `json:"resultType"`
			Asks  map[string]rpcMessage `json:"inputRequests"`
			State string                `json:"requestState"`
		}
		if len(answer.Result) == 0 || json.Unmarshal(answer.Result, &result) != nil || result.Type != "input_required" {
			return answer
		}
		answers := map[string]json.RawMessage{}
		for name, ask := range result.Asks {
			answers[name] = json.RawMessage(c.answer(ask.Method))
			c.mu.Lock()
			c.came = append(c.came, ask)
			c.mu.Unlock()
		}
		var again map[string]any
		if err := json.Unmarshal([]byte(params), &again); err != nil {
			c.t.Fatal(err)
		}
		again["inputResponses"], again["requestState"] = answers, result.State
		text, err := json.Marshal(again)
		if err != nil {
			c.t.Fatal(err)
		}
		answer = c.call(method, string(text))
	}
}

// withMeta is params with the members of _meta that 2026-07-28 asks for.
func (c *plain) withMeta(params string) string {
	c.t.Helper()
	var all, meta map[string]json.RawMessage
	if err := json.Unmarshal([]byte(params), &all); err != nil {
		c.t.Fatal(err)
	}
	if all["_meta"] == nil || json.Unmarshal(all["_meta"], &meta) != nil {
		meta = map[string]json.RawMessage{}
	}
	meta["io.modelcontextprotocol/protocolVersion"] = json.RawMessage(`"` + c.revision + `"`)
	meta["io.modelcontextprotocol/clientInfo"] = json.RawMessage(`{"name":"plain","version":"1"}`)
	meta["io.modelcontextprotocol/clientCapabilities"] = json.RawMessage(c.abilities)
	encoded := func(v any) json.RawMessage {
		text, err := json.Marshal(v)
		if err != nil {
			c.t.Fatal(err)
		}
		return text
	}
	all["_meta"] = encoded(meta)
	return string(encoded(all))
}

// since returns what came after so many messages, and how many there are now.
func (c *plain) since(n int) ([]rpcMessage, int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.came[n:len(c.came):len(c.came)], len(c.came)
}

func value(text json.RawMessage) any {
	var v any
	if len(text) > 0 && json.Unmarshal(text, &v) != nil {
		return string(text)
	}
	return v
}
