package shell

import (
	"path"
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/flow"
	"interlock/internal/impact/know"
	"interlock/internal/lex"
)

// A builtin is a command of the shell itself: code and not data, because it changes how the rest of the script reads.
type builtin func(r *shellRun, args []flow.Field, io flow.Streams) flow.Flow

// builtinFor returns the builtin of a name, or nil.
func builtinFor(name string) builtin {
	switch name {
	case "cd", "chdir", "pushd", "popd":
		return (*shellRun).cd
	case "echo":
		return (*shellRun).echo
	case "printf":
		return (*shellRun).printf
	case "eval":
		return (*shellRun).eval
	case "exec":
		return (*shellRun).exec
	case "command", "builtin", "-", "noglob", "nocorrect":
		return (*shellRun).bare
	case "source", ".":
		return (*shellRun).sourceFile
	case "trap":
		return (*shellRun).trap
	case "alias":
		return (*shellRun).alias
	case "unset":
		return (*shellRun).unset
	case "set":
		return (*shellRun).setOptions
	case "shopt", "setopt":
		return (*shellRun).shopt
	case "type":
		return (*shellRun).typeOf
	case "hash":
		return (*shellRun).remember
	case "enable":
		return (*shellRun).enable
	case "read", "mapfile", "readarray":
		return (*shellRun).readVariable
	case ":", "true", "false", "test", "[", "exit", "return", "break", "continue", "shift", "unalias",
		"wait", "jobs", "fg", "bg", "ulimit", "umask", "getopts", "times", "dirs", "bind", "complete",
		"compgen", "compopt", "caller", "suspend", "logout", "local", "export", "declare", "typeset", "readonly", "let",
		"unsetopt", "autoload", "zmodload", "rehash", "emulate":
		return (*shellRun).nothing
	}
	return nil
}

func (r *shellRun) nothing(args []flow.Field, io flow.Streams) flow.Flow {
	out := flow.Flow{}
	r.indexes(args[1:])
	switch args[0].Text {
	case ":", "true", "false", "test", "[": // they print nothing
		out.Known = true
	}
	out.Taint(io.Args)
	return out
}

func (r *shellRun) shopt(args []flow.Field, io flow.Streams) flow.Flow {
	for _, a := range args[1:] {
		r.last = r.last || a.Text == "lastpipe"
	}
	return flow.Flow{}
}

func (r *shellRun) cd(args []flow.Field, io flow.Streams) flow.Flow {
	name := args[0].Text
	var to *flow.Field
	for i := range args[1:] {
		if a := &args[i+1]; a.Text == "-" || !strings.HasPrefix(a.Text, "-") && !strings.HasPrefix(a.Text, "+") || a.Dynamic {
			to = a
			break
		}
	}
	switch {
	case name == "popd" || to != nil && to.Text == "-":
		if n := len(r.Stack); n > 0 {
			r.Stack, r.S.Dir = r.Stack[:n-1], r.Stack[n-1]
		}
		return flow.Flow{Known: true}
	case to == nil && name == "pushd":
		return flow.Flow{Known: true}
	}
	r.Stack = append(r.Stack, r.S.Dir)
	if to == nil {
		r.S.Dir = r.S.Home()
		return flow.Flow{Known: true}
	}
	r.Chdir(*to)
	return flow.Flow{Known: true}
}

// Chdir follows a change of directory. One that is not known makes the directory unknown.
func (r *shellRun) Chdir(to flow.Field) {
	if to.Dynamic {
		if to.Lead {
			r.S.Dir = ""
			return
		}
		to.Text = path.Dir(to.Text)
	}
	r.S.Dir = r.S.Place(to.Text).Path
	if r.S.Dir == "." {
		r.S.Dir = ""
	}
}

func (r *shellRun) echo(args []flow.Field, io flow.Streams) flow.Flow {
	escapes, newline := false, true
	args = args[1:]
	for len(args) > 0 && len(args[0].Text) > 1 && args[0].Text[0] == '-' && strings.Trim(args[0].Text[1:], "neE") == "" {
		escapes = escapes || strings.ContainsRune(args[0].Text, 'e')
		newline = newline && !strings.ContainsRune(args[0].Text, 'n')
		args = args[1:]
	}
	return r.Says(args, io, escapes, newline)
}

// Says is the output of a command that prints its arguments.
func (r *shellRun) Says(args []flow.Field, io flow.Streams, escapes, newline bool) flow.Flow {
	out := flow.Flow{Known: true}
	out.Taint(io.Args)
	globs := false
	var b strings.Builder
	for i, a := range args {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(a.Text)
		if a.Dynamic && a.Lead && len(args) == 1 {
			out.Known = false
		}
		if len(a.Text)+b.Len() > lex.MaxText {
			return flow.Flow{Network: out.Network, Fetched: out.Fetched, Secret: out.Secret, Source: out.Source, Named: out.Named,
				Decoded: out.Decoded || escapes}
		}
		globs = globs || a.Glob && !a.Dynamic
	}
	out.Text = b.String()
	if globs {
		out.Known, out.Items = false, append(out.Items, args...)
	}
	if escapes {
		plain := out.Text
		out.Text = echoEscapes(out.Text)
		out.Decoded = out.Decoded || plain != out.Text && (strings.Contains(plain, `\x`) || strings.Contains(plain, `\0`))
	}
	if newline {
		out.Text += "\n"
	}
	return out
}

func (r *shellRun) printf(args []flow.Field, io flow.Streams) flow.Flow {
	args = args[1:]
	if len(args) > 1 && args[0].Text == "-v" {
		r.indexes(args[1:2])
		if len(args) > 2 {
			out := r.format(args[2:], io)
			r.variable(args[1].Text, flow.Field{Text: out.Text, Dynamic: !out.Known, Lead: !out.Known})
			r.set(args[1].Text, flow.VarValue(flow.Field{Text: out.Text, Dynamic: !out.Known, Lead: !out.Known,
				Flow: flow.TaintOnly(out)}))
		}
		return flow.Flow{Known: true}
	}
	if len(args) > 0 && args[0].Text == "--" {
		args = args[1:]
	}
	return r.format(args, io)
}

// format is printf's output: its format with %s, %b and %d filled in, repeated while arguments last.
func (r *shellRun) format(args []flow.Field, io flow.Streams) flow.Flow {
	out := flow.Flow{Known: true}
	out.Taint(io.Args)
	if len(args) == 0 {
		return out
	}
	if strings.Contains(args[0].Text, "%.") {
		out.Named = "" // only so many characters of it
	}
	form := args[0].Text // conversions are found before escapes are read: an escaped percent sign is one to print
	out.Decoded = out.Decoded || lex.AnsiC(form) != form &&
		(strings.Contains(args[0].Text, `\x`) || strings.Contains(args[0].Text, `\1`) || strings.Contains(args[0].Text, `\0`))
	rest := args[1:]
	var b strings.Builder
	for round := 0; round == 0 || len(rest) > 0 && b.Len() < lex.MaxText && r.S.Spend(1); round++ {
		before := len(rest)
		for i := 0; i < len(form); i++ {
			if form[i] != '%' || i+1 >= len(form) {
				end := i + 1
				for end < len(form) && form[end] != '%' {
					end++
				}
				b.WriteString(lex.AnsiC(form[i:end]))
				i = end - 1
				continue
			}
			for i++; i < len(form)-1 && strings.IndexByte("0123456789.-+ #", form[i]) >= 0; i++ {
			}
			if form[i] == '%' {
				b.WriteByte('%')
				continue
			}
			if len(rest) > 0 && b.Len() <= lex.MaxText {
				text := rest[0].Text
				if form[i] == 'b' {
					text = echoEscapes(text)
					out.Decoded = out.Decoded || text != rest[0].Text && strings.Contains(rest[0].Text, `\0`) ||
						strings.Contains(rest[0].Text, `\x`)
				}
				b.WriteString(text)
				out.Known = out.Known && !(rest[0].Dynamic && rest[0].Lead)
				rest = rest[1:]
			}
		}
		if len(rest) == before {
			break
		}
	}
	out.Text = b.String()
	return out
}

func (r *shellRun) eval(args []flow.Field, io flow.Streams) flow.Flow {
	args = withoutDashes(args)
	var text []string
	dynamic := true
	for _, a := range args[1:] {
		text = append(text, a.Text)
		dynamic = dynamic && a.Dynamic && a.Lead
	}
	if len(text) == 0 {
		return flow.Flow{}
	}
	r.wants(io.Args)
	if io.Args.Network || dynamic {
		r.unread("eval", "shell", args[1], io.Args)
	}
	if io.Args.Handed {
		r.S.Add(interlock.Impact{Kind: interlock.ImpactExecute, Target: "eval", Reach: interlock.ReachWorkspace, Via: "eval",
			Reversibility: interlock.Reversible, Confidence: interlock.Inferred,
			Traits: []string{fact.TraitDynamic, fact.TraitInjection}})
	}
	if dynamic {
		return flow.Flow{}
	}
	var out flow.Flow
	r.S.Modified(r.Unwrapped("eval", io.Args), func() { out = r.script(strings.Join(text, " "), io.In) })
	return out
}

func (r *shellRun) exec(args []flow.Field, io flow.Streams) flow.Flow {
	args = args[1:]
	for len(args) > 0 && strings.HasPrefix(args[0].Text, "-") {
		if args[0].Text == "-a" && len(args) > 1 {
			if args = args[1:]; !args[0].Dynamic {
				r.disguised(args[0].Text)
			}
		}
		args = args[1:]
	}
	if len(args) > 0 {
		return r.command(args, io)
	}
	r.Socket = r.Socket || io.Socket != ""
	return flow.Flow{}
}

// bare runs its arguments as a command, past functions and aliases.
func (r *shellRun) bare(args []flow.Field, io flow.Streams) flow.Flow {
	args = args[1:]
	for len(args) > 0 && strings.HasPrefix(args[0].Text, "-") && len(args[0].Text) > 1 {
		if strings.ContainsAny(args[0].Text, "vV") {
			if len(args) == 2 && !args[1].Dynamic {
				return flow.Flow{Items: []flow.Field{r.programAt(args[1])}}
			}
			return flow.Flow{}
		}
		args = args[1:]
	}
	if len(args) == 0 {
		return flow.Flow{}
	}
	if f := r.funcs[args[0].Text]; f != nil && !f.active {
		f.active = true
		defer func() { f.active = false }()
	}
	return r.command(args, io)
}

func (r *shellRun) sourceFile(args []flow.Field, io flow.Streams) flow.Flow {
	if len(args) < 2 {
		return flow.Flow{}
	}
	name := args[1]
	if at := r.S.Place(name.Text).Path; at == "/dev/stdin" || name.Glob && know.MatchGlob(at, "/dev/stdin") || name.Text == "-" {
		name.Flow, name.Text, name.Dynamic = io.In, "/dev/fd/0", false
	}
	if held, ok := r.held[strings.TrimPrefix(name.Text, "/dev/fd/")]; ok && strings.HasPrefix(name.Text, "/dev/fd/") {
		name.Flow = held.In
	}
	if name.Flow.Network {
		r.Opaque("source", name.Flow, "")
		return flow.Flow{}
	}
	if name.Flow.Known && strings.HasPrefix(name.Text, "/dev/fd/") {
		return r.script(name.Flow.Text, io.In)
	}
	if name.Dynamic && name.Lead || strings.HasPrefix(name.Text, "/dev/fd/") {
		r.unread("source", "shell", name, name.Flow)
		return flow.Flow{}
	}
	p := r.PlaceOf(name, true)
	if held, ok := r.madeHere(p); ok && held.Known {
		var out flow.Flow
		r.S.Modified(know.Words{Traits: []string{fact.TraitWrittenRun}}, func() { out = r.script(held.Text, io.In) })
		return out
	} else if ok {
		return r.touchExecuted(p, "source", io)
	}
	if text, ok := r.S.ScriptAt(p); ok && text != "" {
		r.touchExecuted(p, "source", io)
		return r.script(text, io.In)
	}
	return r.touchExecuted(r.S.Unread(p), "source", io)
}

func (r *shellRun) trap(args []flow.Field, io flow.Streams) flow.Flow {
	args = withoutDashes(args)
	if len(args) < 3 || strings.HasPrefix(args[1].Text, "-") {
		return flow.Flow{}
	}
	for _, signal := range args[2:] {
		if signal.Text == "DEBUG" { // it runs before every command from here on
			r.S.Add(interlock.Impact{Kind: interlock.ImpactPersist, Target: "trap", Reach: interlock.ReachHome, Via: "trap",
				Reversibility: interlock.Reversible, Traits: []string{fact.TraitStartup}})
		}
	}
	if args[1].Dynamic && args[1].Lead {
		return flow.Flow{}
	}
	return r.subshell(func() flow.Flow { return r.script(args[1].Text, flow.Flow{}) })
}

func (r *shellRun) alias(args []flow.Field, io flow.Streams) flow.Flow {
	for _, a := range args[1:] {
		if name, body, ok := strings.Cut(a.Text, "="); ok && !a.Dynamic && name != "" {
			if r.aliases == nil {
				r.aliases = map[string]string{}
			}
			r.aliases[name] = body
			r.shadowed(name, "alias")
		}
	}
	return flow.Flow{}
}

func (r *shellRun) unset(args []flow.Field, io flow.Streams) flow.Flow {
	r.indexes(args[1:])
	for _, a := range args[1:] {
		r.forget(a.Text)
		delete(r.funcs, a.Text)
		r.variable(a.Text, flow.Field{})
	}
	return flow.Flow{}
}

func (r *shellRun) setOptions(args []flow.Field, io flow.Streams) flow.Flow {
	for i, a := range args[1:] {
		if a.Text == "--" {
			if r.params = args[i+2:]; len(r.params) > fact.MaxList {
				r.params = append(r.params[:fact.MaxList:fact.MaxList], flow.Field{Text: "$@", Dynamic: true, Lead: true})
			}
			return flow.Flow{}
		}
		if a.Text == "+o" || a.Text == "-o" {
			if i+2 < len(args) && args[i+2].Text == "history" && a.Text == "+o" {
				r.variable("HISTFILE", flow.Field{})
			}
		}
	}
	return flow.Flow{}
}

// readVariable gives variables what is on standard input.
func (r *shellRun) readVariable(args []flow.Field, io flow.Streams) flow.Flow {
	r.indexes(args[1:])
	r.callback(args)
	for i, a := range args[:len(args)-1] {
		if held, ok := r.held[args[i+1].Text]; ok && a.Text == "-u" {
			io.In = held.In
		}
	}
	v := flow.Value{Field: flow.Field{Dynamic: true, Lead: true, Flow: flow.TaintOnly(io.In)}}
	switch {
	case io.In.Known && io.In.Text != "":
		lines := strings.Split(strings.TrimRight(io.In.Text, "\n"), "\n")
		v.Field.Text, v.Field.Dynamic, v.Field.Lead = lines[0], false, false
		for _, line := range lines {
			v.List = append(v.List, flow.Literal(line))
		}
	case len(io.In.Items) > 0:
		v.Field = io.In.Items[0]
		v.Field.Flow.Taint(io.In)
	case io.In.Unread != "" && args[0].Text != "read":
		v.List = []flow.Field{v.Field}
	}
	v.Field.Each = r.Rounds > 0
	skip := false
	for _, a := range args[1:] {
		if skip || strings.HasPrefix(a.Text, "-") {
			valued := "dnNptui"
			if args[0].Text != "read" {
				valued = "dnOsucC"
			}
			skip = !skip && len(a.Text) == 2 && strings.IndexByte(valued, a.Text[1]) >= 0
			continue
		}
		one := v
		if one.Field.Text == "" {
			one.Field.Text = "$" + a.Text
		}
		if io.In.Known {
			r.variable(a.Text, one.Field)
		}
		r.set(a.Text, one)
	}
	return flow.Flow{}
}

// foreign reads code of a language without an analyser here for what it runs, deletes, reads, writes and connects to. It
// looks at calls with literal arguments and is conservative about the others.
func (r *shellRun) foreign(kind, text string) flow.Flow {
	if t := r.S.Trace; t != nil {
		t.Enter(kind, text)
		defer t.Leave()
	}
	switch kind {
	case "sed":
		return r.sed(text)
	case "vim":
		return r.vim(text)
	case "ftp":
		return r.transfer(text)
	case "powershell":
		return r.windows().PowerShell(text, flow.Flow{})
	case "encoded":
		return r.windows().Encoded(text)
	case "cmd":
		return r.windows().CmdExe(text, flow.Flow{})
	}
	if kind == "mongo" {
		text = membersNamed(text)
	}
	f := &foreignScan{r: r, kind: kind, text: text, quiet: r.otherLanguage(kind, text)}
	f.run()
	if r.inlined != nil && kind != "mongo" && kind != "other" {
		return flow.Flow{Named: r.printedNamed(text)}
	}
	return flow.Flow{}
}
