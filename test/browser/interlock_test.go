package browser_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"interlock/test/product"
	"interlock/test/terminal"
)

// A house is one home of Interlock with a running server, as a person sets it up: settings, operators with keys, agents.
type house struct {
	t      *testing.T
	dir    string // of the person: keys and the home
	origin string // of the console
	api    string
	more   []string // of the environment of its programs
	server *exec.Cmd
	ended  chan error
}

// newHouse starts `interlock up` on a free port, with the given lines of settings.
func newHouse(t *testing.T, settings ...string) *house {
	t.Helper()
	return newHouseWith(t, nil, settings...)
}

// newHouseWith gives its programs more of an environment.
func newHouseWith(t *testing.T, environment []string, settings ...string) *house {
	t.Helper()
	dir := t.TempDir()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	_, port, _ := net.SplitHostPort(address)
	free.Close()
	h := &house{t: t, dir: dir, origin: "http://localhost:" + port, api: "http://" + address, more: environment}
	if err := os.Mkdir(filepath.Join(dir, "home"), 0o700); err != nil {
		t.Fatal(err)
	}
	lines := "listen: " + address + "\n" + strings.Join(settings, "\n") + "\n"
	if err := os.WriteFile(filepath.Join(dir, "home", "interlock.yaml"), []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	h.start()
	t.Cleanup(h.stop)
	return h
}

// start begins to serve and goes on when the server says that it answers.
func (h *house) start() {
	h.t.Helper()
	ready := filepath.Join(h.dir, "ready")
	os.Remove(ready)
	said := &bytes.Buffer{}
	h.server = h.command("up", "--ready", ready)
	h.server.Stdout, h.server.Stderr = said, said
	if err := h.server.Start(); err != nil {
		h.t.Fatal(err)
	}
	h.ended = make(chan error, 1)
	go func(server *exec.Cmd, ended chan<- error) { ended <- server.Wait() }(h.server, h.ended)
	timeout := time.After(patience)
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for {
		if _, err := os.Stat(ready); err == nil {
			return
		}
		select {
		case err := <-h.ended:
			h.t.Fatalf("the server ended: %v\n%s", err, said)
		case <-timeout:
			h.stop()
			h.t.Fatalf("the server did not become ready:\n%s", said)
		case <-look.C:
		}
	}
}

// stop has the server end well. One that waits for somebody who will not go is killed, and that is a failure.
func (h *house) stop() {
	h.t.Helper()
	_ = h.server.Process.Signal(syscall.SIGTERM) // it may have ended
	select {
	case err := <-h.ended:
		if err != nil {
			h.t.Errorf("the server ended badly: %v", err)
		}
	case <-time.After(patience):
		_ = h.server.Process.Kill()
		h.t.Errorf("the server did not end when it was told to: %v", <-h.ended)
	}
}

// command is the program with the person's environment and nothing of the tester's.
func (h *house) command(arguments ...string) *exec.Cmd {
	c := exec.Command(product.Interlock(), arguments...)
	c.Dir = h.dir
	askpass, err := terminal.Askpass(h.dir)
	if err != nil {
		h.t.Fatal(err)
	}
	c.Env = append(askpass, "PATH="+os.Getenv("PATH"), "HOME="+h.dir, "USER=tester", "INTERLOCK_HOME="+filepath.Join(h.dir, "home"))
	c.Env = append(c.Env, h.more...)
	return c
}

// run runs a command of the program that must succeed, and returns what it prints.
func (h *house) run(arguments ...string) string {
	h.t.Helper()
	if len(arguments) > 1 && (arguments[0] == "agent" || arguments[0] == "operator") &&
		(arguments[1] == "add" || arguments[1] == "revoke" || arguments[1] == "enrol") {
		arguments = append(arguments, "--key", h.governor())
	}
	var out, said bytes.Buffer
	c := h.command(arguments...)
	c.Stdout, c.Stderr = &out, &said
	if err := c.Run(); err != nil {
		h.t.Fatalf("interlock %s: %v\n%s", strings.Join(arguments, " "), err, &said)
	}
	return out.String()
}

// governor is the key of who governs, and makes that person the first time.
func (h *house) governor() string {
	h.t.Helper()
	key := filepath.Join(h.dir, "ruth")
	if _, err := os.Stat(key); err == nil {
		return key
	}
	key, err := terminal.Govern(product.Interlock(), h.command().Env, h.dir)
	if err != nil {
		h.t.Fatal(err)
	}
	return key
}

// operator registers a person with an SSH key of the same name.
func (h *house) operator(name, role string) {
	h.t.Helper()
	key := filepath.Join(h.dir, name)
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-a", "1", "-N", terminal.Passphrase, "-f", key).CombinedOutput(); err != nil {
		h.t.Fatalf("ssh-keygen: %v\n%s", err, out)
	}
	h.run("operator", "add", name, "--role", role, "--ssh-key", key+".pub")
}

// link is the address that a command prints in a line of its own.
func (h *house) link(arguments ...string) string {
	h.t.Helper()
	out := h.run(arguments...)
	found := regexp.MustCompile(`(?m)^http://localhost:\S+$`).FindString(out)
	if found == "" {
		h.t.Fatalf("no link in %s", out)
	}
	return found
}

// logged is the newest events, as the command line lists them.
func (h *house) logged() string {
	h.t.Helper()
	return h.run("audit", "list", "--json", "--limit", "1000")
}

// An agent is an MCP client we did not write, with the safety loop as its server.
type agent struct {
	t       *testing.T
	session *mcp.ClientSession
}

// overStdio starts `interlock mcp` as MCP clients do, beside the running server and on the same home.
func (h *house) overStdio(name string) *agent {
	h.t.Helper()
	return h.connect(&mcp.CommandTransport{Command: h.command("mcp", "--agent", name)})
}

// overHTTP connects to /mcp of the running server with an agent's token.
func (h *house) overHTTP(token string) *agent {
	h.t.Helper()
	return h.connect(&mcp.StreamableClientTransport{Endpoint: h.api + "/mcp", MaxRetries: -1,
		HTTPClient: &http.Client{Transport: bearer(token)}})
}

// bearer adds an agent's token to every request.
type bearer string

func (token bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(token))
	return http.DefaultTransport.RoundTrip(r)
}

func (h *house) connect(transport mcp.Transport) *agent {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "plain-client", Version: "1"}, nil).Connect(ctx, transport, nil)
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { session.Close() })
	return &agent{t: h.t, session: session}
}

// An answer is what an operation gave: a directive, for a step.
type answer struct {
	Success bool
	Data    struct {
		Continue      bool
		Stopped       bool
		Reason        string
		Request       string `json:"request_id"`
		Status        string
		Confirmed     bool
		Notifications []struct {
			Type     string
			Metadata struct {
				VerificationID string `json:"verificationId"`
			}
		}
	}
	Error struct{ Code, Message string }
	text  string
}

// challenge is the id that a directive names for a code.
func (a answer) challenge() string {
	for _, n := range a.Data.Notifications {
		if n.Metadata.VerificationID != "" {
			return n.Metadata.VerificationID
		}
	}
	return ""
}

func (a *agent) call(tool, operation string, params options) (got answer) {
	a.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	result, err := a.session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: options{"operation": operation, "params": params}})
	if err != nil {
		a.t.Fatal(err)
	}
	got.text = result.Content[0].(*mcp.TextContent).Text
	if err := json.Unmarshal([]byte(got.text), &got); err != nil {
		a.t.Fatalf("%v: %s", err, got.text)
	}
	return got
}

// begins starts an execution.
func (a *agent) begins() {
	a.t.Helper()
	if got := a.call("mcp_aql_execute", "execute_agent", options{"element_name": "release"}); !got.Success {
		a.t.Fatal(got.text)
	}
}

// step reports what it is about to do.
func (a *agent) step(action string) answer {
	a.t.Helper()
	return a.call("mcp_aql_create", "record_execution_step", options{"element_name": "release", "next_action_hint": action})
}

// asks reports an action that waits for a human, and returns the request's id.
func (a *agent) asks(action string) string {
	a.t.Helper()
	got := a.step(action)
	if !got.Success || got.Data.Continue || got.Data.Stopped || got.Data.Request == "" {
		a.t.Fatalf("%q does not wait for a human: %s", action, got.text)
	}
	return got.Data.Request
}

// goesOn reports an action that must pass.
func (a *agent) goesOn(action string) {
	a.t.Helper()
	if got := a.step(action); !got.Success || !got.Data.Continue {
		a.t.Fatalf("%q does not pass: %s", action, got.text)
	}
}

// decide asks the HTTP API with an agent's token, as a program does that speaks no MCP.
func (h *house) decide(token string, action options) {
	h.t.Helper()
	body, err := json.Marshal(action)
	if err != nil {
		h.t.Fatal(err)
	}
	request, err := http.NewRequest(http.MethodPost, h.api+"/v1/decide", bytes.NewReader(body))
	if err != nil {
		h.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		h.t.Fatal(err)
	}
	defer response.Body.Close()
	if said, err := io.ReadAll(response.Body); err != nil || response.StatusCode != http.StatusOK {
		h.t.Fatalf("%s: %v %s", response.Status, err, said)
	}
}
