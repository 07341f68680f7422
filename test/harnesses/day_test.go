package harnesses

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"interlock/test/product"
	"interlock/test/wait"
)

// A day's work of a coding agent in one repository, as its model asks for it: what nobody is asked about.
const quietWork = `git status --short
git log --oneline -5
git switch -c feature/retry
ls -la
cat README.md
head -20 src/client.py
grep -rn "def fetch" src
find . -name '*.py' | wc -l
python3 -m unittest -q
python3 -c "import sys; print(sys.version)"
sed -n '1,20p' src/client.py
sed -i 's/tries = 3/tries = 5/' src/client.py
mkdir -p src/util && touch src/util/__init__.py
cp config.yaml config.test.yaml
mv notes.txt docs.txt
rm -rf build dist
make test
make build
sh scripts/build.sh
npm ci
npm install --save-dev vitest
npm test
npx tsc --noEmit
pip install -r requirements.txt
pip install -e .
uv pip install pytest-cov
ruff check src
git diff
git diff --stat HEAD
git add -A
git commit -q -m "Retry requests that time out"
git commit -q --amend --no-edit
git stash list
docker compose ps
docker compose logs --tail 50 db
curl -s http://localhost:8000/health
ps aux | head -3
tail -5 docs.txt
sort README.md | uniq -c | sort -rn | head -3
tar czf build.tgz src
git fetch origin
git rebase origin/main
git push -u origin feature/retry`

// What it asks about.
const (
	volumes   = "docker compose down -v"
	forced    = "git push --force origin feature/retry"
	published = "npm publish"
	copied    = "scp build.tgz backup.example.com:/data/"
	secret    = "cat ~/.ssh/id_ed25519"
)

// TestADay has the real Claude Code and Codex work for a day, with questions that end in every way there is. In the end only that waits
// which somebody has to answer, and every place that counts says the same number.
func TestADay(t *testing.T) {
	t.Parallel()
	d := newWorkday(t)
	a, b := claude(t), codexAgent(t, codexScripting)

	// Nobody sits before it: Claude Code says no by itself, and goes on.
	var calls []toolCall
	for n, line := range strings.Split(quietWork, "\n") {
		calls = append(calls, a.shell(line))
		switch n {
		case 7:
			calls = append(calls, a.read(d.path("src/client.py")), toolCall{"Edit", map[string]any{"file_path": d.path("src/client.py"),
				"old_string": "return url", "new_string": "return url  # twice"}})
		case 12:
			calls = append(calls, a.shell(volumes), toolCall{"Write", map[string]any{"file_path": d.path("src/retry.py"),
				"content": "def backoff(tries):\n    return 2 ** tries\n"}}, a.read(d.path("src/retry.py")))
		case 30:
			calls = append(calls, a.shell(forced))
		}
	}
	d.work(a, calls...)
	d.wantQueue("after the morning", 0)

	// At its terminal a person says yes, says no and something else, and lets it work on.
	m := newModel(t, a.shell(forced), a.shell("git status --short"), a.shell(published), a.shell("make test"), a.shell(volumes), a.shell("ls"))
	d.meetClaudesModel(m)
	s := d.terminal(harness(t, "claude"), "--permission-mode", "manual", "--allowedTools", "Bash", "--", "Do it.")
	s.awaits("Doyouwanttoproceed?")
	d.wantQueue("while a person is asked", 1)
	s.types("\r")
	s.awaitsNext("Doyouwanttoproceed?")
	s.types("\x1b")
	s.awaitsNext("Interrupted")
	s.types("leave it and run the tests")
	s.awaitsNext("leaveitandrunthetests")
	s.types("\r")
	s.awaitsNext("Doyouwanttoproceed?")
	s.pressing("\r", "Thatisall.")
	d.wantQueue("after the afternoon", 0)

	// Codex asks nobody: what it may not do waits for an operator. One is answered and used, one denied, one put off until tomorrow.
	request := func(command string) string { return requestIn(t, d.work(b, b.shell(command))[0]) }
	yes := request(forced)
	d.wantQueue("before an answer", 0, yes)
	d.interlock("approve", yes, "--key", d.key)
	d.work(b, b.shell("git status --short"), b.shell(forced), b.shell("make test"))
	d.interlock("deny", request(published), "--key", d.key, "--reason", "not today")
	later := request(copied)
	d.work(b, b.shell("ls"), b.shell(secret), b.shell("make build"))
	rest, _ := d.waits()
	if len(rest) != 2 || !slices.Contains(rest, later) {
		t.Fatalf("what waits in the end: %q, and among it not only %s and the key", rest, later)
	}
	d.wantQueue("in the evening", 0, rest...)
	if n := len(d.allowed()); n < 50 {
		t.Errorf("only %d calls were allowed without a question", n)
	}
	d.wantShown(len(rest))
}

// A workday is a desk with a server, an operator and a channel that takes what is told to people.
type workday struct {
	*desk
	key     string // of the operator
	address string
	heard   *heard
}

// A heard is a channel's receiver: what waits, as far as it was told.
type heard struct {
	mu    sync.Mutex
	waits map[string]bool
	times int
}

func (h *heard) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	var told struct {
		Kind, Request, Status string
		Harness               bool
	}
	body, err := io.ReadAll(r.Body)
	if err != nil || json.Unmarshal(body, &told) != nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.times++
	switch {
	case told.Kind == "request" && !told.Harness:
		h.waits[told.Request] = true
	case told.Kind == "answered":
		delete(h.waits, told.Request)
	}
}

func (h *heard) list() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var ids []string
	for id := range h.waits {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

func newWorkday(t *testing.T) *workday {
	t.Helper()
	d := &workday{desk: newDesk(t), heard: &heard{waits: map[string]bool{}}}
	channel := httptest.NewServer(d.heard)
	t.Cleanup(channel.Close)
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d.address = free.Addr().String()
	free.Close()
	for _, name := range []string{"npm", "npx", "pip", "uv", "ruff", "docker", "scp"} { // nothing here is fetched or sent
		d.write("~/bin/"+name, "#!/bin/sh\nexit 0\n")
		if err := os.Chmod(d.path("~/bin/"+name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	remote := filepath.Join(t.TempDir(), "app.git")
	runtime, err := filepath.Abs(filepath.Join("..", "clients", "node_modules", "node", "bin"))
	if err != nil {
		t.Fatal(err)
	}
	d.set("PATH", strings.Join([]string{d.path("~/bin"), runtime, os.Getenv("PATH")}, string(filepath.ListSeparator)))
	d.set("TERM", "xterm-256color")
	d.set("GIT_AUTHOR_NAME", "Ann")
	d.set("GIT_AUTHOR_EMAIL", "ann@example.org")
	d.set("GIT_COMMITTER_NAME", "Ann")
	d.set("GIT_COMMITTER_EMAIL", "ann@example.org")
	for name, text := range map[string]string{"README.md": "# app\n", "src/client.py": "tries = 3\n\n\ndef fetch(url):\n    return url\n",
		"requirements.txt": "httpx\n", "config.yaml": "mode: dev\n", "notes.txt": "notes\n", "build/x": "x\n", ".gitignore": "build*\n",
		"Makefile":           "test:\n\tpython3 -m unittest -q || true\nbuild:\n\tsh scripts/build.sh\n",
		"package.json":       `{"name":"app","version":"1.0.0"}`,
		"scripts/build.sh":   "#!/bin/sh\nset -e\nmkdir -p build\ncp src/*.py build/\n",
		"docker-compose.yml": "services:\n  db:\n    image: postgres:16\n",
		"~/.ssh/id_ed25519":  "not for models\n"} {
		d.write(name, text)
	}
	for _, argv := range [][]string{{"checkout", "-q", "-b", "main"}, {"add", "-A"}, {"commit", "-q", "-m", "first"},
		{"init", "-q", "--bare", remote}, {"remote", "add", "origin", remote}, {"push", "-q", "origin", "main"}} {
		d.must("git", argv...)
	}
	d.usedClaudeBefore()
	d.writeState("channel.key", "of-this-test-and-nobody-else")
	d.writeState("interlock.yaml", "listen: "+d.address+"\nchannels:\n  - {kind: webhook, floor: confirm, url: \""+channel.URL+
		"\", key: \"file:"+filepath.Join(d.state, "channel.key")+"\"}\n")
	d.key = d.addOperator()
	d.interlock("settings", "adopt", "--reason", "to be told", "--key", d.key)
	d.serve()
	d.interlock("install", "claude")
	d.interlock("install", "codex")
	return d
}

// serve runs the server until the test ends.
func (d *workday) serve() {
	d.t.Helper()
	ready := filepath.Join(d.t.TempDir(), "ready")
	server := exec.Command(product.Interlock(), "up", "--ready", ready)
	var said strings.Builder
	server.Dir, server.Env, server.Stdout, server.Stderr = d.workspace, d.env, &said, &said
	if err := server.Start(); err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() {
		_ = server.Process.Signal(syscall.SIGTERM) // it may have ended
		if err := server.Wait(); err != nil {
			d.t.Errorf("the server ended badly: %v\n%s", err, said.String())
		}
	})
	d.until("the server to be ready", func() bool { _, err := os.Stat(ready); return err == nil })
}

func (d *workday) until(what string, holds func() bool) {
	d.t.Helper()
	wait.Until(d.t, what, holds)
}

// waits are the requests that the command line says wait for an operator, and how many it says a harness is asking its user.
func (d *workday) waits() (ids []string, harness int) {
	d.t.Helper()
	var listed []struct {
		ID, Status string
		Harness    bool
	}
	if err := json.Unmarshal([]byte(d.interlock("pending", "--json")), &listed); err != nil {
		d.t.Fatal(err)
	}
	for _, r := range listed {
		switch {
		case r.Status == "pending" && r.Harness:
			harness++
		case r.Status == "pending":
			ids = append(ids, r.ID)
		}
	}
	slices.Sort(ids)
	return ids, harness
}

// wantQueue compares what waits with what should, by the command line, by what people were told, and by what is measured.
func (d *workday) wantQueue(when string, harness int, want ...string) {
	d.t.Helper()
	slices.Sort(want)
	if got, asked := d.waits(); !slices.Equal(got, want) || asked != harness {
		d.t.Errorf("%s: %q wait and harnesses ask %d, want %q and %d\n%s", when, got, asked, want, harness, d.interlock("pending"))
	}
	var told []string
	if !wait.Holds(func() bool { // people are told a moment later
		told = d.heard.list()
		return slices.Equal(told, want)
	}) {
		d.t.Errorf("%s: the channel was told that %q wait, want %q", when, told, want)
	}
	answer, err := http.Get("http://" + d.address + "/metrics")
	if err != nil {
		d.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	measured := regexp.MustCompile(`(?m)^interlock_requests_pending (\d+)$`).FindSubmatch(text)
	if err != nil || measured == nil || string(measured[1]) != compact(len(want)) {
		d.t.Errorf("%s: %q are measured, want %d (%v)", when, measured, len(want), err)
	}
}

// wantShown looks at the console, on a phone.
func (d *workday) wantShown(waiting int) {
	d.t.Helper()
	link := regexp.MustCompile(`(?m)^http://localhost:\S+$`).FindString(d.interlock("operator", "login", "olga", "--key", d.key))
	p := newPhone(d.t)
	p.origin = regexp.MustCompile(`^http://[^/]+`).FindString(link)
	p.open(link)
	p.presses("Log in as olga")
	p.open("/")
	p.sees("Waiting now " + compact(waiting))
	p.sees(compact(waiting) + " actions wait for an answer")
	p.sees("were answered in the harness. The others wait.")
	p.open("/pending")
	p.sees(compact(waiting) + " wait in all")
	var cards int
	p.evaluate("document.querySelectorAll('#cards > article').length", &cards)
	if cards != waiting {
		d.t.Errorf("the inbox shows %d cards, want %d", cards, waiting)
	}
}

// awaitsNext reads on until the text has been shown once more.
func (s *screen) awaitsNext(text string) {
	s.t.Helper()
	s.raw.Reset()
	s.seen = ""
	s.awaits(text)
}

// pressing presses a key again and again until a text is shown: right after somebody has typed, Claude Code takes no key for an answer.
func (s *screen) pressing(key, text string) {
	s.t.Helper()
	done, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		for {
			_, _ = io.WriteString(s.input, key) // a program that is gone shows nothing either
			select {
			case <-done:
				return
			default:
				wait.Chance(time.Second)
			}
		}
	}()
	s.awaitsNext(text)
	close(done)
	<-over
}
