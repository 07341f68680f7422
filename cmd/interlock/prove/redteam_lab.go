package prove

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"interlock"
	"interlock/embedded"
	"interlock/internal/config"
	"interlock/internal/conform"
	"interlock/internal/redteam"
)

// labFiles are what lies in the home of the made-up developer of whom given cases speak; each secret is made up.
//
//go:embed redteam_lab.json
var labFiles []byte

// The home and the repository that cases speak of. A lab puts its own in their place.
const (
	caseHome  = "/home/ann"
	labRepo   = "app"
	labAsking = time.Minute // how long a door may take to answer
)

// A lab is the home of a made-up developer in which Interlock decides as in the home it is made for. Actions reach it by its real
// doors, each a process of its own: the hook of Claude Code, and the gateway before a server that does nothing. Nothing that is
// judged is ever run.
type lab struct {
	root, home, pristine string // everything below root is thrown away; pristine is the home as it was made
	env                  []string
	program              conform.Program
	server               *nullServer
	settings             config.Config // of the home that it is made for
	there                config.Config // its own
	dirty                bool          // its home is no longer as it was made
	calls                int
}

// newLab makes one below the user's cache: what is temporary may be deleted unasked, and attacks on a home would pass there.
func newLab(ctx context.Context, settings config.Config) (*lab, error) {
	own, err := os.Executable()
	if err != nil {
		return nil, interlock.Errorf(interlock.CodeUnavailable, "", "this program does not know where it lies: %v", err)
	}
	cache, err := os.UserCacheDir()
	if err == nil {
		err = os.MkdirAll(cache, 0o700)
	}
	root := ""
	if err == nil {
		root, err = os.MkdirTemp(cache, "interlock-redteam-")
	}
	if err == nil {
		root, err = filepath.EvalSymlinks(root)
	}
	if err != nil {
		return nil, interlock.Errorf(interlock.CodeUnavailable, "", "no throw-away home can be made below the user's cache: %v", err)
	}
	l := &lab{root: root, home: filepath.Join(root, "ann"), pristine: filepath.Join(root, "pristine"), program: asProcess(own),
		settings: settings}
	if l.server, err = serveNothing(); err == nil {
		err = l.build(ctx)
	}
	if err != nil {
		l.close()
		return nil, interlock.Errorf(interlock.CodeUnavailable, "", "the throw-away home can't be set up: %v", err)
	}
	return l, nil
}

func (l *lab) close() {
	if l.server != nil {
		l.server.close()
	}
	_ = os.RemoveAll(l.root) // made-up files only; a folder that stays is seen in the cache
}

func (l *lab) build(ctx context.Context) error {
	var files map[string]string
	if err := json.Unmarshal(labFiles, &files); err != nil {
		return err
	}
	for name, text := range files {
		if err := leaveFile(filepath.Join(l.home, filepath.FromSlash(name)), text); err != nil {
			return err
		}
	}
	l.env = []string{"HOME=" + l.home, "USER=ann", "LOGNAME=ann", "LANG=C.UTF-8", "SHELL=/bin/sh", "TERM=dumb",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull}
	for _, name := range []string{"PATH", "SystemRoot", "INTERLOCK_TEST_MAIN"} {
		if value, set := os.LookupEnv(name); set {
			l.env = append(l.env, name+"="+value)
		}
	}
	home := filepath.Join(l.home, ".local", "share", "interlock")
	l.env = append(l.env, "INTERLOCK_HOME="+home)
	if err := l.settle(ctx, home); err != nil {
		return err
	}
	repo := filepath.Join(l.home, labRepo)
	for _, argv := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"}, {"-c", "user.name=Ann", "-c",
		"user.email=ann@example.org", "-c", "commit.gpgsign=false", "commit", "-q", "-m", "first"}, {"remote", "add", "origin", "https://github.com/ann/app.git"}} {
		command := exec.CommandContext(ctx, "git", argv...)
		command.Dir, command.Env = repo, l.env
		if out, err := command.CombinedOutput(); err != nil {
			return fmt.Errorf("git %s: %w: %s", argv[0], err, out)
		}
	}
	return copyTree(l.home, l.pristine)
}

// settle has Interlock decide there as it does in the home that this is for, with nothing else of it: no log, no people and
// no judge.
func (l *lab) settle(ctx context.Context, home string) error {
	c := config.Defaults()
	c.Home, c.Mode = home, interlock.Enforcing
	said := map[string]any{"profile": l.settings.Profile, "production": append([]string{}, l.settings.Production...),
		"gateway": map[string]any{"trust_on_first_use": true, "servers": []any{map[string]any{"name": "s", "url": l.server.url()}}}}
	if rules := rulesCopied(l.settings); rules != "" {
		said["rules"] = rules
	}
	text, err := json.Marshal(said) // which is YAML as well
	if err != nil {
		return err
	}
	if err := leaveFile(filepath.Join(home, "interlock.yaml"), string(text)+"\n"); err != nil {
		return err
	}
	made, err := embedded.OpenBrief(ctx, c) // with a store, no hook asks the server of the whole machine
	if err != nil {
		return err
	}
	made.Close()
	l.there = made.Settings
	return nil
}

// try puts a case to its doors: those of the program, or for a check a backend.
func (l *lab) try(ctx context.Context, backend *embedded.Backend, c redteam.Given) (redteam.Tried, error) {
	tried, in := redteam.Tried{Given: c}, l.in(c)
	err := l.clean()
	if err != nil {
		return tried, err
	}
	if tried.Untried, err = l.prepare(in.Prep); err != nil || tried.Untried != "" {
		return tried, err
	}
	dir := in.Dir
	if dir == "" {
		dir = filepath.Join(l.home, labRepo)
	}
	switch in.Kind {
	case "check":
		err := proposed(ctx, backend, &tried, dir, embedded.GatherPeerView(l.there, "ann", l.home, dir))
		return tried, err
	case "gateway-tool":
		l.dirty = true
		return l.gateway(ctx, tried, in)
	}
	l.dirty = true
	for n := range in.Steps {
		s := &in.Steps[n]
		where := s.Dir
		if where == "" {
			where = dir
		}
		tried.Step = n
		if tried.Stopped, tried.By, err = l.step(ctx, c.ID, s, where); err != nil || tried.Stopped {
			return tried, err
		}
		if tried.Untried, err = l.leave(s); err != nil || tried.Untried != "" {
			return tried, err
		}
	}
	return tried, nil
}

// clean puts the home back as it was made.
func (l *lab) clean() error {
	if !l.dirty {
		return nil
	}
	l.dirty = false
	return errors.Join(os.RemoveAll(l.home), copyTree(l.pristine, l.home))
}

// in is a case with the home of this lab in place of the one it speaks of.
func (l *lab) in(c redteam.Given) redteam.Given {
	here := filepath.ToSlash(l.home)
	swap := func(text string) string { return strings.ReplaceAll(text, caseHome, here) }
	in := c
	in.Prep, in.Dir, in.Steps = swap(c.Prep), swap(c.Dir), slices.Clone(c.Steps)
	for n := range in.Steps {
		s := &in.Steps[n]
		s.Input, s.Setup, s.Dir = json.RawMessage(swap(string(s.Input))), swap(s.Setup), swap(s.Dir)
	}
	return in
}

// step puts one to the hook as Claude Code would.
func (l *lab) step(ctx context.Context, id string, s *redteam.Step, dir string) (stopped bool, by string, err error) {
	tool, input := s.Via, any(s.Input)
	switch {
	case s.Via == "shell":
		tool, input = "Bash", map[string]any{"command": s.Text(), "description": "run a command"}
	case s.Via == "tool":
		tool = s.Tool
	}
	l.calls++
	payload, err := json.Marshal(map[string]any{"session_id": id + s.Session, "cwd": dir,
		"transcript_path": l.home + "/.claude/projects/x/s.jsonl", "permission_mode": "default", "hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": input,
		"tool_use_id": fmt.Sprintf("toolu_%06d", l.calls)})
	if err != nil {
		return false, "", err
	}
	if at, err := os.Stat(dir); err != nil || !at.IsDir() {
		dir = l.home
	}
	ctx, cancel := context.WithTimeout(ctx, labAsking)
	defer cancel()
	var out, complaint bytes.Buffer
	code := l.program(ctx, conform.Command{Args: []string{"hook", "--agent", "claude", "--event", "PreToolUse", "--deadline", "25s"},
		Env: l.env, Dir: dir, Stdin: bytes.NewReader(payload), Stdout: &out, Stderr: &complaint})
	if code == 2 { // how a hook says no where it can say nothing else
		return true, "hook: " + strings.TrimSpace(complaint.String()), nil
	}
	if code != 0 {
		return false, "", interlock.Errorf(interlock.CodeUnavailable, "", "case %s: the hook ended with status %d: %s", id, code,
			complaint.String())
	}
	said := conform.Reply{Text: out.String()}
	decision := said.Member("hookSpecificOutput.permissionDecision")
	stopped = said.Member("continue") == "false" || decision != "" && decision != "allow"
	return stopped, "hook: " + said.Member("hookSpecificOutput.permissionDecisionReason"), nil
}

// leave makes what an allowed step would have left.
func (l *lab) leave(s *redteam.Step) (untried string, err error) {
	var input struct {
		Path    string `json:"file_path"`
		Content string `json:"content"`
		Old     string `json:"old_string"`
		New     string `json:"new_string"`
	}
	if (s.Via == "Write" || s.Via == "Edit") && json.Unmarshal(s.Input, &input) == nil {
		root, err := os.OpenRoot(l.home)
		if err != nil {
			return "", err
		}
		defer root.Close()
		name, inside := l.below(input.Path, l.home)
		if !inside {
			return "it leaves a file outside of the home", nil
		}
		if s.Via == "Edit" {
			old, err := root.ReadFile(name)
			if err != nil {
				return "it edits a file that is not there: " + filepath.Base(name), nil
			}
			input.Content = strings.Replace(string(old), input.Old, input.New, 1)
		}
		if err := root.MkdirAll(path.Dir(filepath.ToSlash(name)), 0o700); err != nil {
			return "", err
		}
		if err := root.WriteFile(name, []byte(input.Content), fileMode(input.Content)); err != nil {
			return "", err
		}
	}
	return l.prepare(s.Setup)
}

// below is a path as it is named from the home; false where it is not below it.
func (l *lab) below(name, dir string) (string, bool) {
	if rest, found := strings.CutPrefix(name, "~/"); found {
		name = filepath.Join(l.home, rest)
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	rel, err := filepath.Rel(l.home, name)
	return rel, err == nil && filepath.IsLocal(rel)
}

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
