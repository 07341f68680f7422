package clients

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"interlock/test/product"
	"interlock/test/terminal"
)

// A door is how an agent reaches the program.
type door string

const (
	onStreams door = "stdio"
	overHTTP  door = "http"
)

// An office is a home with an operator, an administrator and a channel that takes codes; with what every process said.
type office struct {
	home string
	keys string // directory of people's SSH keys
	env  []string

	governor string            // the key of who governs
	codes    map[string]string // by challenge, as a human was shown them

	mu   sync.Mutex
	said bytes.Buffer
}

// Write keeps what processes say on standard error and what clients read.
func (o *office) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.said.Write(p)
}

func (o *office) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var notice struct{ Challenge, Code string }
	if err := json.NewDecoder(r.Body).Decode(&notice); err != nil {
		http.Error(w, "unreadable", http.StatusBadRequest)
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if notice.Code != "" {
		o.codes[notice.Challenge] = notice.Code
	}
}

func (o *office) code(challenge string) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.codes[challenge]
}

func newOffice(t *testing.T, settings string) *office {
	t.Helper()
	home, env := newHome(t)
	o := &office{home: home, keys: t.TempDir(), env: append(env, "CHANNEL_KEY=sixteen-characters-and-more"), codes: map[string]string{}}
	channel := httptest.NewServer(o)
	t.Cleanup(channel.Close)
	text := fmt.Sprintf("channels: [{kind: webhook, url: %q, key: env:CHANNEL_KEY}]\n%s", channel.URL, settings)
	if err := os.WriteFile(filepath.Join(home, "interlock.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	o.governor = governed(t, o.env)
	made := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-a", "1", "-N", terminal.Passphrase, "-f", o.key("olga"))
	if out, err := made.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	output(t, o.env, "operator", "add", "olga", "--ssh-key", o.key("olga")+".pub", "--key", o.governor)
	return o
}

func (o *office) key(name string) string { return filepath.Join(o.keys, name) }

// approve says yes to a request as an operator does, in a process of its own.
func (o *office) approve(t *testing.T, request string) bool {
	t.Helper()
	command := exec.Command(product.Interlock(), "approve", request, "--key", o.key("olga"))
	command.Env = o.env
	out, err := command.CombinedOutput()
	if err != nil {
		t.Errorf("approving: %v: %s", err, out)
	}
	return err == nil
}

// deny says no to it.
func (o *office) deny(t *testing.T, request string) {
	t.Helper()
	output(t, o.env, "deny", request, "--key", o.key("olga"), "--reason", "not this")
}

// An agent is a client of the program that can be cut off and come back, and a server that can be killed.
type agent struct {
	t      *testing.T
	office *office
	door   door
	token  string

	session  *mcp.ClientSession
	server   *exec.Cmd // of the door: killed without warning
	endpoint string
	served   bool // that the server behind an HTTP door runs
	clients  int
}

func newAgent(t *testing.T, o *office, d door) *agent {
	t.Helper()
	a := &agent{t: t, office: o, door: d}
	if d == overHTTP {
		a.token = addAgent(t, o.env, "runner")
	}
	a.connect()
	t.Cleanup(func() { a.kill() })
	return a
}

// connect makes a new connection of a client with a new name, and starts a server where none runs.
func (a *agent) connect(env ...string) {
	a.t.Helper()
	a.clients++
	var transport mcp.Transport
	if a.door == overHTTP {
		if !a.served {
			a.serve()
		}
		transport = &mcp.StreamableClientTransport{Endpoint: a.endpoint, HTTPClient: &http.Client{Transport: bearer(a.token)}, DisableStandaloneSSE: true}
	} else {
		a.server = a.program(env, "mcp", "--agent", "runner")
		transport = &mcp.CommandTransport{Command: a.server}
	}
	client := mcp.NewClient(&mcp.Implementation{Name: fmt.Sprintf("client-%d", a.clients), Version: "1"}, nil)
	session, err := client.Connect(context.Background(), &mcp.LoggingTransport{Transport: transport, Writer: a.office}, nil)
	if err != nil {
		a.t.Fatalf("connecting: %v\n%s", err, a.office.said.String())
	}
	a.session = session
}

func (a *agent) program(env []string, args ...string) *exec.Cmd {
	command := exec.Command(product.Interlock(), args...)
	command.Env = append(append([]string{}, a.office.env...), env...)
	command.Stderr = a.office
	return command
}

func (a *agent) serve() {
	a.t.Helper()
	a.server = a.program(nil, "up", "--listen", "127.0.0.1:0")
	stdout, err := a.server.StdoutPipe()
	if err != nil {
		a.t.Fatal(err)
	}
	if err := a.server.Start(); err != nil {
		a.t.Fatal(err)
	}
	lines := bufio.NewReader(stdout)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			a.t.Fatalf("the server did not start: %s", a.office.said.String())
		}
		if _, address, found := strings.Cut(line, "mcp     "); found {
			a.endpoint, a.served = strings.TrimSpace(address), true
			go io.Copy(a.office, lines)
			return
		}
	}
}

// leave ends the connection as a client does.
func (a *agent) leave() { a.session.Close() }

// kill ends the server without warning, in the middle of whatever it does.
func (a *agent) kill() {
	_ = a.server.Process.Kill()
	a.session.Close()
	if a.door == overHTTP {
		_ = a.server.Wait()
		a.served = false
	}
}

// An envelope is what an operation answers.
type envelope struct {
	Success bool
	Data    map[string]any
	Error   struct {
		Code    string
		Details map[string]any
	}
}

// call carries an operation out, with a confirmation where one is asked for, as a client does whose user says yes to
// everything. It returns the token that was used, if there was one.
func (a *agent) call(operation string, params map[string]any) (envelope, string) {
	a.t.Helper()
	answer := a.try(operation, params)
	token, asked := answer.Error.Details["confirmation_token"].(string)
	if !asked {
		return answer, ""
	}
	confirmed := map[string]any{"_confirmation": token}
	for name, value := range params {
		confirmed[name] = value
	}
	return a.try(operation, confirmed), token
}

// try carries an operation out as it stands.
func (a *agent) try(operation string, params map[string]any) envelope {
	a.t.Helper()
	answer, err := a.ask(operation, params)
	if err != nil {
		a.t.Fatalf("%s: %v\n%s", operation, err, a.office.said.String())
	}
	return answer
}

// ask is try for a server that may be killed meanwhile.
func (a *agent) ask(operation string, params map[string]any) (envelope, error) {
	tool := "mcp_aql_create"
	if strings.HasSuffix(operation, "_execution") || operation == "execute_agent" || operation == "confirm_operation" {
		tool = "mcp_aql_execute"
	}
	var answer envelope
	result, err := a.session.CallTool(context.Background(),
		&mcp.CallToolParams{Name: tool, Arguments: map[string]any{"operation": operation, "params": params}})
	if err != nil {
		return answer, err
	}
	return answer, json.Unmarshal([]byte(result.Content[0].(*mcp.TextContent).Text), &answer)
}

// begin starts an execution and returns its handle and the token that confirmed it.
func (a *agent) begin(element string) (handle, token string) {
	a.t.Helper()
	answer, token := a.call("execute_agent", map[string]any{"element_name": element})
	handle, _ = answer.Data["execution_id"].(string)
	if handle == "" {
		a.t.Fatalf("no execution: %+v", answer)
	}
	return handle, token
}

// step reports an action.
func (a *agent) step(handle, element, hint string) envelope {
	a.t.Helper()
	answer, _ := a.call("record_execution_step", map[string]any{"execution_id": handle, "element_name": element, "next_action_hint": hint})
	return answer
}

func (e envelope) goesOn() bool { return e.Success && e.Data["continue"] == true }

func (e envelope) request() string { id, _ := e.Data["request_id"].(string); return id }

// challenge is the one a directive notifies of.
func (e envelope) challenge() string {
	notifications, _ := e.Data["notifications"].([]any)
	for _, n := range notifications {
		metadata, _ := n.(map[string]any)["metadata"].(map[string]any)
		if id, ok := metadata["verificationId"].(string); ok {
			return id
		}
	}
	return ""
}

// heard is all that was said to agents, without what they said themselves.
func (o *office) heard() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return regexp.MustCompile(`(?m)^write: .*$`).ReplaceAllString(o.said.String(), "")
}

// events counts the events of the log by type, and returns the export they were counted in. The log has to verify.
func (o *office) events(t *testing.T) (map[string]int, string) {
	t.Helper()
	output(t, o.env, "audit", "verify")
	export := output(t, o.env, "audit", "export")
	count := map[string]int{}
	for _, line := range strings.Split(export, "\n") {
		var entry struct {
			Event struct {
				Type string `json:"event_type"`
			}
		}
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		count[entry.Event.Type]++
	}
	return count, export
}
