package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// claudeLike stands in for Claude Code in scripts: claude [flags…] starts the servers of its user's settings, runs the hook with
// what comes in on standard input, and answers as the hook did. The program itself is run by test/harnesses.
func claudeLike() {
	if err := likeClaude(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func likeClaude() error {
	text, err := os.ReadFile(filepath.Join(os.Getenv("HOME"), ".claude.json"))
	if err != nil {
		return err
	}
	var settings struct {
		Servers map[string]struct {
			Command string   `json:"command"`
			Args    []string `json:"args"`
		} `json:"mcpServers"`
	}
	if err := json.Unmarshal(text, &settings); err != nil {
		return err
	}
	for _, server := range settings.Servers {
		if os.Getenv("CLAUDE_STARTS_NOTHING") != "" {
			break
		}
		command := exec.Command(server.Command, server.Args...)
		input, err := command.StdinPipe() // open until it is killed
		if err != nil {
			return err
		}
		if err := command.Start(); err != nil {
			return err
		}
		defer func() {
			_ = input.Close() // which ends it
			_ = command.Wait()
		}()
	}
	hook := exec.Command("interlock", "hook", "--agent", "claude", "--home", os.Getenv("INTERLOCK_HOME"))
	hook.Stdin, hook.Stdout, hook.Stderr = os.Stdin, os.Stdout, os.Stderr
	return hook.Run()
}
