package conform

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"interlock/internal/fileio"
)

// The users of a system have numbers that no table of users knows, so that nothing of the machine is touched.
const (
	serverUser = 64201
	agentUser  = 64202 // in the group that may ask
	otherUser  = 64203 // in none
	agentGroup = 64210
)

// A userServer is a server of a user of its own, with the places of the others.
type userServer struct {
	h                              *House
	program, state, socket, secret string
	stop                           context.CancelFunc
	stopped                        chan struct{}
}

// twoUsers starts a server as a user of its own, once. Where that takes rights that there are not, it returns none and says why.
func twoUsers(ctx context.Context, d *Driver) (m *userServer, why string, err error) {
	if d.users != nil {
		return d.users, "", nil
	}
	if runtime.GOOS != "linux" || os.Geteuid() != 0 {
		return nil, "that takes root on Linux", nil
	}
	h, _, err := asaHouse(ctx, d, "asa")
	if err != nil {
		return nil, "", err
	}
	root := filepath.Join(d.env.Root, "users")
	m = &userServer{h: h, program: filepath.Join(root, "bin", "interlock"), state: filepath.Join(root, "state"),
		socket: filepath.Join(root, "run", "agents.sock"), secret: filepath.Join(root, "credentials", "interlock_hook"), stopped: make(chan struct{})}
	own, err := os.Executable()
	if err != nil {
		return nil, "", fmt.Errorf("finding this program: %w", err)
	}
	text, err := fileio.Plain(own, maxFile)
	if err != nil {
		return nil, "", fmt.Errorf("reading this program: %w", err)
	}
	err = os.Chmod(d.env.Root, 0o711) // everything in it is for its owner alone, but for what follows
	for _, dir := range []struct {
		path string
		mode fs.FileMode
		user int
	}{{root, 0o755, 0}, {filepath.Dir(m.program), 0o755, 0}, {m.state, 0o700, serverUser}, {filepath.Dir(m.socket), 0o755, serverUser},
		{filepath.Dir(m.secret), 0o500, serverUser}} {
		err = errors.Join(err, os.MkdirAll(dir.path, dir.mode), os.Chmod(dir.path, dir.mode), os.Chown(dir.path, dir.user, -1))
	}
	settings := filepath.Join(m.state, "interlock.yaml")
	err = errors.Join(err, os.WriteFile(m.program, text, 0o755), os.Chmod(m.program, 0o755),
		os.WriteFile(m.secret, []byte("https://hooks.slack.example/handed-over"), 0o400), os.Chown(m.secret, serverUser, -1),
		os.WriteFile(settings, []byte("channels:\n  - {kind: slack, url: \"credential:hook\"}\n"), 0o600), os.Chown(settings, serverUser, -1))
	if err != nil {
		return nil, "", fmt.Errorf("making the places of users: %w", err)
	}
	if said := h.tool(ctx, agentUser, "", m.program, "version"); said.Code != 0 {
		return nil, "another user can't run this program where it is: " + said.Err, nil
	}
	if err := m.start(ctx); err != nil {
		return nil, "", err
	}
	d.users = m
	return m, "", nil
}

// start returns once the server answers.
func (m *userServer) start(ctx context.Context) error {
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	m.stop = stop
	ready := filepath.Join(m.state, "ready")
	said := &tail{}
	go func() {
		defer close(m.stopped)
		m.h.d.env.Process(serving, Command{Tool: m.program, User: serverUser, Group: agentGroup, Dir: "/", Stdin: strings.NewReader(""), Stdout: said,
			Stderr: said, Args: []string{"--home", m.state, "up", "--listen", "127.0.0.1:0", "--control", "127.0.0.1:0", "--agents-socket", m.socket,
				"--ready", ready}, Env: append(testMain(), "PATH=/usr/bin:/bin", "HOME="+m.state, "CREDENTIALS_DIRECTORY="+filepath.Dir(m.secret))})
	}()
	limit := time.NewTimer(upTime)
	defer limit.Stop()
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for {
		select {
		case <-m.stopped:
			return fmt.Errorf("the server of a user of its own ended: %s", said)
		case <-limit.C:
			m.close()
			return fmt.Errorf("the server of a user of its own does not answer: %s", said)
		case <-look.C:
		}
		if _, err := os.Stat(ready); err == nil {
			return nil
		}
	}
}

// testMain is the variable by which a test's program is this one.
func testMain() []string {
	if value, set := os.LookupEnv("INTERLOCK_TEST_MAIN"); set {
		return []string{"INTERLOCK_TEST_MAIN=" + value}
	}
	return nil
}

func (m *userServer) close() {
	m.stop()
	<-m.stopped
}

// server is what the kernel says of the server's process.
func (m *userServer) server() (status string, err error) {
	running, _ := filepath.Glob("/proc/[0-9]*/cmdline") // a fixed pattern
	for _, one := range running {
		text, err := fileio.Plain(one, maxFile)
		if err != nil || !strings.HasPrefix(string(text), m.program+"\x00--home\x00"+m.state+"\x00up\x00") {
			continue
		}
		status, err := fileio.Plain(filepath.Join(filepath.Dir(one), "status"), maxFile)
		if err == nil {
			return string(status), nil
		}
	}
	return "", errors.New("the server's process is not there")
}

// hook has a user's hook judge a command, through the socket of the server.
func (m *userServer) hook(ctx context.Context, user int, command string) (permission string, said Said) {
	input, _ := json.Marshal(map[string]any{"hook_event_name": "PreToolUse", "session_id": "s1", "cwd": "/tmp", "tool_name": "Bash",
		"tool_use_id": "t-" + command, "tool_input": map[string]any{"command": command}}) // texts only
	group := agentGroup
	if user == otherUser {
		group = otherUser
	}
	var out, errs tail
	code := m.h.d.env.Process(ctx, Command{Tool: m.program, User: user, Group: group, Dir: "/", Stdin: strings.NewReader(string(input)), Stdout: &out,
		Stderr: &errs, Env: append(testMain(), "PATH=/usr/bin:/bin", "HOME=/nonexistent"), Args: []string{"hook", "--agent", "claude", "--event",
			"PreToolUse", "--socket", m.socket}})
	said = Said{code, out.String(), errs.String()}
	m.h.d.note(Step{Door: fmt.Sprint("hook of user ", user), Sent: command, Answer: fmt.Sprintf("exit %d\n%s%s", code, said.Out, said.Err)})
	if permission = (Reply{Text: said.Out}).Member("hookSpecificOutput.permissionDecision"); permission == "" && code == 0 {
		permission = "allow"
	}
	return permission, said
}

// shut is an error where the agent's user opens a file of the server's, to read or to write; the server's own user opens each, or it
// would prove nothing.
func (m *userServer) shut(ctx context.Context) error {
	if permission, said := m.hook(ctx, agentUser, "ls"); permission != "allow" { // so that there is a log
		return fmt.Errorf("the agent's user is answered %s: %s", permission, said.Out+said.Err)
	}
	var files []string
	for _, name := range []string{"interlock.db", "log.key", "control.token", "interlock.yaml"} {
		files = append(files, filepath.Join(m.state, name))
	}
	const script = "while read f; do cat \"$f\" >/dev/null 2>&1 && echo read; (: >>\"$f\") 2>/dev/null && echo wrote; done; echo done"
	list := strings.Join(append(files, m.secret), "\n") + "\n"
	agent, own := m.h.tool(ctx, agentUser, list, "sh", "-c", script), m.h.tool(ctx, serverUser, list, "sh", "-c", script)
	return First(Unless(agent.Out == "done", "the agent's user opens files of the server's: %q %s", agent.Out, agent.Err),
		Unless(strings.Count(own.Out, "read") == len(files)+1, "the server's own user reads %q", own.Out))
}
