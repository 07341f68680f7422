package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"interlock/cmd/interlock/setup"
	"interlock/internal/config"
	"interlock/internal/hook"
	"interlock/internal/witness"
	"interlock/spec"
)

const (
	harmless = `{"session_id":"s1","cwd":"/","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"t1"}`
	fatal    = `{"session_id":"s1","cwd":"/","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"rm -rf --no-preserve-root /"},"tool_use_id":"t2"}`
)

// A hookFixture is a user with a home of their own.
type hookFixture struct {
	t    *testing.T
	home string
	user string
}

func newHookFixture(t *testing.T) hookFixture {
	dir := t.TempDir()
	return hookFixture{t: t, home: filepath.Join(dir, "home"), user: filepath.Join(dir, "user")}
}

// run runs `interlock hook` on a payload.
func (f hookFixture) run(stdin io.Reader, args ...string) hook.Output {
	f.t.Helper()
	return f.runContext(context.Background(), stdin, args...)
}

func (f hookFixture) runContext(ctx context.Context, stdin io.Reader, args ...string) hook.Output {
	f.t.Helper()
	getenv := func(name string) string {
		return map[string]string{"INTERLOCK_HOME": f.home, "HOME": f.user, "USER": "tester"}[name]
	}
	var stdout, stderr bytes.Buffer
	code := run(ctx, append([]string{"hook"}, args...), getenv, stdin, &stdout, &stderr)
	return hook.Output{Stdout: stdout.Bytes(), Stderr: stderr.Bytes(), Exit: code}
}

// serve answers the hook's requests as the server does, which has the home's key.
func (f hookFixture) serve(handler http.HandlerFunc) {
	f.t.Helper()
	f.serveAs(signing(newLogKey(f.t, f.home), handler))
}

// serveAs answers the hook's requests as they come.
func (f hookFixture) serveAs(handler http.HandlerFunc) {
	f.t.Helper()
	socket := config.Socket(f.home)
	if err := os.MkdirAll(filepath.Dir(socket), 0o700); err != nil {
		f.t.Fatal(err)
	}
	listener, err := net.Listen("unix", socket)
	if err != nil {
		f.t.Fatal(err)
	}
	server := &http.Server{Handler: handler}
	go func() { _ = server.Serve(listener) }()
	f.t.Cleanup(func() { server.Close() })
}

func allowed(out hook.Output) bool {
	return out.Exit == 0 && len(out.Stdout) == 0 && len(out.Stderr) == 0
}

// TestHookInProcess: no server, a new home.
func TestHookInProcess(t *testing.T) {
	f := newHookFixture(t)
	if out := f.run(strings.NewReader(harmless), "--agent", "claude"); !allowed(out) {
		t.Errorf("ls: %d %q %q", out.Exit, out.Stdout, out.Stderr)
	}
	out := f.run(strings.NewReader(fatal), "--agent=claude", "--event=PreToolUse")
	if !hook.Refused("claude", "PreToolUse", out) || !bytes.Contains(out.Stdout, []byte("[fs.")) || out.Exit != 0 {
		t.Errorf("rm: %d %q %q", out.Exit, out.Stdout, out.Stderr)
	}
	checkpoint, err := os.ReadFile(filepath.Join(f.user, ".claude", "interlock.checkpoint"))
	if err != nil {
		t.Fatal(err)
	}
	if head, ok := witness.ParseHead(checkpoint); !ok || head.Size < 2 {
		t.Errorf("the kept checkpoint covers %d entries (%v)", head.Size, ok)
	}
}

// TestHookServer: what a server may say, and what the hook makes of it. "in process" means that the store decided.
func TestHookServer(t *testing.T) {
	deny := `{"verdict":"deny","answer":"deny","findings":[{"gate":"rules","rule":"far.away","layer":2,"verdict":"deny","reason":"no"}],"impacts":[],"risk":0,"danger":"safe","mode":"enforcing","profile":"guard","digest":"","ruleset":"","snapshot":"","event_id":"e1"}`
	hang := make(chan struct{})
	t.Cleanup(func() { close(hang) })
	for _, c := range []struct {
		name    string
		payload string
		handler http.HandlerFunc
		want    string // in the output; empty: silence
	}{
		{"denies", harmless, reply(200, deny), "[far.away] no."},
		{"allows", fatal, reply(200, strings.ReplaceAll(deny, `"deny"`, `"allow"`)), ""},
		{"allows without an event", harmless,
			reply(200, strings.NewReplacer(`"deny"`, `"allow"`, `,"event_id":"e1"`, "").Replace(deny)), "[admission.not-recorded]"},
		{"names an error", harmless, reply(403,
			`{"answer":"deny","error":{"code":"unauthorized","message":"this user may not","field":"/x"}}`), "[hook.server] /x: this user may not."},
		{"is overloaded", fatal, reply(503, `{"error":{"code":"unavailable","message":"busy"}}`), "[fs."},
		{"fails", fatal, reply(500, `oops`), "[fs."},
		{"talks nonsense", fatal, reply(200, `{"answer":"allow","answer":"allow"}`), "[fs."},
		{"is cut off", fatal, func(w http.ResponseWriter, _ *http.Request) { panic(http.ErrAbortHandler) }, "[fs."},
		{"hangs", fatal, func(http.ResponseWriter, *http.Request) { <-hang }, "[fs."},
		{"says too much", fatal, reply(200, `{"answer":"allow","event_id":"`+strings.Repeat("a", 2<<20)+`"}`), "[fs."},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := newHookFixture(t)
			f.serve(c.handler)
			out := f.run(strings.NewReader(c.payload), "--agent", "claude", "--deadline", "20s")
			if c.want == "" {
				if !allowed(out) {
					t.Errorf("%d %q %q", out.Exit, out.Stdout, out.Stderr)
				}
				return
			}
			if !bytes.Contains(out.Stdout, []byte(c.want)) || !hook.Refused("claude", "PreToolUse", out) {
				t.Errorf("%d %q %q, want %q", out.Exit, out.Stdout, out.Stderr, c.want)
			}
		})
	}
}

func reply(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// TestHookServerIsPassedOver: a call with settings of its own is not for the server.
func TestHookServerIsPassedOver(t *testing.T) {
	f := newHookFixture(t)
	var asked atomic.Int32
	f.serve(func(w http.ResponseWriter, r *http.Request) { asked.Add(1); reply(500, "")(w, r) })
	out := f.run(strings.NewReader(fatal), "--agent", "claude", "--profile", "guard")
	if !bytes.Contains(out.Stdout, []byte("[fs.")) || asked.Load() != 0 {
		t.Errorf("%q, asked %d times", out.Stdout, asked.Load())
	}
}

// TestHookSocketOfOthers: a server whose place others may write could be anybody's.
func TestHookSocketOfOthers(t *testing.T) {
	f := newHookFixture(t)
	var asked atomic.Int32
	f.serve(func(w http.ResponseWriter, r *http.Request) { asked.Add(1); reply(500, "")(w, r) })
	if err := os.Chmod(f.home, 0o770); err != nil {
		t.Fatal(err)
	}
	out := f.run(strings.NewReader(fatal), "--agent", "claude")
	if !hook.Refused("claude", "PreToolUse", out) || asked.Load() != 0 {
		t.Errorf("%q, asked %d times", out.Stdout, asked.Load())
	}
}

// TestHookDeadline: a harness that never closes its end, and a decision that takes too long, are answered in time and for
// the right event.
func TestHookDeadline(t *testing.T) {
	for _, agent := range hook.Agents() {
		t.Run(agent, func(t *testing.T) {
			t.Parallel()
			f := newHookFixture(t)
			never, writer := io.Pipe()
			t.Cleanup(func() { writer.Close() })
			event := map[string]string{"claude": "PermissionRequest", "codex": "PermissionRequest", "gemini": "BeforeTool", "qwen": "PreToolUse",
				"cursor": "beforeShellExecution", "copilot": "preToolUse", "opencode": "tool.execute.before",
				"windsurf": "pre_run_command", "cline": "PreToolUse"}[agent]
			out := f.run(never, "--agent", agent, "--event", event, "--deadline", "60ms")
			if !hook.Refused(agent, event, out) ||
				!strings.Contains(string(out.Stdout)+string(out.Stderr), "[hook.deadline] no decision was made within 60ms.") {
				t.Errorf("%d %q %q", out.Exit, out.Stdout, out.Stderr)
			}
		})
	}
}

// TestHookInterrupted: a signal is no reason to let the tool run, and the refusal names it.
func TestHookInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errors.New("terminated signal received"))
	never, writer := io.Pipe()
	defer writer.Close()
	out := newHookFixture(t).runContext(ctx, never, "--agent", "codex")
	said := []byte("interrupted before a decision was made: terminated signal received")
	if !hook.Refused("codex", "PreToolUse", out) || !bytes.Contains(out.Stdout, said) {
		t.Errorf("%d %q %q", out.Exit, out.Stdout, out.Stderr)
	}
}

// TestHookWithoutStore: whatever is wrong with the store, the refusal comes in dialect and says how to find out more.
func TestHookWithoutStore(t *testing.T) {
	spec.Covers(t, "ASA-4-6", "ASA-20-4")
	for _, c := range []struct {
		name  string
		spoil func(t *testing.T, home string)
	}{
		{"the home is a file", func(t *testing.T, home string) { write(t, home, "") }},
		{"the store is garbage", func(t *testing.T, home string) {
			for _, part := range []string{"interlock.db-wal", "interlock.db-shm"} {
				if err := os.RemoveAll(filepath.Join(home, part)); err != nil {
					t.Fatal(err)
				}
			}
			write(t, filepath.Join(home, "interlock.db"), strings.Repeat("this is no database ", 1000))
		}},
		{"the key is gone", func(t *testing.T, home string) {
			if err := os.Remove(filepath.Join(home, "log.key")); err != nil {
				t.Fatal(err)
			}
		}},
		{"the key is another", func(t *testing.T, home string) { write(t, filepath.Join(home, "log.key"), "PRIVATE+KEY+x") }},
		{"the settings are broken", func(t *testing.T, home string) { write(t, filepath.Join(home, "interlock.yaml"), "profil: guard\n") }},
		{"the profile is unknown", func(t *testing.T, home string) { write(t, filepath.Join(home, "interlock.yaml"), "profile: lax\n") }},
		{"others may write the home", func(t *testing.T, home string) {
			if err := os.Chmod(home, 0o777); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newHookFixture(t)
			if c.name != "the home is a file" {
				if out := f.run(strings.NewReader(harmless), "--agent", "claude"); !allowed(out) {
					t.Fatalf("%q %q", out.Stdout, out.Stderr)
				}
			} else if err := os.MkdirAll(filepath.Dir(f.home), 0o700); err != nil {
				t.Fatal(err)
			}
			c.spoil(t, f.home)
			for _, agent := range []string{"claude", "codex"} {
				out := f.run(strings.NewReader(harmless), "--agent", agent)
				if !hook.Refused(agent, "PreToolUse", out) || !bytes.Contains(out.Stdout, []byte("[hook.unavailable] ")) {
					t.Errorf("%s: %d %q %q", agent, out.Exit, out.Stdout, out.Stderr)
				}
			}
		})
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// TestHookAnswerCantBeWritten: an answer nobody reads still says no with its exit status.
func TestHookAnswerCantBeWritten(t *testing.T) {
	f := newHookFixture(t)
	getenv := func(name string) string {
		return map[string]string{"INTERLOCK_HOME": f.home, "HOME": f.user}[name]
	}
	if code := run(context.Background(), []string{"hook", "--agent", "codex"}, getenv, strings.NewReader(fatal), brokenPipe{}, io.Discard); code != 2 {
		t.Errorf("exit status %d, want 2", code)
	}
}

// TestHookUsage: a command line that is wrong is misuse, and misuse blocks too.
func TestHookUsage(t *testing.T) {
	f := newHookFixture(t)
	for _, args := range [][]string{
		{}, {"--agent"}, {"--agent", "claude", "--deadline", "0s"}, {"--agent", "claude", "--deadline", "10m"},
		{"--agent", "claude", "--deadline", "soon"}, {"--agent", "claude", "--nonsense"}, {"--agent", "nobody"},
	} {
		if out := f.run(strings.NewReader(harmless), args...); out.Exit != 2 || len(out.Stderr) == 0 {
			t.Errorf("%q: exit %d, %q %q", args, out.Exit, out.Stdout, out.Stderr)
		}
	}
}

// TestHookQuickest: the small program is registered where it can be run.
func TestHookQuickest(t *testing.T) {
	dir := t.TempDir()
	self, small := filepath.Join(dir, "interlock"), filepath.Join(dir, "interlock-hook")
	if got := setup.Quickest(self); got != self {
		t.Errorf("nothing beside it: %s", got)
	}
	write(t, small, "")
	if got := setup.Quickest(self); got != self {
		t.Errorf("not executable: %s", got)
	}
	if err := os.Chmod(small, 0o700); err != nil {
		t.Fatal(err)
	}
	if got := setup.Quickest(self); got != small {
		t.Errorf("%s", got)
	}
}

// TestHookTakesItsTime: a server that hangs leaves more than half of the deadline for the store.
func TestHookTakesItsTime(t *testing.T) {
	if d := hook.DefaultDeadline; min(hook.ServerTimeout, d/3)+min(hook.DialTimeout, d/4) > d/2 {
		t.Errorf("a server that hangs leaves too little of %v", d)
	}
}
