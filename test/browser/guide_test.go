package browser_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"interlock/test/product"
	"interlock/test/terminal"
)

// guide returns the fenced blocks below a heading of the operator's guide, as they are printed.
func guide(t *testing.T, heading string) (blocks []string) {
	t.Helper()
	text, err := os.ReadFile("../../docs/operating.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(text), "\n## "+heading+"\n")
	section, _, _ = strings.Cut(section, "\n## ")
	for _, block := range regexp.MustCompile("(?s)```[a-z]*[^\n]*\n(.*?)```").FindAllStringSubmatch(section, -1) {
		blocks = append(blocks, block[1])
	}
	if !found || len(blocks) == 0 {
		t.Fatalf("the guide prints nothing under %q", heading)
	}
	return blocks
}

// types runs lines of the guide in the person's shell and returns what they print.
func (h *house) types(lines string) string {
	h.t.Helper()
	shell := exec.Command("bash", "-euo", "pipefail", "-c", lines)
	shell.Dir = h.dir
	shell.Env = append(h.command().Env, "PATH="+product.Dir()+":"+os.Getenv("PATH"))
	var out bytes.Buffer
	shell.Stdout, shell.Stderr = &out, &out
	if screen, err := terminal.Run(shell); err != nil {
		h.t.Fatalf("%s: %v\n%s%s", lines, err, &out, screen)
	}
	return out.String()
}

// A new operator who does what the guide prints, and nothing else, ends with an answer that counts.
func TestTheGuideLeadsANewOperatorToAnAnswer(t *testing.T) {
	t.Parallel()
	h := newHouse(t, guide(t, "Quiet hours")[0], "unattended: false")
	share := filepath.Join(h.dir, ".local", "share")
	if err := os.MkdirAll(share, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(h.dir, "home"), filepath.Join(share, "interlock")); err != nil { // where a home stands by default
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(h.dir, ".ssh"), 0o700); err != nil {
		t.Fatal(err)
	}
	h.types("ssh-keygen -q -t ed25519 -a 1 -N sesame -f ~/.ssh/id_ed25519") // which the person has
	blocks := guide(t, "The first operator")
	_, enrolling, found := strings.Cut(blocks[0], "\n") // behind `interlock up`, which runs
	if !found || len(blocks) != 2 {
		t.Fatalf("the guide begins otherwise: %q", blocks)
	}
	link := regexp.MustCompile(`http://localhost:\S+`).FindString(h.types(enrolling))
	browser := startChromium(t)
	olga := newPage(t, browser, h.origin, device{})
	olga.enrol(link, "olga")
	asking := blocks[1]
	if said := h.types(asking); !strings.Contains(said, `"answer":"deny"`) || !strings.Contains(said, `"request":"apr_`) {
		t.Fatalf("asking does not lead to a request: %s", said)
	}
	olga.open("/pending")
	olga.follows(`//main//a[starts-with(@href, "/pending/apr_")]`)
	olga.presses("Approve once, with a passkey")
	if said := h.types(asking); !strings.Contains(said, `"answer":"allow"`) {
		t.Errorf("after a yes: %s", said)
	}
	if said := h.types(asking); !strings.Contains(said, `"answer":"deny"`) {
		t.Errorf("and once more: %s", said)
	}
	again := regexp.MustCompile(`http://localhost:\S+`).FindString(h.types(guide(t, "When a passkey is lost")[0]))
	olga.open("/")
	olga.sees("Log in with a passkey")
	fresh := newPage(t, browser, h.origin, device{})
	fresh.enrol(again, "olga")
}
