package harnesses

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"interlock/test/product"
	"interlock/test/terminal"
)

// TestAStranger goes the way of somebody who has never heard of Interlock, with nothing but the archive that is handed out: set up with two
// coding agents, be asked, answer on a phone, say "always here", look at the overview, and take everything back without a trace. The
// server is started as systemd does it.
func TestAStranger(t *testing.T) {
	t.Parallel()
	s := newStranger(t)
	before := s.listing()
	said := s.asPerson("y\n", s.unpacked, "setup", "--operator", "ann", "--listen", s.address)
	for _, want := range []string{"agent     Claude Code: ", "agent     Codex CLI: ", "server    user service of systemd", "ok    server ",
		"ok    claude canary"} {
		wantIn(t, said, want)
	}
	link := regexp.MustCompile(`(?m)^http://localhost:\S+$`).FindString(said)
	if link == "" {
		t.Fatalf("setup prints no link:\n%s", said)
	}
	p := newPhone(t)
	p.enrols(link, "ann")
	claudesQuestionIsAnsweredForEver(s, p)
	codexsQuestionIsAnsweredOnce(s, p)

	// What happened is counted, and nothing waits.
	p.open("/")
	for _, want := range []string{"3 questions were put", "nothing waits", "git.force-push", "git push --force origin feature/retry"} {
		p.sees(want)
	}
	if pending := s.must(s.program, "pending"); strings.TrimSpace(pending) != "nothing waits" {
		t.Errorf("pending says %q", pending)
	}

	said = s.asPerson("y\ny\n", s.program, "setup", "--undo")
	wantIn(t, said, "Everything is taken back.")
	changed(t, before, s.listing())
	if left, _ := filepath.Glob(filepath.Join(s.fake, "..", "tmp", "*nterlock*")); s.served() || len(left) > 0 {
		t.Errorf("the server still runs: %v; what is left in the directory for temporary files: %q", s.served(), left)
	}
	wantIn(t, s.asPerson("", s.unpacked, "setup", "--undo"), "nothing of Interlock's is set up")
}

// At a terminal Claude Code asks its own user. A standing yes given on the phone answers the next such call, and nobody is asked.
func claudesQuestionIsAnsweredForEver(s *stranger, p *phone) {
	a := claude(s.t)
	push := a.shell(pushing)
	s.meetClaudesModel(newModel(s.t, push))
	screen := s.terminal(harness(s.t, "claude"), "--allowedTools", "Bash", "--", "Do it.")
	screen.awaits("Doyouwanttoproceed?")
	p.open("/pending")
	p.sees("Asked in the harness")
	p.sees(pushing)
	p.follows(`//main//a[starts-with(@href, "/pending/apr_")]`)
	p.follows(`//a[.="Always allow this here…"]`)
	p.sees("1 of this agent's 1 questions of the last 7 days, and nothing else")
	p.presses("Show what would be signed")
	p.sees("Interlock grant, version 2")
	p.presses("Allow it, with a passkey")
	screen.types("\r")
	screen.awaits("Thatisall.")
	s.wantPushed("what was allowed at the terminal")
	told := s.work(a, push) // nobody could be asked here
	s.wantPushed("the same call again: " + told[0])
	if questions := strings.Count(s.must(s.program, "audit", "list", "--json"), `"answer":"ask"`); questions != 1 {
		s.t.Errorf("the harness was told to ask %d times", questions)
	}
}

// Codex asks nobody. Its refusal names a request, a yes on the phone lets the call pass once.
func codexsQuestionIsAnsweredOnce(s *stranger, p *phone) {
	a := codexAgent(s.t, codexScripting)
	push := a.shell(pushing)
	told := s.work(a, push)
	request := requestIn(s.t, told[0])
	p.open("/pending")
	p.sees("1 waits in all")
	p.touches(`//article[@id="` + request + `"]//button[normalize-space()="Approve"]`)
	p.sees("Approved by ann, not used yet")
	s.work(a, push)
	s.wantPushed("what was approved on the phone")

	// Once is once: it asks again, and a no is a no.
	request = requestIn(s.t, s.work(a, push)[0])
	p.sees("1 waits in all")
	p.touches(`//article[@id="` + request + `"]//button[normalize-space()="Deny"]`)
	p.sees("nothing waits any more")
	wantIn(s.t, s.must(s.program, "audit", "list", "--type", "APPROVAL"), "ann")
}

const pushing = "git push --force origin feature/retry"

// A stranger is a user with a home of their own, two coding agents, and the archive that they downloaded.
type stranger struct {
	*desk
	address  string // for the server
	unpacked string // the program in the archive
	program  string // and where setup puts it
	remote   string // the project's
	fake     string // a directory with what stands in for the system's
}

func newStranger(t *testing.T) *stranger {
	t.Helper()
	root := t.TempDir()
	s := &stranger{desk: &desk{t: t, home: filepath.Join(root, "home", "ann")}, remote: filepath.Join(root, "remote.git"),
		fake: filepath.Join(root, "fake")}
	product.Dir() // what the archive is made from
	s.workspace = filepath.Join(s.home, "shop")
	s.program = filepath.Join(s.home, ".local", "bin", "interlock")
	for _, dir := range []string{s.workspace, s.fake, s.path("~/.claude"), s.path("~/Downloads"), s.path("~/.config"),
		s.path("~/.local/share/applications"), filepath.Join(root, "tmp")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.address = free.Addr().String()
	free.Close()
	for name, target := range map[string]string{"claude": harness(t, "claude"), "codex": harness(t, "codex"),
		"node": filepath.Join("..", "clients", "node_modules", "node", "bin", "node")} {
		target, err := filepath.EvalSymlinks(target)
		if err == nil {
			target, err = filepath.Abs(target)
		}
		if err == nil {
			err = os.Symlink(target, filepath.Join(s.fake, name))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(s.fake, "systemctl"), []byte(systemctl), 0o700); err != nil {
		t.Fatal(err)
	}
	s.env = []string{"HOME=" + s.home, "USER=ann", "LOGNAME=ann", "LANG=C.UTF-8", "SHELL=/bin/bash", "TERM=xterm-256color",
		"PATH=" + strings.Join([]string{s.fake, filepath.Dir(s.program), "/usr/local/bin", "/usr/bin", "/bin"}, ":"),
		"TMPDIR=" + filepath.Join(root, "tmp"), "XDG_RUNTIME_DIR=" + filepath.Join(root, "tmp"), "SERVED=" + filepath.Join(s.fake, "served"),
		"GIT_AUTHOR_NAME=Ann", "GIT_AUTHOR_EMAIL=ann@example.org", "GIT_COMMITTER_NAME=Ann", "GIT_COMMITTER_EMAIL=ann@example.org"}
	t.Cleanup(func() {
		if s.served() {
			stop := exec.Command(filepath.Join(s.fake, "systemctl"), "disable")
			stop.Env = s.env
			_ = stop.Run() // the test has failed
		}
	})
	s.usedClaudeBefore()
	s.write("~/.claude/settings.json", "{\n  \"cleanupPeriodDays\": 30\n}\n")
	s.write("~/.codex/config.toml", "# mine\nfile_opener = \"none\"\n")
	s.write("README.md", "# shop\n")
	for _, argv := range [][]string{{"init", "-q", "-b", "feature/retry"}, {"add", "-A"}, {"commit", "-q", "-m", "first"},
		{"init", "-q", "--bare", s.remote}, {"remote", "add", "origin", s.remote}} {
		s.must("git", argv...)
	}
	s.download()
	return s
}

// download makes the release's archive for this system and unpacks it as its reader would.
func (s *stranger) download() {
	s.t.Helper()
	dist := filepath.Join(s.t.TempDir(), "dist")
	system := runtime.GOOS + "/" + runtime.GOARCH
	product.Look(".") // from which the release is made
	make := exec.Command("go", "run", "./release", "-out", dist, "-only", system)
	make.Dir = filepath.Join("..", "..")
	if out, err := make.CombinedOutput(); err != nil {
		s.t.Fatalf("%v: %s", err, out)
	}
	archives, err := filepath.Glob(filepath.Join(dist, "*_"+strings.ReplaceAll(system, "/", "_")+".tar.gz"))
	if err != nil || len(archives) != 1 {
		s.t.Fatalf("archives: %q, %v", archives, err)
	}
	s.must("tar", "-xzf", archives[0], "-C", s.path("~/Downloads"))
	s.unpacked = filepath.Join(s.path("~/Downloads"), strings.TrimSuffix(filepath.Base(archives[0]), ".tar.gz"), "interlock")
}

// asPerson runs a command at a terminal of its own and returns what it prints. The lines are what its standard input says.
func (s *stranger) asPerson(lines, name string, args ...string) string {
	s.t.Helper()
	command := exec.Command(name, args...)
	var out bytes.Buffer
	command.Dir, command.Env, command.Stdin, command.Stdout, command.Stderr = s.home, s.env, strings.NewReader(lines), &out, &out
	if screen, err := terminal.Run(command); err != nil {
		s.t.Fatalf("%s %q: %v\n%s%s", name, args, err, &out, screen)
	}
	return out.String()
}

// served reports whether the process that systemd would watch is there.
func (s *stranger) served() bool {
	text, err := os.ReadFile(filepath.Join(s.fake, "served"))
	if err != nil {
		return false
	}
	pid := 0
	_, err = fmt.Sscan(string(text), &pid)
	return err == nil && syscall.Kill(pid, 0) == nil
}

// wantPushed looks whether a push has come to the project's remote, and takes it away from there.
func (s *stranger) wantPushed(what string) {
	s.t.Helper()
	branch := "refs/heads/feature/retry"
	if out, _, _ := s.run("git", "--git-dir", s.remote, "for-each-ref", branch); out == "" {
		s.t.Errorf("%s was not run", what)
		return
	}
	s.must("git", "--git-dir", s.remote, "update-ref", "-d", branch)
}

// systemctl does what systemd does with the unit of a user, as far as setup asks for it.
const systemctl = `#!/bin/sh
unit="${XDG_CONFIG_HOME:-$HOME/.config}/systemd/user/interlock.service"
case "$*" in
*restart*)
	setsid sh -c "exec $(sed -n 's/^ExecStart=//p' "$unit")" >/dev/null 2>&1 </dev/null 3>&- & # 3: the terminal of who asks
	echo $! >"$SERVED"
	;;
*disable*)
	kill "$(cat "$SERVED")"
	while kill -0 "$(cat "$SERVED")" 2>/dev/null; do sleep 0.05; done
	rm "$SERVED"
	;;
esac
`

// changed tells every line that is not on both lists.
func changed(t *testing.T, before, after []string) {
	t.Helper()
	for _, line := range before {
		if !slices.Contains(after, line) {
			t.Errorf("it is gone, or changed: %s", line)
		}
	}
	for _, line := range after {
		if !slices.Contains(before, line) {
			t.Errorf("it is left, or changed: %s", line)
		}
	}
}

// theirs are the files that the agents, the project and the desktop keep for themselves. What Interlock may write there is not among them.
func theirs(name string) bool {
	switch first, rest, _ := strings.Cut(name, "/"); first {
	case ".claude.json":
		return true
	case ".claude":
		return rest != "" && !strings.HasPrefix(rest, "settings") && !strings.Contains(rest, "interlock")
	case ".codex":
		return rest != "" && !strings.HasPrefix(rest, "hooks") && !strings.Contains(rest, "interlock")
	case "shop":
		return strings.HasPrefix(rest, ".git/logs") || strings.HasPrefix(rest, ".git/refs") || strings.HasPrefix(rest, ".git/objects")
	}
	return name == ".config/mimeapps.list" || strings.HasPrefix(name, ".local/share/applications/") // Claude Code opens links
}

// told are those of their files that hold what was said in a session, where Interlock's answers belong.
var told = regexp.MustCompile(`^\.claude/(projects|history)|^\.codex/(sessions|.*sqlite)`)

var ourName = regexp.MustCompile(`\b[Ii]nterlock\b`)

// withoutPlaces leaves out where this test is run: the directories of the sources and of temporary files may be called anything.
func (s *stranger) withoutPlaces(content []byte) []byte {
	s.t.Helper()
	root, err := product.Root()
	if err != nil {
		s.t.Fatal(err)
	}
	for _, place := range []string{root, os.TempDir()} {
		if real, err := filepath.EvalSymlinks(place); err == nil {
			content = bytes.ReplaceAll(content, []byte(real), nil)
		}
		content = bytes.ReplaceAll(content, []byte(place), nil)
	}
	return content
}

// listing is everything in the stranger's home, but for what the agents keep for themselves there: each file with its digest.
func (s *stranger) listing() []string {
	s.t.Helper()
	var lines []string
	err := filepath.WalkDir(s.home, func(path string, entry fs.DirEntry, err error) error {
		name, _ := filepath.Rel(s.home, path)
		if theirs(name) {
			if content, err := os.ReadFile(path); err == nil && !told.MatchString(name) && ourName.Match(s.withoutPlaces(content)) {
				s.t.Errorf("%s names Interlock", name)
			}
			return nil // also where it was there for a moment only
		}
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		line := fmt.Sprintf("%s %v", name, info.Mode())
		switch {
		case entry.Type().IsRegular():
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			line += fmt.Sprintf(" %x", sha256.Sum256(content))
		case entry.Type()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			line += " " + target
		}
		lines = append(lines, line)
		return nil
	})
	if err != nil {
		s.t.Fatal(err)
	}
	slices.Sort(lines)
	return lines
}
