//go:build unix

package main

import (
	"errors"
	"os"
	"syscall"
)

// become replaces this process by the full program. A payload that has been read already is put back on standard input,
// through a file that has no name any more when the program starts; still is asked last whether there is time. It returns
// only if that fails.
func become(args []string, payload []byte, still func() bool) error {
	path, err := program()
	if err != nil {
		return err
	}
	if payload != nil {
		if err := putBack(payload); err != nil {
			return errors.New("the payload could not be handed to the interlock program")
		}
		if !still() {
			return errors.New("there was no time left to hand the call to the interlock program")
		}
	}
	if err := syscall.Exec(path, append([]string{path}, args...), os.Environ()); err != nil {
		return errors.New("the interlock program beside interlock-hook does not start")
	}
	return nil
}

// putBack makes the payload this process's standard input.
func putBack(payload []byte) error {
	file, err := os.CreateTemp("", "interlock-hook-*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	_, err = file.Write(payload)
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	// The lowest free descriptor is taken, so closing 0 makes the file standard input, kept over exec.
	if err := syscall.Close(0); err != nil {
		return err
	}
	descriptor, err := syscall.Open(file.Name(), syscall.O_RDONLY, 0)
	if err == nil && descriptor != 0 {
		err = errors.New("standard input was taken")
	}
	return err
}
