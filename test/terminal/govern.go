package terminal

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Passphrase is that of every key in tests: one without any signs nothing.
const Passphrase = "sesame"

// Askpass makes a program in a directory that says [Passphrase], and returns the variables that have ssh and Interlock ask it.
func Askpass(dir string) (env []string, err error) {
	program := filepath.Join(dir, "askpass")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho "+Passphrase+"\n"), 0o700); err != nil {
		return nil, err
	}
	return []string{"SSH_ASKPASS=" + program, "SSH_ASKPASS_REQUIRE=force"}, nil
}

// Govern makes an SSH key in a directory and has a program of Interlock take its owner, ruth, for the first operator of a home, as a person
// does it at a terminal. It returns the key that signs from then on. A nil env is this process's.
func Govern(program string, env []string, dir string) (key string, err error) {
	key = filepath.Join(dir, "ruth")
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-a", "1", "-N", Passphrase, "-f", key).CombinedOutput(); err != nil {
		return "", fmt.Errorf("ssh-keygen: %w: %s", err, out)
	}
	command := exec.Command(program, "operator", "add", "ruth", "--role", "superadmin", "--ssh-key", key+".pub")
	command.Env = env
	screen, err := Run(command)
	if err != nil {
		return "", fmt.Errorf("making the first operator: %w: %s", err, screen)
	}
	return key, nil
}
