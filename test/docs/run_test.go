package docs_test

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"interlock/test/product"
	"interlock/test/terminal"
)

// maxNotRun is the largest part of all printed commands, in percent, that may be marked as not run. What is marked needs a cluster, a
// package registry, another operating system or a file that only the reader has.
const maxNotRun = 5

// TestPrintedCommandsRun runs the commands of every page in order, in a throw-away user's shell at a terminal.
func TestPrintedCommandsRun(t *testing.T) {
	all, left := 0, 0
	for _, p := range commandPages(t) {
		runs := false
		for _, b := range p.blocks {
			if b.info != "sh" {
				continue
			}
			all += b.commands()
			if b.notRun == "" {
				runs = true
				continue
			}
			left += b.commands()
			t.Logf("not run: %s:%d, %d commands: %s", p.name, b.line, b.commands(), b.notRun)
			if len(strings.Fields(b.notRun)) < 2 {
				t.Errorf("%s:%d: says in no words why it is not run", p.name, b.line)
			}
		}
		if runs {
			t.Run(p.name, func(t *testing.T) {
				t.Parallel()
				p.run(t)
			})
		}
	}
	t.Logf("%d printed commands, %d of them not run", all, left)
	if all < 150 || left*100 > all*maxNotRun {
		t.Errorf("%d of %d printed commands are marked as not run; at most %d in 100 may be", left, all, maxNotRun)
	}
}

// patience is how long one page may take; a busy machine needs a few seconds for most.
const patience = 3 * time.Minute

// person is a throw-away user: the environment of their shell and the directory with what the runner keeps.
func person(t *testing.T) (home, keeps string, env []string) {
	t.Helper()
	home, keeps = t.TempDir(), t.TempDir()
	repository, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	product.Look(".") // pages have people run the repository's own targets
	built := product.Dir()
	paths, err := exec.Command("go", "env", "GOCACHE", "GOMODCACHE", "GOPROXY", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	cache := strings.Split(string(paths), "\n")
	askpass, err := terminal.Askpass(keeps)
	if err != nil {
		t.Fatal(err)
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(free.Addr().String())
	free.Close()
	env = append(askpass, "HOME="+home, "PATH="+built+":"+cache[3]+"/bin:"+os.Getenv("PATH"), "RUNNER="+keeps, "PORT="+port,
		"REPOSITORY="+repository, "BUILT="+built, "GOCACHE="+cache[0], "GOMODCACHE="+cache[1], "GOPROXY="+cache[2], "GOFLAGS=",
		"TERM=dumb", "LANG=C.UTF-8", "TMPDIR="+keeps, "SHELL=/bin/bash", "USER=olga")
	return home, keeps, env
}

// run runs a page's blocks in one shell.
func (p page) run(t *testing.T) {
	_, keeps, env := person(t)
	driver, err := filepath.Abs("testdata/person.sh")
	if err != nil {
		t.Fatal(err)
	}
	script := new(strings.Builder)
	fmt.Fprintf(script, ". %s\n", driver)
	for _, b := range p.blocks {
		if b.info != "sh" || b.notRun != "" {
			continue
		}
		place := fmt.Sprintf("%s:%d", p.name, b.line)
		fmt.Fprintf(script, "place='before %s'\n%s\nat %s '%s' %d <<'END-OF-THE-BLOCK'\n%sEND-OF-THE-BLOCK\n", place, b.before, place,
			b.types, b.exits, b.text)
	}
	file := filepath.Join(keeps, "page.sh")
	if err := os.WriteFile(file, []byte(script.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	shell := exec.Command("bash", file)
	shell.Env = env
	var out bytes.Buffer
	shell.Stdout, shell.Stderr = &out, &out
	hangs := time.AfterFunc(patience, func() { _ = shell.Process.Kill() }) // its children are told that the terminal is gone
	screen, err := terminal.Run(shell)
	if !hangs.Stop() {
		err = fmt.Errorf("a command waits for ever: %w", err)
	}
	if err != nil {
		printed, _ := filepath.Glob(filepath.Join(keeps, "*.sh"))
		t.Fatalf("%v, in block %d\n%s\nat the terminal:\n%s", err, len(printed)-1, out.String(), screen)
	}
	t.Log(out.String())
	p.compare(t, keeps)
}

// compare holds what the page shows of its commands' output against what they printed.
func (p page) compare(t *testing.T, keeps string) {
	t.Helper()
	number := 0
	for _, b := range p.blocks {
		if b.info == "sh" && b.notRun == "" {
			number++
		}
		if !b.shown {
			continue
		}
		printed, err := os.ReadFile(filepath.Join(keeps, fmt.Sprintf("%d.out", number)))
		if err != nil {
			t.Fatalf("%s:%d: no commands stand above this: %v", p.name, b.line, err)
		}
		if line := missing(b.text, string(printed)); line != "" {
			t.Errorf("%s:%d: this line is not printed: %s\nprinted is:\n%s", p.name, b.line, line, printed)
		}
	}
}

// missing is the first shown line that is not among the printed ones, in order, or nothing. In a shown line … stands for anything, and so do
// ids, times and digests, which differ each time.
func missing(shown, printed string) string {
	lines := strings.Split(printed, "\n")
	for _, line := range strings.Split(strings.TrimSpace(shown), "\n") {
		if line = strings.TrimRight(line, " "); line == "" || line == "…" {
			continue
		}
		want := regexp.MustCompile("^" + varying.ReplaceAllString(spaces.ReplaceAllString(regexp.QuoteMeta(strings.TrimSpace(line)), " +"), ".*") + "$")
		found := -1
		for i, have := range lines {
			if want.MatchString(strings.TrimSpace(have)) {
				found = i
				break
			}
		}
		if found < 0 {
			return line
		}
		lines = lines[found+1:]
	}
	return ""
}

var (
	spaces  = regexp.MustCompile(` +`)
	varying = regexp.MustCompile(`…|apr_[0-9a-f]{12}|grt_[0-9a-f]{12}|[0-9a-f]{8}-[0-9a-f-]{27}`)
)
