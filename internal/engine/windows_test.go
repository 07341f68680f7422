package engine

import (
	"os"
	"strings"
	"testing"

	"interlock"
)

// windowsView is a developer's machine with Windows.
func windowsView() interlock.View {
	return interlock.View{Home: `C:\Users\user`, Workspace: `C:\Users\user\project`, User: "user", Production: []string{"*prod*"}}
}

// list reads a file of commands, one a line, behind a heading of three lines.
func list(t *testing.T, name string) []string {
	t.Helper()
	text, err := os.ReadFile("testdata/lists/" + name)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	if len(lines) < 30 {
		t.Fatalf("%s has %d lines", name, len(lines))
	}
	return lines[3:]
}

func onWindows(t *testing.T, input string) interlock.Decision {
	t.Helper()
	q := question{rules: shipped(t), snapshot: standing(), now: noon,
		action: interlock.Action{Kind: interlock.KindShell, Input: input, Dir: `C:\Users\user\project`}}
	q.snapshot.View = windowsView()
	q.analysis = analyser(t).Analyse(q.snapshot.View, q.action)
	return q.decide()
}

func TestEverydayWindowsPasses(t *testing.T) {
	for _, input := range list(t, "windows-benign.txt") {
		if d := onWindows(t, input); d.Verdict != interlock.Allow {
			t.Errorf("%s: %v by %v for %+v", input, d.Verdict, rulesOf(d), d.Impacts)
		}
	}
}

func TestHostileWindowsIsStopped(t *testing.T) {
	for _, input := range list(t, "windows-hostile.txt") {
		if d := onWindows(t, input); d.Verdict.Allowed() {
			t.Errorf("%s passes: %+v", input, d.Impacts)
		}
	}
}

// Signs of one shell hide nothing from the other.
func TestHostileInEitherShellIsStopped(t *testing.T) {
	for _, input := range list(t, "either-hostile.txt") {
		d := question{rules: shipped(t), snapshot: standing(), now: noon, action: interlock.Action{Kind: interlock.KindShell, Input: input, Dir: "/repo"}}
		d.snapshot.View = interlock.View{Home: "/home/dev", Workspace: "/repo"}
		d.analysis = analyser(t).Analyse(d.snapshot.View, d.action)
		if got := d.decide(); got.Verdict.Allowed() {
			t.Errorf("%s passes: %+v", input, got.Impacts)
		}
	}
}
