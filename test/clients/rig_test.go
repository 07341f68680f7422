package clients

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"interlock/test/product"
	"interlock/test/terminal"
)

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == journalFlag { // this is the server behind a gateway
		os.Exit(serveJournal(os.Args[2]))
	}
	if len(os.Args) == 3 && os.Args[1] == hostileFlag {
		os.Exit(serveHostile(os.Args[2]))
	}
	os.Exit(m.Run())
}

// newHome is a home nobody has used, and the environment that points the program at it.
func newHome(t *testing.T) (home string, env []string) {
	t.Helper()
	home = t.TempDir()
	if err := os.Chmod(home, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "INTERLOCK_") && !strings.HasPrefix(variable, "MCPAQL_") && !strings.HasPrefix(variable, "HOME=") {
			env = append(env, variable)
		}
	}
	user := t.TempDir()
	askpass, err := terminal.Askpass(user)
	if err != nil {
		t.Fatal(err)
	}
	return home, append(append(env, "INTERLOCK_HOME="+home, "HOME="+user), askpass...)
}

// governed returns the key that signs orders for the home of env. The first time it makes the first operator there, called ruth.
func governed(t *testing.T, env []string) (key string) {
	t.Helper()
	home := ""
	for _, variable := range env {
		if name, value, _ := strings.Cut(variable, "="); name == "HOME" {
			home = value
		}
	}
	key = filepath.Join(home, "ruth")
	if _, err := os.Stat(key); err == nil {
		return key
	}
	key, err := terminal.Govern(product.Interlock(), env, home)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// adopted has the settings of a home, with flags, ordered by who governs: weaker ones than were ordered have no effect.
func adopted(t *testing.T, env []string, flags ...string) {
	t.Helper()
	output(t, env, append(flags[:len(flags):len(flags)], "settings", "adopt", "--reason", "a test", "--key", governed(t, env))...)
}

// addAgent registers an agent and returns its token.
func addAgent(t *testing.T, env []string, args ...string) string {
	t.Helper()
	return output(t, env, append([]string{"agent", "add", "--key", governed(t, env)}, args...)...)
}

// output runs the program and returns what it prints.
func output(t *testing.T, env []string, args ...string) string {
	t.Helper()
	command := exec.Command(product.Interlock(), args...)
	command.Env = env
	out, err := command.Output()
	if err != nil {
		var said []byte
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
			said = exit.Stderr
		}
		t.Fatalf("interlock %s: %v\n%s%s", strings.Join(args, " "), err, out, said)
	}
	return strings.TrimSpace(string(out))
}

// up starts `interlock up` and returns the address of its MCP server and the token of a registered agent.
func up(t *testing.T, env []string, flags ...string) (endpoint, token string) {
	t.Helper()
	token = addAgent(t, env, "client")
	server := exec.Command(product.Interlock(), append([]string{"up", "--listen", "127.0.0.1:0"}, flags...)...)
	var stderr bytes.Buffer
	server.Env, server.Stderr = env, &stderr
	stdout, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		server.Process.Kill()
		server.Wait()
	})
	lines := bufio.NewReader(stdout)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			server.Wait()
			t.Fatalf("the server did not start: %s", stderr.String())
		}
		if _, address, found := strings.Cut(line, "mcp     "); found {
			go io.Copy(io.Discard, lines)
			return strings.TrimSpace(address), token
		}
	}
}

// node returns a command that runs a script of an installed package with the pinned runtime.
func node(t *testing.T, env []string, script string, args ...string) *exec.Cmd {
	t.Helper()
	runtime, err := filepath.Abs("node_modules/.bin/node")
	if err == nil {
		_, err = os.Stat(runtime)
	}
	path := filepath.Join("node_modules", script)
	if err == nil {
		_, err = os.Stat(path)
	}
	if err != nil {
		t.Fatalf("the clients that others wrote are not installed: run `make setup` (%v)", err)
	}
	command := exec.Command(runtime, append([]string{path}, args...)...)
	command.Env = env
	return command
}
