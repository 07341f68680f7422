package shell

import (
	"slices"
	"strings"

	"interlock/internal/impact/flow"
	"interlock/internal/lex"
)

// Settings files of programs that connect or multiplex: some of their lines are commands.

// sshConfig judges the settings of a file for ssh whose values are commands, as ssh -o judges them one by one.
func (r *shellRun) sshConfig(text string) {
	u := &flow.Use{Via: "ssh"}
	for line := range strings.SplitSeq(text, "\n") {
		if !r.S.Spend(1 + len(line)/16) {
			return
		}
		key, value := settingLine(line)
		switch strings.ToLower(key) {
		case "", "#":
		case "match":
			if _, command, found := strings.Cut(value, "exec "); found {
				r.hooked("shell", strings.Trim(strings.TrimSpace(command), `"`))
			}
		case "proxycommand", "localcommand", "knownhostscommand":
			if value != "none" {
				r.setting(u, "ssh=", flow.Literal(key+"="+value))
			}
		}
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
		if words := strings.Fields(line); slices.Contains(words, "default-command") || slices.Contains(words, "default-shell") {
			r.hooked("shell", strings.Trim(words[len(words)-1], `"'`))
			continue
		}
		if key := strings.Fields(line); key[0] == "bind" || key[0] == "bind-key" || key[0] == "set-hook" {
			line = boundCommand(key)
		}
		if line != "" && lex.IsNameStart(line[0]) {
			r.subshell(func() flow.Flow { return r.script("tmux "+line, flow.Flow{}) })
		}
	}
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
