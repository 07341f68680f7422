package lineage

import (
	"path/filepath"
	"slices"
	"strings"
)

// Claude finds the Claude Code that runs this process as its hook, if it is known to have been started in a way that leaves it
// the servers of its settings and brings no others.
func Claude() (Process, bool) { return claudeAmong(ancestors(most)) }

func claudeAmong(line []Process) (Process, bool) {
	for _, p := range line {
		if args, is := p.claudesArgs(); is {
			return p, !slices.ContainsFunc(args, bringsServers)
		}
	}
	return Process{}, false
}

// Dir is the directory in which the process is; empty if that can't be seen.
func (p Process) Dir() string { return p.dir }

// claudesArgs recognises the harness by its own name or by the script its interpreter runs, and returns what follows.
func (p Process) claudesArgs() ([]string, bool) {
	if len(p.Args) > 0 && filepath.Base(p.Args[0]) == "claude" {
		return p.Args[1:], true
	}
	if len(p.Args) > 1 && strings.Contains(filepath.ToSlash(p.Args[1]), "@anthropic-ai/claude-code/") {
		return p.Args[2:], true
	}
	return nil, false
}

// bringsServers reports whether an argument may bring servers, agents with servers, or other settings, or have somebody else
// send them: all switches do that are not known not to.
func bringsServers(arg string) bool {
	if !strings.HasPrefix(arg, "-") {
		return false
	}
	name, _, _ := strings.Cut(arg, "=")
	switch name {
	case "-p", "--print", "-c", "--continue", "-r", "--resume", "--session-id", "--fork-session", "-n", "--name",
		"--no-session-persistence",
		"--model", "--fallback-model", "--effort", "--permission-mode", "--dangerously-skip-permissions",
		"--allow-dangerously-skip-permissions",
		"--allowedTools", "--allowed-tools", "--disallowedTools", "--disallowed-tools", "--tools", "--output-format", "--verbose",
		"--append-system-prompt", "--system-prompt", "--max-turns", "--ax-screen-reader", "-d", "--debug", "--debug-file":
		return false
	}
	return true
}
