package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"interlock/test/terminal"
)

// typist is a program of scripts: `typist PROGRAM ARGS…` runs a program at a terminal of its own and types back what it asks to have
// typed back.
func typist() {
	command := exec.Command(os.Args[1], os.Args[2:]...)
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, os.Stdout, os.Stderr
	_, err := terminal.Run(command)
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		os.Exit(exit.ExitCode())
	case err != nil:
		fmt.Fprintln(os.Stderr, "typist:", err)
		os.Exit(1)
	}
}

// governed makes the first operator of a home, and returns the key with which orders are signed there.
func governed(t *testing.T, home string) (key string) {
	t.Helper()
	key, err := terminal.Govern("interlock", append(os.Environ(), "INTERLOCK_HOME="+home), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return key
}
