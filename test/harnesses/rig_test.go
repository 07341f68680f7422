package harnesses

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"interlock/test/product"
	"interlock/test/terminal"
)

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == shelfFlag { // this is the MCP server behind a gateway
		os.Exit(serveShelf())
	}
	os.Exit(m.Run())
}

// patience is how long one run of a harness may take before it counts as hanging.
const patience = 2 * time.Minute

// A desk is a user's account: a home, a workspace under version control, and what the environment says.
type desk struct {
	t         *testing.T
	home      string // of the user; its deletion would hurt nobody
	state     string // Interlock's own home
	workspace string
	env       []string
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{t: t, home: t.TempDir(), state: t.TempDir(), workspace: t.TempDir()}
	if err := os.Chmod(d.state, 0o700); err != nil {
		t.Fatal(err)
	}
	runtime, err := filepath.Abs(filepath.Join("..", "clients", "node_modules", "node", "bin"))
	if err != nil {
		t.Fatal(err)
	}
	d.set("PATH", runtime+string(filepath.ListSeparator)+os.Getenv("PATH")) // coding agents want a newer Node.js than systems have
	for _, variable := range []string{"LANG", "TMPDIR", "USER", "LOGNAME", "SHELL"} {
		if value, set := os.LookupEnv(variable); set {
			d.env = append(d.env, variable+"="+value)
		}
	}
	d.env = append(d.env, "HOME="+d.home, "INTERLOCK_HOME="+d.state,
		"GEMINI_CLI_NO_RELAUNCH=true", "QWEN_CODE_NO_RELAUNCH=true") // as a second process with another limit of memory
	askpass, err := terminal.Askpass(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	d.env = append(d.env, askpass...)
	d.must("git", "init", "--quiet")
	return d
}

// set adds a variable to the environment of everything that is run from here on.
func (d *desk) set(variable, value string) { d.env = append(d.env, variable+"="+value) }

// write puts a file into the workspace, or into the home if its name begins with "~/".
func (d *desk) write(name, content string) { d.t.Helper(); d.writePath(d.path(name), content) }

// writeState puts a file into Interlock's own home.
func (d *desk) writeState(name, content string) {
	d.t.Helper()
	d.writePath(filepath.Join(d.state, name), content)
}

func (d *desk) writePath(path, content string) {
	d.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		d.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		d.t.Fatal(err)
	}
}

func (d *desk) path(name string) string {
	if below, found := strings.CutPrefix(name, "~/"); found {
		return filepath.Join(d.home, below)
	}
	return filepath.Join(d.workspace, name)
}

// read is what a file of the workspace or the home holds.
func (d *desk) read(name string) string {
	d.t.Helper()
	content, err := os.ReadFile(d.path(name))
	if err != nil {
		d.t.Fatal(err)
	}
	return string(content)
}

// exists tells whether a file of the workspace or the home is there.
func (d *desk) exists(name string) bool {
	_, err := os.Lstat(d.path(name))
	return err == nil
}

// run runs a command in the workspace and returns what it prints and its exit status.
func (d *desk) run(name string, args ...string) (stdout, stderr string, status int) {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(d.t.Context(), patience)
	defer cancel()
	command := exec.CommandContext(ctx, name, args...)
	var out, said bytes.Buffer
	command.Dir, command.Env, command.Stdout, command.Stderr = d.workspace, d.env, &out, &said
	command.WaitDelay = time.Second
	err := command.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) || ctx.Err() != nil {
		d.t.Fatalf("%s: %v (%v)\n%s%s", name, err, ctx.Err(), out.Bytes(), said.Bytes())
	}
	return out.String(), said.String(), command.ProcessState.ExitCode()
}

// must is run for what has to succeed.
func (d *desk) must(name string, args ...string) string {
	d.t.Helper()
	stdout, stderr, status := d.run(name, args...)
	if status != 0 {
		d.t.Fatalf("%s %s: exit status %d\n%s%s", name, strings.Join(args, " "), status, stdout, stderr)
	}
	return stdout
}

func (d *desk) interlock(args ...string) string {
	d.t.Helper()
	return d.must(product.Interlock(), args...)
}

// harness returns the path of an installed coding agent.
func harness(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("node_modules", ".bin", name))
	if err == nil {
		_, err = os.Stat(path)
	}
	if err != nil {
		t.Fatalf("the coding agents are not installed: run `make setup` (%v)", err)
	}
	return path
}

// A logged is one event of the log.
type logged struct {
	Actor   string `json:"actor_id"`
	Type    string `json:"event_type"`
	Payload struct {
		Code     string `json:"code"` // of an alert
		Decision string `json:"final_decision"`
		Outcome  string `json:"outcome"`
		Proposed struct {
			Payload struct {
				Kind string `json:"kind"`
				Tool string `json:"tool"`
			} `json:"payload"`
		} `json:"proposed"`
	} `json:"payload"`
}

// events is what the log holds, apart from what starting out leaves in every log.
func (d *desk) events() []logged {
	d.t.Helper()
	var events []logged
	for line := range strings.Lines(d.interlock("audit", "export")) {
		var entry struct {
			Event logged `json:"event"`
		}
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			d.t.Fatal(err)
		}
		switch e := entry.Event; {
		case e.Type == "RULESET_CHANGE" || e.Type == "MODE_CHANGE" || e.Type == "HOOK_INSTALLED":
		case e.Type == "ALERT" && e.Payload.Code == "rules-unordered": // the rules of a test are nobody's order
		default:
			events = append(events, e)
		}
	}
	return events
}

// log is what the log holds, an event a line.
func (d *desk) log() []string {
	d.t.Helper()
	var lines []string
	for _, e := range d.events() {
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s: %s %s%s", e.Actor, e.Type, e.Payload.Decision, e.Payload.Outcome)))
	}
	return lines
}

// allowed is what was allowed, as what it was judged.
func (d *desk) allowed() []string {
	d.t.Helper()
	var actions []string
	for _, e := range d.events() {
		if e.Payload.Decision == "allow" {
			actions = append(actions, e.Payload.Proposed.Payload.Kind+" "+e.Payload.Proposed.Payload.Tool)
		}
	}
	return actions
}

// addOperator registers a person who may approve, and returns the key they sign with.
func (d *desk) addOperator() (key string) {
	d.t.Helper()
	key = filepath.Join(d.t.TempDir(), "olga")
	d.must("ssh-keygen", "-q", "-t", "ed25519", "-a", "1", "-N", terminal.Passphrase, "-f", key)
	command := exec.Command(product.Interlock(), "operator", "add", "olga", "--ssh-key", key+".pub")
	command.Dir, command.Env = d.workspace, d.env
	if screen, err := terminal.Run(command); err != nil {
		d.t.Fatalf("%v: %s", err, screen)
	}
	return key
}
