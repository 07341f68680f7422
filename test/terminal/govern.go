package terminal

import (
	"fmt"
	"os/exec"
	"path/filepath"
)

// Govern makes an SSH key in a directory and has a program of Interlock take its owner, ruth, for the first operator of a home, as a person
// does it at a terminal. It returns the key that signs from then on. A nil env is this process's.
func Govern(program string, env []string, dir string) (key string, err error) {
	key = filepath.Join(dir, "ruth")
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key).CombinedOutput(); err != nil {
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
