package upstream_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"interlock"
	"interlock/internal/upstream"
)

// The test binary is also the program of the servers that tests start: UPSTREAM_TEST says what it is to do.
func TestMain(m *testing.M) {
	if behaviour := os.Getenv("UPSTREAM_TEST"); behaviour != "" {
		os.Exit(serve(behaviour))
	}
	os.Exit(m.Run())
}

func serve(behaviour string) int {
	kind, detail, _ := strings.Cut(behaviour, ":")
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 32<<20)
	switch kind {
	case "echo":
		for in.Scan() {
			fmt.Println(in.Text())
		}
	case "environment":
		text, _ := json.Marshal(append(os.Environ(), os.Args[1:]...))
		fmt.Println(string(text))
	case "exit":
		fmt.Fprintln(os.Stderr, "no token ghp_"+strings.Repeat("a1B2", 9)+" for you")
		code, _ := strconv.Atoi(detail)
		return code
	case "once": // answers one message, then dies
		in.Scan()
		fmt.Println(in.Text())
		return 4
	case "long": // an answer over the bound, then one below
		for in.Scan() {
			fmt.Printf(`{"result":{"text":"%s","id":99,"list":[{"id":98}]},"jsonrpc":"2.0","id":7}`+"\n", strings.Repeat("x\\\"", 200_000))
			fmt.Println(`{"jsonrpc":"2.0","id":8,"result":{}}`)
		}
	case "stubborn": // leaves a child behind, ignores signals and the end of its input
		signal.Ignore(syscall.SIGTERM)
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), "UPSTREAM_TEST=sleep")
		child.Stdout = os.Stdout
		if child.Start() != nil {
			return 1
		}
		fmt.Println(child.Process.Pid)
		<-time.After(time.Hour)
	case "sleep":
		signal.Ignore(syscall.SIGTERM)
		<-time.After(time.Hour)
	case "deaf": // reads nothing
		fmt.Println("{}")
		<-time.After(time.Hour) // nothing to wait for would be a deadlock, which ends a program without cgo
	case "chatter":
		for i := range 5000 {
			fmt.Fprintf(os.Stderr, "line %d\n", i)
		}
		fmt.Fprint(os.Stderr, strings.Repeat("y", 1<<20), " secretive", "\x1b[2J\n")
		fmt.Println("{}")
		in.Scan()
	}
	return 0
}

// A clock is a time that stands still until it is moved.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) move(by time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(by)
}

type log struct {
	mu    sync.Mutex
	lines []string
}

func (l *log) add(server, line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, server+": "+line)
}

func (l *log) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.lines...)
}

func self(t testing.TB) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func program(t *testing.T, behaviour string) upstream.Config {
	t.Helper()
	return upstream.Config{Name: "s", Command: self(t), Env: map[string]string{"UPSTREAM_TEST": behaviour}}
}

func server(t *testing.T, c upstream.Config, o upstream.Options) *upstream.Server {
	t.Helper()
	s, err := upstream.New(c, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func dial(t *testing.T, s *upstream.Server) upstream.Link {
	t.Helper()
	l, err := s.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func send(t *testing.T, l upstream.Link, message string) {
	t.Helper()
	if err := l.Send(t.Context(), []byte(message)); err != nil {
		t.Fatal(err)
	}
}

func receive(t *testing.T, l upstream.Link) string {
	t.Helper()
	message, err := l.Receive()
	if err != nil {
		t.Fatal(err)
	}
	return string(message)
}

func code(err error) interlock.Code {
	var e *interlock.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

func TestAProgramGetsAndGivesMessages(t *testing.T) {
	s := server(t, program(t, "echo"), upstream.Options{})
	if got := s.Health().State; got != upstream.StateIdle {
		t.Errorf("before it is dialed it is %s", got)
	}
	l := dial(t, s)
	const messages = 200
	var sent sync.WaitGroup
	for i := range messages {
		sent.Go(func() {
			if err := l.Send(t.Context(), fmt.Appendf(nil, `{"id":%d,"text":"%s"}`, i, strings.Repeat("ä", i*50))); err != nil {
				t.Error(err)
			}
		})
	}
	seen := map[int]bool{}
	for range messages {
		var m struct {
			ID   int
			Text string
		}
		if err := json.Unmarshal([]byte(receive(t, l)), &m); err != nil || m.Text != strings.Repeat("ä", m.ID*50) || seen[m.ID] {
			t.Fatalf("%v %+v", err, m)
		}
		seen[m.ID] = true
	}
	sent.Wait()
	want := upstream.Health{State: upstream.StateUp, Links: 1}
	if diff := cmp.Diff(want, s.Health()); diff != "" {
		t.Error(diff)
	}
	if err := l.Send(t.Context(), []byte("{}\n{}")); code(err) != interlock.CodeInvalid {
		t.Errorf("two lines are no message: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Receive(); err != io.EOF {
		t.Errorf("after it is closed: %v", err)
	}
	if err := l.Send(t.Context(), []byte("{}")); code(err) != interlock.CodeUnavailable {
		t.Errorf("after it is closed: %v", err)
	}
	if diff := cmp.Diff(upstream.Health{State: upstream.StateIdle}, s.Health()); diff != "" {
		t.Error(diff)
	}
}

// A program sees the few variables every program gets, and those it is given: nothing else of our environment.
func TestAProgramsEnvironment(t *testing.T) {
	c := program(t, "environment")
	secret := "not4any-client\"to see"
	c.Env["API_TOKEN"] = "env:GIVEN"
	c.Env["PLAIN"] = "text:env:value"
	c.Args = []string{"--token", "secret:env:GIVEN", "--plain"}
	ours := map[string]string{"HOME": "/home/me", "PATH": "/bin", "GIVEN": secret, "INTERLOCK_HOME": "/ours", "OTHER_TOKEN": "x", "SHELL": "() { :; }"}
	s := server(t, c, upstream.Options{Getenv: func(name string) string { return ours[name] }})
	l := dial(t, s)
	var got []string
	if err := json.Unmarshal([]byte(receive(t, l)), &got); err != nil {
		t.Fatal(err)
	}
	// The secret arrived, or it would not have been taken out of what the program says.
	want := []string{"API_TOKEN=[redacted]", "HOME=/home/me", "PATH=/bin", "PLAIN=env:value", "UPSTREAM_TEST=environment", "--token", "[redacted]", "--plain"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if strings.Contains(string(s.Identity()), secret) || len(s.Identity()) != len("sha256:")+64 {
		t.Errorf("identity %s", s.Identity())
	}
}

func TestSecretsComeFromWhereReferencesLead(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "token")
	if err := os.WriteFile(file, []byte("from-a-file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	open := filepath.Join(dir, "open")
	if err := os.WriteFile(open, []byte("for everybody"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(open, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "upstream"), []byte("from-a-credential\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	options := upstream.Options{
		Getenv: func(name string) string {
			return map[string]string{"A": "from-the-environment", "CREDENTIALS_DIRECTORY": dir}[name]
		},
		Keyring: func(service, account string) (string, error) {
			if service == "svc" && account == "me/too" {
				return "from-the-keyring", nil
			}
			return "", errors.New("from-the-keyring is secret")
		},
	}
	for value, want := range map[string]string{
		"env:A": "", "file:" + file: "", "keyring:svc/me/too": "", "Bearer env:A": "",
		"env:B":               "API_TOKEN: the environment variable \"B\" is not set for the gateway",
		"file:" + dir:         "API_TOKEN: the file of the secret must be a plain file that nobody else can read; set its mode to 0600",
		"file:" + open:        "API_TOKEN: the file of the secret must be a plain file that nobody else can read; set its mode to 0600",
		"credential:upstream": "", "Bearer credential:upstream": "",
		"credential:none": "API_TOKEN: the credential can't be used: no such file or directory",
		"keyring:svc/you": "API_TOKEN: the system's keyring has no secret \"you\" of \"svc\", or is locked",
	} {
		c := program(t, "environment")
		c.Env["API_TOKEN"] = value
		s := server(t, c, options)
		l, err := s.Dial(t.Context())
		if want != "" {
			if code(err) != interlock.CodeUnavailable || s.Health().LastError != "env."+want {
				t.Errorf("%s: %v; %s", value, err, s.Health().LastError)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", value, err)
			continue
		}
		if got := receive(t, l); !strings.Contains(got, `[redacted]"`) {
			t.Errorf("%s: %s", value, got)
		}
		l.Close()
	}
}

func TestSettingsAreChecked(t *testing.T) {
	token := "ghp_" + strings.Repeat("a1B2", 9)
	for want, c := range map[string]upstream.Config{
		`name: "a b" is no name of a server; use 1 to 64 letters, digits, _ and -`:          {Name: "a b", Command: "x"},
		`command: is missing; name the program of the server, or its url`:                   {Name: "a"},
		`url: can't stand beside command; a server is a program or an address`:              {Name: "a", Command: "x", URL: "https://x"},
		`dir: must be an absolute path`:                                                     {Name: "a", Command: "x", Dir: "y"},
		`headers: belong to a server with a url`:                                            {Name: "a", Command: "x", Headers: map[string]string{"A": "b"}},
		`url: is no address such as https://example.com/mcp`:                                {Name: "a", URL: "example.com"},
		`url: holds a user or a password; put them into headers, as a reference`:            {Name: "a", URL: "https://u:p@example.com"},
		`url: would send everything in the clear; use https, or http to this machine only`:  {Name: "a", URL: "http://example.com"},
		`url: holds what looks like a secret in "pat"; put it into headers, as a reference`: {Name: "a", URL: "https://example.com/?pat=" + "k3J9x0Qz81LmVt5R"},
		`headers: "Mcp-Session-Id" is no header that may be set`: {Name: "a", URL: "https://x",
			Headers: map[string]string{"Mcp-Session-Id": "b"}},
		`headers: "X-Idempotency-Key" is no header that may be set`: {Name: "a", URL: "https://x",
			Headers: map[string]string{"X-Idempotency-Key": "b"}},
		`env.API_KEY: must name SERVICE/ACCOUNT after keyring:`: {Name: "a", Command: "x",
			Env: map[string]string{"API_KEY": "keyring:svc"}},
		`env.API_KEY: must name an absolute path after file:, or one that begins with ~/`: {Name: "a", Command: "x",
			Env: map[string]string{"API_KEY": "file:key"}},
		`env.API_KEY: must name an environment variable after env:`: {Name: "a", Command: "x",
			Env: map[string]string{"API_KEY": "env:"}},
	} {
		if err := c.Check(); err == nil || err.Error() != want {
			t.Errorf("want %s\ngot  %v", want, err)
		}
	}
	for _, args := range [][]string{{"x", token}, {"--api-key", "k3J9x0Qz81LmVt5R"}, {"x", "postgresql://u:hunter2hunter@db/x"},
		{"x", "--token=k3J9x0Qz81LmVt5R"}} {
		err := upstream.Config{Name: "a", Command: "x", Args: args}.Check()
		if want := "args: number 2 looks like a secret, and every program of this machine can read arguments; hand it over in env, as a reference, or if it must be an argument, as secret:file:PATH"; err == nil || err.Error() != want {
			t.Errorf("%q: %v", args, err)
		}
	}
	if err := (upstream.Config{Name: "a", Command: "x", Args: []string{"--api-key", "secret:file:/k", "--verbose", "yes-indeed"},
		Env: map[string]string{"DB": "text:file:/data.db"}}).Check(); err != nil {
		t.Error(err)
	}
	const advice = " looks like a secret, and settings are shown and copied; write a reference instead: " +
		"env:NAME, file:PATH, keyring:SERVICE/ACCOUNT or credential:NAME"
	for name, value := range map[string]string{"GITHUB_PERSONAL_ACCESS_TOKEN": token, "X": token,
		"BRAVE_API_KEY": "BSAabcdef1234", "DB": "postgres://u:hunter2hunter@db/x"} {
		err := upstream.Config{Name: "a", Command: "x", Env: map[string]string{name: value}}.Check()
		if err == nil || err.Error() != "env."+name+":"+advice {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := (upstream.Config{Name: "a", URL: "https://x",
		Headers: map[string]string{"Authorization": "Bearer abc"}}).Check(); err == nil || err.Error() != "headers.Authorization:"+advice {
		t.Error(err)
	}
	for name, value := range map[string]string{"NODE_ENV": "production", "KEY": "/home/me/.ssh/id", "API_KEY_FILE": "/run/key",
		"TOKEN": "", "MEMORY_FILE_PATH": "/tmp/memory.json", "PORT": "8080",
		"CACHE_KEY": "default", "URL": "https://example.com/a/b"} {
		if err := (upstream.Config{Name: "a", Command: "x", Env: map[string]string{name: value}}).Check(); err != nil {
			t.Errorf("%s=%s: %v", name, value, err)
		}
	}
}

func TestIdentity(t *testing.T) {
	identity := func(change func(*upstream.Config)) interlock.Digest {
		c := upstream.Config{Name: "a", Command: "x", Args: []string{"y"}, Env: map[string]string{"TOKEN": "env:T", "B": "c"}}
		change(&c)
		return server(t, c, upstream.Options{}).Identity()
	}
	same := identity(func(*upstream.Config) {})
	if got := identity(func(c *upstream.Config) { c.Name = "b"; c.Stop = time.Hour; c.Env["TOKEN"] = "file:/t" }); got != same {
		t.Error("the name, the patience and where a secret lies are no part of what is started")
	}
	seen := map[interlock.Digest]bool{same: true}
	for _, change := range []func(*upstream.Config){
		func(c *upstream.Config) { c.Command = "z" }, func(c *upstream.Config) { c.Args = []string{"z"} },
		func(c *upstream.Config) { c.Args = nil; c.Command = "x y" },
		func(c *upstream.Config) { c.Env = map[string]string{"TOKEN": "plain", "B": "c"} },
		func(c *upstream.Config) { c.Env = map[string]string{"TOKEN": "env:T", "B": "d"} },
		func(c *upstream.Config) { c.Dir = "/" }, func(c *upstream.Config) { *c = upstream.Config{Name: "a", URL: "https://x"} },
	} {
		got := identity(change)
		if seen[got] {
			t.Error("another server has the same identity")
		}
		seen[got] = true
	}
}

func TestAProgramThatFailsIsLeftAlone(t *testing.T) {
	at := &clock{at: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)}
	said := &log{}
	s := server(t, program(t, "exit:3"), upstream.Options{Now: at.now, Random: func() float64 { return 1 }, Log: said.add})
	wait := 250 * time.Millisecond
	for failures := 1; failures <= 9; failures++ {
		l := dial(t, s)
		if _, err := l.Receive(); err != io.EOF {
			t.Fatalf("%v", err)
		}
		want := upstream.Health{State: upstream.StateBacking, Failures: failures, Restarts: failures - 1, Retry: at.now().Add(wait),
			LastError: "exited with status 3; its last words: no token [redacted] for you"}
		if diff := cmp.Diff(want, s.Health()); diff != "" {
			t.Fatal(diff)
		}
		if _, err := s.Dial(t.Context()); code(err) != interlock.CodeUnavailable {
			t.Fatalf("while it is left alone: %v", err)
		}
		at.move(wait)
		if got := s.Health().State; got != upstream.StateDown {
			t.Errorf("when it may be tried again it is %s", got)
		}
		wait = min(2*wait, 30*time.Second)
	}
	if got := said.all(); len(got) != 9 || got[0] != "s: no token [redacted] for you" {
		t.Errorf("%q", got)
	}
}

// A server that has answered and dies is tried again soon: it may be one caller's doing.
func TestAProgramThatHadAnsweredIsTriedSoon(t *testing.T) {
	at := &clock{at: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)}
	s := server(t, program(t, "once"), upstream.Options{Now: at.now, Random: func() float64 { return 0 }})
	for range 12 {
		l := dial(t, s)
		send(t, l, "{}")
		receive(t, l)
		if _, err := l.Receive(); err != io.EOF {
			t.Fatal(err)
		}
		h := s.Health()
		if wait := h.Retry.Sub(at.now()); h.Failures != 1 || wait != 125*time.Millisecond || h.LastError != "exited with status 4" {
			t.Fatalf("%v %+v", wait, h)
		}
		at.move(time.Second)
	}
}

func TestAProgramThatIsNotThere(t *testing.T) {
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for command, want := range map[string]string{
		"no-such-program-anywhere": `command: there is no program "no-such-program-anywhere"`,
		text:                       fmt.Sprintf("command: %q may not be run", text),
	} {
		s := server(t, upstream.Config{Name: "s", Command: command}, upstream.Options{})
		if _, err := s.Dial(t.Context()); code(err) != interlock.CodeUnavailable || err.Error() != "the server s can't be started" {
			t.Errorf("%s: %v", command, err)
		}
		if got := s.Health().LastError; got != want {
			t.Errorf("%s: %s", command, got)
		}
	}
}

func TestAnAnswerOverTheBoundEndsItsRequestOnly(t *testing.T) {
	c := program(t, "long")
	c.MaxMessage = 100_000
	l := dial(t, server(t, c, upstream.Options{}))
	send(t, l, "{}")
	want := []string{`{"jsonrpc":"2.0","id":7,"error":{"code":-32603,"message":"the server's answer is longer than 100000 bytes and was dropped","data":{"interlock":"answer_dropped"}}}`, `{"jsonrpc":"2.0","id":8,"result":{}}`}
	if diff := cmp.Diff(want, []string{receive(t, l), receive(t, l)}); diff != "" {
		t.Error(diff)
	}
}

// Close ends a program that does not want to end, and what it started, which holds its output open.
func TestCloseEndsAProgramAndItsChildren(t *testing.T) {
	c := program(t, "stubborn")
	c.Stop = 50 * time.Millisecond
	l := dial(t, server(t, c, upstream.Options{}))
	child, err := strconv.Atoi(receive(t, l))
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	process, err := os.FindProcess(child)
	if err != nil {
		return // Windows says so at once
	}
	deadline := time.Now().Add(10 * time.Second)
	for process.Signal(syscall.Signal(0)) == nil && !zombie(child) {
		if time.Now().After(deadline) {
			process.Kill()
			t.Fatal("the child of the program lives on")
		}
	}
}

// zombie reports whether a process is dead and nobody has asked about it yet.
func zombie(pid int) bool {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && bytes.Contains(status, []byte(") Z "))
}

func TestAProgramThatDoesNotReadHoldsNobodyForEver(t *testing.T) {
	l := dial(t, server(t, program(t, "deaf"), upstream.Options{}))
	receive(t, l)
	message := []byte(`{"text":"` + strings.Repeat("x", 4<<20) + `"}`)
	for { // a deadline may also pass before anything is written
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		err := l.Send(ctx, message)
		cancel()
		if errors.Is(err, io.ErrUnexpectedEOF) {
			break
		}
		if code(err) != interlock.CodeUnavailable {
			t.Fatalf("half a message was written: %v", err)
		}
	}
	if _, err := l.Receive(); err != io.EOF {
		t.Errorf("what follows half a message can't be understood: %v", err)
	}
}

func TestErrorOutputIsBounded(t *testing.T) {
	at := &clock{at: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)}
	said := &log{}
	l := dial(t, server(t, program(t, "chatter"), upstream.Options{Now: at.now, Log: said.add}))
	receive(t, l)
	l.Close()
	got := said.all()
	if len(got) != 101 || got[0] != "s: line 0" || got[99] != "s: line 99" || got[100] != "s: (4901 lines were left out)" {
		t.Errorf("%d lines: %.200q", len(got), got)
	}
}
