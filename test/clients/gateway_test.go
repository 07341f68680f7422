package clients

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A plain is a client that sends JSON-RPC as it is told and keeps what comes. It answers what servers ask of clients, always
// the same way.
type plain struct {
	t     *testing.T
	roots string // the directory that its user works in
	in    io.WriteCloser

	mu   sync.Mutex
	came []rpcMessage
	news chan struct{} // replaced whenever something came
	next int
}

type rpcMessage struct {
	ID     json.RawMessage `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  json.RawMessage `json:"error,omitempty"`
}

// startPlain starts a server, or a gateway, and shakes hands with it.
func startPlain(t *testing.T, command *exec.Cmd) *plain {
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
	c := &plain{t: t, roots: command.Dir, in: in, news: make(chan struct{})}
	t.Cleanup(func() {
		in.Close()
		command.Process.Kill()
		command.Wait()
	})
	go c.read(out)
	c.call("initialize", `{"protocolVersion":"2025-11-25","capabilities":{"sampling":{},"roots":{"listChanged":true},"elicitation":{"form":{},"url":{}}},"clientInfo":{"name":"plain","version":"1"}}`)
	c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return c
}

func (c *plain) send(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	io.WriteString(c.in, text+"\n")
}

func (c *plain) read(out io.Reader) {
	lines := bufio.NewReaderSize(out, 1<<20)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var e rpcMessage
		if json.Unmarshal(line, &e) != nil {
			continue
		}
		if e.Method != "" && e.ID != nil {
			go c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, e.ID, c.answer(e.Method)))
		}
		c.mu.Lock()
		c.came = append(c.came, e)
		close(c.news)
		c.news = make(chan struct{})
		c.mu.Unlock()
	}
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

func (c *plain) call(method, params string) rpcMessage {
	c.t.Helper()
	c.mu.Lock()
	c.next++
	id := fmt.Sprint(c.next)
	c.mu.Unlock()
	c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, method, params))
	return c.until("the answer to "+method, func(e rpcMessage) bool { return e.Method == "" && string(e.ID) == id })
}

// notices are the params of all notifications of a method so far.
func (c *plain) notices(method string) []any {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []any
	for _, e := range c.came {
		if e.Method == method && e.ID == nil {
			all = append(all, value(e.Params))
		}
	}
	return all
}

func value(text json.RawMessage) any {
	var v any
	if len(text) > 0 && json.Unmarshal(text, &v) != nil {
		return string(text)
	}
	return v
}

// script returns the absolute path of an installed package's script.
func script(t *testing.T, name string) (runtime, path string) {
	t.Helper()
	command := node(t, nil, name)
	path, err := filepath.Abs(command.Args[1])
	if err != nil {
		t.Fatal(err)
	}
	return command.Path, path
}

// A pair is one server, once reached directly and once through the gateway.
type pair struct {
	t               *testing.T
	direct, through *plain
	name            string
}

func newPair(t *testing.T, name, mode, dir, path string, args ...string) *pair {
	t.Helper()
	_, env := newHome(t)
	runtime, path := script(t, path)
	server := append([]string{runtime, path}, args...)
	direct := exec.Command(server[0], server[1:]...)
	direct.Env, direct.Dir = env, dir
	gateway := exec.Command(program, append([]string{"gateway", "--mode", mode, "--name", name, "--"}, server...)...)
	gateway.Env, gateway.Dir = env, dir
	return &pair{t: t, name: name, direct: startPlain(t, direct), through: startPlain(t, gateway)}
}

// same makes a request both ways and holds the answers against each other. Names of tools and prompts stand as NAME in the
// request and as "NAME…" in answers.
func (p *pair) same(method, params string) rpcMessage {
	p.t.Helper()
	want := p.direct.call(method, strings.ReplaceAll(params, "NAME.", ""))
	have := p.through.call(method, strings.ReplaceAll(params, "NAME.", p.name+"."))
	if diff := cmp.Diff(value(want.Result), value(json.RawMessage(strings.ReplaceAll(string(have.Result), `"name":"`+p.name+".", `"name":"`)))); diff != "" {
		p.t.Errorf("%s %s: result (-direct +through):\n%s%s", method, params, diff, have.Error)
	}
	if diff := cmp.Diff(value(want.Error), value(have.Error)); diff != "" {
		p.t.Errorf("%s %s: error (-direct +through):\n%s", method, params, diff)
	}
	return have
}

// TestGatewayChangesNothing holds what a client gets of two real servers through the gateway against what it gets of them
// directly.
func TestGatewayChangesNothing(t *testing.T) {
	t.Parallel()
	t.Run("everything", func(t *testing.T) {
		t.Parallel()
		p := newPair(t, "every", "monitoring", t.TempDir(), "@modelcontextprotocol/server-everything/dist/index.js", "stdio")
		p.through.until("the client's roots were asked for", func(e rpcMessage) bool { return e.Method == "roots/list" })
		p.direct.until("the client's roots were asked for", func(e rpcMessage) bool { return e.Method == "roots/list" })
		for _, request := range [][2]string{
			{"tools/list", `{}`},
			{"prompts/list", `{}`},
			{"resources/list", `{}`},
			{"resources/templates/list", `{}`},
			{"tools/call", `{"name":"NAME.echo","arguments":{"message":"héllo \"x\"\n"}}`},
			{"tools/call", `{"name":"NAME.echo","arguments":{}}`},
			{"tools/call", `{"name":"NAME.get-sum","arguments":{"a":1.50,"b":2e3}}`},
			{"tools/call", `{"name":"NAME.get-tiny-image"}`},
			{"tools/call", `{"name":"NAME.get-structured-content","arguments":{"location":"Chicago"}}`},
			{"tools/call", `{"name":"NAME.get-annotated-message","arguments":{"messageType":"error","includeImage":true}}`},
			{"tools/call", `{"name":"NAME.get-resource-links","arguments":{"count":3}}`},
			{"tools/call", `{"name":"NAME.get-roots-list","arguments":{}}`},
			{"tools/call", `{"name":"NAME.trigger-sampling-request","arguments":{"prompt":"hi","maxTokens":5}}`},
			{"tools/call", `{"name":"NAME.trigger-elicitation-request","arguments":{}}`},
			{"prompts/get", `{"name":"NAME.simple-prompt"}`},
			{"prompts/get", `{"name":"NAME.args-prompt","arguments":{"city":"Paris","state":"x"}}`},
			{"prompts/get", `{"name":"NAME.args-prompt"}`},
			{"completion/complete", `{"ref":{"type":"ref/prompt","name":"NAME.completable-prompt"},"argument":{"name":"department","value":"S"}}`},
			{"resources/subscribe", `{"uri":"demo://resource/static/document/features.md"}`},
			{"resources/unsubscribe", `{"uri":"demo://resource/static/document/features.md"}`},
			{"resources/read", `{"uri":"demo://resource/static/document/features.md"}`},
			{"logging/setLevel", `{"level":"debug"}`},
			{"ping", `{}`},
		} {
			p.same(request[0], request[1])
		}
		p.same("tools/call", `{"name":"NAME.trigger-long-running-operation","arguments":{"duration":1,"steps":4},"_meta":{"progressToken":"tok"}}`)
		if diff := cmp.Diff(p.direct.notices("notifications/progress"), p.through.notices("notifications/progress")); diff != "" {
			t.Errorf("progress (-direct +through):\n%s", diff)
		}
	})
	t.Run("filesystem", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("alpha\nbeta\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		p := newPair(t, "fs", "monitoring", dir, "@modelcontextprotocol/server-filesystem/dist/index.js", dir)
		at := func(name string) string { return filepath.Join(dir, name) }
		p.same("tools/list", `{}`)
		for _, call := range [][2]string{
			{"read_text_file", `{"path":"` + at("a.txt") + `"}`},
			{"read_text_file", `{"path":"` + at("nothing.txt") + `"}`},
			{"read_text_file", `{"path":"/etc/passwd"}`},
			{"write_file", `{"path":"` + at("b.txt") + `","content":"gamma\n"}`},
			{"edit_file", `{"path":"` + at("b.txt") + `","edits":[{"oldText":"gamma","newText":"delta"}],"dryRun":true}`},
			{"list_directory", `{"path":"` + dir + `"}`},
			{"directory_tree", `{"path":"` + dir + `"}`},
			{"search_files", `{"path":"` + dir + `","pattern":"*.txt"}`},
			{"list_allowed_directories", `{}`},
		} {
			p.same("tools/call", `{"name":"NAME.`+call[0]+`","arguments":`+call[1]+`}`)
		}
	})
}

// TestGatewayStopsWhatIsRefused has the Go SDK's client use a real server through the gateway: ordinary work is unchanged, and
// what would harm is not done.
func TestGatewayStopsWhatIsRefused(t *testing.T) {
	t.Parallel()
	for _, revision := range mcp.SupportedProtocolVersions() {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			home, env := newHome(t)
			dir := t.TempDir()
			runtime, path := script(t, "@modelcontextprotocol/server-filesystem/dist/index.js")
			if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("alpha"), 0o600); err != nil {
				t.Fatal(err)
			}
			gateway := exec.Command(program, "gateway", "--name", "fs", "--", runtime, path, dir)
			gateway.Env, gateway.Dir = env, dir
			session, err := mcp.NewClient(&mcp.Implementation{Name: "sdk", Version: "1"}, nil).Connect(t.Context(), &mcp.CommandTransport{Command: gateway}, &mcp.ClientSessionOptions{ProtocolVersion: revision})
			if err != nil {
				t.Fatal(err)
			}
			defer session.Close()
			if got := session.InitializeResult().ProtocolVersion; got != revision {
				t.Errorf("the revision is %s", got)
			}
			call := func(tool string, arguments map[string]any) string {
				t.Helper()
				result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
				if err != nil {
					t.Fatalf("%s: %v", tool, err)
				}
				text, err := json.Marshal(result)
				if err != nil {
					t.Fatal(err)
				}
				return string(text)
			}
			if read := call("fs.read_text_file", map[string]any{"path": filepath.Join(dir, "a.txt")}); !strings.Contains(read, "alpha") {
				t.Errorf("reading: %s", read)
			}
			if wrote := call("fs.write_file", map[string]any{"path": filepath.Join(dir, "b.txt"), "content": "beta"}); strings.Contains(wrote, "isError") {
				t.Errorf("writing: %s", wrote)
			}
			if b, err := os.ReadFile(filepath.Join(dir, "b.txt")); err != nil || string(b) != "beta" {
				t.Errorf("written is %q, %v", b, err)
			}
			if refused := call("fs.write_file", map[string]any{"path": filepath.Join(home, "interlock.yaml"), "content": "mode: disabled"}); !strings.Contains(refused, `"status":"denied"`) {
				t.Errorf("writing Interlock's settings: %s", refused)
			}
			output(t, env, "audit", "verify")
		})
	}
}

// TestGatewayRefusesInTheToolsForm has a client that holds results against the tool's outputSchema, as the filesystem server
// declares one for each of its tools, read why a call was refused.
func TestGatewayRefusesInTheToolsForm(t *testing.T) {
	t.Parallel()
	for _, era := range eras {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			home, env := newHome(t)
			dir := t.TempDir()
			runtime, path := script(t, "@modelcontextprotocol/server-filesystem/dist/index.js")
			i := inspector{env: env, flags: []string{"--protocol-era", era}, server: []string{program, "gateway", "--home", home, "--name", "fs", "--", runtime, path, dir}}
			result := i.inspect(t, 5, "tools/call", "--tool-name", "fs.write_file", "--tool-arg", "path="+filepath.Join(home, "interlock.yaml"), "--tool-arg", "content=mode: disabled")
			content, _ := result["content"].([]any)
			meta, _ := result["_meta"].(map[string]any)
			detail, _ := meta["interlock/answer"].(map[string]any)
			if len(content) != 1 || result["isError"] != true || result["structuredContent"] != nil || detail["status"] != "denied" || detail["code"] != "policy_denied" {
				t.Fatalf("the refusal is %v", result)
			}
			if text, _ := content[0].(map[string]any)["text"].(string); !strings.HasPrefix(text, "Interlock did not let this call through: ") {
				t.Errorf("the model reads %q", text)
			}
		})
	}
}
