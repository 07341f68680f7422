package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain lets the test binary stand in for the real one: a script that runs `interlock` runs this program's run.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"interlock": func() {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		code := run(ctx, os.Args[1:], os.Getenv, os.Stdin, os.Stdout, os.Stderr)
		stop()
		os.Exit(code)
	}})
}

// TestScripts runs every user-visible behaviour of the binary. The first word of a script's name is the subcommand.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", env.WorkDir+"/user")
			env.Setenv("INTERLOCK_HOME", env.WorkDir+"/home")
			env.Setenv("USER", "tester")
			return os.MkdirAll(env.WorkDir+"/user", 0o700)
		},
	})
}
