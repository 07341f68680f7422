package system

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"interlock/spec"
	"interlock/test/product"
	"interlock/test/wait"
)

// The users of these tests have numbers that no table of users knows, so that nothing of the machine is touched.
const (
	serverUser = 64101
	agentUser  = 64102 // in the group that may connect
	otherUser  = 64103 // in no group
	agentGroup = 64110
)

// helperVariable has the test program be a process of another user instead: it says of each file on its standard input whether it
// could be opened.
const helperVariable = "INTERLOCK_TEST_OPENS"

func TestMain(m *testing.M) {
	if os.Getenv(helperVariable) == "" {
		os.Exit(run(m))
	}
	names, err := io.ReadAll(os.Stdin)
	if err != nil {
		os.Exit(1)
	}
	for _, name := range strings.Split(strings.TrimSpace(string(names)), "\n") {
		file, err := os.Open(name)
		if err == nil {
			file.Close()
			fmt.Println("opened", name)
		} else if !errors.Is(err, fs.ErrPermission) {
			fmt.Println("neither opened nor refused", name, err)
		}
		if file, err := os.OpenFile(name, os.O_WRONLY, 0); err == nil {
			file.Close()
			fmt.Println("opened for writing", name)
		}
	}
	os.Exit(0)
}

// programs is a directory with copies of the programs that every user can get at, made once.
var programs = filepath.Join("/tmp", fmt.Sprintf("interlock-programs-%d", os.Getpid()))

func run(m *testing.M) int {
	defer os.RemoveAll(programs)
	return m.Run()
}

var copied = sync.OnceValue(func() error {
	if err := errors.Join(os.Mkdir(programs, 0o755), os.Chmod(programs, 0o755)); err != nil {
		return err
	}
	for _, program := range []string{product.Interlock(), product.Hook()} {
		text, err := os.ReadFile(program)
		if err == nil {
			err = os.WriteFile(filepath.Join(programs, filepath.Base(program)), text, 0o755)
		}
		if err != nil {
			return err
		}
	}
	return nil
})

// A machine is a server of a user of its own, and the places of the others.
type machine struct {
	t                          *testing.T
	bin, state, run, socket    string
	agentHome, listen, control string
	credentials                string
}

func start(t *testing.T) *machine {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Fatal("these tests are other users of the system, which takes root: run them as root, in a container say")
	}
	if err := copied(); err != nil {
		t.Fatal(err)
	}
	root, err := os.MkdirTemp("/tmp", "interlock-system-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(root) })
	m := &machine{t: t, bin: programs, state: filepath.Join(root, "state"), run: filepath.Join(root, "run"),
		agentHome: filepath.Join(root, "agent"), credentials: filepath.Join(root, "credentials")}
	m.socket = filepath.Join(m.run, "agents.sock")
	for _, dir := range []struct {
		path string
		mode os.FileMode
		user int
	}{{root, 0o755, 0}, {m.state, 0o700, serverUser}, {m.run, 0o755, serverUser}, {m.agentHome, 0o700, agentUser},
		{m.credentials, 0o500, serverUser}} {
		if err := errors.Join(os.MkdirAll(dir.path, dir.mode), os.Chmod(dir.path, dir.mode), os.Chown(dir.path, dir.user, -1)); err != nil {
			t.Fatal(err)
		}
	}
	m.listen, m.control = freePort(t), freePort(t)
	m.serve()
	return m
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// as is a command of another user, with nothing of root's.
func (m *machine) as(user, group int, name string, args ...string) *exec.Cmd {
	command := exec.Command(name, args...)
	command.Dir = "/"
	command.Env = []string{"PATH=/usr/bin:/bin", "HOME=" + m.agentHome}
	command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(user), Gid: uint32(group)}}
	return command
}

// serve starts the server as the unit does: as a user of its own, with a secret that was handed to it.
func (m *machine) serve() {
	m.t.Helper()
	secret := filepath.Join(m.credentials, "interlock_hook")
	if err := errors.Join(os.WriteFile(secret, []byte("https://hooks.slack.example/handed-over"), 0o400),
		os.Chown(secret, serverUser, -1)); err != nil {
		m.t.Fatal(err)
	}
	settings := filepath.Join(m.state, "interlock.yaml")
	text := "channels:\n  - {kind: slack, url: \"credential:hook\"}\n"
	if err := errors.Join(os.WriteFile(settings, []byte(text), 0o600), os.Chown(settings, serverUser, -1)); err != nil {
		m.t.Fatal(err)
	}
	server := m.as(serverUser, agentGroup, m.bin+"/interlock", "--home", m.state, "up", "--listen", m.listen, "--control", m.control,
		"--agents-socket", m.socket, "--ready", filepath.Join(m.state, "ready"))
	server.Env = []string{"PATH=/usr/bin:/bin", "HOME=" + m.state, "CREDENTIALS_DIRECTORY=" + m.credentials}
	said := &bytes.Buffer{}
	server.Stdout, server.Stderr = said, said
	if err := server.Start(); err != nil {
		m.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Wait() }()
	m.t.Cleanup(func() {
		_ = server.Process.Signal(syscall.SIGTERM)
		<-ended
	})
	wait.Until(m.t, "the server comes up", func() bool {
		select {
		case err := <-ended:
			ended <- err
			m.t.Fatalf("the server ended: %v\n%s", err, said)
		default:
		}
		_, err := os.Stat(filepath.Join(m.state, "ready"))
		return err == nil
	})
}

// call is what Claude Code says to its hook before a command.
func (m *machine) call(command string) string {
	text, err := json.Marshal(map[string]any{"hook_event_name": "PreToolUse", "session_id": "s1", "cwd": m.agentHome, "tool_name": "Bash",
		"tool_input": map[string]any{"command": command}, "tool_use_id": "t-" + command})
	if err != nil {
		m.t.Fatal(err)
	}
	return string(text)
}

// hook has a program judge a command for a user.
func (m *machine) hook(user, group int, program, socket, command string) (verdict, said string) {
	m.t.Helper()
	hook := m.as(user, group, filepath.Join(m.bin, program), "hook", "--agent", "claude", "--event", "PreToolUse", "--socket", socket)
	hook.Stdin = strings.NewReader(m.call(command))
	out, err := hook.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		m.t.Fatal(err)
	}
	if exit != nil {
		out = append(out, exit.Stderr...)
	}
	for _, verdict := range []string{"allow", "ask", "deny"} {
		if strings.Contains(string(out), `"permissionDecision":"`+verdict+`"`) {
			return verdict, string(out)
		}
	}
	if err == nil && len(out) == 0 { // which is how Claude Code is told that nothing objects
		return "allow", ""
	}
	return "none", string(out)
}

func TestAnotherUserReadsNothingOfTheServers(t *testing.T) {
	spec.Covers(t, "ASA-10.3-1", "ASA-11.1-1", "ASA-11.3-3", "ASA-14.3-1", "ASA-14.3-2", "ASA-20-8")
	m := start(t)
	if verdict, said := m.hook(agentUser, agentGroup, "interlock", m.socket, "ls"); verdict != "allow" { // so that there is a log
		t.Fatalf("%s: %s", verdict, said)
	}
	var all []string
	for _, dir := range []string{m.state, m.credentials} {
		if err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && entry.Type()&fs.ModeSocket == 0 {
				all = append(all, path)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	for _, kept := range []string{"interlock.db", "log.key", "control.token", "interlock.yaml", "interlock_hook"} {
		if !strings.Contains(strings.Join(all, "\n"), "/"+kept) {
			t.Errorf("there is no %s, so nothing is proved of it: %q", kept, all)
		}
	}
	opens := func(user, group int, files []string) string {
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		program, err := os.ReadFile(self)
		if err != nil {
			t.Fatal(err)
		}
		helper := filepath.Join(m.bin, "opens")
		if err := os.WriteFile(helper, program, 0o755); err != nil {
			t.Fatal(err)
		}
		command := m.as(user, group, helper)
		command.Env = append(command.Env, helperVariable+"=1")
		command.Stdin = strings.NewReader(strings.Join(files, "\n"))
		out, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return string(out)
	}
	for _, user := range []int{agentUser, otherUser} {
		if got := opens(user, agentGroup, all); got != "" {
			t.Errorf("user %d: %s", user, got)
		}
	}
	if got := opens(serverUser, agentGroup, all); strings.Count(got, "opened ") < len(all) { // or the helper proves nothing
		t.Errorf("the server's own user could open no more than\n%s", got)
	}
}

func TestAnotherUserCanAskAndIsWhoTheKernelSays(t *testing.T) {
	spec.Covers(t, "ASA-10.3-1", "ASA-20-8")
	m := start(t)
	for _, program := range []string{"interlock", "interlock-hook"} {
		if verdict, said := m.hook(agentUser, agentGroup, program, m.socket, "ls -l "+program); verdict != "allow" {
			t.Errorf("%s: %s: %s", program, verdict, said)
		}
		if verdict, said := m.hook(agentUser, agentGroup, program, m.socket, "rm -rf / # "+program); verdict != "deny" {
			t.Errorf("%s: %s: %s", program, verdict, said)
		}
		if verdict, said := m.hook(agentUser, agentGroup, program, m.socket, "cat "+m.state+"/log.key"); verdict != "deny" {
			t.Errorf("%s: %s: %s", program, verdict, said)
		}
		if verdict, said := m.hook(otherUser, otherUser, program, m.socket, "ls"); verdict != "deny" || !strings.Contains(said, "gave no answer") {
			t.Errorf("%s: a user outside the group: %s: %s", program, verdict, said)
		}
	}
	list := m.as(serverUser, agentGroup, m.bin+"/interlock", "--home", m.state, "audit", "list", "--json", "--limit", "50")
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(string(out), fmt.Sprintf(`"uid:%d"`, agentUser)); got < 6 {
		t.Errorf("the agent's user stands in %d events:\n%s", got, out)
	}
	if strings.Contains(string(out), fmt.Sprintf(`"uid:%d"`, otherUser)) {
		t.Error("a user outside the group got as far as the log")
	}
}

// TestAnotherUserGovernsNothing is the agent's user at every door of the server. The test's own process has root's rights, so the
// requests go through a relay of that user's: curl.
func TestAnotherUserGovernsNothing(t *testing.T) {
	spec.Covers(t, "ASA-14.3-1")
	m := start(t)
	ask := func(user int, args ...string) (status, body string) {
		command := m.as(user, agentGroup, "curl",
			append([]string{"-s", "-m", "20", "-w", "\n%{http_code}", "-H", "Content-Type: application/json"}, args...)...)
		out, _ := command.Output() // one that can't connect says 000
		text := strings.TrimSpace(string(out))
		i := strings.LastIndex(text, "\n")
		return text[i+1:], text[:max(i, 0)]
	}
	over := func(args ...string) (string, string) {
		return ask(agentUser, append([]string{"--unix-socket", m.socket}, args...)...)
	}
	const action = `"action":{"kind":"shell","input":"ls","dir":"/"}`
	for name, c := range map[string]struct {
		path, body, want string
	}{
		"as itself":               {"/v1/decide", `{` + action + `,"door":"hook"}`, "200"},
		"in root's name":          {"/v1/decide", `{` + action + `,"requester":{"principal":"root","agent":"claude"}}`, "403"},
		"with a world of its own": {"/v1/decide", `{` + action + `,"view":{"workspace":"/"}}`, "403"},
		"handed over":             {"/v1/decide", `{` + action + `,"handover":"gateway"}`, "403"},
		"the log":                 {"/v1/events", "", "403"},
		"what was":                {"/v1/whatif", "", "403"},
		"metrics":                 {"/metrics", "", "403"},
		"an approval":             {"/v1/approvals/r1", `{"answer":"approve"}`, "403"},
		"rules":                   {"/v1/rules", `{}`, "403"},
		"the kill switch":         {"/v1/kill", `{"reason":"x"}`, "403"},
	} {
		args := []string{"http://localhost" + c.path}
		if c.body != "" {
			args = append(args, "-d", c.body)
		}
		if status, body := over(args...); status != c.want {
			t.Errorf("%s: %s, want %s: %s", name, status, c.want, body)
		}
	}
	if status, body := ask(agentUser, "http://"+m.control+"/v1/kill", "-d", `{"reason":"x"}`); status != "401" {
		t.Errorf("the control door: %s: %s", status, body)
	}
	if status, _ := ask(agentUser, "--unix-socket", filepath.Join(m.state, "interlock.sock"), "http://localhost/v1/events"); status != "000" {
		t.Errorf("the server's own socket: %s", status)
	}
	// And the same requests of the server's own user, at its own socket, are answered: it is the door that refuses, not the path.
	if status, body := ask(serverUser, "--unix-socket", filepath.Join(m.state, "interlock.sock"), "http://localhost/v1/events"); status != "200" {
		t.Errorf("the server's own user at its own socket: %s: %s", status, body)
	}
	if err := m.as(agentUser, agentGroup, "sh", "-c", "kill -0 "+fmt.Sprint(m.pid())).Run(); err == nil {
		t.Error("the agent's user may signal the server")
	}
}

// pid is the server's, as the kernel says to who connects.
func (m *machine) pid() int {
	m.t.Helper()
	conn, err := net.Dial("unix", m.socket)
	if err != nil {
		m.t.Fatal(err)
	}
	defer conn.Close()
	raw, err := conn.(*net.UnixConn).SyscallConn()
	if err != nil {
		m.t.Fatal(err)
	}
	var peer *syscall.Ucred
	if err := raw.Control(func(fd uintptr) {
		peer, err = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	}); err != nil || peer == nil || peer.Uid != serverUser {
		m.t.Fatalf("who listens: %+v, %v", peer, err)
	}
	return int(peer.Pid)
}

// TestAHookBelievesOnlyTheServersUser puts servers that say yes where hooks might look.
func TestAHookBelievesOnlyTheServersUser(t *testing.T) {
	m := start(t)
	dir := filepath.Join(filepath.Dir(m.run), "impostor")
	for name, c := range map[string]struct {
		dirUser int
		mode    os.FileMode
		sock    int
		want    string
	}{
		"the server's own, or nothing is proved":    {0, 0o755, 0, "allow"},
		"in a directory that everybody writes":      {serverUser, 0o777, serverUser, "deny"},
		"in a directory of another's":               {otherUser, 0o755, serverUser, "deny"},
		"a socket of one user, a server of another": {0, 0o755, serverUser, "deny"},
	} {
		if err := errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o755), os.Chmod(dir, c.mode), os.Chown(dir, c.dirUser, -1)); err != nil {
			t.Fatal(err)
		}
		socket := filepath.Join(dir, "agents.sock")
		door, err := net.Listen("unix", socket) // by root: not the user whose the socket's file is said to be
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(os.Chown(socket, c.sock, agentGroup), os.Chmod(socket, 0o660)); err != nil {
			t.Fatal(err)
		}
		server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, `{"answer":"allow","verdict":"allow","event_id":"e1"}`)
		})}
		go func() { _ = server.Serve(door) }()
		for _, program := range []string{"interlock", "interlock-hook"} {
			if verdict, said := m.hook(agentUser, agentGroup, program, socket, "ls"); verdict != c.want {
				t.Errorf("%s: %s: %s: %s", name, program, verdict, said)
			}
		}
		if err := server.Shutdown(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
}
