package sdk

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

	"interlock/test/product"
	"interlock/test/terminal"
	"interlock/test/wait"
)

// compiled is the directory with the compiled TypeScript package, which is compiled once.
var compiled string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "interlock-sdk-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	compiled = filepath.Join(dir, "node_modules", "interlock-client")
	return m.Run()
}

var compile = sync.OnceValue(func() error {
	product.Look("sdk", "docs/recipes")
	tsc := exec.Command("../clients/node_modules/.bin/node", "node_modules/typescript/bin/tsc", "-p", "../../sdk/typescript",
		"--outDir", filepath.Join(compiled, "dist"), "--typeRoots", "node_modules/@types")
	if out, err := tsc.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: run `make setup` for what is missing\n%s", strings.Join(tsc.Args, " "), err, out)
	}
	data, err := os.ReadFile("../../sdk/typescript/package.json")
	if err == nil {
		err = os.WriteFile(filepath.Join(compiled, "package.json"), data, 0o600)
	}
	return err
})

// An office is a home with somebody who governs it, and a server in it.
type office struct {
	env   []string
	key   string // of who governs
	url   string
	token string // of a registered agent

	server *exec.Cmd
}

func newOffice(t *testing.T) *office {
	t.Helper()
	if err := compile(); err != nil {
		t.Fatal(err)
	}
	home, user := t.TempDir(), t.TempDir()
	if err := os.Chmod(home, 0o700); err != nil {
		t.Fatal(err)
	}
	o := &office{}
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "INTERLOCK_") && !strings.HasPrefix(variable, "HOME=") {
			o.env = append(o.env, variable)
		}
	}
	askpass, err := terminal.Askpass(user)
	if err != nil {
		t.Fatal(err)
	}
	o.env = append(append(o.env, "INTERLOCK_HOME="+home, "HOME="+user), askpass...)
	if o.key, err = terminal.Govern(product.Interlock(), o.env, user); err != nil {
		t.Fatal(err)
	}
	o.token = o.interlock(t, "agent", "add", "builder", "--key", o.key)
	o.up(t)
	return o
}

// interlock runs the program and returns what it prints.
func (o *office) interlock(t *testing.T, args ...string) string {
	t.Helper()
	command := exec.Command(product.Interlock(), args...)
	command.Env = o.env
	var said strings.Builder
	command.Stderr = &said
	out, err := command.Output()
	if err != nil {
		t.Fatalf("interlock %s: %v\n%s%s", strings.Join(args, " "), err, out, said.String())
	}
	return strings.TrimSpace(string(out))
}

func (o *office) up(t *testing.T) {
	t.Helper()
	o.server = exec.Command(product.Interlock(), "up", "--listen", "127.0.0.1:0")
	o.server.Env = o.env
	stdout, err := o.server.StdoutPipe()
	if err == nil {
		err = o.server.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(o.kill)
	lines := bufio.NewReader(stdout)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal("the server did not start")
		}
		if _, address, found := strings.Cut(line, "mcp     "); found {
			o.url = strings.TrimSuffix(strings.TrimSpace(address), "/mcp")
			go io.Copy(io.Discard, lines)
			return
		}
	}
}

// kill ends the server without warning.
func (o *office) kill() {
	_ = o.server.Process.Kill()
	_ = o.server.Wait()
}

// asked waits until a request for a command is there, and returns its id.
func (o *office) asked(t *testing.T, command string) string {
	t.Helper()
	id := ""
	wait.Until(t, "somebody is asked about "+command, func() bool {
		var waiting []struct {
			ID, Status, Display string
		}
		if err := json.Unmarshal([]byte(o.interlock(t, "pending", "--json")), &waiting); err != nil {
			t.Fatal(err)
		}
		for _, w := range waiting {
			if w.Status == "pending" && strings.Contains(w.Display, command) {
				id = w.ID
			}
		}
		return id != ""
	})
	return id
}

// An agent is a program in another language that prints what it does, line by line, and goes on when it is told to.
type agent struct {
	t     *testing.T
	stdin io.WriteCloser
	lines *bufio.Scanner
	said  *strings.Builder
}

// start starts an agent's program with the server's address and token in its environment.
func (o *office) start(t *testing.T, command *exec.Cmd, env ...string) *agent {
	t.Helper()
	a := &agent{t: t, said: &strings.Builder{}}
	command.Env = append(append(append([]string{}, o.env...), "INTERLOCK_URL="+o.url, "INTERLOCK_TOKEN="+o.token), env...)
	command.Stderr = a.said
	stdout, err := command.StdoutPipe()
	if err == nil {
		a.stdin, err = command.StdinPipe()
	}
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	a.lines = bufio.NewScanner(stdout)
	return a
}

// says holds the next lines the agent prints against those that are wanted.
func (a *agent) says(want ...string) {
	a.t.Helper()
	for _, line := range want {
		if got := a.line(); got != line {
			a.t.Fatalf("the agent said %q, want %q\n%s", got, line, a.said.String())
		}
	}
}

// line is the next line the agent prints.
func (a *agent) line() string {
	a.t.Helper()
	if !a.lines.Scan() {
		a.t.Fatalf("the agent ended\n%s", a.said.String())
	}
	return a.lines.Text()
}

// tell lets the agent go on.
func (a *agent) tell() {
	a.t.Helper()
	if _, err := io.WriteString(a.stdin, "go on\n"); err != nil {
		a.t.Fatalf("%v\n%s", err, a.said.String())
	}
}
