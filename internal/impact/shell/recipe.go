package shell

import (
	"slices"
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/flow"
	"interlock/internal/impact/know"
	"interlock/internal/lex"
)

const (
	maxTargets = 32 // targets of a Makefile followed from the one asked for
	maxRecipe  = 1 << 15
)

// recipe runs what a build tool is told to run by a file of the project whose text is known: what this action wrote, or
// what the door has read. Where the text is not known, running the tool is all that can be said.
func (r *shellRun) recipe(u *flow.Use, io flow.Streams) {
	if u.Spec.Recipe == "" || has(u, "-E") && strings.HasPrefix(u.Spec.Recipe, "cmake") {
		return
	}
	r.fromFetched(u)
	if given := valueOf(u, "-f"); given.Text == "-" || given.Text == "/dev/stdin" {
		if kind, _, _ := strings.Cut(u.Spec.Recipe, " "); io.In.Known {
			r.runRecipe(u, kind, "-", io.In.Text)
		} else if io.In.Piped || io.In.Network {
			r.Opaque(u.Via, io.In, "")
		}
		return
	}
	for part := range strings.SplitSeq(u.Spec.Recipe, ";") {
		kind, names, _ := strings.Cut(strings.TrimSpace(part), " ")
		kind, own := strings.CutPrefix(kind, "own-")
		for _, name := range r.recipeFiles(u, kind, names) {
			text, ok := "", false
			if own {
				text, ok = r.ownText(name)
			} else {
				text, ok = r.textOf(name)
			}
			if !ok || !r.S.Spend(1+len(text)/64) {
				continue
			}
			key := kind + " " + r.S.Place(name).Path + " " + flow.SpelledOut(u.Operands)
			if !r.loaded[key] { // else it runs itself
				if r.loaded == nil {
					r.loaded = map[string]bool{}
				}
				r.loaded[key] = true
				r.runRecipe(u, kind, name, text)
				delete(r.loaded, key)
			}
			break
		}
	}
}

// fromFetched records that what is built, started or installed is in a tree that this action fetched, where an argument
// and not the working directory says so.
func (r *shellRun) fromFetched(u *flow.Use) {
	given := []flow.Field{valueOf(u, "-f"), valueOf(u, "-e"), valueOf(u, "-S")}
	if strings.Contains(u.Spec.Recipe, "setup") || strings.HasPrefix(u.Spec.Recipe, "install") {
		given = append(given, u.Operands...)
	}
	for _, f := range given {
		if f.Text == "" || f.Text == "." || f.Dynamic || strings.Contains(f.Text, "://") || !r.S.Spend(2) {
			continue
		}
		p := r.PlaceOf(f, true)
		r.S.RanIn(p.Path)
		if r.inFetched(p.Path) || r.inUnpacked(p.Path, 1) {
			r.S.Add(interlock.Impact{Kind: interlock.ImpactExecute, Target: p.Path, Reach: interlock.ReachWorkspace, Via: u.Via,
				Reversibility: interlock.Reversible, Traits: []string{fact.TraitFetchedRun}})
		}
	}
}

// recipeFiles are the names under which a recipe may stand, the likeliest first.
func (r *shellRun) recipeFiles(u *flow.Use, kind, names string) []string {
	if given := valueOf(u, "-f"); given.Text != "" && !given.Dynamic {
		return []string{given.Text}
	}
	program, _, _ := strings.Cut(u.Spec.Name, " ")
	if base, _ := lex.BaseName(u.Via); base != "" {
		program, _, _ = strings.Cut(base, " ")
	}
	files := strings.Fields(strings.ReplaceAll(names, "{}", program))
	if kind == "script" || kind == "install" {
		for _, dir := range inWorkspaces(u) {
			files = append(files[:len(files):len(files)], dir+"/package.json")
		}
		if n := len(strings.Fields(names)); len(files) > n {
			files = files[n:]
		}
	}
	if dir := recipeDir(u); dir == "" && kind == "setup" {
		return nil
	} else if dir != "" && (kind == "setup" || kind == "cmake" || kind == "install" || kind == "python") {
		for i := range files {
			files[i] = dir + "/" + files[i]
		}
	}
	return files
}

// recipeDir is the folder that the first operand names where a program takes one: pip install ./dir, cmake ../src.
func recipeDir(u *flow.Use) string {
	for _, f := range append([]flow.Field{valueOf(u, "-S"), valueOf(u, "-e")}, u.Operands...) {
		if f.Text == "." || f.Text == ".." || strings.HasPrefix(f.Text, "./") || strings.HasPrefix(f.Text, "../") {
			return strings.TrimSuffix(f.Text, "/")
		}
	}
	return ""
}

// runRecipe runs what the text of a recipe says.
func (r *shellRun) runRecipe(u *flow.Use, kind, name, text string) {
	lines := ""
	switch kind {
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
	case "gradle":
		if lines = gradleRecipe(text, u.Operands); !strings.HasSuffix(name, ".kts") {
			r.subshell(func() flow.Flow { return r.code("groovy", text, flow.Flow{}) })
		}
	case "cmake":
		lines = cmakeRecipe(text)
		r.subshell(func() flow.Flow { return r.code("cmake", text, flow.Flow{}) })
	case "rake":
		r.subshell(func() flow.Flow { return r.code("ruby", rakeRecipe(text, u.Operands), flow.Flow{}) })
	case "setup":
		r.subshell(func() flow.Flow { return r.code("python", text, flow.Flow{}) })
	case "composer":
		lines = composerRecipe(text, u)
	case "toml":
		lines = tomlRecipe(text, append(u.Operands[:len(u.Operands):len(u.Operands)], u.Rest[:min(1, len(u.Rest))]...))
	case "cargo":
		lines = cargoRecipe(text)
	case "compose":
		lines = composeRecipe(text)
	case "procfile":
		lines = procfileRecipe(text)
	case "ant":
		lines = antRecipe(text)
	case "registries":
		r.registriesIn(u, text)
	default:
		r.subshell(func() flow.Flow { return r.code(kind, text, flow.Flow{}) })
	}
	if lines != "" {
		r.subshell(func() flow.Flow { return r.script(lines, flow.Flow{}) })
	}
}

// ownText is the text of a file that this agent wrote: in this action, or lately. What stood there before is as trusted as the
// project is.
func (r *shellRun) ownText(name string) (string, bool) {
	p := r.S.Place(name)
	if held, ok := r.madeHere(p); ok {
		r.obeysFetched(p, held)
		return held.Text, held.Known
	}
	r.obeysFetched(p, r.treeAt(p.Path))
	text, ok := r.S.ScriptAt(p)
	if ok {
		r.touchExecuted(p, "", flow.Streams{}) // by which it is seen to whom the file belongs
	}
	return text, ok && slices.Contains(r.S.View.Written, p.Path)
}

// obeysFetched records that settings which came over a network are obeyed. They can name a program, but mostly name where
// packages come from, so that it counts as what runs out of a tree that was fetched and not as a program that was.
func (r *shellRun) obeysFetched(p know.Place, held flow.Flow) {
	if held.Network {
		r.S.Add(interlock.Impact{Kind: interlock.ImpactExecute, Target: p.Path, Reach: interlock.ReachWorkspace, Via: "settings",
			Reversibility: interlock.Reversible, Traits: []string{fact.TraitFetchedRun}})
	}
}

// textOf is the text of a file as far as it is known.
func (r *shellRun) textOf(name string) (string, bool) {
	p := r.S.Place(name)
	if held, ok := r.madeHere(p); ok {
		r.fetchedRecipe(p, held)
		return held.Text, held.Known
	}
	r.fetchedRecipe(p, r.treeAt(p.Path))
	text, ok := r.S.ScriptAt(p)
	if ok {
		r.S.RanIn(p.Path) // it says what runs
	}
	return text, ok
}

// fetchedRecipe records that a file of recipes which came over a network a moment ago is carried out.
func (r *shellRun) fetchedRecipe(p know.Place, held flow.Flow) {
	if held.Network {
		r.touchExecuted(p, "", flow.Streams{})
	}
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
			out.WriteString(strings.TrimRight(name, ":?+! ") + "=\"" + strings.ReplaceAll(shellOf(strings.TrimSpace(value)),
				`"`, `\"`) + "\"\n")
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
	if u.Spec.Parent == nil { // yarn NAME
		if name = ""; len(u.Rest) > 0 {
			name = u.Rest[0].Text
		} else if len(u.Operands) > 0 {
			name = u.Operands[0].Text
		}
	}
	switch name {
	case "t", "tst", "it", "install-test", "cit", "install-ci-test", "clean-install-test", "sit":
		name = "test"
	}
	if strings.HasPrefix(name, "run") || name == "rum" || name == "urn" {
		if name = ""; len(u.Operands) > 0 {
			name = u.Operands[0].Text
		}
	} else if strings.HasPrefix(name, "workspace") || name == "recursive" || name == "task" {
		if name = ""; len(u.Operands) > 0 { // yarn workspace NAME run SCRIPT
			name = u.Operands[len(u.Operands)-1].Text
		}
	}
	_, scripts, ok := strings.Cut(text, `"scripts"`)
	if !ok {
		_, scripts, ok = strings.Cut(text, `"tasks"`)
	}
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
	if spec := r.installedPackage(name.Text); spec != nil {
		return r.Described(spec, args, io)
	}
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
