package harnesses

import (
	"os"
	"strings"
	"testing"

	"interlock/test/product"
)

// Whatever the program lets run by itself, the hook's no stands. Without permission checks at all it does not start as root.
func TestClaudesPermissionModes(t *testing.T) {
	for _, mode := range []string{"manual", "acceptEdits", "dontAsk", "plan", "auto", "bypassPermissions"} {
		if mode == "bypassPermissions" && os.Geteuid() == 0 {
			continue
		}
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			a := claude(t, "--permission-mode", mode)
			d := newDeskWith(t, a)
			d.write("~/kept.txt", "mine")
			told := d.work(a, a.shell("touch ran.txt; rm -rf "+d.home))
			wantIn(t, told[0], "[fs.delete-root]")
			if d.exists("ran.txt") || !d.exists("~/kept.txt") {
				t.Error("it ran")
			}
			d.wantLog("claude: SAFETY_BLOCK_EVENT deny")
		})
	}
}

// halting is a rule that stops the agent.
const halting = `rules:
  - id: own.stop
    layer: 3
    kinds: [shell]
    match: {glob: ["halt-everything *"]}
    verdict: halt
    reason: here it ends
    tags: [ASI02]
    tests:
      block: ["halt-everything now"]
      pass: ["ls"]
`

func TestClaudeStopsWhereItIsHalted(t *testing.T) {
	t.Parallel()
	a := claude(t)
	d := newDeskWith(t, a)
	d.writeState("rules/own.yaml", halting)
	m := newModel(t, a.shell("touch ran.txt; halt-everything now"), a.shell("echo hello > made.txt"))
	d.meetClaudesModel(m)
	out, _, _ := d.run(harness(t, "claude"), "-p", "Do it.", "--allowedTools", claudesTools)
	wantNot(t, out, lastWords)
	if d.exists("ran.txt") || d.exists("made.txt") || len(m.told()) > 0 {
		t.Errorf("it went on: it said %q, and the model was told %q", out, m.told())
	}
}

// A registration for one project counts there, and doctor finds that it does.
func TestClaudesProject(t *testing.T) {
	t.Parallel()
	a := claude(t)
	d := newDesk(t)
	d.interlock("install", "claude", "--project", d.workspace)
	wantIn(t, d.interlock("doctor", "--project", d.workspace), "ok    claude canary")
	told := d.work(a, a.shell("touch ran.txt; rm -rf "+d.home))
	wantIn(t, told[0], "[fs.delete-root]")
	if d.exists("ran.txt") {
		t.Error("it ran")
	}
}

// There are ways to run the program without the user's hook, which then runs what it is told. Nothing of Interlock's can stop
// that; docs/reference/coverage.md says so, and doctor finds what it can see.
func TestClaudeWithoutItsHook(t *testing.T) {
	for _, way := range []struct {
		name  string
		flags []string
		set   func(d *desk)
		found string // by doctor; empty: it can't see that
	}{
		{"left out on the command line", []string{"--setting-sources", "project,local"}, nil, ""},
		{"switched off on the command line", []string{"--settings", `{"disableAllHooks":true}`}, nil, ""},
		{"switched off by the project", nil, func(d *desk) { d.write(".claude/settings.json", `{"disableAllHooks":true}`) },
			"sets disableAllHooks"},
	} {
		t.Run(way.name, func(t *testing.T) {
			t.Parallel()
			a := claude(t, way.flags...)
			d := newDeskWith(t, a)
			if way.set != nil {
				way.set(d)
			}
			d.work(a, a.shell("echo hello > made.txt"))
			if !d.exists("made.txt") {
				t.Error("the program has learned to refuse: say so in the documents")
			}
			if judged := d.log(); len(judged) > 0 {
				t.Errorf("it was judged: %q", judged)
			}
			out, _, status := d.run(product.Interlock(), "doctor")
			if wantIn(t, out, way.found); status == 0 && way.found != "" {
				t.Errorf("doctor is content:\n%s", out)
			}
		})
	}
}

func wantNot(t *testing.T, text, part string) {
	t.Helper()
	if strings.Contains(text, part) {
		t.Errorf("%q is in %q", part, text)
	}
}
