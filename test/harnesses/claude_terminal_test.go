package harnesses

import (
	"context"
	"encoding/json"
	"io"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"
)

// At a terminal the user is asked by Claude Code itself, with Interlock's reason. A yes lets the call run, and the log holds that
// it was asked about and what became of it; after a no there is nothing more to tell.
func TestClaudesUserIsAsked(t *testing.T) {
	for _, c := range []struct {
		name, key, shown string
		log              []string
	}{
		{"yes", "\r", "Thatisall.", []string{"claude: SAFETY_REVIEW_REQUEST ask", "claude: OUTCOME success",
			"claude: REQUEST_SETTLED"}},
		{"no", "\x1b", "Interrupted", []string{"claude: SAFETY_REVIEW_REQUEST ask"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a := claude(t)
			d := newDeskWith(t, a)
			d.usedClaudeBefore()
			m := newModel(t, a.shell("echo ran > ran.txt; : git push --force origin main; git push --force origin main || true"))
			d.meetClaudesModel(m)
			d.set("TERM", "xterm-256color")
			s := d.terminal(harness(t, "claude"), "--allowedTools", "Bash", "--", "Do it.")
			s.awaits("Doyouwanttoproceed?")
			if !strings.Contains(s.seen, "[git.force-push]aforcedpushreplaceswhatothershavefetched") {
				t.Errorf("the user was shown %q", s.seen)
			}
			s.types(c.key)
			s.awaits(c.shown)
			if d.exists("ran.txt") != (c.name == "yes") {
				t.Errorf("after a %s, that it ran is %v", c.name, d.exists("ran.txt"))
			}
			d.wantLog(c.log...)
		})
	}
}

// usedClaudeBefore leaves what the program asks a new user about as one who has answered it leaves it.
func (d *desk) usedClaudeBefore() {
	d.t.Helper()
	settings, err := json.Marshal(map[string]any{"hasCompletedOnboarding": true, "theme": "dark",
		"customApiKeyResponses": map[string]any{"approved": []string{"of-nobody"}, "rejected": []string{}},
		"projects":              map[string]any{d.workspace: map[string]any{"hasTrustDialogAccepted": true}}})
	if err != nil {
		d.t.Fatal(err)
	}
	d.write("~/.claude.json", string(settings))
}

// A screen is a program at a terminal: what it has shown so far, without blanks and without what moves the cursor.
type screen struct {
	t      *testing.T
	output io.Reader
	input  io.Writer
	raw    strings.Builder
	seen   string
}

// atTerminal runs a program at a terminal until its own input ends, and leaves nothing of it behind.
const atTerminal = `
import os, pty, select, signal, sys
child, terminal = pty.fork()
if child == 0:
    os.execv(sys.argv[1], sys.argv[1:])
while True:
    ready, _, _ = select.select([0, terminal], [], [])
    if terminal in ready:
        try:
            shown = os.read(terminal, 65536)
        except OSError:
            break
        if not shown:
            break
        os.write(1, shown)
    if 0 in ready:
        typed = os.read(0, 1024)
        if not typed:
            break
        os.write(terminal, typed)
try:
    os.killpg(child, signal.SIGKILL)
except ProcessLookupError:
    pass
os.waitpid(child, 0)
`

// terminal starts a program at a terminal; it ends with the test.
func (d *desk) terminal(name string, args ...string) *screen {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience) // the test's own ends before its cleanup
	command := exec.CommandContext(ctx, "python3", append([]string{"-c", atTerminal, name}, args...)...)
	command.Dir, command.Env, command.WaitDelay = d.workspace, d.env, time.Second
	input, err := command.StdinPipe()
	if err != nil {
		d.t.Fatal(err)
	}
	output, err := command.StdoutPipe()
	if err != nil {
		d.t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() {
		defer cancel()
		input.Close()
		_, _ = io.Copy(io.Discard, output)
		_ = command.Wait() // what it says of its end was ours
	})
	return &screen{t: d.t, output: output, input: input}
}

var moves = regexp.MustCompile("\x1b\\[[0-9;?<>=]*[A-Za-z]|\x1b\\][^\x07]*\x07|\x1b[=>78]|\x1b[()][A-Z0-9]|\\s")

// awaits reads on until the text has been shown.
func (s *screen) awaits(text string) {
	s.t.Helper()
	part := make([]byte, 1<<16)
	for !strings.Contains(s.seen, text) {
		n, err := s.output.Read(part)
		s.raw.Write(part[:n])
		s.seen = moves.ReplaceAllString(s.raw.String(), "")
		if err != nil {
			s.t.Fatalf("%q was not shown (%v), but %q", text, err, s.seen)
		}
	}
}

func (s *screen) types(keys string) {
	s.t.Helper()
	if _, err := io.WriteString(s.input, keys); err != nil {
		s.t.Fatal(err)
	}
}
