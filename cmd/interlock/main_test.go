package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"interlock/internal/account"
	"interlock/internal/sandbox"
)

// TestMain lets the test binary stand in for the real one: a script that runs `interlock` runs this program's run.
func TestMain(m *testing.M) {
	if sandbox.Stage(os.Args) {
		return
	}
	if os.Getenv("INTERLOCK_TEST_MAIN") != "" && filepath.Base(os.Args[0]) != "sesame" { // a test started this binary as the program
		main()
	}
	if home := os.Getenv(escapeHome); home != "" {
		escape(home)
		os.Exit(1) // it is killed before
	}
	if home := os.Getenv(spendHome); home != "" {
		spends(home)
		os.Exit(0)
	}
	if os.Getenv("SSH_ASKPASS_REQUIRE") != "force" { // else a command that a check of package conform has started, with a key of its own
		os.Setenv("SSH_ASKPASS", "sesame") // the passphrase of keys here, and the program that says it
		os.Setenv("SSH_ASKPASS_REQUIRE", "force")
	}
	testscript.Main(m, map[string]func(){"interlock": main, "notes-server": notesServer, "claude": claudeLike, "typist": typist, "sitter": sitter,
		"sesame": func() { fmt.Println("sesame") }})
}

// update writes what scripts compare with anew, instead of comparing.
var update = flag.Bool("update", false, "write what scripts compare with anew")

// TestScripts runs every user-visible behaviour of the binary. The first word of a script's name is the subcommand.
func TestScripts(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		UpdateScripts:       *update,
		Cmds:                scriptCommands,
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", env.WorkDir+"/user")
			env.Setenv("INTERLOCK_HOME", env.WorkDir+"/home")
			env.Setenv("USER", "somebody-else") // which nothing believes
			env.Setenv("PRINCIPAL", account.Name())
			env.Setenv("SSH_ASKPASS", "sesame")
			env.Setenv("SSH_ASKPASS_REQUIRE", "force")
			env.Setenv("ROOT", root)
			return os.MkdirAll(env.WorkDir+"/user", 0o700)
		},
	})
}

// A script that stops early is green whatever stands below. The runner's own `stop` and `skip` do that, and they win over a
// command of ours with the same name.
func TestScriptsRunToTheirEnd(t *testing.T) {
	scripts, err := filepath.Glob("testdata/*.txtar")
	more, _ := filepath.Glob("testdata/gate/*.txtar")
	if err != nil || len(scripts) == 0 || len(more) == 0 {
		t.Fatalf("%d and %d scripts: %v", len(scripts), len(more), err)
	}
	scripts = append(scripts, more...)
	early := regexp.MustCompile(`(?m)^(\[[^]]*\] *)*(stop|skip)\b`)
	for _, script := range scripts {
		text, err := os.ReadFile(script)
		if err != nil {
			t.Fatal(err)
		}
		if at := early.FindIndex(text); at != nil {
			t.Errorf("%s: stops early in line %d", script, 1+bytes.Count(text[:at[0]], []byte("\n")))
		}
	}
}
