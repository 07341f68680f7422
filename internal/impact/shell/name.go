package shell

import (
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/flow"
	"interlock/internal/impact/know"
	"interlock/internal/lex"
)

// wellNamed judges a command whose name is not known to its last letter, where it is known well enough which program is meant: a
// variable that by custom names one ($CC), a known name in a directory that is not ($(npm bin)/eslint, $VIRTUAL_ENV/bin/python),
// a name with a part in front that is mostly empty (${CROSS_COMPILE}gcc), or a variable nobody set, so that the words after it
// are the command. It reports whether it was one of these.
func (r *shellRun) wellNamed(args []flow.Field, io flow.Streams) (flow.Flow, bool) {
	first := args[0]
	if first.Flow.Network || first.Flow.Decoded || first.Flow.Composed || len(first.Text) > 256 || r.fenced(first.Text) {
		return flow.Flow{}, false
	}
	if tail := knownTail(first.Text); tail != "" {
		return r.calledBy(tail, args, io), true
	}
	made := variableOfMake(first.Text)
	if program := r.customary(made); program != "" && r.funcs[made] == nil && r.aliases[made] == "" {
		return r.command(append([]flow.Field{flow.Literal(program)}, args[1:]...), io), true
	}
	if !first.Unset {
		return flow.Flow{}, false
	}
	name, rest, ok := leadingVariable(first.Text)
	if !ok {
		return flow.Flow{}, false
	}
	if rest != "" {
		if rest = strings.TrimLeft(rest, "-_"); rest == "" || strings.ContainsAny(rest, "$`") || r.S.Know.Lookup(rest) == nil {
			return flow.Flow{}, false
		}
		return r.calledBy(rest, args, io), true
	}
	if program := r.customary(name); program != "" {
		return r.command(append([]flow.Field{flow.Literal(program)}, args[1:]...), io), true
	}
	if len(args) == 1 || args[1].Dynamic {
		return flow.Flow{}, false
	}
	next, isPath := lex.BaseName(args[1].Text)
	if spec := r.S.Know.Lookup(next); isPath && !lex.SystemProgram(args[1].Text) || (spec == nil || spec.Verb) &&
		builtinFor(next) == nil {
		return flow.Flow{}, false
	}
	return r.command(args[1:], io), true
}

// calledBy judges a program whose name is known and whose directory is not, by its name.
func (r *shellRun) calledBy(name string, args []flow.Field, io flow.Streams) (out flow.Flow) {
	if know.IsGlob(name) {
		return r.UnknownCommand(append([]flow.Field{{Text: "/" + name, Glob: true}}, args[1:]...), io)
	}
	lookup := name
	if r.S.Know.Lookup(lookup) == nil {
		lookup = strings.TrimRight(name, "0123456789.-")
	}
	r.S.Modified(know.Words{Confidence: interlock.Inferred, Traits: []string{fact.TraitDynamic}}, func() {
		if spec := r.S.Know.Lookup(lookup); spec != nil {
			out = r.Described(spec, append([]flow.Field{flow.Literal(name)}, args[1:]...), io)
			return
		}
		i := interlock.Impact{Kind: interlock.ImpactExecute, Target: args[0].Text, Reach: interlock.ReachWorkspace,
			Reversibility: interlock.Reversible}
		out = r.settle([]interlock.Impact{i}, io)
		out.Taint(r.inner(args[1:], io))
	})
	return out
}

// customary is the program that a variable names by custom, as the pseudo-command "$" describes, or nothing.
func (r *shellRun) customary(name string) string {
	spec := r.S.Know.Lookup("$")
	if spec == nil {
		return ""
	}
	o := spec.Flags[name]
	if o == nil {
		return ""
	}
	return strings.TrimPrefix(o.Prints, "=")
}

// variableOfMake is the name in a word that is a variable of a makefile, copied from there: $(PYTHON). To a shell it is what a
// program of that name prints, and no program has one in capitals.
func variableOfMake(text string) string {
	inner, ok := strings.CutPrefix(text, "$(")
	name, closed := strings.CutSuffix(inner, ")")
	if !ok || !closed || !IsName(name) || strings.ToUpper(name) != name {
		return ""
	}
	return name
}

// knownTail is the name of the file that a path names whose beginning is computed, if that much of it is plain text.
func knownTail(text string) string {
	tail := text[strings.LastIndexByte(text, '/')+1:]
	if len(tail) == len(text) || strings.ContainsAny(tail, "$`(){}\"'<>|;& \t\n") || strings.Contains(tail, "...") {
		return ""
	}
	return tail
}

// leadingVariable takes apart a word that begins with a plain variable: its name, and what follows it.
func leadingVariable(text string) (name, rest string, ok bool) {
	text, ok = strings.CutPrefix(text, "$")
	if !ok {
		return "", "", false
	}
	if inner, braced := strings.CutPrefix(text, "{"); braced {
		name, rest, ok = strings.Cut(inner, "}")
		return name, rest, ok && IsName(name)
	}
	end := 0
	for end < len(text) && (text[end] == '_' || text[end] >= '0' && text[end] <= '9' || text[end]|0x20 >= 'a' &&
		text[end]|0x20 <= 'z') {
		end++
	}
	return text[:end], text[end:], IsName(text[:end])
}

func IsName(text string) bool { return isAssignment(text + "=") }

// unseen reports whether a computed name is that of a program nobody can know beforehand. It is not where the word is none in
// any shell (a template's ${{ … }}, a <placeholder>), where a code block's fence was read as backquotes, and for the arguments
// of a function that nothing calls here.
func (r *shellRun) unseen(first flow.Field) bool {
	text := first.Text
	switch {
	case strings.HasPrefix(text, "${{") || strings.HasPrefix(text, "<"):
		return false
	case r.fenced(text):
		return false
	case r.S.Direct && !first.Flow.Filed && text != "" && text[0] == '`' && quoted(strings.TrimSpace(r.Src)):
		return false // a line in backquotes is more likely one that is written of than one that runs what it prints
	case r.params == nil && first.Unset:
		name := strings.Trim(text, `"${}`)
		return name != "@" && name != "*" && (len(name) != 1 || name[0] < '0' || name[0] > '9')
	}
	return true
}

// asksVersion reports whether a program that a variable of the environment names is only asked for its version or for help,
// which is all that any program would then tell.
func (r *shellRun) asksVersion(args []flow.Field) bool {
	_, rest, ok := leadingVariable(args[0].Text)
	return ok && rest == "" && args[0].Unset && len(args) == 2 && (args[1].Text == "--version" || args[1].Text == "--help")
}

// templateTag reports whether a command is a tag of a template that is in the text and leaves nothing when it
// runs: {% if browser %}. What {{ … }} means is the command itself, and is asked about.
func templateTag(args []flow.Field) bool {
	first, last := args[0].Text, args[len(args)-1].Text
	return len(args) > 2 && (first == "{%" || first == "{%-" || first == "{%+") && (last == "%}" || last == "-%}")
}

// quoted reports whether a line is one pair of backquotes with something in it, and nothing else.
func quoted(line string) bool {
	return len(line) > 2 && line[0] == '`' && line[len(line)-1] == '`' && strings.Count(line, "`") == 2
}

// fenced reports whether a word is where a code block's fence was read as backquotes.
func (r *shellRun) fenced(text string) bool {
	return strings.HasPrefix(text, "`") && strings.HasPrefix(strings.TrimLeft(r.Src, " \t\r\n"), "```")
}

// fromEnvironment reports whether a word begins or ends with a variable whose name says that the environment has it:
// $JAVA_HOME/bin/java, ${CROSS_COMPILE}gcc and python$VERSION break no name up.
func fromEnvironment(text string) bool {
	at := strings.IndexByte(text, '$')
	if at < 0 {
		return false
	}
	name, rest, ok := leadingVariable(text[at:])
	return ok && len(name) > 1 && (at == 0) == (rest != "") && strings.ToUpper(name) == name && !strings.ContainsAny(rest, "$`")
}

// printedWord follows a description's "prints" where that says nothing of the input.
func (r *shellRun) printedWord(u *flow.Use, what string, carried *flow.Flow) {
	switch {
	case what == "processes":
		carried.Everyone = true
	case what == "clipboard":
		carried.Composed = true
	case what == "$PWD":
		if r.S.Dir != "" {
			carried.Text, carried.Known = r.S.Dir, true
		}
	case what == "first":
		if len(u.Operands) == 1 && !u.Operands[0].Dynamic {
			carried.Items = []flow.Field{{Text: u.Operands[0].Text}}
		}
	case what == "programs":
		for _, name := range u.Operands {
			if !name.Dynamic && r.S.Spend(1) {
				carried.Items = append(carried.Items, r.programAt(name))
			}
		}
	case what == "base" || what == "directory":
		r.partOfPath(u, what == "base", carried)
	case what == "process":
		carried.Everyone = len(u.Operands) == 0
		if len(u.Operands) == 1 && !u.Operands[0].Lead {
			carried.Items = []flow.Field{{Text: u.Operands[0].Text, Dynamic: true}}
		}
	case strings.HasPrefix(what, "="):
		carried.Items = []flow.Field{{Text: what[1:]}}
	}
}

// partOfPath is what basename and dirname print of a path that is known.
func (r *shellRun) partOfPath(u *flow.Use, base bool, carried *flow.Flow) {
	if len(u.Operands) == 0 || len(u.Operands) > 2 || u.Operands[0].Dynamic {
		return
	}
	text := strings.TrimRight(u.Operands[0].Text, "/")
	slash := strings.LastIndexByte(text, '/')
	f := u.Operands[0]
	switch {
	case text == "":
		return
	case base:
		f.Text = text[slash+1:]
		suffix := valueOf(u, "-s").Text
		if len(u.Operands) == 2 {
			suffix = u.Operands[1].Text
		}
		if f.Text != suffix {
			f.Text = strings.TrimSuffix(f.Text, suffix)
		}
	case slash < 0 || len(u.Operands) == 2: // of a name that was looked up, the directory is not known
		return
	default:
		f.Text = text[:max(slash, 1)]
	}
	f.Flow = flow.Flow{}
	carried.Items = []flow.Field{f}
}

// findsName reports whether a search looks for files of one plain name.
func findsName(u *flow.Use) bool {
	for _, g := range u.Flags {
		if g.Option.Naming && g.Value.Text != "" && !know.IsGlob(g.Value.Text) && !g.Value.Dynamic {
			return true
		}
	}
	return false
}

// partlyNamed judges a command whose name begins with text that is known and goes on with what is not: python$VERSION,
// ./$name, inter$(x). Below the workspace it is a program of the project's own; one that begins as a known program is that.
func (r *shellRun) partlyNamed(args []flow.Field, io flow.Streams) (flow.Flow, bool) {
	text := args[0].Text
	known := text[:min(len(text), strings.IndexAny(text+"$", "$`*?[<"))]
	if strings.ContainsAny(known, " \t\n") || known != text && strings.IndexByte(text, '<') == len(known) {
		return flow.Flow{}, false // no program has such a name
	}
	slash := strings.LastIndexByte(text, '/')
	if slash >= len(known) && knownTail(text) != "" || slash >= 0 && slash < len(known) && r.ownProgram(known[:slash+1]) {
		return flow.Flow{}, false
	}
	begins := known[strings.LastIndexByte(known, '/')+1:]
	for _, name := range r.names {
		if slash < 0 && begins != "" && strings.HasPrefix(name, begins) {
			return flow.Flow{}, false // one of these, which are read where they stand
		}
	}
	program := strings.TrimRight(begins, "0123456789.-_")
	_, _, variable := leadingVariable(text[len(known):])
	if spec := r.S.Know.Lookup(program); variable && slash < len(known) && program != "" && spec != nil {
		return r.calledBy(program, args, io), true
	}
	return r.Computed(append([]flow.Field{{Text: text, Dynamic: true, Lead: true, Flow: args[0].Flow}}, args[1:]...), io), true
}

// ownProgram reports whether programs in a directory are the project's own.
func (r *shellRun) ownProgram(dir string) bool {
	p := r.S.Place(dir)
	return p.Reach == interlock.ReachWorkspace && len(p.Traits) == 0
}

// printsItself reports whether code in a language prints the path of the program that runs it, and does nothing else.
func printsItself(kind, code string) bool {
	if kind != "python" && kind != "javascript" {
		return false
	}
	switch strings.Join(strings.FieldsFunc(code, func(c rune) bool { return c == ' ' || c == ';' || c == '\n' }), " ") {
	case "import sys print(sys.executable)":
		return kind == "python"
	case "console.log(process.execPath)", "process.stdout.write(process.execPath)":
		return kind == "javascript"
	}
	return false
}

// unread records that code runs which is not known: given as a word, printed by a command or read from a descriptor. Programs
// print code of their own to set a shell up, and are trusted with that as with the rest they do; what a file, a program in
// another language or a variable nobody set holds is unknown.
func (r *shellRun) unread(via, kind string, code flow.Field, from flow.Flow) {
	for _, i := range r.S.Capture(func() { r.Opaque(via, from, code.Text) }) {
		unset := code.Unset && r.unseen(code) && knownTail(code.Text) == ""
		if i.Confidence == interlock.Inferred && runsPrograms(kind) && (unset || from.Filed) {
			i.Confidence = interlock.Unknown
			if !strings.HasPrefix(code.Text, "/dev/fd/") {
				i.Target = code.Text
			}
		}
		r.S.Add(i)
	}
}

// runsPrograms reports whether code of a kind is a program, and no more than a filter's or an editor's orders.
func runsPrograms(kind string) bool {
	switch kind {
	case "shell", "python", "javascript", "perl", "ruby", "php", "lua", "powershell", "cmd":
		return true
	}
	return false
}

// saidBy notes of what code printed that it is the code's own business, unless that is where the program lies that runs it.
func saidBy(f *flow.Flow, kind, code, via string) {
	f.Filed = f.Filed || kind != "shell"
	if printsItself(kind, code) {
		f.Items = []flow.Field{{Text: via}}
	}
}

// anyHolds reports whether a text is in any of the words.
func anyHolds(words []flow.Field, text string) bool {
	for i := range words {
		if strings.Contains(words[i].Text, text) {
			return true
		}
	}
	return false
}
