package lineage

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// ancestors returns this process's ancestors, nearest first.
func ancestors(most int) []Process { return lineOf(os.Getppid(), most) }

// above is ancestors for a caller that only wants to know what they are.
func above(most int) []Process { return ancestors(most) }

// leaders returns the leader of this process's session, and of its process group, each with its ancestors: a process whose parent
// ended has lost its line, and may still be of their session.
func leaders(most int) [][]Process {
	var lines [][]Process
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return nil
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	for _, at := range []int{3, 2} { // session, process group
		if len(fields) <= at {
			break
		}
		if pid, err := strconv.Atoi(fields[at]); err == nil && pid != os.Getpid() {
			lines = append(lines, lineOf(pid, most))
		}
	}
	return lines
}

// groups returns the control groups of this process.
func groups() []string {
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil
	}
	return strings.Fields(string(text))
}

// lineOf returns a process and its ancestors, nearest first.
func lineOf(pid, most int) []Process {
	var line []Process
	for pid > 1 && len(line) < most {
		command, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err != nil {
			break
		}
		environment := environ(pid)
		line = append(line, Process{
			Args:   strings.Split(string(bytes.TrimRight(command, "\x00")), "\x00"),
			Input:  maybeTerminal(pid, 0),
			Output: maybeTerminal(pid, 1),
			Env:    environment,
			CI:     slices.Contains(environment, "CI=true") || slices.Contains(environment, "GITHUB_ACTIONS=true"), // as Gemini CLI does
			pid:    pid,
			dir:    target(pid, "cwd"),
		})
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			break
		}
		// The name in parentheses may hold anything, spaces and parentheses too; the parent is the second field after it.
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if len(fields) < 2 {
			break
		}
		if pid, err = strconv.Atoi(fields[1]); err != nil {
			break
		}
	}
	return line
}

// maybeTerminal reports whether a process's stream is a terminal, or can't be looked at.
func maybeTerminal(pid, stream int) bool {
	target, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", pid, stream))
	return err != nil || strings.HasPrefix(target, "/dev/pts/") || strings.HasPrefix(target, "/dev/tty") ||
		target == "/dev/console"
}

// environ is the environment that a process was started with; nothing if that can't be seen.
func environ(pid int) []string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if err != nil {
		return nil
	}
	return strings.Split(strings.TrimRight(string(text), "\x00"), "\x00")
}

// target is where one of a process's links leads; empty if that can't be seen.
func target(pid int, name string) string {
	path, err := os.Readlink(fmt.Sprintf("/proc/%d/%s", pid, name))
	if err != nil {
		return ""
	}
	return path
}

// HasChild reports whether a child of the process is that very program, with those arguments.
func (p Process) HasChild(argv []string) bool {
	program, err := filepath.EvalSymlinks(argv[0])
	if err != nil {
		return false
	}
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", p.pid)) // the pattern is well formed
	for _, list := range lists {
		text, _ := os.ReadFile(list) // of a thread that has just ended: nothing
		for word := range strings.FieldsSeq(string(text)) {
			pid, err := strconv.Atoi(word)
			if err != nil {
				continue
			}
			command, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
			if err == nil && string(command) == strings.Join(argv, "\x00")+"\x00" && target(pid, "exe") == program {
				return true
			}
		}
	}
	return false
}
