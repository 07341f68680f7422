package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A mutant is one break, as gremlins reports it.
type mutant struct {
	status       string // KILLED, LIVED, TIMED OUT, NOT VIABLE, NOT COVERED, SKIPPED
	kind         string // such as INVERT_LOGICAL
	file         string // below the package's folder
	line, column int
}

var reportLine = regexp.MustCompile(`^\s*(KILLED|LIVED|TIMED OUT|NOT VIABLE|NOT COVERED|SKIPPED) ([A-Z_]+) at (\S+\.go):(\d+):(\d+)\s*$`)

// parseReport reads what gremlins says while it works, a line for each mutant. Its file of results would be written only
// at the end, and a run that was stopped in between would have nothing to show.
func parseReport(line string) (mutant, bool) {
	m := reportLine.FindStringSubmatch(line)
	if m == nil {
		return mutant{}, false
	}
	row, _ := strconv.Atoi(m[4])
	column, _ := strconv.Atoi(m[5])
	return mutant{status: m[1], kind: m[2], file: filepath.ToSlash(m[3]), line: row, column: column}, true
}

// unleash copies the working tree, breaks the lines of the target there that are picked, all without a picker, and returns what became
// of each break, and whether all were tried.
func unleash(ctx context.Context, gremlins string, t target, pick picker) ([]found, bool, error) {
	dir, err := os.MkdirTemp("", "mutants-")
	if err != nil {
		return nil, false, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	tree, tools := filepath.Join(dir, "tree"), filepath.Join(dir, "tools")
	if err := copyTree(ctx, ".", tree); err != nil {
		return nil, false, err
	}
	args := []string{"unleash", "--workers", "1", "--timeout-coefficient", "5", "--invert-logical"}
	for _, pattern := range excluded(t) {
		args = append(args, "--exclude-files", pattern)
	}
	if pick != nil {
		if err := drawSample(ctx, tree, t, pick); err != nil {
			return nil, false, err
		}
		args = append(args, "--diff", "HEAD")
	}
	env, err := standIn(tools, t)
	if err != nil {
		return nil, false, err
	}
	within, cancel := context.WithTimeout(ctx, t.within)
	defer cancel()
	cmd := exec.CommandContext(within, gremlins, args...)
	cmd.Dir, cmd.Env = filepath.Join(tree, filepath.FromSlash(t.dir)), env
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // it ends after the mutant it is at
	cmd.WaitDelay = 5 * time.Minute
	ms, said, err := listen(cmd)
	if err != nil && within.Err() == nil { // else its time is over, or somebody has seen enough
		return nil, false, fmt.Errorf("gremlins: %w\n%s", err, said)
	}
	all, err := located(tree, t.dir, ms) // not where somebody may be at work
	return all, within.Err() == nil, err
}

// listen runs gremlins and collects what it says: mutants, and the rest as a text for a person.
func listen(cmd *exec.Cmd) ([]mutant, string, error) {
	r, w := io.Pipe()
	cmd.Stdout, cmd.Stderr = w, w
	ended := make(chan error, 1)
	go func() {
		err := cmd.Run()
		_ = w.Close()
		ended <- err
	}()
	var ms []mutant
	var rest strings.Builder
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		if m, ok := parseReport(lines.Text()); ok {
			ms = append(ms, m)
			if m.status == "LIVED" {
				fmt.Fprintln(os.Stderr, strings.TrimSpace(lines.Text())) // for who waits; what it is comes at the end
			}
		} else {
			fmt.Fprintln(&rest, lines.Text())
		}
	}
	_, _ = io.Copy(io.Discard, r)
	return ms, rest.String(), <-ended
}

// excluded are patterns of the files that are not broken: packages below the target's, and what it leaves out.
func excluded(t target) []string {
	patterns := []string{"/"}
	if len(t.files) > 0 {
		entries, _ := filepath.Glob(filepath.Join(filepath.FromSlash(t.dir), "*.go"))
		for _, entry := range entries {
			if name := filepath.Base(entry); !slices.Contains(t.files, name) {
				patterns = append(patterns, "^"+regexp.QuoteMeta(name)+"$")
			}
		}
	}
	return patterns
}

// standIn puts this program before go on the path that gremlins searches.
func standIn(dir string, t target) ([]string, error) {
	realOne, err := exec.LookPath("go")
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	name := "go"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	if err := copyFile(self, filepath.Join(dir, name), 0o700); err != nil {
		return nil, err
	}
	return append(os.Environ(), realGo+"="+realOne, patience+"="+t.patience.String(), "PATH="+dir+string(os.PathListSeparator)+os.Getenv("PATH"),
		"GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1"), nil
}
