package shell

import (
	"strings"

	"interlock/internal/impact/flow"
	"interlock/internal/lex"
)

// Settings files of programs that connect or multiplex: some of their lines are commands.

// maxIncluded is how deep settings files may take in others.
const maxIncluded = 4

// sshConfig judges the settings of a file for ssh whose values are commands, libraries or ways in, as ssh -o judges them
// one by one, and those of the files it takes in.
func (r *shellRun) sshConfig(text string, depth int) {
	u := &flow.Use{Via: "ssh"}
	for line := range strings.SplitSeq(text, "\n") {
		if !r.S.Spend(1 + len(line)/16) {
			return
		}
		key, value := settingLine(line)
		switch key = strings.ToLower(key); key {
		case "", "#":
		case "match":
			if _, command, found := strings.Cut(value, "exec"); found {
				r.hooked("shell", strings.Trim(strings.TrimLeft(command, " \t="), `"`))
			}
		case "include":
			for _, name := range strings.Fields(value) {
				if held, ok := r.textOf(strings.Trim(name, `"`)); ok && depth < maxIncluded {
					r.sshConfig(held, depth+1)
				}
			}
		case "remotecommand":
			if value != "none" {
				r.subshell(func() flow.Flow { return r.script("ssh host "+lex.ShellQuote(value), flow.Flow{}) })
			}
		default:
			if value != "none" {
				r.setting(u, "ssh=", flow.Literal(key+"="+value))
			}
		}
	}
}

// linesOf judges each line of a text as a program is given it on its command line.
func (r *shellRun) linesOf(program, text string) {
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		if !r.S.Spend(4 + len(line)/16) {
			return
		}
		args := []flow.Field{flow.Literal(program)}
		for _, word := range words {
			args = append(args, flow.Literal(strings.Trim(word, `"'`)))
		}
		r.subshell(func() flow.Flow { return r.command(args, flow.Streams{}) })
	}
}

// settingLine cuts a line of ssh's settings into its key and its value, which a blank or an equals sign parts.
func settingLine(line string) (key, value string) {
	line = strings.TrimSpace(line)
	end := strings.IndexAny(line, " \t=")
	if end < 0 || line[0] == '#' {
		return "", ""
	}
	return line[:end], strings.Trim(line[end:], " \t=")
}

// tmuxConfig judges each line of a file for tmux as what it is, a command of tmux, and the commands that status lines show
// the output of.
func (r *shellRun) tmuxConfig(text string) {
	for line := range strings.SplitSeq(strings.ReplaceAll(text, "\\\n", " "), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if !r.S.Spend(1 + len(line)/16) {
			return
		}
		for rest := line; ; {
			_, after, found := strings.Cut(rest, "#(")
			if !found {
				break
			}
			command, more, _ := strings.Cut(after, ")")
			r.subshell(func() flow.Flow { return r.script(command, flow.Flow{}) })
			rest = more
		}
		if command := setCommand(line); command != "" {
			r.hooked("shell", command)
			continue
		}
		r.tmuxCommand(line)
	}
}

// tmuxCommand judges a command of tmux as its command line would be, and the ones that it keeps for later.
func (r *shellRun) tmuxCommand(line string) {
	words := strings.Fields(line)
	if len(words) == 0 || !lex.IsNameStart(words[0][0]) {
		return
	}
	switch words[0] {
	case "bind", "bind-key", "set-hook":
		r.tmuxCommand(boundCommand(words))
		return
	case "source-file", "source":
		r.includes(words[1:])
		return
	}
	if open := strings.IndexByte(line, '{'); open >= 0 { // commands in braces
		for one := range strings.FieldsFuncSeq(line[open:], func(c rune) bool { return c == '{' || c == '}' || c == ';' }) {
			if r.S.Spend(4) {
				r.tmuxCommand(strings.TrimSpace(one))
			}
		}
		line = line[:open]
	}
	if line != "" && lex.IsNameStart(line[0]) {
		r.subshell(func() flow.Flow { return r.script("tmux "+line, flow.Flow{}) })
	}
}

// includes judges the settings files for tmux that another one takes in.
func (r *shellRun) includes(names []string) {
	for _, name := range names {
		name = strings.Trim(name, `"'`)
		if held, ok := r.textOf(name); ok && !r.loaded[name] {
			if r.loaded == nil {
				r.loaded = map[string]bool{}
			}
			r.loaded[name] = true
			r.tmuxConfig(held)
		}
	}
}

// setCommand is the command line that an option of tmux holds, if a line sets one that does.
func setCommand(line string) string {
	for _, option := range [...]string{"default-command", "default-shell", "lock-command", "copy-command", "editor"} {
		if _, value, found := strings.Cut(line, option+" "); found {
			return strings.Trim(strings.TrimSpace(value), `"'`)
		}
	}
	return ""
}

// boundCommand is what a line of tmux binds to a key or an event: what follows the key.
func boundCommand(words []string) string {
	for i := 1; i < len(words); i++ {
		switch words[i] {
		case "-T", "-N", "-t":
			i++
		default:
			if words[i][0] != '-' || len(words[i]) == 1 {
				return strings.Trim(strings.Join(words[min(i+1, len(words)):], " "), `"'`)
			}
		}
	}
	return ""
}
