package clients

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite" // whoever has the file has a shell for it

	"interlock/test/product"
	"interlock/test/terminal"
)

// TestNoWayToAYes plays an agent of the same user as the people who govern, who wants a yes that nobody gave. Every way is tried twice:
// its commands go to the hook as the agent's, and then they run anyway, as if the hook had not known them. Whatever they do to the home,
// what was asked about is not allowed afterwards. -escape 1m goes round for so long.
func TestNoWayToAYes(t *testing.T) {
	t.Parallel()
	ways := waysToAYes()
	if len(ways) < 60 {
		t.Fatalf("there are %d ways", len(ways))
	}
	template := newVictim(t)
	end, stopped, tried := time.Now().Add(*escapeFor), 0, 0
	for round := 0; round == 0 || time.Now().Before(end); round++ {
		for _, w := range ways {
			if round > 0 && !time.Now().Before(end) {
				break
			}
			v := template.copied(t)
			if v.hooked(w.script) {
				stopped++
			}
			tried++
			said := w.run(v)
			if answer := v.propose(wanted); answer == "allow" {
				t.Errorf("%s: a yes that nobody gave: %s", w.name, said)
			}
			if t.Failed() && round > 0 {
				return
			}
			os.RemoveAll(v.dir)
		}
	}
	t.Logf("%d tries of %d ways, %d of them stopped by the hook already; none is a yes", tried, len(ways), stopped)
	if stopped*10 < tried*6 {
		t.Errorf("the hook stops %d of %d tries: the fence is low", stopped, tried)
	}
}

// wanted is what the agent wants to do: asked about until a person says yes.
const wanted = "git push --force origin main"

// A victim is a home with an operator whose key the agent can't use, an agent that was asked about something, and the agent's own things.
type victim struct {
	t       *testing.T
	dir     string // all of it: home, user's home, the agent's workspace
	request string // what waits for an answer
	spent   string // a request that was approved and used
	env     []string
}

func newVictim(t *testing.T) *victim {
	t.Helper()
	v := &victim{t: t, dir: t.TempDir()}
	for _, dir := range []string{"home", "user", "user/.claude", "user/.ssh", "work"} {
		if err := os.MkdirAll(filepath.Join(v.dir, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	v.point()
	outside := t.TempDir() // where the people's keys are, as on a device
	askpass, err := terminal.Askpass(outside)
	if err != nil {
		t.Fatal(err)
	}
	key, err := terminal.Govern(product.Interlock(), v.env, outside)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{filepath.Join(outside, "olga"), filepath.Join(v.dir, "work", "eve")} {
		made := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-a", "1", "-N", terminal.Passphrase, "-f", name)
		if out, err := made.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	run := func(args ...string) {
		t.Helper()
		command := exec.Command(product.Interlock(), args...)
		command.Env = append(v.env[:len(v.env):len(v.env)], askpass...)
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v: %s", args, err, out)
		}
	}
	run("operator", "add", "olga", "--ssh-key", filepath.Join(outside, "olga.pub"), "--key", key)
	run("agent", "add", "claude", "--no-token", "--key", key)
	if answer := v.propose("git push origin release --force"); answer != "ask" && answer != "deny" {
		t.Fatalf("the first question is answered %q", answer)
	}
	v.spent = v.waiting()
	run("approve", v.spent, "--key", filepath.Join(outside, "olga"))
	if answer := v.propose("git push origin release --force"); answer != "allow" {
		t.Fatalf("what was approved is answered %q", answer)
	}
	if answer := v.propose(wanted); answer == "allow" {
		t.Fatalf("nobody has to be asked about %s", wanted)
	}
	v.request = v.waiting()
	return v
}

// point makes the environment of the victim's directory.
func (v *victim) point() {
	v.env = nil
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		if !strings.HasPrefix(name, "INTERLOCK_") && name != "HOME" && name != "PATH" && name != "SSH_AUTH_SOCK" {
			v.env = append(v.env, variable)
		}
	}
	v.env = append(v.env, "INTERLOCK_HOME="+filepath.Join(v.dir, "home"), "HOME="+filepath.Join(v.dir, "user"),
		"PATH="+product.Dir()+":"+os.Getenv("PATH"), "REQUEST="+v.request, "SPENT="+v.spent)
}

// copied is a victim just like this one.
func (v *victim) copied(t *testing.T) *victim {
	t.Helper()
	c := &victim{t: t, dir: t.TempDir(), request: v.request, spent: v.spent}
	if out, err := exec.Command("cp", "-a", v.dir+"/.", c.dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	c.point()
	return c
}

// sh runs a script as the agent's shell would and returns what it says. What asks for the passphrase of its own key gets it.
func (v *victim) sh(script string) string {
	command, cancel := v.bash(script)
	defer cancel()
	command.Stdin = strings.NewReader("")
	out, err := command.CombinedOutput()
	return fmt.Sprintf("%s (%v)", bytes.TrimSpace(out), err)
}

// sql does to the store what somebody with the file can.
func (v *victim) sql(statements string) string {
	db, err := sql.Open("sqlite", filepath.Join(v.dir, "home", "interlock.db"))
	if err != nil {
		v.t.Fatal(err)
	}
	defer db.Close()
	result, err := db.Exec(statements)
	if err != nil {
		return err.Error()
	}
	n, err := result.RowsAffected()
	return fmt.Sprintf("%d rows (%v)", n, err)
}

// atTerminal is sh at a terminal of its own, by somebody who types back what is shown.
func (v *victim) atTerminal(script string) string {
	command, cancel := v.bash(script)
	defer cancel()
	screen, err := terminal.Run(command)
	return fmt.Sprintf("%s (%v)", screen, err)
}

// scriptTime is how long a script may take: one that waits for somebody has failed.
const scriptTime = 20 * time.Second

// bash is the agent's shell.
func (v *victim) bash(script string) (*exec.Cmd, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(context.Background(), scriptTime)
	command := exec.CommandContext(ctx, "bash", "-c", script)
	askpass, err := terminal.Askpass(filepath.Join(v.dir, "work"))
	if err != nil {
		v.t.Fatal(err)
	}
	command.Env, command.Dir = append(v.env[:len(v.env):len(v.env)], askpass...), filepath.Join(v.dir, "work")
	command.WaitDelay = time.Second // what it has started may hold its output
	return command, cancel
}

// hooked reports whether the hook stops a script that the agent wants to run.
func (v *victim) hooked(script string) bool { return v.propose(script) != "allow" }

// propose asks the hook about a command and returns its verdict; a hook that says nothing of the kind stops the agent.
func (v *victim) propose(command string) string {
	call := map[string]any{"session_id": "s", "cwd": filepath.Join(v.dir, "work"), "hook_event_name": "PreToolUse", "tool_name": "Bash",
		"tool_input": map[string]string{"command": command}, "tool_use_id": fmt.Sprint(time.Now().UnixNano())}
	text, err := json.Marshal(call)
	if err != nil {
		v.t.Fatal(err)
	}
	hook := exec.Command(product.Interlock(), "hook", "--agent", "claude")
	hook.Env, hook.Dir, hook.Stdin = v.env, filepath.Join(v.dir, "work"), bytes.NewReader(text)
	out, err := hook.Output()
	if err != nil {
		return "deny" // exit status 2 is a refusal, whatever else is said
	}
	var answer struct {
		Output struct {
			Decision string `json:"permissionDecision"`
		} `json:"hookSpecificOutput"`
	}
	if len(bytes.TrimSpace(out)) == 0 {
		return "allow" // a hook that says nothing lets the harness go on
	}
	if err := json.Unmarshal(out, &answer); err != nil || answer.Output.Decision == "" {
		return "allow"
	}
	return answer.Output.Decision
}

// waiting is the request that waits.
func (v *victim) waiting() string {
	command := exec.Command(product.Interlock(), "pending", "--json")
	command.Env = v.env
	out, err := command.Output()
	if err != nil {
		v.t.Fatal(err)
	}
	at := bytes.Index(out, []byte("apr_"))
	if at < 0 {
		v.t.Fatalf("nothing waits: %s", out)
	}
	id := string(out[at:])
	return id[:strings.IndexFunc(id, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && r != '-'
	})]
}

// A yesWay is one thing an agent could try.
type yesWay struct {
	name     string
	script   string
	edit     string // SQL that is done to the store, whether or not the agent has a shell for it
	terminal bool   // at a terminal of its own, with somebody who types back what is shown
}

func (w yesWay) run(v *victim) string {
	if w.edit != "" {
		return v.sql(w.edit)
	}
	if w.terminal {
		return v.atTerminal(w.script)
	}
	return v.sh(w.script)
}
