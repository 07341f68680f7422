package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"interlock"
	"interlock/cmd/interlock/cli"
	"interlock/internal/harness"
)

type completionCommand struct {
	Shell string   `arg:"" optional:"" help:"bash, zsh or fish."`
	Words []string `hidden:"" sep:"none" help:"What was typed so far, for the script to ask with." placeholder:"WORD"`
}

// Help is what `interlock completion --help` adds.
func (completionCommand) Help() string {
	return "Prints a script that completes commands, flags and their values:\n\n" +
		"bash: source <(interlock completion bash), in ~/.bashrc\n\n" +
		"zsh: interlock completion zsh > \"${fpath[1]}/_interlock\"\n\n" +
		"fish: interlock completion fish > ~/.config/fish/completions/interlock.fish"
}

// The scripts ask the program itself, so that they are right for whichever version is installed. Each gives it the words before
// the cursor and the beginning of the word at it.
const (
	bashCompletion = `# bash completion of interlock; source it
_interlock() {
	local word words=() given
	for word in "${COMP_WORDS[@]:1:COMP_CWORD}"; do words+=("--words=$word"); done
	COMPREPLY=()
	while IFS=$'\t' read -r given _; do [ -n "$given" ] && COMPREPLY+=("$given"); done \
		< <("${COMP_WORDS[0]}" completion "${words[@]}" 2>/dev/null)
}
complete -o default -F _interlock interlock
`
	zshCompletion = `#compdef interlock
_interlock() {
	local -a given asked
	local word line
	for word in "${(@)words[2,CURRENT]}"; do asked+=("--words=$word"); done
	while IFS= read -r line; do
		[ -n "$line" ] && given+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
	done < <("${words[1]}" completion "${asked[@]}" 2>/dev/null)
	if (( $#given )); then _describe interlock given; else _files; fi
}
if [ "$funcstack[1]" = "_interlock" ]; then _interlock "$@"; else compdef _interlock interlock; fi
`
	fishCompletion = `# fish completion of interlock
function __interlock_complete
	set -l asked
	for word in (commandline -opc)[2..-1] (commandline -ct)
		set -a asked "--words=$word"
	end
	command interlock completion $asked 2>/dev/null
end
complete -c interlock -f -a '(__interlock_complete)'
complete -c interlock -n 'not count (__interlock_complete) >/dev/null' -F
`
)

// Run prints the script, or what the script asks for.
func (c *completionCommand) Run(p *cli.Program) error {
	if c.Shell == "" && len(c.Words) > 0 {
		model, err := newParser(p, commandTable())
		if err != nil {
			return err
		}
		return printCandidates(p.Stdout, candidates(model.Model.Node, c.Words))
	}
	script, known := map[string]string{"bash": bashCompletion, "zsh": zshCompletion, "fish": fishCompletion}[c.Shell]
	if !known {
		return cli.Usage(interlock.Errorf(interlock.CodeInvalid, "SHELL", "is bash, zsh or fish"))
	}
	_, err := io.WriteString(p.Stdout, script)
	return err
}

// A candidate is a word that may stand at the cursor, with what it means.
type candidate struct{ word, about string }

func printCandidates(w io.Writer, list []candidate) error {
	for _, c := range list {
		about, _, _ := strings.Cut(c.about, "\n")
		if _, err := fmt.Fprintf(w, "%s\t%s\n", c.word, about); err != nil {
			return err
		}
	}
	return nil
}

// candidates is what may stand at the cursor: the last of words is its beginning, the others came before it.
func candidates(node *kong.Node, words []string) []candidate {
	flags := slices.Clone(node.Flags)
	var awaits *kong.Flag // a flag before the cursor whose value comes next
	for _, word := range words[:len(words)-1] {
		switch {
		case awaits != nil:
			awaits = nil
		case word == "--":
			return nil // what follows is no word of ours
		case strings.HasPrefix(word, "-"):
			if f := flagNamed(flags, word); f != nil && !f.IsBool() && !strings.Contains(word, "=") {
				awaits = f
			}
		default:
			if child := childNamed(node, word); child != nil {
				node, flags = child, append(flags, child.Flags...)
			}
		}
	}
	begun := words[len(words)-1]
	if awaits != nil {
		return beginning(begun, valuesOf(awaits.Value))
	}
	if strings.HasPrefix(begun, "-") {
		return beginning(begun, flagWords(flags))
	}
	var out []candidate
	for _, child := range node.Children {
		if !child.Hidden {
			out = append(out, candidate{child.Name, child.Help})
		}
	}
	for _, argument := range node.Positional {
		out = append(out, valuesOf(argument)...)
	}
	return beginning(begun, out)
}

func flagWords(flags []*kong.Flag) []candidate {
	var out []candidate
	for _, f := range flags {
		if !f.Hidden {
			out = append(out, candidate{"--" + f.Name, f.Help})
		}
	}
	return out
}

func flagNamed(flags []*kong.Flag, word string) *kong.Flag {
	name, _, _ := strings.Cut(strings.TrimLeft(word, "-"), "=")
	for _, f := range flags {
		if f.Name == name || f.Short != 0 && name == string(f.Short) {
			return f
		}
	}
	return nil
}

func childNamed(node *kong.Node, word string) *kong.Node {
	for _, child := range node.Children {
		if child.Name == word || slices.Contains(child.Aliases, word) {
			return child
		}
	}
	return nil
}

// knownValues are the values of flags and arguments that a person can't guess, by name.
func knownValues() map[string][]string {
	return map[string][]string{
		"profile": {"guard", "supervised", "managed", "autonomous", "mace-stage1", "asa"},
		"mode":    {"enforcing", "monitoring", "logging", "disabled"},
		"shell":   {"bash", "zsh", "fish"},
		"kind":    {"shell", "sql", "python", "javascript", "file", "http", "tool", "hint", "text"},
		"trust":   {"untested", "generated", "validated"},
		"role":    {"viewer", "auditor", "council", "operator", "admin", "superadmin"},
		"harness": append(harness.Names(), "gateway"),
	}
}

// valuesOf are the values that a flag or an argument takes, where they are few.
func valuesOf(v *kong.Value) []candidate {
	values := knownValues()[v.Name]
	if v.Enum != "" {
		values = v.EnumSlice()
	}
	var out []candidate
	for _, value := range values {
		if value != "" {
			out = append(out, candidate{word: value})
		}
	}
	return out
}

func beginning(begun string, all []candidate) []candidate {
	var out []candidate
	for _, c := range all {
		if strings.HasPrefix(c.word, begun) {
			out = append(out, c)
		}
	}
	return out
}
