// Package lineage looks at the processes a hook descends from. How a harness was started says whether it has a user to put
// a question to; what it sends its hooks doesn't. Nothing is run to find out, and what can't be seen here is not guessed:
// each question is asked so that "unknown" is the answer that stops nothing and lets nothing through.
package lineage

import (
	"path/filepath"
	"slices"
	"strings"

	"interlock/internal/harness"
)

// A Process is one ancestor of this process.
type Process struct {
	Args   []string // the command line, the program first
	Input  bool     // its standard input is a terminal
	Output bool     // its standard output is a terminal
	CI     bool     // its environment says that it runs in continuous integration
	Env    []string // the environment it was started with, as far as that can be seen

	pid int
	dir string // in which it is
}

// most bounds the way from the hook up to the harness: a shell or two and a launcher lie between.
const most = 8

// Look finds out about the harness that runs this process as its hook. prompts reports that it is known to show its user
// what it asks, alone that it is known to have nobody to ask. Where neither can be told both are false.
func Look(agent string, getenv func(string) string) (prompts, alone bool) {
	switch harness.TracesOf(agent).Asks {
	case harness.AsksIfItShows:
		return getenv("COPILOT_ALLOW_ALL") == "" && Prompts(ancestors(most)), false
	case harness.AsksInVain:
		return false, Alone(agent, ancestors(most))
	}
	return false, false
}

// Prompts reports whether Copilot is known to show its prompts. Where it shows none it passes over an "ask" or refuses it by
// itself, which names no request, and the payload doesn't say so; its command line does, and that a prompt is piped to it.
func Prompts(line []Process) bool {
	for _, p := range line {
		if p.runs("copilot", "@github/copilot/") {
			return p.Input && !p.has("--allow-all-tools", "--allow-all", "--yolo", "--autopilot", "--mode", "--acp",
				"-p", "--prompt")
		}
	}
	return false
}

// Alone reports whether Gemini CLI or Qwen Code, whichever is named, is known to run without its user: Gemini CLI waits for
// ever for the answer to an "ask" then, and Qwen Code refuses without saying whom to ask.
func Alone(agent string, line []Process) bool {
	of := harness.TracesOf(agent)
	for _, p := range line {
		if !p.runs(agent, of.Package) {
			continue
		}
		if p.has("-i", "--prompt-interactive", "--promptInteractive", "--acp", "--experimental-acp") {
			return false // somebody is there: at a terminal, or in an editor that shows the question
		}
		if of.Shows && (!p.Output || p.CI) {
			return true
		}
		return !p.Input || p.has("--prompt") || slices.ContainsFunc(p.Args, shortPrompt)
	}
	return false
}

// shortPrompt recognises -p, also with its value or other switches in the same word.
func shortPrompt(arg string) bool {
	name, _, _ := strings.Cut(arg, "=")
	return strings.HasPrefix(name, "-") && !strings.HasPrefix(name, "--") && strings.Contains(name, "p")
}

// runs recognises a program by its own name, by that of the script its interpreter runs, or by the package of either.
func (p Process) runs(name, pkg string) bool {
	words := p.Args[:min(1, len(p.Args))]
	for _, arg := range p.Args[len(words):] {
		if !strings.HasPrefix(arg, "-") { // the interpreter's own switches come first
			words = append(slices.Clone(words), arg)
			break
		}
	}
	return slices.ContainsFunc(words, func(word string) bool {
		base := strings.TrimSuffix(filepath.Base(word), filepath.Ext(word))
		return base == name || strings.Contains(filepath.ToSlash(word), pkg)
	})
}

// has reports whether one of the switches is among the arguments, by itself or with a value.
func (p Process) has(switches ...string) bool {
	return slices.ContainsFunc(p.Args, func(arg string) bool {
		name, _, _ := strings.Cut(arg, "=")
		return slices.Contains(switches, name)
	})
}
