package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"interlock"
	"interlock/embedded"
	"interlock/internal/store"
	"interlock/spec"
	"interlock/test/terminal"
)

// TestCodesStayOutOfEveryOutput plays a whole story with the real server, the real store and a real receiver: an agent is
// paused and blocked over MCP, codes go to a webhook, are answered wrongly, in the wrong place, late and rightly, and an operator
// has one shown. Then everything that was written is searched for every code: what the server said to its client and on its
// error stream, the files of the home, the log, the metrics and the events over HTTP.
func TestCodesStayOutOfEveryOutput(t *testing.T) {
	spec.Covers(t, "AQL-8.8.2b")
	home := t.TempDir()
	receiver := newReceiver(t)
	prepare(t, home, receiver.address)
	agent := startMCP(t, home)
	agent.say("initialize", map[string]any{"protocolVersion": "2025-11-25", "capabilities": map[string]any{},
		"clientInfo": map[string]any{"name": "test", "version": "1"}})
	agent.operate("execute_agent", map[string]any{"element_name": "task"})

	paused := agent.operate("record_execution_step", map[string]any{"element_name": "task", "next_action_hint": "run `npm publish --tag next`"})
	pause := receiver.next(t)
	if !strings.Contains(paused, pause.Challenge) || pause.Code == "" || pause.Kind != "verify" {
		t.Fatalf("paused: %s\nreceived: %+v", paused, pause)
	}
	agent.operate("confirm_operation", map[string]any{"request_id": pause.Request})
	agent.operate("verify_challenge", map[string]any{"challenge_id": pause.Code, "code": pause.Code})
	passed := agent.operate("verify_challenge", map[string]any{"challenge_id": pause.Challenge, "code": strings.ToLower(pause.Code)})
	if !strings.Contains(passed, `\"success\":true`) {
		t.Errorf("the right code: %s", passed)
	}
	stopped := agent.operate("record_execution_step", map[string]any{"element_name": "task", "next_action_hint": "run `rm -rf /`"})
	block := receiver.next(t)
	if !strings.Contains(stopped, block.Challenge) || block.Kind != "block" || block.Severity != "danger_zone" {
		t.Fatalf("stopped: %s\nreceived: %+v", stopped, block)
	}
	agent.operate("verify_challenge", map[string]any{"challenge_id": block.Challenge, "code": pause.Code})
	agent.operate("verify_challenge", map[string]any{"challenge_id": block.Challenge, "code": block.Code})
	agent.operate("confirm_operation", map[string]any{"request_id": block.Code, "code": block.Code})
	shown, err := command(t, home, "block", "code", block.Challenge, "--key", filepath.Join(home, "olga")).Output()
	if err != nil {
		t.Fatalf("an operator's code: %v", err)
	}
	code, _, _ := strings.Cut(string(shown), "\n")
	freed := agent.operate("verify_challenge", map[string]any{"challenge_id": block.Challenge, "code": code})
	if !strings.Contains(freed, `\"success\":true`) {
		t.Errorf("the operator's code: %s", freed)
	}
	agent.end()
	if alerts := receiver.alerts(); len(alerts) < 2 || slices.ContainsFunc(alerts, func(n told) bool { return n.Code != "" }) {
		t.Errorf("the wrong codes and the agent's own confirmation were told of as %+v", alerts)
	}
	written := agent.heard.String() + agent.errors.String() + server(t, home) + contents(t, home)
	for name, secret := range map[string]string{"the pause's": pause.Code, "the block's": block.Code, "the operator's": code} {
		if len(secret) != 39 {
			t.Fatalf("%s code is %q", name, secret)
		}
		for _, form := range []string{secret, strings.ToLower(secret), strings.ReplaceAll(secret, "-", ""),
			strings.ToLower(strings.ReplaceAll(secret, "-", "")), secret[:19], secret[20:]} {
			if at := strings.Index(written, form); at >= 0 {
				t.Errorf("%s code is written down: …%q…", name, written[max(0, at-80):min(len(written), at+80)])
			}
		}
	}
	backend, err := embedded.Open(t.Context(), embedded.Config{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	defer backend.Close()
	verifyLog(t, backend)
}

// prepare writes rules, settings, a key for the webhook and an operator into a home.
func prepare(t *testing.T, home, address string) {
	t.Helper()
	t.Setenv("TEST_WEBHOOK_KEY", "0123456789abcdef")
	if err := os.Chmod(home, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(home, "rules"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"interlock.yaml": "channels:\n  - {kind: webhook, url: \"" + address + "\", key: env:TEST_WEBHOOK_KEY}\n",
		"rules/publish.yaml": `rules:
  - id: local.publish
    layer: 3
    match: {glob: ["npm publish*"]}
    verdict: ask
    reason: this shows work to the public
    obligations: [{type: verify}]
    tests: {ask: ["npm publish --tag next"], pass: ["npm ls"]}
`,
	} {
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	made := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-a", "1", "-N", terminal.Passphrase, "-f", filepath.Join(home, "olga"))
	if out, err := made.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if screen, err := terminal.Run(command(t, home, "operator", "add", "olga", "--ssh-key", filepath.Join(home, "olga.pub"))); err != nil {
		t.Fatalf("%v: %s", err, screen)
	}
}

// command is the binary with these arguments on a home.
func command(t *testing.T, home string, args ...string) *exec.Cmd {
	t.Helper()
	process := exec.CommandContext(t.Context(), os.Args[0])
	process.Args = append([]string{"interlock"}, args...)
	process.Env = append(os.Environ(), "INTERLOCK_HOME="+home, "INTERLOCK_TEST_MAIN=1")
	return process
}

// A told notice is what the receiver reads of one.
type told struct{ Kind, Severity, Challenge, Request, Code string }

type receiver struct {
	address string
	notices chan told
	alarms  chan told // which come beside the answers, when they come
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{notices: make(chan told, 16), alarms: make(chan told, 16)}
	web := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) {
		var notice told
		if err := json.NewDecoder(q.Body).Decode(&notice); err == nil {
			if notice.Kind == "alert" {
				r.alarms <- notice
				return
			}
			r.notices <- notice
		}
	}))
	t.Cleanup(web.Close)
	r.address = web.URL
	return r
}

// alerts returns the alerts that have come.
func (r *receiver) alerts() (all []told) {
	for len(r.alarms) > 0 {
		all = append(all, <-r.alarms)
	}
	return all
}

// next returns the next notice; the server answers its client only after it was delivered.
func (r *receiver) next(t *testing.T) told {
	t.Helper()
	select {
	case n := <-r.notices:
		return n
	default:
		t.Fatal("no notice was sent")
		return told{}
	}
}

// An mcpAgent is a client of `interlock mcp`, and remembers every byte it was sent.
type mcpAgent struct {
	t       *testing.T
	process *exec.Cmd
	stdin   io.WriteCloser
	lines   *bufio.Scanner
	heard   bytes.Buffer
	errors  bytes.Buffer
	id      int
}

func startMCP(t *testing.T, home string) *mcpAgent {
	t.Helper()
	a := &mcpAgent{t: t, process: command(t, home, "mcp", "--endpoints", "single")}
	a.process.Stderr = &a.errors
	var err error
	if a.stdin, err = a.process.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	stdout, err := a.process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	a.lines = bufio.NewScanner(io.TeeReader(stdout, &a.heard))
	a.lines.Buffer(nil, 4<<20)
	if err := a.process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.process.Process.Kill() })
	return a
}

// say sends a request and returns the line that answers it.
func (a *mcpAgent) say(method string, params any) string {
	a.t.Helper()
	a.id++
	line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": a.id, "method": method, "params": params})
	if err != nil {
		a.t.Fatal(err)
	}
	if _, err := a.stdin.Write(append(line, '\n')); err != nil {
		a.t.Fatal(err)
	}
	for a.lines.Scan() {
		if strings.Contains(a.lines.Text(), fmt.Sprintf(`"id":%d,`, a.id)) {
			return a.lines.Text()
		}
	}
	a.t.Fatalf("no answer to %s: %s", line, a.errors.String())
	return ""
}

func (a *mcpAgent) operate(operation string, params map[string]any) string {
	a.t.Helper()
	return a.say("tools/call", map[string]any{"name": "mcp_aql", "arguments": map[string]any{"operation": operation, "params": params}})
}

func (a *mcpAgent) end() {
	a.t.Helper()
	a.stdin.Close()
	for a.lines.Scan() { // to the end of what it says
	}
	if err := a.process.Wait(); err != nil {
		a.t.Errorf("the server ended with %v: %s", err, a.errors.String())
	}
}

// server returns what `interlock up` tells of the home over HTTP.
func server(t *testing.T, home string) string {
	t.Helper()
	s := startServer(t, home)
	var all strings.Builder
	for _, path := range []string{"/metrics", "/v1/events?limit=1000"} {
		response, err := s.client.Get("http://interlock" + path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(&all, response.Body); err != nil || response.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s, %v", path, response.Status, err)
		}
		response.Body.Close()
	}
	if !strings.Contains(all.String(), "VERIFICATION") {
		t.Error("the events say nothing of verifications, so the search proves nothing")
	}
	return all.String()
}

// stored returns the texts that a home's store holds packed: events, and what decisions were made from.
func stored(t *testing.T, home string) string {
	t.Helper()
	store, err := store.Open(home, store.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	var all strings.Builder
	if err := store.Walk(t.Context(), func(e interlock.Entry) error { all.Write(e.Body); return nil }); err != nil {
		t.Fatal(err)
	}
	if err := store.Recorded(t.Context(), 0, func(e interlock.Entry) error { all.Write(e.Inputs); return nil }); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(all.String(), `"event_type"`) {
		t.Error("no event was read, so the search proves nothing")
	}
	return all.String()
}

// contents returns the bytes of every file in a home.
func contents(t *testing.T, home string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.Walk(home, func(path string, info os.FileInfo, err error) error {
		if err != nil || !info.Mode().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		all.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	all.WriteString(stored(t, home))
	return all.String()
}
