package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// addedRows are the rows of two gates more: one that gives away what a row can, and the zero row, which gives away nothing.
const addedRows = `
	{Name: "fresh", Check: Fresh, About: AboutAction, Suppressible: true, Forbids: true},
	{Name: "firm", Check: Firm},
`

// addedGates is the file with their checks. Both object to a word, with a rule that an order may keep silent.
const addedGates = `package gate

import (
	"strings"

	"interlock"
	"interlock/internal/impact"
	"interlock/internal/ruleset"
)

func objects(name string, action interlock.Action) []interlock.Finding {
	f := interlock.Finding{Gate: name, Rule: "profile.guard.secret-read", Layer: 3, Reason: "this holds a " + name + " word"}
	switch text := action.Input + string(action.Arguments); {
	case strings.Contains(text, name+"-deny"):
		f.Verdict = interlock.Deny
	case strings.Contains(text, name+"-ask"):
		f.Verdict = interlock.Ask
	default:
		return nil
	}
	return []interlock.Finding{f}
}

// Fresh objects to its words.
func Fresh(_ *ruleset.Ruleset, _ interlock.Snapshot, action interlock.Action, _ impact.Analysis) []interlock.Finding {
	return objects("fresh", action)
}

// Firm objects to its words.
func Firm(_ *ruleset.Ruleset, _ interlock.Snapshot, action interlock.Action, _ impact.Analysis) []interlock.Finding {
	return objects("firm", action)
}
`

// TestAnAddedGate builds the program with a file and two rows more in package gate, and nothing else, and has every door, reason,
// explanation and order deal with what they find.
func TestAnAddedGate(t *testing.T) {
	dir := t.TempDir()
	table, err := filepath.Abs("../../internal/gate/table.go")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(table)
	if err != nil {
		t.Fatal(err)
	}
	const before = "\t{Name: NameAdmission"
	if strings.Count(string(text), before) != 1 {
		t.Fatal("the table of gates has no one place for another")
	}
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{
		table: write("table.go", strings.Replace(string(text), before, addedRows+before, 1)),
		filepath.Join(filepath.Dir(table), "fresh.go"): write("fresh.go", addedGates)}})
	if err != nil {
		t.Fatal(err)
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-overlay", write("overlay.json", string(overlay)),
		"-o", filepath.Join(dir, "interlock"), ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	testscript.Run(t, testscript.Params{Dir: "testdata/gate", RequireExplicitExec: true, Cmds: scriptCommands,
		Setup: func(env *testscript.Env) error {
			env.Setenv("PATH", dir+string(os.PathListSeparator)+env.Getenv("PATH"))
			env.Setenv("HOME", env.WorkDir+"/user")
			env.Setenv("INTERLOCK_HOME", env.WorkDir+"/home")
			env.Setenv("SSH_ASKPASS", "sesame")
			env.Setenv("SSH_ASKPASS_REQUIRE", "force")
			return os.MkdirAll(env.WorkDir+"/user", 0o700)
		}})
}
