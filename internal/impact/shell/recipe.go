package shell

import (
	"strings"

	"interlock/internal/impact/fact"
	"interlock/internal/impact/flow"
	"interlock/internal/impact/know"
)

const (
	maxTargets = 32 // targets of a Makefile followed from the one asked for
	maxRecipe  = 1 << 15
)

// recipe runs what a build tool is told to run by a file of the project whose text is known: what this action wrote, or
// what the door has read. Where the text is not known, running the tool is all that can be said.
func (r *shellRun) recipe(u *flow.Use, io flow.Streams) {
	if u.Spec.Recipe == "" {
		return
	}
	for _, name := range strings.Fields(u.Spec.Recipe)[1:] {
		if given := valueOf(u, "-f"); given.Text != "" && !given.Dynamic {
			name = given.Text
		}
		text, ok := io.In.Text, io.In.Known
		if name != "-" && name != "/dev/stdin" {
			text, ok = r.textOf(name)
		} else if !ok {
			r.Opaque(u.Via, io.In, "")
		}
		if !ok || !r.S.Spend(1+len(text)/64) {
			continue
		}
		lines := ""
		switch kind, _, _ := strings.Cut(u.Spec.Recipe, " "); kind {
		case "make":
			lines = makeRecipe(text, u.Operands)
		case "install":
			if !has(u, "--ignore-scripts") {
				lines = strings.Join(InstallScripts(text), "\n")
			}
		case "script":
			lines = scriptRecipe(text, u)
		case "just":
			lines = justRecipe(text, u.Operands)
		case "tasks":
			lines = taskRecipe(text, u.Operands)
		case "ini":
			lines = iniRecipe(text)
		default:
			r.subshell(func() flow.Flow { return r.code(kind, text, flow.Flow{}) })
		}
		if lines != "" {
			r.subshell(func() flow.Flow { return r.script(lines, flow.Flow{}) })
		}
		return
	}
}

// textOf is the text of a file as far as it is known.
func (r *shellRun) textOf(name string) (string, bool) {
	p := r.S.Place(name)
	if held, ok := r.madeHere(p); ok {
		return held.Text, held.Known
	}
	return r.S.ScriptAt(p)
}

// makeRecipe returns, as a script, the recipes of the targets asked for and of what they need: variables first.
func makeRecipe(text string, asked []flow.Field) string {
	recipes, needs, first := map[string][]string{}, map[string][]string{}, ""
	var out strings.Builder
	var current []string
	for line := range strings.SplitSeq(strings.ReplaceAll(text, "\\\n", " "), "\n") {
		if command, ok := strings.CutPrefix(line, "\t"); ok {
			for _, target := range current {
				recipes[target] = append(recipes[target], shellOf(strings.TrimLeft(command, "@-+ \t")))
			}
			continue
		}
		if name, value, ok := strings.Cut(line, "="); ok && !strings.ContainsAny(strings.TrimRight(name, ":?+! "), " \t:#") {
			out.WriteString(strings.TrimRight(name, ":?+! ") + "=\"" + strings.ReplaceAll(shellOf(strings.TrimSpace(value)), `"`, `\"`) + "\"\n")
			continue
		}
		if strings.HasPrefix(line, "$(shell ") {
			out.WriteString(": " + shellOf(line) + "\n")
			continue
		}
		names, rest, ok := strings.Cut(line, ":")
		if !ok || strings.HasPrefix(line, "#") || strings.HasPrefix(line, " ") {
			continue
		}
		before, command, inline := strings.Cut(rest, ";")
		current = strings.Fields(names)
		for _, target := range current {
			if needs[target] = append(needs[target], strings.Fields(before)...); inline {
				recipes[target] = append(recipes[target], shellOf(command))
			}
			if first == "" && target[0] != '.' {
				first = target
			}
		}
	}
	var queue []string
	for _, target := range asked {
		if !target.Dynamic && !strings.Contains(target.Text, "=") {
			queue = append(queue, target.Text)
		}
	}
	if len(queue) == 0 {
		queue = []string{first}
	}
	seen := map[string]bool{}
	for i := 0; i < len(queue) && i < maxTargets && out.Len() < maxRecipe; i++ {
		if seen[queue[i]] {
			continue
		}
		seen[queue[i]] = true
		queue = append(queue, needs[queue[i]]...)
		for _, line := range recipes[queue[i]] {
			out.WriteString(line + "\n")
		}
	}
	return out.String()
}

// shellOf writes a line of a Makefile as the shell gets it: $$ is $, $(NAME) a variable, $(shell command) a substitution.
func shellOf(line string) string {
	var out strings.Builder
	for i := 0; i < len(line); i++ {
		switch {
		case line[i] != '$' || i+1 == len(line):
			out.WriteByte(line[i])
		case line[i+1] == '$':
			out.WriteByte('$')
			i++
		case strings.HasPrefix(line[i:], "$(shell "):
			out.WriteString("$(")
			i += len("$(shell ") - 1
		case line[i+1] == '(':
			end := strings.IndexByte(line[i:], ')')
			if end < 0 || strings.ContainsAny(line[i+2:i+end], " $,") { // a function of make
				out.WriteString("$MAKE_FUNCTION")
			} else {
				out.WriteString("${" + line[i+2:i+end] + "}")
			}
			if end < 0 {
				return out.String()
			}
			i += end
		default:
			out.WriteByte('$')
		}
	}
	return out.String()
}

// has reports whether a flag is given.
func has(u *flow.Use, name string) bool {
	for _, g := range u.Flags {
		if g.Name == name {
			return true
		}
	}
	return false
}

// scriptRecipe returns what package.json makes the package manager run: the script of the name given, with what runs before
// and after it.
func scriptRecipe(text string, u *flow.Use) string {
	name := u.Spec.Name[strings.LastIndexByte(u.Spec.Name, ' ')+1:]
	if name == "t" || name == "tst" {
		name = "test"
	}
	if strings.HasPrefix(name, "run") {
		if name = ""; len(u.Operands) > 0 {
			name = u.Operands[0].Text
		}
	}
	_, scripts, ok := strings.Cut(text, `"scripts"`)
	if !ok || name == "" {
		return ""
	}
	var out strings.Builder
	for _, key := range [...]string{"pre" + name, name, "post" + name} {
		if _, value, found := strings.Cut(scripts, `"`+key+`"`); found {
			if value = strings.TrimLeft(value, " \t\r\n:"); strings.HasPrefix(value, `"`) {
				out.WriteString(jsonString(value) + "\n")
			}
		}
	}
	return out.String()
}

// scriptOperand runs the script file that is the first operand.
func (r *shellRun) scriptOperand(u *flow.Use, io flow.Streams) flow.Flow {
	name := u.Operands[0]
	if name.Flow.Network {
		r.Opaque(u.Via, name.Flow, "")
		return flow.Flow{}
	}
	if name.Flow.Known && !name.Dynamic && strings.HasPrefix(name.Text, "/dev/fd/") {
		return r.subshell(func() flow.Flow { return r.code(u.Spec.Script, name.Flow.Text, io.In) })
	}
	if strings.HasPrefix(name.Text, "/dev/fd/") {
		r.unread(u.Via, u.Spec.Script, name, name.Flow)
		return flow.Flow{}
	}
	p := r.PlaceOf(name, true)
	args := append([]flow.Field{name}, u.Operands[1:]...)
	if held, ok := r.madeHere(p); ok && held.Known && !held.Network {
		var out flow.Flow
		r.S.Modified(know.Words{Traits: []string{fact.TraitWrittenRun}}, func() {
			out = r.subshell(func() flow.Flow { return r.scriptFile(held.Text, u.Spec.Script, args, io) })
		})
		return out
	} else if ok {
		return r.touchExecuted(p, u.Via, io)
	}
	if text, ok := r.S.ScriptAt(p); ok && text != "" {
		r.touchExecuted(r.readAs(p, r.scriptKind(text, u.Spec.Script)), u.Via, io)
		return r.subshell(func() flow.Flow { return r.scriptFile(text, u.Spec.Script, args, io) })
	}
	return r.touchExecuted(r.S.Unread(p), u.Via, io)
}
