package hook

import (
	"encoding/json"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"interlock"
	"interlock/internal/bubblewrap"
)

// An Exec is the program that runs commands in Interlock's sandbox on this host.
type Exec struct {
	Program string                  // its absolute path
	Home    string                  // absolute; the home in which it decides
	Resolve func(dir string) string // where a directory lies when links are followed; the same if that can't be told
}

// NewExec returns the program at a path as it would run commands for a home, or nil where it would refuse to: sandboxes need
// Linux and bubblewrap. Whether they work as well, it finds out when it is run, and then it runs nothing.
func NewExec(program, home, searched string) *Exec {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" ||
		!filepath.IsAbs(program) || !filepath.IsAbs(home) {
		return nil
	}
	if _, found := bubblewrap.Find(searched); !found {
		return nil
	}
	return &Exec{Program: program, Home: home, Resolve: func(dir string) string {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			return real
		}
		return dir
	}}
}

// POSIX reports whether a tool hands its command to a POSIX shell.
func POSIX(tool string) bool {
	return tool == "run_command" || tool == "run_commands" || shellTool(tool) && !strings.EqualFold(tool, "powershell")
}

// A handing is how the command of one call goes on to `interlock exec`. What is judged is the command that would run inside;
// what runs decides it again. So nothing is gained by writing a call of `interlock exec` that looks like this one's: it is
// the same command in the same sandbox.
type handing struct {
	exec      *Exec
	requester interlock.Requester
	tool      string
	input     object   // the tool's arguments
	member    string   // that holds the command; empty: it can't be replaced
	line      string   // what would run inside
	flags     []string // that the agent wrote itself; they only tighten
	rewritten bool     // the command is, byte for byte, the one that this hook would write
}

// maxHanded is how long a command may be that is handed over, quoted, in bytes: it becomes one argument, and Linux takes
// one of at most 128 KiB. What is longer is refused for want of a sandbox.
const maxHanded = 100 << 10

// handedText is what the harness shows of a call that was rewritten.
const handedText = "[sandbox] This runs in Interlock's sandbox."

// handle finds out whether the command of a call can go on to `interlock exec`, or is a call of it already, and then has the
// command inside judged in its place.
func (c *Call) handle(d dialect, env Environment) error {
	if env.Exec == nil || len(c.Proposals) != 1 || c.Phase == Unknown || c.Phase == Other {
		return nil
	}
	p := &c.Proposals[0]
	if p.Action.Kind != interlock.KindShell || !POSIX(p.Action.Tool) || strings.TrimSpace(p.Action.Input) == "" {
		return nil
	}
	h := &handing{exec: env.Exec, tool: p.Action.Tool, input: c.input, line: p.Action.Input}
	h.requester = interlock.Requester{Agent: c.Agent, Run: p.Requester.Run}
	if c.Phase == Before && d.rewrite != nil && len(h.line)+3*strings.Count(h.line, "'") <= maxHanded {
		h.member = commandMember(c.input)
	}
	line, flags, called := h.read(p.Action.Input)
	if called {
		inner := *h
		inner.line, inner.flags = line, flags
		inner.rewritten = inner.command() == p.Action.Input
		if called = inner.rewritten || h.member != "" || c.Phase == After; called {
			*h = inner
			p.Action.Input, c.Handover = line, interlock.HandoverCertain
		}
	}
	if !called && h.member != "" {
		c.Handover = interlock.HandoverOffered
	}
	p.Action.Dir = env.Exec.Resolve(p.Action.Dir)
	c.hand = h
	digest, err := checkAction(p.Action)
	if err == nil && c.Phase == After {
		c.Outcomes[0].Action, c.Outcomes[0].Sandboxed = digest, h.rewritten
	}
	return err
}

// commandMember names the argument that holds the command, if it is a text that goes to a POSIX shell.
func commandMember(input object) string {
	if otherShell(input) != "" {
		return ""
	}
	for _, name := range []string{"command", "cmd"} {
		if input.has(name) {
			if input[name][0] != '"' {
				return ""
			}
			return name
		}
	}
	return ""
}

// command is the call of `interlock exec` that runs the line for this requester.
func (h *handing) command() string {
	words := []string{h.exec.Program, "exec", "--home", h.exec.Home, "--agent", h.requester.Agent}
	if h.requester.Run != "" {
		words = append(words, "--run", h.requester.Run)
	}
	words = append(words, "--tool", h.tool)
	words = append(words, h.flags...)
	return ShellLine(append(words, "--line", "--", h.line))
}

// arguments are the tool's arguments with that call in the command's place.
func (h *handing) arguments() json.RawMessage {
	out := make(object, len(h.input))
	for name, value := range h.input {
		out[name] = value
	}
	out[h.member] = json.RawMessage(strings.TrimSuffix(string(line(h.command())), "\n"))
	return json.RawMessage(line(out))
}

// maxAdvised is how long a command may be that a reason repeats.
const maxAdvised = 2000

// advise puts the command to use into an answer that refuses for want of a sandbox, where this host has one.
func (h *handing) advise(a interlock.Answer) interlock.Answer {
	if h == nil || len(a.Findings) == 0 || a.Findings[0].Rule != "sandbox.needed" {
		return a
	}
	shown := *h
	if len(h.line) > maxAdvised || printable(h.line) != h.line {
		shown.line = "COMMAND"
	}
	a.Findings = slices.Clone(a.Findings)
	a.Findings[0].Suggestion = "have it run with: " + shown.command()
	return a
}

// trial is the command by which a human tries what an answer wants tried, or nothing.
func (h *handing) trial(a interlock.Answer) string {
	if a.Verdict != interlock.Ask || !a.Owes(interlock.ObligationDryRun) {
		return ""
	}
	if slices.ContainsFunc(a.Obligations, interlock.Obligation.Formed) {
		return "the same call in the form that the rules name for a dry run of this tool"
	}
	if h == nil {
		return "interlock exec --dry-run of the same command, for the same agent, where there are sandboxes"
	}
	shown := *h
	if len(h.line) > maxAdvised || printable(h.line) != h.line {
		shown.line = "COMMAND"
	}
	shown.flags = []string{"--dry-run"}
	return shown.command()
}

// read takes a command apart that calls `interlock exec` and nothing else, with words that no shell changes and flags that
// only tighten. Its flags name nobody but who is asking, and no home but the one that is asked.
func (h *handing) read(command string) (inner string, flags []string, ok bool) {
	words, ok := literalWords(command)
	if !ok || len(words) < 4 || words[0] != h.exec.Program && words[0] != "interlock" || words[1] != "exec" {
		return "", nil, false
	}
	own := map[string]string{"--home": h.exec.Home, "--agent": h.requester.Agent, "--run": h.requester.Run, "--tool": h.tool}
	asLine := false
	for words = words[2:]; len(words) > 1; words = words[1:] {
		switch word := words[0]; word {
		case "--home", "--agent", "--run", "--tool":
			if words[1] != own[word] {
				return "", nil, false
			}
			words = words[1:]
		case "--overlay", "--keep", "--dry-run":
			flags = appendNew(flags, word)
		case "--line":
			asLine = true
		case "--":
			slices.Sort(flags)
			switch {
			case !asLine:
				return ShellLine(words[1:]), flags, true
			case len(words) == 2 && strings.TrimSpace(words[1]) != "":
				return words[1], flags, true
			}
			return "", nil, false
		default:
			return "", nil, false
		}
	}
	return "", nil, false
}

// ShellLine writes words as the line that a POSIX shell reads as them.
func ShellLine(words []string) string {
	out := make([]string, len(words))
	for i, word := range words {
		if out[i] = word; !plainWord(word) {
			out[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return strings.Join(out, " ")
}

func plainWord(word string) bool {
	return word != "" && strings.IndexFunc(word, func(r rune) bool { return r > 0x7f || !plainByte(byte(r)) }) < 0
}

// plainByte reports whether a byte means itself to every shell, wherever in a word it is.
func plainByte(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || strings.IndexByte("_-./:,+@%", b) >= 0
}

// literalWords takes a command line apart that is one list of words of plain characters and of quoted texts in which nothing
// is expanded. It reports false for anything else: assignments, redirections, lists, expansions, comments, lines.
func literalWords(command string) (words []string, ok bool) {
	var word []byte
	begun := false
	for i := 0; i < len(command); i++ {
		b := command[i]
		switch {
		case b == ' ':
			if begun {
				words, word, begun = append(words, string(word)), nil, false
			}
			continue
		case b == '\'':
			end := strings.IndexByte(command[i+1:], '\'')
			if end < 0 {
				return nil, false
			}
			word = append(word, command[i+1:i+1+end]...)
			i += end + 1
		case b == '"':
			end := strings.IndexByte(command[i+1:], '"')
			if end < 0 || strings.ContainsAny(command[i+1:i+1+end], "$`\\!") {
				return nil, false
			}
			word = append(word, command[i+1:i+1+end]...)
			i += end + 1
		case b == '\\' && i+1 < len(command) && command[i+1] == '\'':
			word = append(word, '\'')
			i++
		case plainByte(b), b == '=' && begun:
			word = append(word, b)
		default:
			return nil, false
		}
		begun = true
	}
	if begun {
		words = append(words, string(word))
	}
	return words, true
}
