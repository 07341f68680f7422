package impact

import (
	"path"
	"strings"

	"interlock"
)

// A builtin is a command of the shell itself: code and not data, because it changes how the rest of the script reads.
type builtin func(r *shellRun, args []field, io streams) flow

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

func (r *shellRun) nothing(args []field, io streams) flow {
	out := flow{}
	r.indexes(args[1:])
	switch args[0].text {
	case ":", "true", "false", "test", "[": // they print nothing
		out.known = true
	}
	out.taint(io.args)
	return out
}

func (r *shellRun) shopt(args []field, io streams) flow {
	for _, a := range args[1:] {
		r.last = r.last || a.text == "lastpipe"
	}
	return flow{}
}

func (r *shellRun) cd(args []field, io streams) flow {
	name := args[0].text
	var to *field
	for i := range args[1:] {
		if a := &args[i+1]; a.text == "-" || !strings.HasPrefix(a.text, "-") && !strings.HasPrefix(a.text, "+") || a.dynamic {
			to = a
			break
		}
	}
	switch {
	case name == "popd" || to != nil && to.text == "-":
		if n := len(r.stack); n > 0 {
			r.stack, r.s.dir = r.stack[:n-1], r.stack[n-1]
		}
		return flow{known: true}
	case to == nil && name == "pushd":
		return flow{known: true}
	}
	r.stack = append(r.stack, r.s.dir)
	if to == nil {
		r.s.dir = r.s.home()
		return flow{known: true}
	}
	r.chdir(*to)
	return flow{known: true}
}

// chdir follows a change of directory. One that is not known makes the directory unknown.
func (r *shellRun) chdir(to field) {
	if to.dynamic {
		if to.lead {
			r.s.dir = ""
			return
		}
		to.text = path.Dir(to.text)
	}
	r.s.dir = r.s.place(to.text).Path
	if r.s.dir == "." {
		r.s.dir = ""
	}
}

func (r *shellRun) echo(args []field, io streams) flow {
	escapes, newline := false, true
	args = args[1:]
	for len(args) > 0 && len(args[0].text) > 1 && args[0].text[0] == '-' && strings.Trim(args[0].text[1:], "neE") == "" {
		escapes = escapes || strings.ContainsRune(args[0].text, 'e')
		newline = newline && !strings.ContainsRune(args[0].text, 'n')
		args = args[1:]
	}
	return r.says(args, io, escapes, newline)
}

// says is the output of a command that prints its arguments.
func (r *shellRun) says(args []field, io streams, escapes, newline bool) flow {
	out := flow{known: true}
	out.taint(io.args)
	globs := false
	var b strings.Builder
	for i, a := range args {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(a.text)
		if a.dynamic && a.lead && len(args) == 1 {
			out.known = false
		}
		if len(a.text)+b.Len() > maxText {
			return flow{network: out.network, secret: out.secret, source: out.source, decoded: out.decoded || escapes}
		}
		globs = globs || a.glob && !a.dynamic
	}
	out.text = b.String()
	if globs {
		out.known, out.items = false, append(out.items, args...)
	}
	if escapes {
		plain := out.text
		out.text = echoEscapes(out.text)
		out.decoded = out.decoded || plain != out.text && (strings.Contains(plain, `\x`) || strings.Contains(plain, `\0`))
	}
	if newline {
		out.text += "\n"
	}
	return out
}

func (r *shellRun) printf(args []field, io streams) flow {
	args = args[1:]
	if len(args) > 1 && args[0].text == "-v" {
		r.indexes(args[1:2])
		if len(args) > 2 {
			out := r.format(args[2:], io)
			r.variable(args[1].text, field{text: out.text, dynamic: !out.known, lead: !out.known})
			r.set(args[1].text, varValue(field{text: out.text, dynamic: !out.known, lead: !out.known, flow: taintOnly(out)}))
		}
		return flow{known: true}
	}
	if len(args) > 0 && args[0].text == "--" {
		args = args[1:]
	}
	return r.format(args, io)
}

// format is printf's output: its format with %s, %b and %d filled in, repeated while arguments last.
func (r *shellRun) format(args []field, io streams) flow {
	out := flow{known: true}
	out.taint(io.args)
	if len(args) == 0 {
		return out
	}
	form := args[0].text // conversions are found before escapes are read: an escaped percent sign is one to print
	out.decoded = out.decoded || ansiC(form) != form && (strings.Contains(args[0].text, `\x`) || strings.Contains(args[0].text, `\1`) || strings.Contains(args[0].text, `\0`))
	rest := args[1:]
	var b strings.Builder
	for round := 0; round == 0 || len(rest) > 0 && b.Len() < maxText && r.s.spend(1); round++ {
		before := len(rest)
		for i := 0; i < len(form); i++ {
			if form[i] != '%' || i+1 >= len(form) {
				end := i + 1
				for end < len(form) && form[end] != '%' {
					end++
				}
				b.WriteString(ansiC(form[i:end]))
				i = end - 1
				continue
			}
			for i++; i < len(form)-1 && strings.IndexByte("0123456789.-+ #", form[i]) >= 0; i++ {
			}
			if form[i] == '%' {
				b.WriteByte('%')
				continue
			}
			if len(rest) > 0 && b.Len() <= maxText {
				text := rest[0].text
				if form[i] == 'b' {
					text = echoEscapes(text)
					out.decoded = out.decoded || text != rest[0].text && strings.Contains(rest[0].text, `\0`) || strings.Contains(rest[0].text, `\x`)
				}
				b.WriteString(text)
				out.known = out.known && !(rest[0].dynamic && rest[0].lead)
				rest = rest[1:]
			}
		}
		if len(rest) == before {
			break
		}
	}
	out.text = b.String()
	return out
}

func (r *shellRun) eval(args []field, io streams) flow {
	args = withoutDashes(args)
	var text []string
	dynamic := true
	for _, a := range args[1:] {
		text = append(text, a.text)
		dynamic = dynamic && a.dynamic && a.lead
	}
	if len(text) == 0 {
		return flow{}
	}
	r.wants(io.args)
	if io.args.network || dynamic {
		r.unread("eval", "shell", args[1], io.args)
	}
	if io.args.handed {
		r.s.add(interlock.Impact{Kind: interlock.ImpactExecute, Target: "eval", Reach: interlock.ReachWorkspace, Via: "eval",
			Reversibility: interlock.Reversible, Confidence: interlock.Inferred, Traits: []string{TraitDynamic, TraitInjection}})
	}
	if dynamic {
		return flow{}
	}
	var out flow
	r.s.modified(r.unwrapped("eval", io.args), func() { out = r.script(strings.Join(text, " "), io.in) })
	return out
}

func (r *shellRun) exec(args []field, io streams) flow {
	args = args[1:]
	for len(args) > 0 && strings.HasPrefix(args[0].text, "-") {
		if args[0].text == "-a" && len(args) > 1 {
			if args = args[1:]; !args[0].dynamic {
				r.disguised(args[0].text)
			}
		}
		args = args[1:]
	}
	if len(args) > 0 {
		return r.command(args, io)
	}
	r.socket = r.socket || io.socket != ""
	return flow{}
}

// bare runs its arguments as a command, past functions and aliases.
func (r *shellRun) bare(args []field, io streams) flow {
	args = args[1:]
	for len(args) > 0 && strings.HasPrefix(args[0].text, "-") && len(args[0].text) > 1 {
		if strings.ContainsAny(args[0].text, "vV") {
			if len(args) == 2 && !args[1].dynamic {
				return flow{items: []field{{text: args[1].text}}}
			}
			return flow{}
		}
		args = args[1:]
	}
	if len(args) == 0 {
		return flow{}
	}
	if f := r.funcs[args[0].text]; f != nil && !f.active {
		f.active = true
		defer func() { f.active = false }()
	}
	return r.command(args, io)
}

func (r *shellRun) sourceFile(args []field, io streams) flow {
	if len(args) < 2 {
		return flow{}
	}
	name := args[1]
	if at := r.s.place(name.text).Path; at == "/dev/stdin" || name.glob && matchGlob(at, "/dev/stdin") || name.text == "-" {
		name.flow, name.text, name.dynamic = io.in, "/dev/fd/0", false
	}
	if held, ok := r.held[strings.TrimPrefix(name.text, "/dev/fd/")]; ok && strings.HasPrefix(name.text, "/dev/fd/") {
		name.flow = held.in
	}
	if name.flow.network {
		r.opaque("source", name.flow, "")
		return flow{}
	}
	if name.flow.known && strings.HasPrefix(name.text, "/dev/fd/") {
		return r.script(name.flow.text, io.in)
	}
	if name.dynamic && name.lead || strings.HasPrefix(name.text, "/dev/fd/") {
		r.unread("source", "shell", name, name.flow)
		return flow{}
	}
	p := r.placeOf(name, true)
	if held, ok := r.madeHere(p); ok && held.known {
		var out flow
		r.s.modified(words{traits: []string{TraitWrittenRun}}, func() { out = r.script(held.text, io.in) })
		return out
	} else if ok {
		return r.touchExecuted(p, "source", io)
	}
	if text, ok := r.s.scriptAt(p); ok && text != "" {
		r.touchExecuted(p, "source", io)
		return r.script(text, io.in)
	}
	return r.touchExecuted(r.s.unread(p), "source", io)
}

func (r *shellRun) trap(args []field, io streams) flow {
	args = withoutDashes(args)
	if len(args) < 3 || strings.HasPrefix(args[1].text, "-") {
		return flow{}
	}
	for _, signal := range args[2:] {
		if signal.text == "DEBUG" { // it runs before every command from here on
			r.s.add(interlock.Impact{Kind: interlock.ImpactPersist, Target: "trap", Reach: interlock.ReachHome, Via: "trap",
				Reversibility: interlock.Reversible, Traits: []string{TraitStartup}})
		}
	}
	if args[1].dynamic && args[1].lead {
		return flow{}
	}
	return r.subshell(func() flow { return r.script(args[1].text, flow{}) })
}

func (r *shellRun) alias(args []field, io streams) flow {
	for _, a := range args[1:] {
		if name, body, ok := strings.Cut(a.text, "="); ok && !a.dynamic && name != "" {
			if r.aliases == nil {
				r.aliases = map[string]string{}
			}
			r.aliases[name] = body
			r.shadowed(name, "alias")
		}
	}
	return flow{}
}

func (r *shellRun) unset(args []field, io streams) flow {
	r.indexes(args[1:])
	for _, a := range args[1:] {
		r.forget(a.text)
		delete(r.funcs, a.text)
		r.variable(a.text, field{})
	}
	return flow{}
}

func (r *shellRun) setOptions(args []field, io streams) flow {
	for i, a := range args[1:] {
		if a.text == "--" {
			if r.params = args[i+2:]; len(r.params) > maxList {
				r.params = append(r.params[:maxList:maxList], field{text: "$@", dynamic: true, lead: true})
			}
			return flow{}
		}
		if a.text == "+o" || a.text == "-o" {
			if i+2 < len(args) && args[i+2].text == "history" && a.text == "+o" {
				r.variable("HISTFILE", field{})
			}
		}
	}
	return flow{}
}

// readVariable gives variables what stands on standard input.
func (r *shellRun) readVariable(args []field, io streams) flow {
	r.indexes(args[1:])
	r.callback(args)
	for i, a := range args[:len(args)-1] {
		if held, ok := r.held[args[i+1].text]; ok && a.text == "-u" {
			io.in = held.in
		}
	}
	v := value{field: field{dynamic: true, lead: true, flow: taintOnly(io.in)}}
	switch {
	case io.in.known && io.in.text != "":
		lines := strings.Split(strings.TrimRight(io.in.text, "\n"), "\n")
		v.field.text, v.field.dynamic, v.field.lead = lines[0], false, false
		for _, line := range lines {
			v.list = append(v.list, literal(line))
		}
	case len(io.in.items) > 0:
		v.field = io.in.items[0]
		v.field.flow.taint(io.in)
	case io.in.unread != "" && args[0].text != "read":
		v.list = []field{v.field}
	}
	v.field.each = r.rounds > 0
	skip := false
	for _, a := range args[1:] {
		if skip || strings.HasPrefix(a.text, "-") {
			valued := "dnNptui"
			if args[0].text != "read" {
				valued = "dnOsucC"
			}
			skip = !skip && len(a.text) == 2 && strings.IndexByte(valued, a.text[1]) >= 0
			continue
		}
		one := v
		if one.field.text == "" {
			one.field.text = "$" + a.text
		}
		if io.in.known {
			r.variable(a.text, one.field)
		}
		r.set(a.text, one)
	}
	return flow{}
}

// foreign reads code of a language without an analyser here for what it runs, deletes, reads, writes and connects to. It
// looks at calls with literal arguments and is conservative about the others.
func (r *shellRun) foreign(kind, text string) flow {
	if t := r.s.trace; t != nil {
		t.enter(kind, text)
		defer t.leave()
	}
	switch kind {
	case "sed":
		return r.sed(text)
	case "vim":
		return r.vim(text)
	case "ftp":
		return r.transfer(text)
	case "powershell":
		return r.windows().powershell(text, flow{})
	case "encoded":
		return r.windows().encoded(text)
	case "cmd":
		return r.windows().cmdexe(text, flow{})
	}
	f := &foreignScan{r: r, kind: kind, text: text, quiet: r.otherLanguage(kind, text)}
	f.run()
	return flow{}
}
