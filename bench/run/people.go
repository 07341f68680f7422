package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"interlock/test/terminal"
)

// agent registers an agent in a home and returns its token. The first time it makes who governs there, as a person does.
func (b *bench) agent(home, name string) (token string, err error) {
	dir := filepath.Join(b.scratch, "people", filepath.Base(home))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	askpass, err := terminal.Askpass(dir)
	if err != nil {
		return "", err
	}
	key := filepath.Join(dir, "ruth")
	if _, err := os.Stat(key); err != nil {
		if key, err = terminal.Govern(b.binary, b.command(home).Env, dir); err != nil {
			return "", err
		}
	}
	add := b.command(home, "agent", "add", name, "--trust", "validated", "--key", key)
	add.Env = append(add.Env, askpass...)
	out, err := add.Output()
	if err != nil {
		return "", fmt.Errorf("adding an agent: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}
