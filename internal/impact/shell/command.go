package shell

import (
	"path"
	"slices"
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/flow"
	"interlock/internal/impact/know"
	"interlock/internal/impact/program"
	"interlock/internal/lex"
)

// command runs one simple command: a function, an alias, a builtin, a described command, a program of the workspace, or
// something unknown.
func (r *shellRun) command(args []flow.Field, io flow.Streams) flow.Flow {
	if len(args) == 0 {
		return flow.Flow{}
	}
	if !r.S.Spend(len(args)) {
		r.S.Unknown("sh", fact.TraitWork)
		return flow.Flow{}
	}
	if t := r.S.Trace; t != nil {
		t.Enter("command", flow.SpelledOut(args))
		defer t.Leave()
	}
	return r.deeper(func() flow.Flow {
		first := args[0]
		if command := r.lookalike(args); command != nil {
			return r.disguisedCommand(first.Text, command, io)
		}
		if strings.Contains(first.Text, "/") && (!lex.SystemProgram(first.Text) || path.Clean(first.Text) != first.Text) {
			// ../../bin/rm, ///bin//rm, /./bin/rm, /proc/self/root/bin/rm
			if clean := r.S.Place(first.Text).Path; lex.SystemProgram(clean) {
				first.Text = clean
				args = append([]flow.Field{first}, args[1:]...)
			}
		}
		if first.Dynamic && (first.Lead || first.Text == "") {
			return r.Computed(args, io)
		}
		if first.Text == "" {
			return flow.Flow{} // the shell looks for a program without a name, and finds none
		}
		if first.Dynamic {
			if out, done := r.partlyNamed(args, io); done {
				return out
			}
		}
		name, isPath := lex.BaseName(first.Text)
		if !isPath {
			if f := r.funcs[name]; f != nil {
				return r.invoke(name, f, args[1:], io.In)
			}
			if body, ok := r.aliases[name]; ok {
				delete(r.aliases, name) // an alias is not expanded inside itself
				out := r.script(body+" "+QuoteAll(args[1:]), io.In)
				r.aliases[name] = body
				return out
			}
			if b := builtinFor(name); b != nil {
				return showing(name, b(r, args, io))
			}
		}
		if (name[0] == '!' || strings.IndexByte("!:{", first.Text[0]) >= 0) && r.typed(args, io) {
			return flow.Flow{}
		}
		r.Text(args)
		if first.Odd && !isPath && (r.S.Know.Lookup(name) != nil || builtinFor(name) != nil) {
			r.disguised(name)
		}
		return r.programOf(name, isPath, args, io)
	})
}

// programOf runs what is no function, alias or builtin: a program by its path or by its name.
func (r *shellRun) programOf(name string, isPath bool, args []flow.Field, io flow.Streams) flow.Flow {
	first := args[0]
	if spec := r.packaged(first.Text); spec != nil {
		if len(args) > 1 && args[1].Text == "--" { // the runner's own
			args = append([]flow.Field{first}, args[2:]...)
		}
		return r.Described(spec, args, io)
	}
	if isPath && !first.Glob && !lex.SystemProgram(first.Text) {
		out := r.Program(args, io)
		if spec := r.S.Know.Lookup(strings.ToLower(name)); spec != nil && (spec.Anywhere || lex.WindowsProgram(first.Text)) {
			out.Taint(r.Described(spec, args, io)) // on Windows, a program's name is what it is known by wherever it lies
		}
		return out
	}
	if !isPath {
		if out, found := r.foundFirst(name, args, io); found {
			return out
		}
	}
	if spec := r.S.Know.Lookup(name); spec != nil {
		return r.Described(spec, args, io)
	}
	if spec := r.S.Know.Lookup(strings.TrimRight(name, "0123456789.-")); spec != nil { // python3.12 is python
		return r.Described(spec, args, io)
	}
	if low := strings.ToLower(name); low != name {
		if spec := r.S.Know.Lookup(low); spec != nil {
			return r.Described(spec, args, io)
		}
	}
	return r.UnknownCommand(args, io)
}

// disguised records that a command's name is spelled so that a reader does not see which command it is.
func (r *shellRun) disguised(name string) {
	r.S.Add(interlock.Impact{Kind: interlock.ImpactExecute, Target: name, Reach: interlock.ReachWorkspace, Via: name,
		Reversibility: interlock.Reversible, Confidence: interlock.Inferred, Traits: []string{fact.TraitObfuscated}})
}

// Text notes the normalised command for pattern rules.
func (r *shellRun) Text(args []flow.Field) {
	n := len(args)
	for _, a := range args {
		n += len(a.Text)
	}
	if !r.S.Spend(n / 64) {
		return
	}
	b := r.S.Room.Line[:0]
	for i, a := range args {
		if i > 0 {
			b = append(b, ' ')
		}
		text := a.Text
		if i == 0 && lex.SystemProgram(text) && !lex.IsDrive(text) {
			text, _ = lex.BaseName(text)
		}
		b = append(b, text...)
	}
	r.S.Room.Line = b
	if !fact.Shown(&r.S.Collector, interlock.KindShell, b) {
		r.S.Executes(interlock.KindShell, string(b))
	}
}

// Computed is a command whose name is only known when it runs.
func (r *shellRun) Computed(args []flow.Field, io flow.Streams) flow.Flow {
	r.Text(args)
	r.wants(args[0].Flow)
	if len(args) > 2 && args[1].Text == "=" && strings.HasPrefix(args[0].Text, "$") &&
		(r.cmdlet(args[2].Text) != nil || r.S.Know.Lookup(strings.ToLower(args[2].Text)) != nil) {
		return r.command(args[2:], io) // PowerShell's $name = Verb-Noun …
	}
	if out, done := r.wellNamed(args, io); done {
		return out
	}
	i := interlock.Impact{Kind: interlock.ImpactExecute, Target: args[0].Text, Reach: interlock.ReachWorkspace,
		Reversibility: interlock.Reversible, Confidence: interlock.Inferred, Traits: []string{fact.TraitDynamic}}
	if r.unseen(args[0]) && !r.asksVersion(args) {
		i.Confidence = interlock.Unknown
	}
	if args[0].Flow.Network {
		i.Target, i.Reach = args[0].Flow.Source, interlock.ReachExternal
		i.Traits = append(i.Traits, args[0].Flow.RunTrait())
	}
	if args[0].Flow.Composed && len(args) == 1 {
		i.Reversibility = interlock.Irreversible
	}
	if args[0].Flow.Decoded {
		i.Traits = append(i.Traits, fact.TraitDecoded, fact.TraitObfuscated)
	}
	if io.In.Network || r.Socket {
		i.Traits = append(i.Traits, fact.TraitReverseShell)
	}
	out := r.settle([]interlock.Impact{i}, io)
	out.Taint(r.inner(args[1:], io))
	return out
}

// Program runs a file by its path.
func (r *shellRun) Program(args []flow.Field, io flow.Streams) flow.Flow {
	p := r.PlaceOf(args[0], true)
	held, made := r.madeHere(p)
	if made && held.Known {
		r.S.TouchPlace(p, interlock.Impact{Kind: interlock.ImpactExecute, Via: p.Path})
		var out flow.Flow
		r.S.Modified(know.Words{Traits: []string{fact.TraitWrittenRun}},
			func() { out = r.scriptFile(held.Text, "shell", args, io) })
		return out
	}
	if !made {
		if text, ok := r.S.ScriptAt(p); ok {
			r.touchExecuted(r.readAs(p, r.scriptKind(text, "shell")), "", io)
			return r.scriptFile(text, "shell", args, io)
		}
	}
	out := r.touchExecuted(r.S.Unread(p), p.Path, io)
	out.Taint(r.inner(args[1:], io))
	return out
}

func (r *shellRun) touchExecuted(p know.Place, via string, io flow.Streams) flow.Flow {
	if p.Reach == interlock.ReachSystem && len(p.Traits) == 0 {
		p.Reach = interlock.ReachWorkspace // running an installed program is not by itself a reach into the system
	}
	got := r.S.Capture(func() { r.S.TouchPlace(p, interlock.Impact{Kind: interlock.ImpactExecute, Via: via}) })
	return r.settle(got, io)
}

// scriptFile analyses the content of a script that is run, as what its first line or the given kind says it is.
func (r *shellRun) scriptFile(text, kind string, args []flow.Field, io flow.Streams) flow.Flow {
	params, within, beside := r.params, r.inlined, r.beside
	r.params, r.inlined, r.beside = args[1:], nil, path.Dir(r.S.Place(args[0].Text).Path)
	out := r.code(r.scriptKind(text, kind), text, io.In)
	r.params, r.inlined, r.beside = params, within, beside
	return out
}

// scriptKind is the kind of code a script's first line says it is, or the given one.
func (r *shellRun) scriptKind(text, kind string) string {
	line, _, _ := strings.Cut(text, "\n")
	if !strings.HasPrefix(line, "#!") {
		return kind
	}
	fields := strings.Fields(line[2:])
	if len(fields) == 0 {
		return kind
	}
	name, _ := lex.BaseName(fields[0])
	if name == "env" && len(fields) > 1 {
		name = fields[len(fields)-1]
	}
	if spec := r.S.Know.Lookup(name); spec != nil && spec.Script != "" {
		return spec.Script
	}
	return kind
}

// UnknownCommand is a command nothing is known of: it runs code. If what follows looks like a command line, as after a
// wrapper, that is judged too.
func (r *shellRun) UnknownCommand(args []flow.Field, io flow.Streams) flow.Flow {
	i := interlock.Impact{Kind: interlock.ImpactExecute, Target: args[0].Text, Reach: interlock.ReachWorkspace,
		Reversibility: interlock.Reversible, Confidence: interlock.Inferred, Via: args[0].Text}
	if args[0].Glob {
		i.Traits = append(i.Traits, fact.TraitGlob, fact.TraitDynamic)
	}
	if percentEncoded(args[0].Text) {
		i.Traits = append(i.Traits, fact.TraitObfuscated)
	}
	for _, a := range args[1:] {
		r.mentionsShell(a.Text)
	}
	if spec := r.cmdlet(args[0].Text); spec != nil {
		return r.Described(spec, args, io)
	}
	r.Loads(args, io)
	r.suspects(args, io)
	if spec := r.S.Know.Lookup("?"); spec != nil && !args[0].Glob && len(args) > 1 {
		return r.guessed(spec, args, io)
	}
	out := r.settle([]interlock.Impact{i}, io)
	if args[0].Glob {
		out.Endless = r.globbed(args, io)
	}
	out.Taint(r.inner(args[1:], io))
	return out
}

// typed judges a line that is no command of a shell but one typed at the prompt of a pager, an editor or a client: !command,
// :!command, :shell. A tag of a template is none either. It reports whether it was one.
func (r *shellRun) typed(args []flow.Field, io flow.Streams) bool {
	first := args[0].Text
	rest := strings.TrimLeft(first, ":%.")
	switch {
	case args[0].Dynamic || len(first) > 64:
		return false
	case templateTag(args):
		return true
	case strings.HasPrefix(rest, "!") && len(first) < 16 || first == "!":
		if rest = strings.TrimLeft(rest, "!"); rest != "" {
			named := flow.Literal(rest)
			args = append([]flow.Field{named}, args[1:]...)
		} else if args = args[1:]; len(args) == 0 {
			return false
		}
		r.S.Within++
		r.command(args, io)
		r.S.Within--
		return true
	case len(first) > 2 && first[0] == ':' && lex.IsNameStart(first[1]):
		r.S.Within++
		r.vim(first + " " + QuoteAll(args[1:]))
		r.S.Within--
	}
	return false
}

// guessed judges an unknown command by the verbs among its words, as "?" describes them, and by what it may wrap.
func (r *shellRun) guessed(spec *know.Command, args []flow.Field, io flow.Streams) flow.Flow {
	var out flow.Flow
	for _, i := range r.S.Capture(func() { out = r.Described(spec, args, io) }) {
		if i.Confidence != interlock.Unknown {
			i.Confidence = interlock.Inferred
		}
		if i.Kind == interlock.ImpactExecute && i.Target == i.Via {
			i.Target = args[0].Text
		}
		r.S.Add(i)
	}
	out.Taint(r.inner(args[1:], io))
	return out
}

// globbed judges a command named by a pattern, /bin/r? or /???/c?t, as each command it may well be.
// It reports whether the output of one of them has no end.
func (r *shellRun) globbed(args []flow.Field, io flow.Streams) (endless bool) {
	pattern, _ := lex.BaseName(args[0].Text)
	if strings.Trim(pattern, "*?") == "" || !strings.ContainsAny(pattern, "?*[") {
		return false
	}
	n, names := 0, r.S.Know.Commands()
	r.S.Spend(len(names) / 32)
	for _, name := range names {
		if know.MatchGlob(pattern, name) && n < fact.MaxItems {
			n++
			r.S.Modified(know.Words{Confidence: interlock.Inferred, Traits: []string{fact.TraitObfuscated}}, func() {
				endless = r.command(append([]flow.Field{flow.Literal(name)}, args[1:]...), io).Endless || endless
			})
		}
	}
	return endless
}

// inner judges what an unknown command's arguments would do if the command were a wrapper.
func (r *shellRun) inner(args []flow.Field, io flow.Streams) flow.Flow {
	for i, a := range args {
		if a.Text == "--" && i+1 < len(args) {
			args = args[i+1:]
			break
		}
	}
	for len(args) > 0 && strings.HasPrefix(args[0].Text, "-") {
		args = args[1:]
	}
	if len(args) < 2 || args[0].Dynamic || args[0].Glob {
		return flow.Flow{}
	}
	name, isPath := lex.BaseName(args[0].Text)
	if isPath && !lex.SystemProgram(args[0].Text) {
		return flow.Flow{}
	}
	spec := r.S.Know.Lookup(name)
	if spec == nil || spec.Verb {
		return flow.Flow{}
	}
	var out flow.Flow
	r.S.Modified(know.Words{Confidence: interlock.Inferred, Traits: []string{fact.TraitWrapper}},
		func() { out = r.command(args, io) })
	return out
}

// QuoteAll writes arguments so that a shell reads them back.
func QuoteAll(args []flow.Field) string {
	var b strings.Builder
	for i, a := range args {
		if i > 0 {
			b.WriteByte(' ')
		}
		if a.Dynamic {
			b.WriteString(a.Text)
			continue
		}
		b.WriteByte('\'')
		b.WriteString(strings.ReplaceAll(a.Text, "'", `'\''`))
		b.WriteByte('\'')
	}
	return b.String()
}

// PlaceOf judges an argument that is a path.
func (r *shellRun) PlaceOf(f flow.Field, follow bool) know.Place {
	if f.Lead && f.Dynamic {
		return r.partly(f)
	}
	text := f.Text
	// from the directory itself it climbs further than from one in it
	if rest, ok := strings.CutPrefix(text, scratchVariable+"/.."); ok {
		text = "/tmp/.." + rest
	}
	p := r.S.Place(text)
	if f.Quoted {
		p = r.S.PlaceOfName(text)
	}
	if program.Climbs(text) && !slices.Contains(p.Traits, fact.TraitRoot) {
		p.Traits = append(p.Traits, fact.TraitClimbing)
	}
	if f.Glob {
		p.Traits = append(p.Traits, fact.TraitGlob)
		if spelledGlob(f.Text) {
			p.Traits = append(p.Traits, fact.TraitObfuscated)
		}
		p.Confidence = interlock.Inferred
		r.globRoot(&p, p.Path)
	}
	if f.Dynamic {
		p.Traits = append(p.Traits, fact.TraitDynamic)
		p.Confidence = interlock.Inferred
	}
	if f.Depth != 0 {
		r.S.Found(&p, f.Depth)
	}
	return p
}

// emptyMeansRoot reports whether a path is the root, or all below it, if its leading variable is empty.
func emptyMeansRoot(text string) bool {
	end := 0
	for end < len(text) && text[end] != '/' {
		end++
	}
	rest := text[end:]
	return rest == "/" || rest == "/*" || rest == "/." || rest == "/.*"
}

// globRoot gives a pattern that names everything in a place the traits of the place: /* is as bad as /.
func (r *shellRun) globRoot(p *know.Place, text string) {
	dir, last := "", text
	if i := strings.LastIndexByte(text, '/'); i >= 0 {
		dir, last = text[:i], text[i+1:]
		if dir == "" {
			dir = "/"
		}
	}
	if dir == "" {
		dir = r.S.Dir // a bare * means what is here
	}
	if dir == "" || strings.Trim(last, "*.?[]!") != "" || last == "" {
		return
	}
	parent := r.S.Place(dir)
	for _, trait := range parent.Traits {
		if trait == fact.TraitRoot {
			p.Traits = append(p.Traits, fact.TraitRoot)
			p.Reach = parent.Reach
		}
	}
}
