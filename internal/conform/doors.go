package conform

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"

	"interlock/internal/fileio"
)

// A Step is one thing that was sent and what was answered.
type Step struct {
	Door   string `json:"door"`
	Sent   string `json:"sent"`
	Answer string `json:"answer,omitempty"`
}

// maxStep bounds what the evidence keeps of a text.
const maxStep = 2000

func (d *Driver) begin() { d.take() }

// take hands out the steps so far.
func (d *Driver) take() []Step {
	d.mu.Lock()
	defer d.mu.Unlock()
	steps := d.steps
	d.steps = nil
	return steps
}

func (d *Driver) note(s Step) {
	s.Sent, s.Answer = short(d.clean(s.Sent)), short(d.clean(s.Answer))
	d.mu.Lock()
	defer d.mu.Unlock()
	d.steps = append(d.steps, s)
}

func short(text string) string {
	if len(text) > maxStep {
		return strings.ToValidUTF8(text[:maxStep], "") + "…"
	}
	return text
}

// clean takes secrets out of a text, and the directory that is gone afterwards.
func (d *Driver) clean(text string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, secret := range d.secrets {
		text = strings.ReplaceAll(text, secret, "[secret]")
	}
	return strings.ReplaceAll(text, d.env.Root, "TMP")
}

func (d *Driver) secret(text string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if text == "" {
		return
	}
	d.secrets = append(d.secrets, text)
}

// Said is what a command printed and ended with.
type Said struct {
	Code     int
	Out, Err string
}

// CLI runs a command in the home's workspace, with standard input if that is not empty.
func (h *House) CLI(ctx context.Context, stdin string, args ...string) Said {
	var out, errs bytes.Buffer
	code := h.program(ctx, Command{Args: args, Env: h.environment(), Dir: h.Work, Stdin: strings.NewReader(stdin), Stdout: &out, Stderr: &errs})
	said := Said{code, out.String(), errs.String()}
	if len(args) > 1 && (args[0] == "agent" && args[1] == "add" || args[0] == "block" && args[1] == "code") {
		h.d.secret(strings.TrimSpace(said.Out)) // its token, or the code
	}
	sent := "interlock " + strings.Join(args, " ")
	if stdin != "" {
		sent += " < " + stdin
	}
	h.d.note(Step{Door: "command", Sent: sent, Answer: fmt.Sprintf("exit %d\n%s%s", said.Code, said.Out, said.Err)})
	return said
}

// Order runs a command that an operator signs. Its error says that it was refused.
func (h *House) Order(ctx context.Context, operator string, args ...string) (Said, error) {
	said := h.CLI(ctx, "", append(args, "--key", h.keys[operator])...)
	if said.Code != 0 {
		return said, fmt.Errorf("interlock %s: exit %d: %s", strings.Join(args, " "), said.Code, said.Err)
	}
	return said, nil
}

// Operator adds a person with a role, and does nothing where there is one of that name.
func (h *House) Operator(ctx context.Context, name, role string) error {
	if h.keys[name] != "" {
		return nil
	}
	if _, err := h.key(name); err != nil {
		return err
	}
	_, err := h.Order(ctx, "ada", "operator", "add", name, "--role", role, "--ssh-key", h.keys[name]+".pub")
	return err
}

// Agent adds an agent and keeps its token. It does nothing where there is one of that name.
func (h *House) Agent(ctx context.Context, name string, flags ...string) error {
	if h.tokens[name] != "" {
		return nil
	}
	said, err := h.Order(ctx, "ada", append([]string{"agent", "add", name}, flags...)...)
	h.tokens[name] = strings.TrimSpace(said.Out)
	return err
}

// Agents adds several without flags.
func (h *House) Agents(ctx context.Context, names ...string) error {
	for _, name := range names {
		if err := h.Agent(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// A Reply is what HTTP answered. A status of 0 says that nothing was.
type Reply struct {
	Status int
	Text   string
}

// Member is a member of the answer as text: strings as they are, everything else as JSON. A path is written with dots.
func (r Reply) Member(path string) string {
	var value any
	if json.Unmarshal([]byte(r.Text), &value) != nil {
		return ""
	}
	for _, name := range strings.Split(path, ".") {
		switch at := value.(type) {
		case map[string]any:
			value = at[name]
		case []any:
			n, err := strconv.Atoi(name)
			if err != nil || n < 0 || n >= len(at) {
				return ""
			}
			value = at[n]
		default:
			return ""
		}
	}
	switch at := value.(type) {
	case nil:
		return ""
	case string:
		return at
	}
	text, _ := json.Marshal(value) // it came out of JSON
	return string(text)
}

// Call sends an agent's request to the API.
func (h *House) Call(ctx context.Context, agent, method, path string, body any) Reply {
	return h.call(ctx, agent, h.tokens[agent], h.API, method, path, body)
}

// Control sends a request to the control door with a credential: the one of the door itself where who is empty, else an agent's or an
// observer's.
func (h *House) Control(ctx context.Context, who, method, path string, body any) Reply {
	token := h.tokens[who]
	if who == "" {
		text, err := fileio.Plain(filepath.Join(h.Home, "control.token"), maxFile)
		if err != nil {
			return Reply{Text: err.Error()}
		}
		token = strings.TrimSpace(string(text))
		h.d.secret(token)
	}
	return h.call(ctx, who, token, h.Door, method, path, body)
}

// Raw is Call with a body that is sent as it is.
func (h *House) Raw(ctx context.Context, agent, method, path, body string) Reply {
	return h.send(ctx, agent, h.tokens[agent], h.API, method, path, body)
}

func (h *House) call(ctx context.Context, who, token, address, method, path string, body any) Reply {
	text, err := json.Marshal(body)
	if err != nil {
		return Reply{Text: err.Error()}
	}
	return h.send(ctx, who, token, address, method, path, string(text))
}

func (h *House) send(ctx context.Context, who, token, address, method, path, text string) Reply {
	request, err := http.NewRequestWithContext(ctx, method, address+path, strings.NewReader(text))
	if err != nil {
		return Reply{Text: err.Error()}
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/json")
	if path == "/mcp" { // which wants to hear that streams of events are taken as well
		request.Header.Set("Accept", "application/json, text/event-stream")
	}
	var reply Reply
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		reply.Text = err.Error()
	} else {
		said, readErr := io.ReadAll(io.LimitReader(response.Body, 4<<20))
		response.Body.Close()
		reply = Reply{response.StatusCode, string(said)}
		if readErr != nil {
			reply = Reply{Text: readErr.Error()}
		}
	}
	h.d.note(Step{Door: "HTTP as " + strconv.Quote(who), Sent: method + " " + path + " " + text,
		Answer: fmt.Sprintf("%d %s", reply.Status, reply.Text)})
	return reply
}

// An Action is what an agent asks to do.
type Action map[string]any

// Shell is a command in a directory that need not be there.
func Shell(command string) Action {
	return Action{"kind": "shell", "input": command, "dir": "/srv/project"}
}

// Tool is a call of a tool.
func Tool(name string, arguments map[string]any) Action {
	return Action{"kind": "tool", "tool": name, "arguments": arguments, "dir": "/srv/project"}
}

// In is the action within a run.
func (a Action) In(run string) Action {
	in := Action{"run": run}
	for name, value := range a {
		if name != "run" {
			in[name] = value
		}
	}
	return in
}

// A Decided is the answer to an action.
type Decided struct {
	Reply
	Answer, Verdict string // allow, ask, deny or halt; what binds, and what the rules say
	Request, Event  string
	Rule, Reason    string // of the strictest finding
}

// Decide asks for an action as an agent.
func (h *House) Decide(ctx context.Context, agent string, a Action) Decided {
	reply := h.Call(ctx, agent, "POST", "/v1/decide", a)
	return Decided{Reply: reply, Answer: reply.Member("answer"), Verdict: reply.Member("verdict"), Request: reply.Member("request"),
		Event: reply.Member("event_id"), Rule: reply.Member("findings.0.rule"), Reason: reply.Member("findings.0.reason")}
}

// Expect is Decide, and an error unless the verdict is one of those named.
func (h *House) Expect(ctx context.Context, agent string, a Action, verdicts ...string) (Decided, error) {
	d := h.Decide(ctx, agent, a)
	for _, v := range verdicts {
		if d.Verdict == v {
			return d, nil
		}
	}
	return d, fmt.Errorf("%s by %s: %s (%s, status %d), expected %s", d.Verdict, d.Rule, a["input"], d.Reason, d.Status,
		strings.Join(verdicts, " or "))
}

// Hook has the hook of a harness judge a shell command, and returns its permission: allow (also where it says nothing), ask or deny.
func (h *House) Hook(ctx context.Context, agent, call, command string) (permission string, said Said) {
	input, _ := json.Marshal(map[string]any{"session_id": "s1", "hook_event_name": "PreToolUse", "tool_name": "Bash", "cwd": h.Work,
		"tool_use_id": call, "tool_input": map[string]string{"command": command}}) // texts only
	said = h.CLI(ctx, string(input), "hook", "--agent", agent)
	permission = Reply{Text: said.Out}.Member("hookSpecificOutput.permissionDecision")
	if permission == "" && said.Code == 0 {
		permission = "allow"
	}
	return permission, said
}

// Events are the newest events of a type, as `interlock audit list --json` prints them.
func (h *House) Events(ctx context.Context, kind string) string {
	return h.CLI(ctx, "", "audit", "list", "--type", kind, "--json").Out
}

// Event is one event whole.
func (h *House) Event(ctx context.Context, id string) string {
	return h.CLI(ctx, "", "audit", "show", id).Out
}

// Open counts the requests that wait for a person.
func (h *House) Open(ctx context.Context) int {
	return strings.Count(h.CLI(ctx, "", "pending", "--json").Out, `"id":"apr_`)
}

// First is the first of the faults; none where all hold.
func First(faults ...error) error {
	for _, f := range faults {
		if f != nil {
			return f
		}
	}
	return nil
}

// Unless is a fault where something does not hold.
func Unless(holds bool, format string, args ...any) error {
	if holds {
		return nil
	}
	return fmt.Errorf(format, args...)
}
