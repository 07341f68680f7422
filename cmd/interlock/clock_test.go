package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"interlock/cmd/interlock/cli"
)

// TestTheClockIsMovedInOnePlace: a program that was started has the machine's clock. Another one is a value that the conformance run
// makes, and nothing else of the commands sets one: no flag, no setting, no variable of the environment.
func TestTheClockIsMovedInOnePlace(t *testing.T) {
	sets := regexp.MustCompile(`\bClock:|\.Clock\s*=[^=]|OpenClocked\(`)
	var found []string
	for _, name := range commandFiles(t) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(string(text), "\n") {
			if sets.MatchString(line) {
				found = append(found, filepath.ToSlash(name)+": "+strings.TrimSpace(line))
			}
		}
	}
	for _, line := range found {
		if !strings.HasPrefix(line, "prove/conformance_maso.go: ") && !strings.Contains(line, "p.Clock)") {
			t.Errorf("%s: only the conformance run moves a clock", line)
		}
	}
	if len(found) != 4 {
		t.Errorf("found %q", found)
	}
}

// commandFiles are the sources of all commands.
func commandFiles(t *testing.T) (names []string) {
	t.Helper()
	here, err := filepath.Glob("*.go")
	below, belowErr := filepath.Glob("*/*.go")
	if err != nil || belowErr != nil || len(here) == 0 || len(below) == 0 {
		t.Fatal(here, below, err, belowErr)
	}
	return slices.DeleteFunc(append(here, below...), func(name string) bool { return strings.HasSuffix(name, "_test.go") })
}

// TestWhatIsDoneByTheClock: what looks back from now looks back from where its clock stands, and what it records bears that time. A day
// as the machine has it, neither would find anything to do.
func TestWhatIsDoneByTheClock(t *testing.T) {
	home, rules := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(rules, "maso.yaml"), []byte("maso: {tier: 1}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if err := aged(t.Context(), home, began.Add(-time.Hour), 300, "old"); err != nil {
		t.Fatal(err)
	}
	later := began.Add(100 * 24 * time.Hour)
	run := func(clock func() time.Time, args ...string) string {
		t.Helper()
		var out, errs bytes.Buffer
		args = append([]string{"--home", home, "--rules", rules}, args...)
		p := &cli.Program{Ctx: t.Context(), Getenv: func(string) string { return "" }, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs,
			Args: args, Clock: clock}
		if code := runLine(p, args); code != 0 {
			t.Fatalf("%q ended with %d: %s", args, code, errs.String())
		}
		return out.String()
	}
	hundred := func() time.Time { return later }
	archived := filepath.Join(t.TempDir(), "archive")
	if said := run(nil, "audit", "archive", "--before", "90d", "--to", archived); !strings.Contains(said, "nothing to archive") {
		t.Errorf("today: %s", said)
	}
	if said := run(hundred, "audit", "archive", "--before", "90d", "--to", archived); !strings.Contains(said, "archived the entries from 0 to 255") {
		t.Errorf("in a hundred days: %s", said)
	}
	run(hundred, "anomaly", "scan")
	watched := run(hundred, "audit", "list", "--type", "ACTIVITY_WATCHED", "--json")
	if !strings.Contains(watched, later.UTC().Format("2006-01-02T15:")) {
		t.Errorf("it was looked at another time than %v: %s", later, watched)
	}
}
