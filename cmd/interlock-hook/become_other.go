//go:build !unix

package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
)

// become runs the full program in this one's place and ends with its exit status; still is asked whether there is time. It
// returns only if that fails.
func become(args []string, payload []byte, still func() bool) error {
	path, err := program()
	if err != nil {
		return err
	}
	command := exec.Command(path, args...)
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, os.Stdout, os.Stderr
	if payload != nil {
		if !still() {
			return errors.New("there was no time left to hand the call to the interlock program")
		}
		command.Stdin = bytes.NewReader(payload)
	}
	err = command.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return errors.New("the interlock program beside interlock-hook does not start")
	}
	os.Exit(command.ProcessState.ExitCode())
	return nil
}
