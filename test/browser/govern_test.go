package browser_test

import (
	"bytes"
	"io"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"interlock/test/terminal"
)

// A person whose only key is a passkey governs: the command line prints where an order is signed, and goes on once it was.
func TestAPasskeySignsWhoComesNext(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "unattended: false")
	first := h.command("operator", "add", "olga", "--enrol", "--console", h.origin)
	var out bytes.Buffer
	first.Stdout = &out
	if screen, err := terminal.Run(first); err != nil || !strings.Contains(screen, "Nobody governs this home yet") {
		t.Fatalf("%v: %s", err, screen)
	}
	address := regexp.MustCompile(`(?m)^http://localhost:\S+`)
	olga := newPage(t, startChromium(t), h.origin, device{})
	olga.enrol(address.FindString(out.String()), "olga")

	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(h.dir, "bare")).CombinedOutput(); err != nil {
		t.Fatalf("ssh-keygen: %v\n%s", err, out)
	}
	for _, order := range [][]string{
		{"operator", "add", "bob", "--role", "auditor", "--enrol", "--console", h.origin},
		{"agent", "add", "builder", "--console", h.origin},
		{"agent", "revoke", "builder", "--console", h.origin},
		{"operator", "change", "bob", "--role", "viewer", "--console", h.origin},
		{"operator", "revoke", "bob", "--console", h.origin},
		{"operator", "add", "wanda", "--role", "admin", "--ssh-key", "bare.pub", "--console", h.origin},
		{"operator", "weak-keys", "permit", "--reason", "a test machine", "--console", h.origin},
	} {
		command := h.command(order...)
		said, err := command.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		var printed bytes.Buffer
		command.Stdout = &printed
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		page := ""
		for text, some := "", make([]byte, 512); page == ""; {
			n, err := said.Read(some)
			if text += string(some[:n]); err != nil {
				t.Fatalf("%v: %s", order, text)
			}
			if strings.HasSuffix(text, "\n") {
				page = address.FindString(text)
			}
		}
		olga.open(strings.TrimPrefix(page, h.origin))
		olga.sees("This is the whole order, and exactly what is signed.")
		olga.presses("Sign it with a passkey")
		rest, _ := io.ReadAll(said) // it ended: what went wrong stands here
		if err := command.Wait(); err != nil || printed.Len() == 0 {
			t.Fatalf("%v: %v: %s%s", order, err, &printed, rest)
		}
	}
	if out, err := h.command("agent", "add", "second", "--key", "bare").CombinedOutput(); err != nil { // which a passkey has permitted
		t.Errorf("%v: %s", err, out)
	}
	if log := h.logged(); !strings.Contains(log, `"weak":"no passphrase"`) || strings.Count(log, `"IDENTITY_CHANGE"`) < 9 ||
		!strings.Contains(log, `"method":"passkey"`) {
		t.Errorf("the log does not hold who signed: %s", log)
	}
}
