package lineage

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"interlock/internal/harness"
)

// deep bounds the way up from a command to whatever started its session.
const deep = 64

// A Sighting is something above a command that no person types commands into.
type Sighting struct {
	Name string // of the program, or of the variable
	How  string // where it was seen, for people
}

// String says it in words.
func (s Sighting) String() string { return s.Name + " (" + s.How + ")" }

// Machine finds what shows that a coding agent, a server of its, a hook or a sandbox gave this command rather than a person: among
// its ancestors, those of its session's and its process group's leaders, its control group, and the variables that harnesses set for
// what they start, its own and its ancestors'. Nothing found proves nothing: who detaches a process from all of these is not seen.
func Machine(getenv func(string) string) (Sighting, bool) {
	for _, name := range marks() {
		if getenv(name) != "" {
			return Sighting{name, "in the environment"}, true
		}
	}
	lines := append([][]Process{above(deep)}, leaders(deep)...)
	for _, line := range lines {
		if s, found := among(line); found {
			return s, true
		}
	}
	return grouped(groups())
}

// among looks at ancestors, nearest first.
func among(line []Process) (Sighting, bool) {
	for _, p := range line {
		if name := p.machine(); name != "" {
			return Sighting{name, "above this command"}, true
		}
		for _, variable := range p.Env {
			name, value, _ := strings.Cut(variable, "=")
			if value != "" && slices.Contains(marks(), name) {
				return Sighting{name, "in the environment of what started this command"}, true
			}
		}
	}
	return Sighting{}, false
}

// grouped looks for harnesses among the names of control groups, such as app-claude-1234.scope.
func grouped(paths []string) (Sighting, bool) {
	for _, group := range paths {
		for _, word := range strings.FieldsFunc(group, func(r rune) bool { return strings.ContainsRune("/-_.@:", r) }) {
			if len(word) > 4 && slices.Contains(programs(), word) { // shorter ones are words of anybody
				return Sighting{word, "in the name of its control group"}, true
			}
		}
	}
	return Sighting{}, false
}

// machine names the harness, hook, server or sandbox that a process is; empty if it is none that is known.
func (p Process) machine() string {
	if len(p.Args) == 0 {
		return ""
	}
	words := p.Args[:1]
	if slices.Contains(interpreters(), program(p.Args[0])) {
		for _, arg := range p.Args[1:] {
			if !strings.HasPrefix(arg, "-") { // the interpreter's own switches come first
				words = append(slices.Clone(words), arg)
				break
			}
		}
	}
	for _, word := range words {
		name := program(word)
		switch {
		case slices.Contains(programs(), name):
			return name
		case name == "interlock-hook":
			return "a hook"
		case name == "interlock" && slices.ContainsFunc(p.Args, own):
			return "interlock " + p.Args[slices.IndexFunc(p.Args, own)]
		}
		for _, pkg := range packages() {
			if strings.Contains(filepath.ToSlash(word), pkg) {
				return strings.Trim(pkg, "/")
			}
		}
	}
	return ""
}

// interpreters run scripts that are called by what they are.
func interpreters() []string {
	return []string{"node", "bun", "deno", "python", "python3", "tsx", "uv", "sh", "bash", "dash", "zsh"}
}

// own are Interlock's commands that run something for an agent.
func own(arg string) bool { return slices.Contains([]string{"hook", "mcp", "gateway", "exec"}, arg) }

// program is a program's name without its directory and its ending.
func program(name string) string {
	base := path.Base(strings.ReplaceAll(strings.TrimSuffix(name, ".exe"), `\`, "/"))
	return strings.ToLower(strings.TrimSuffix(strings.TrimSuffix(base, ".js"), ".py"))
}

// traces are those of all harnesses that Interlock knows.
func traces() (list []harness.Traces) {
	for _, name := range harness.All() {
		list = append(list, harness.TracesOf(name))
	}
	return list
}

// programs are harnesses as they are called where they run without an interpreter, or by their link.
func programs() []string {
	list := []string{"goose", "aider", "amp", "droid", "crush", "kiro-cli", "auggie", "openhands", "claude-desktop", "codex-exec",
		"codex-linux-sandbox"}
	for _, of := range traces() {
		list = append(list, of.Programs...)
	}
	return list
}

// packages are harnesses as their interpreter names them.
func packages() (list []string) {
	for _, of := range traces() {
		if of.Package != "" {
			list = append(list, of.Package)
		}
	}
	return append(list, "@sourcegraph/amp/", "@augmentcode/auggie/")
}

// marks are the variables that harnesses set for what they start, and that Interlock sets in a sandbox.
func marks() (list []string) {
	for _, of := range traces() {
		list = append(list, of.Marks...)
	}
	return append(list, "ROO_ACTIVE", "GOOSE_TERMINAL", "AUGMENT_AGENT", "AI_AGENT", "INTERLOCK_SANDBOX")
}
