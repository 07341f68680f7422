package harnesses

import (
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock/test/product"
)

// An agent is one coding agent: how its model names its tools, and how its users start it without a terminal.
type agent struct {
	name      string                        // for interlock install
	client    string                        // for interlock install gateway
	asks      bool                          // it is known to be able to ask its user, also without a terminal
	alone     bool                          // Interlock sees by itself, on Linux, that it runs without its user
	advised   bool                          // its hooks can't change a call; a refusal names what to run in its place
	settle    func(d *desk)                 // writes what its user has set already; nil: nothing
	shell     func(command string) toolCall // runs a command
	read      func(path string) toolCall    // reads a file
	addServer func(d *desk, name string, command ...string)
	run       func(d *desk, m *model)
}

// drive lets a harness meet each kind of answer, and looks at what became of it.
func drive(t *testing.T, a agent) {
	for _, scene := range []struct {
		name string
		play func(t *testing.T, a agent)
	}{
		{"what is harmless runs and what is denied does not", harmlessRunsAndDeniedDoesNot},
		{"where nobody can be asked an operator's yes counts once", yesCountsOnce},
		{"what needs a sandbox runs in one", needsSandbox},
		{"without its store nothing runs", withoutStore},
		{"without its program nothing runs", withoutProgram},
		{"behind the gateway", behindGateway},
	} {
		t.Run(scene.name, func(t *testing.T) { t.Parallel(); scene.play(t, a) })
	}
}

// newDeskWith is a desk at which the harness has Interlock's hook, as interlock install registers it.
func newDeskWith(t *testing.T, a agent, flags ...string) *desk {
	t.Helper()
	d := newDesk(t)
	if a.settle != nil {
		a.settle(d)
	}
	d.interlock(append([]string{"install", a.name}, flags...)...)
	return d
}

// work lets the harness's model ask for the calls and returns what it was told of them.
func (d *desk) work(a agent, calls ...toolCall) []string {
	d.t.Helper()
	m := newModel(d.t, calls...)
	a.run(d, m)
	told := m.told()
	if len(told) != len(calls) {
		d.t.Fatalf("the model asked for %d calls and was told of %d: %q", len(calls), len(told), told)
	}
	return told
}

// failureIsRecorded is for harnesses that tell their hooks of a command's exit status.
func failureIsRecorded(t *testing.T, a agent) {
	d := newDeskWith(t, a)
	d.work(a, a.shell("echo hello; exit 3"))
	d.wantLog(a.name+": DECISION allow", a.name+": OUTCOME failure")
}

// In one session: starting a harness is what takes long. The home whose deletion is asked for is a directory of the test.
func harmlessRunsAndDeniedDoesNot(t *testing.T, a agent) {
	d := newDeskWith(t, a, "--unattended")
	d.write("~/.ssh/id_ed25519", "not for models\n")
	told := d.work(a, a.shell("echo hello > made.txt"), a.read(d.path("~/.ssh/id_ed25519")), a.shell("cat ~/.ssh/id_ed25519"),
		a.shell("touch ran.txt; rm -rf "+d.home))
	if content, err := os.ReadFile(d.path("made.txt")); string(content) != "hello\n" {
		t.Fatalf("made.txt holds %q (%v)", content, err)
	}
	for _, text := range told[1:3] {
		wantIn(t, text, "[cred.read]")
		if strings.Contains(text, "not for models") {
			t.Errorf("the model was told %q", text)
		}
	}
	wantIn(t, told[3], "[fs.delete-root] this deletes the file system root, a home directory or a directory the system needs")
	if d.exists("ran.txt") || !d.exists("~/.ssh/id_ed25519") {
		t.Fatal("it ran")
	}
	d.wantLog(a.name+": DECISION allow", a.name+": OUTCOME success", a.name+": SAFETY_REVIEW_REQUEST deny",
		a.name+": SAFETY_REVIEW_REQUEST deny", a.name+": SAFETY_BLOCK_EVENT deny")
}

func yesCountsOnce(t *testing.T, a agent) {
	var flags []string
	if !a.alone || runtime.GOOS != "linux" {
		flags = append(flags, "--unattended")
	}
	d := newDeskWith(t, a, flags...)
	key := d.addOperator()
	push := a.shell("echo ran >> ran.txt; git push --force origin main")
	told := d.work(a, push)
	wantIn(t, told[0], "[git.force-push] a forced push replaces what others have fetched")
	if d.exists("ran.txt") {
		t.Fatal("it ran unasked")
	}
	d.interlock("approve", requestIn(t, told[0]), "--key", key)
	told = d.work(a, push, push)
	wantIn(t, told[1], "[git.force-push]")
	if content, err := os.ReadFile(d.path("ran.txt")); string(content) != "ran\n" {
		t.Fatalf("ran.txt holds %q (%v): it should have run once", content, err)
	}
}

// sandboxed is a rule that lets deletions run in a sandbox only.
const sandboxed = `rules:
  - id: own.clean
    layer: 3
    kinds: [shell]
    match: {kind: [delete]}
    verdict: ask
    obligations: [{type: sandbox}]
    reason: deletions run in a sandbox only
    tags: [ASI02]
    tests:
      ask: ["rm -rf build"]
      pass: ["ls"]
`

// advisedCommand is the command that a refusal names.
func advisedCommand(told string) string {
	_, command, _ := strings.Cut(told, "have it run with: ")
	return strings.TrimSuffix(command, ".")
}

// The command that the refusal named is decided as the one inside it, and runs in a sandbox once a human said yes.
func advisedToUseSandbox(t *testing.T, a agent) {
	d := newDeskWith(t, a)
	key := d.addOperator()
	d.write("build/output", "x")
	d.write("~/kept.txt", "of the home")
	d.writeState("rules/own.yaml", sandboxed)
	clean := a.shell("rm -rf build && ! cat " + d.path("~/kept.txt") + " && echo cleaned")
	boxed := a.shell("")
	boxed.Arguments["command"] = advisedCommand
	told := d.work(a, clean, boxed)
	wantIn(t, told[0], "[sandbox.needed]")
	wantIn(t, told[1], "[own.clean] deletions run in a sandbox only")
	if !d.exists("build") {
		t.Fatal("it ran unasked")
	}
	d.interlock("approve", requestIn(t, told[1]), "--key", key)
	told = d.work(a, clean, boxed)
	wantIn(t, told[1], "cleaned")
	if strings.Contains(told[1], "of the home") || d.exists("build") {
		t.Fatalf("it did not run, or not in a sandbox: %q", told[1])
	}
	d.wantLog("olga: IDENTITY_CHANGE", a.name+": SAFETY_BLOCK_EVENT deny", a.name+": SAFETY_REVIEW_REQUEST deny", "olga: APPROVAL",
		a.name+": SAFETY_BLOCK_EVENT deny", a.name+": SAFETY_REVIEW_REQUEST allow", a.name+": SAFETY_REVIEW_REQUEST allow",
		a.name+": OUTCOME success", a.name+": OUTCOME success")
}

// The rewritten command is decided again, and an approval of the first asking is what it spends.
func needsSandbox(t *testing.T, a agent) {
	if a.advised {
		advisedToUseSandbox(t, a)
		return
	}
	d := newDeskWith(t, a)
	key := d.addOperator()
	d.write("build/output", "x")
	d.write("~/kept.txt", "of the home")
	d.writeState("rules/own.yaml", sandboxed)
	clean := a.shell("rm -rf build && ! cat " + d.path("~/kept.txt") + " && echo cleaned")
	told := d.work(a, clean)
	wantIn(t, told[0], "[own.clean] deletions run in a sandbox only")
	if !d.exists("build") {
		t.Fatal("it ran unasked")
	}
	d.interlock("approve", requestIn(t, told[0]), "--key", key)
	told = d.work(a, clean)
	wantIn(t, told[0], "cleaned")
	if strings.Contains(told[0], "of the home") || d.exists("build") {
		t.Fatalf("it did not run, or not in a sandbox: %q", told[0])
	}
	first := map[bool]string{true: "ask", false: "deny"}[a.asks]
	d.wantLog("olga: IDENTITY_CHANGE", a.name+": SAFETY_REVIEW_REQUEST "+first, "olga: APPROVAL", a.name+": SAFETY_REVIEW_REQUEST allow",
		a.name+": SAFETY_REVIEW_REQUEST allow", a.name+": OUTCOME success", a.name+": OUTCOME success")
}

func withoutStore(t *testing.T, a agent) {
	d := newDeskWith(t, a)
	d.work(a, a.shell("echo hello > made.txt"))
	for _, name := range []string{"interlock.db", "interlock.db-wal", "interlock.db-shm"} {
		if err := os.Remove(filepath.Join(d.state, name)); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	told := d.work(a, a.shell("echo hello > other.txt"))
	wantIn(t, told[0], "restore interlock.db")
	if d.exists("other.txt") {
		t.Fatal("it ran")
	}
}

// Most harnesses run what they are told where the program of a hook can't be started; so what is registered refuses by itself.
func withoutProgram(t *testing.T, a agent) {
	d := newDeskWith(t, a)
	moved := t.TempDir()
	for _, name := range []string{"interlock", "interlock-hook"} {
		content, err := os.ReadFile(filepath.Join(product.Dir(), name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(moved, name), content, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	d.must(filepath.Join(moved, "interlock"), "install", a.name)
	for _, name := range []string{"interlock", "interlock-hook"} { // gone, not just closed: Copilot makes a hook executable itself
		if err := os.Remove(filepath.Join(moved, name)); err != nil {
			t.Fatal(err)
		}
	}
	d.work(a, a.shell("echo hello > made.txt"))
	if d.exists("made.txt") {
		t.Error("it ran")
	}
	out, _, status := d.run(product.Interlock(), "doctor")
	if wantIn(t, out, "the registered command does not run"); status == 0 {
		t.Errorf("doctor is content:\n%s", out)
	}
}

func behindGateway(t *testing.T, a agent) {
	d := newDeskWith(t, a, "--unattended")
	d.write("~/.ssh/id_ed25519", "not for models\n")
	d.write("open.txt", "for everybody\n")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	d.writeState("interlock.yaml", "gateway: {patience: 100ms}\n")
	a.addServer(d, "shelf", self, shelfFlag)
	d.interlock("install", "gateway", "--client", a.client)
	told := d.work(a, toolCall{"fetch_text", map[string]any{"path": d.path("open.txt")}},
		toolCall{"fetch_text", map[string]any{"path": d.path("~/.ssh/id_ed25519")}})
	wantIn(t, told[0], "for everybody")
	wantIn(t, told[1], "this reads, shows or changes a secret") // the hook says so, or the gateway
	if strings.Contains(told[1], "not for models") {
		t.Errorf("the model was told %q", told[1])
	}
}

// requestIn is the request that a refusal names.
func requestIn(t *testing.T, reason string) string {
	t.Helper()
	found := regexp.MustCompile(`interlock approve (apr_[0-9a-f]{12})`).FindStringSubmatch(reason)
	if found == nil {
		t.Fatalf("no request is named in %q", reason)
	}
	return found[1]
}

func wantIn(t *testing.T, text, part string) {
	t.Helper()
	if !strings.Contains(text, part) {
		t.Errorf("%q is not in %q", part, text)
	}
}

// wantLog compares the log with the events it should hold, apart from what starting out leaves in every log.
func (d *desk) wantLog(want ...string) {
	d.t.Helper()
	if diff := cmp.Diff(want, d.log()); diff != "" {
		d.t.Errorf("the log (-want +got):\n%s", diff)
	}
}
