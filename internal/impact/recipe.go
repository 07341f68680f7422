package impact

import (
	"strings"
)

const (
	maxTargets = 32 // targets of a Makefile followed from the one asked for
	maxRecipe  = 1 << 15
)

// recipe runs what a build tool is told to run by a file of the project whose text is known: what this action wrote, or
// what the door has read. Where the text is not known, running the tool is all that can be said.
func (r *shellRun) recipe(u *use) {
	if u.spec.recipe == "" {
		return
	}
	for _, name := range strings.Fields(u.spec.recipe)[1:] {
		if given := u.value("-f"); given.text != "" && !given.dynamic {
			name = given.text
		}
		text, ok := r.textOf(name)
		if !ok || !r.s.spend(1+len(text)/64) {
			continue
		}
		lines := ""
		switch kind, _, _ := strings.Cut(u.spec.recipe, " "); kind {
		case "make":
			lines = makeRecipe(text, u.operands)
		case "install":
			if !u.has("--ignore-scripts") {
				lines = strings.Join(installScripts(text), "\n")
			}
		case "script":
			lines = scriptRecipe(text, u)
		case "just":
			lines = justRecipe(text, u.operands)
		case "tasks":
			lines = taskRecipe(text, u.operands)
		case "ini":
			lines = iniRecipe(text)
		default:
			r.subshell(func() flow { return r.code(kind, text, flow{}) })
		}
		if lines != "" {
			r.subshell(func() flow { return r.script(lines, flow{}) })
		}
		return
	}
}

// textOf is the text of a file as far as it is known.
func (r *shellRun) textOf(name string) (string, bool) {
	p := r.s.place(name)
	if held, ok := r.madeHere(p); ok {
		return held.text, held.known
	}
	return r.s.scriptAt(p)
}

// makeRecipe returns, as a script, the recipes of the targets asked for and of what they need: variables first.
func makeRecipe(text string, asked []field) string {
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
		if !target.dynamic && !strings.Contains(target.text, "=") {
			queue = append(queue, target.text)
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
func (u *use) has(name string) bool {
	for _, g := range u.flags {
		if g.name == name {
			return true
		}
	}
	return false
}

// scriptRecipe returns what package.json makes the package manager run: the script of the name given, with what runs before
// and after it.
func scriptRecipe(text string, u *use) string {
	name := u.spec.name[strings.LastIndexByte(u.spec.name, ' ')+1:]
	if name == "t" || name == "tst" {
		name = "test"
	}
	if strings.HasPrefix(name, "run") {
		if name = ""; len(u.operands) > 0 {
			name = u.operands[0].text
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
func (r *shellRun) scriptOperand(u *use, io streams) flow {
	name := u.operands[0]
	if name.flow.network {
		r.opaque(u.via, name.flow, "")
		return flow{}
	}
	if name.flow.known && !name.dynamic && strings.HasPrefix(name.text, "/dev/fd/") {
		return r.subshell(func() flow { return r.code(u.spec.script, name.flow.text, io.in) })
	}
	if strings.HasPrefix(name.text, "/dev/fd/") {
		r.unread(u.via, u.spec.script, name, name.flow)
		return flow{}
	}
	p := r.placeOf(name, true)
	args := append([]field{name}, u.operands[1:]...)
	if held, ok := r.madeHere(p); ok && held.known && !held.network {
		var out flow
		r.s.modified(words{traits: []string{TraitWrittenRun}}, func() {
			out = r.subshell(func() flow { return r.scriptFile(held.text, u.spec.script, args, io) })
		})
		return out
	} else if ok {
		return r.touchExecuted(p, u.via, io)
	}
	if text, ok := r.s.scriptAt(p); ok && text != "" {
		r.touchExecuted(r.readAs(p, r.scriptKind(text, u.spec.script)), u.via, io)
		return r.subshell(func() flow { return r.scriptFile(text, u.spec.script, args, io) })
	}
	return r.touchExecuted(r.s.unread(p), u.via, io)
}
