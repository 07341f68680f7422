package impact

import (
	"path"
	"slices"
	"strings"

	"interlock"
)

// command runs one simple command: a function, an alias, a builtin, a described command, a program of the workspace, or
// something unknown.
func (r *shellRun) command(args []field, io streams) flow {
	if len(args) == 0 {
		return flow{}
	}
	if !r.s.spend(len(args)) {
		r.s.unknown("sh", TraitWork)
		return flow{}
	}
	if t := r.s.trace; t != nil {
		t.enter("command", spelledOut(args))
		defer t.leave()
	}
	return r.deeper(func() flow {
		first := args[0]
		if command := r.lookalike(args); command != nil {
			return r.disguisedCommand(first.text, command, io)
		}
		if strings.Contains(first.text, "/") && (!systemProgram(first.text) || path.Clean(first.text) != first.text) {
			if clean := r.s.place(first.text).Path; systemProgram(clean) { // ../../bin/rm, ///bin//rm, /./bin/rm, /proc/self/root/bin/rm
				first.text = clean
				args = append([]field{first}, args[1:]...)
			}
		}
		if first.dynamic && (first.lead || first.text == "") {
			return r.computed(args, io)
		}
		if first.text == "" {
			return flow{} // the shell looks for a program without a name, and finds none
		}
		if first.dynamic {
			if out, done := r.partlyNamed(args, io); done {
				return out
			}
		}
		name, isPath := baseName(first.text)
		if !isPath {
			if f := r.funcs[name]; f != nil {
				return r.invoke(name, f, args[1:], io.in)
			}
			if body, ok := r.aliases[name]; ok {
				delete(r.aliases, name) // an alias is not expanded inside itself
				out := r.script(body+" "+quoteAll(args[1:]), io.in)
				r.aliases[name] = body
				return out
			}
			if b := builtinFor(name); b != nil {
				return b(r, args, io)
			}
		}
		if (name[0] == '!' || first.text[0] == '!' || first.text[0] == ':') && r.typed(args, io) {
			return flow{}
		}
		r.text(args)
		if first.odd && !isPath && (r.s.know.lookup(name) != nil || builtinFor(name) != nil) {
			r.disguised(name)
		}
		return r.programOf(name, isPath, args, io)
	})
}

// programOf runs what is no function, alias or builtin: a program by its path or by its name.
func (r *shellRun) programOf(name string, isPath bool, args []field, io streams) flow {
	first := args[0]
	if isPath && !first.glob && !systemProgram(first.text) {
		out := r.program(args, io)
		if spec := r.s.know.lookup(strings.ToLower(name)); spec != nil && (spec.anywhere || windowsProgram(first.text)) {
			out.taint(r.described(spec, args, io)) // on Windows, a program's name is what it is known by wherever it lies
		}
		return out
	}
	if spec := r.s.know.lookup(name); spec != nil {
		return r.described(spec, args, io)
	}
	if spec := r.s.know.lookup(strings.TrimRight(name, "0123456789.-")); spec != nil { // python3.12 is python
		return r.described(spec, args, io)
	}
	if low := strings.ToLower(name); low != name {
		if spec := r.s.know.lookup(low); spec != nil {
			return r.described(spec, args, io)
		}
	}
	return r.unknownCommand(args, io)
}

// disguised records that a command's name is spelled so that a reader does not see which command it is.
func (r *shellRun) disguised(name string) {
	r.s.add(interlock.Impact{Kind: interlock.ImpactExecute, Target: name, Reach: interlock.ReachWorkspace, Via: name,
		Reversibility: interlock.Reversible, Confidence: interlock.Inferred, Traits: []string{TraitObfuscated}})
}

// text notes the normalised command for pattern rules.
func (r *shellRun) text(args []field) {
	n := len(args)
	for _, a := range args {
		n += len(a.text)
	}
	if !r.s.spend(n / 64) {
		return
	}
	b := r.s.room.line[:0]
	for i, a := range args {
		if i > 0 {
			b = append(b, ' ')
		}
		text := a.text
		if i == 0 && systemProgram(text) && !isDrive(text) {
			text, _ = baseName(text)
		}
		b = append(b, text...)
	}
	r.s.room.line = b
	if !shown(&r.s.collector, interlock.KindShell, b) {
		r.s.executes(interlock.KindShell, string(b))
	}
}

// systemProgram reports whether a path names a program where systems keep them, so that its name says what it is.
func systemProgram(name string) bool {
	for _, dir := range [...]string{"/bin/", "/sbin/", "/usr/", "/lib/", "/lib64/", "/opt/homebrew/", "/snap/bin/", "/opt/local/", "/nix/", "/run/current-system/"} {
		if strings.HasPrefix(name, dir) {
			return true
		}
	}
	return isDrive(name) || strings.Contains(name, "/node_modules/.bin/") || strings.Contains(name, "venv/bin/")
}

// computed is a command whose name is only known when it runs.
func (r *shellRun) computed(args []field, io streams) flow {
	r.text(args)
	r.wants(args[0].flow)
	if len(args) > 2 && args[1].text == "=" && strings.HasPrefix(args[0].text, "$") && (r.cmdlet(args[2].text) != nil || r.s.know.lookup(strings.ToLower(args[2].text)) != nil) {
		return r.command(args[2:], io) // PowerShell's $name = Verb-Noun …
	}
	if out, done := r.wellNamed(args, io); done {
		return out
	}
	i := interlock.Impact{Kind: interlock.ImpactExecute, Target: args[0].text, Reach: interlock.ReachWorkspace,
		Reversibility: interlock.Reversible, Confidence: interlock.Inferred, Traits: []string{TraitDynamic}}
	if r.unseen(args[0]) {
		i.Confidence = interlock.Unknown
	}
	if args[0].flow.network {
		i.Target, i.Reach = args[0].flow.source, interlock.ReachExternal
		i.Traits = append(i.Traits, TraitDownloadRun)
	}
	if args[0].flow.composed && len(args) == 1 {
		i.Reversibility = interlock.Irreversible
	}
	if args[0].flow.decoded {
		i.Traits = append(i.Traits, TraitDecoded, TraitObfuscated)
	}
	if io.in.network || r.socket {
		i.Traits = append(i.Traits, TraitReverseShell)
	}
	out := r.settle([]interlock.Impact{i}, io)
	out.taint(r.inner(args[1:], io))
	return out
}

// program runs a file by its path.
func (r *shellRun) program(args []field, io streams) flow {
	p := r.placeOf(args[0], true)
	held, made := r.madeHere(p)
	if made && held.known {
		r.s.touchPlace(p, interlock.Impact{Kind: interlock.ImpactExecute, Via: p.Path})
		var out flow
		r.s.modified(words{traits: []string{TraitWrittenRun}}, func() { out = r.scriptFile(held.text, "shell", args, io) })
		return out
	}
	if !made {
		if text, ok := r.s.scriptAt(p); ok {
			r.touchExecuted(r.readAs(p, r.scriptKind(text, "shell")), "", io)
			return r.scriptFile(text, "shell", args, io)
		}
	}
	out := r.touchExecuted(r.s.unread(p), p.Path, io)
	out.taint(r.inner(args[1:], io))
	return out
}

func (r *shellRun) touchExecuted(p place, via string, io streams) flow {
	if p.Reach == interlock.ReachSystem && len(p.Traits) == 0 {
		p.Reach = interlock.ReachWorkspace // running an installed program is not by itself a reach into the system
	}
	got := r.s.capture(func() { r.s.touchPlace(p, interlock.Impact{Kind: interlock.ImpactExecute, Via: via}) })
	return r.settle(got, io)
}

// scriptFile analyses the content of a script that is run, as what its first line or the given kind says it is.
func (r *shellRun) scriptFile(text, kind string, args []field, io streams) flow {
	params, within := r.params, r.inlined
	r.params, r.inlined = args[1:], nil
	out := r.code(r.scriptKind(text, kind), text, io.in)
	r.params, r.inlined = params, within
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
	name, _ := baseName(fields[0])
	if name == "env" && len(fields) > 1 {
		name = fields[len(fields)-1]
	}
	if spec := r.s.know.lookup(name); spec != nil && spec.script != "" {
		return spec.script
	}
	return kind
}

// unknownCommand is a command nothing is known of: it runs code. If what follows looks like a command line, as after a
// wrapper, that is judged too.
func (r *shellRun) unknownCommand(args []field, io streams) flow {
	i := interlock.Impact{Kind: interlock.ImpactExecute, Target: args[0].text, Reach: interlock.ReachWorkspace,
		Reversibility: interlock.Reversible, Confidence: interlock.Inferred, Via: args[0].text}
	if args[0].glob {
		i.Traits = append(i.Traits, TraitGlob, TraitDynamic)
	}
	if percentEncoded(args[0].text) {
		i.Traits = append(i.Traits, TraitObfuscated)
	}
	for _, a := range args[1:] {
		r.mentionsShell(a.text)
	}
	if spec := r.cmdlet(args[0].text); spec != nil {
		return r.described(spec, args, io)
	}
	r.loads(args, io)
	if spec := r.s.know.lookup("?"); spec != nil && !args[0].glob && len(args) > 1 {
		return r.guessed(spec, args, io)
	}
	out := r.settle([]interlock.Impact{i}, io)
	if args[0].glob {
		out.endless = r.globbed(args, io)
	}
	out.taint(r.inner(args[1:], io))
	return out
}

// typed judges a line that is no command of a shell but one typed at the prompt of a pager, an editor or a client: !command,
// :!command, :shell. It reports whether it was one.
func (r *shellRun) typed(args []field, io streams) bool {
	first := args[0].text
	rest := strings.TrimLeft(first, ":%.")
	switch {
	case args[0].dynamic || len(first) > 64:
		return false
	case strings.HasPrefix(rest, "!") && len(first) < 16 || first == "!":
		if rest = strings.TrimLeft(rest, "!"); rest != "" {
			named := literal(rest)
			args = append([]field{named}, args[1:]...)
		} else if args = args[1:]; len(args) == 0 {
			return false
		}
		r.s.within++
		r.command(args, io)
		r.s.within--
		return true
	case len(first) > 2 && first[0] == ':' && isNameStart(first[1]):
		r.s.within++
		r.vim(first + " " + quoteAll(args[1:]))
		r.s.within--
	}
	return false
}

// guessed judges an unknown command by the verbs among its words, as "?" describes them, and by what it may wrap.
func (r *shellRun) guessed(spec *command, args []field, io streams) flow {
	var out flow
	for _, i := range r.s.capture(func() { out = r.described(spec, args, io) }) {
		if i.Confidence != interlock.Unknown {
			i.Confidence = interlock.Inferred
		}
		if i.Kind == interlock.ImpactExecute && i.Target == i.Via {
			i.Target = args[0].text
		}
		r.s.add(i)
	}
	out.taint(r.inner(args[1:], io))
	return out
}

// globbed judges a command named by a pattern, /bin/r? or /???/c?t, as each command it may well be.
// It reports whether the output of one of them has no end.
func (r *shellRun) globbed(args []field, io streams) (endless bool) {
	pattern, _ := baseName(args[0].text)
	if strings.Trim(pattern, "*?") == "" || !strings.ContainsAny(pattern, "?*[") {
		return false
	}
	n := 0
	for _, name := range r.s.know.Commands() {
		if matchGlob(pattern, name) && n < maxItems {
			n++
			r.s.modified(words{confidence: interlock.Inferred, traits: []string{TraitObfuscated}}, func() {
				endless = r.command(append([]field{literal(name)}, args[1:]...), io).endless || endless
			})
		}
	}
	return endless
}

// inner judges what an unknown command's arguments would do if the command were a wrapper.
func (r *shellRun) inner(args []field, io streams) flow {
	for i, a := range args {
		if a.text == "--" && i+1 < len(args) {
			args = args[i+1:]
			break
		}
	}
	for len(args) > 0 && strings.HasPrefix(args[0].text, "-") {
		args = args[1:]
	}
	if len(args) < 2 || args[0].dynamic || args[0].glob {
		return flow{}
	}
	name, isPath := baseName(args[0].text)
	if isPath && !systemProgram(args[0].text) {
		return flow{}
	}
	spec := r.s.know.lookup(name)
	if spec == nil || spec.verb {
		return flow{}
	}
	var out flow
	r.s.modified(words{confidence: interlock.Inferred, traits: []string{TraitWrapper}}, func() { out = r.command(args, io) })
	return out
}

// quoteAll writes arguments so that a shell reads them back.
func quoteAll(args []field) string {
	var b strings.Builder
	for i, a := range args {
		if i > 0 {
			b.WriteByte(' ')
		}
		if a.dynamic {
			b.WriteString(a.text)
			continue
		}
		b.WriteByte('\'')
		b.WriteString(strings.ReplaceAll(a.text, "'", `'\''`))
		b.WriteByte('\'')
	}
	return b.String()
}

// placeOf judges an argument that is a path.
func (r *shellRun) placeOf(f field, follow bool) place {
	if f.lead && f.dynamic {
		return r.partly(f)
	}
	text := f.text
	if rest, ok := strings.CutPrefix(text, scratchVariable+"/.."); ok { // from the directory itself it climbs further than from one in it
		text = "/tmp/.." + rest
	}
	p := r.s.place(text)
	if f.quoted {
		p = r.s.placeOfName(text)
	}
	if climbs(text) && !slices.Contains(p.Traits, TraitRoot) {
		p.Traits = append(p.Traits, TraitClimbing)
	}
	if f.glob {
		p.Traits = append(p.Traits, TraitGlob)
		if spelledGlob(f.text) {
			p.Traits = append(p.Traits, TraitObfuscated)
		}
		p.Confidence = interlock.Inferred
		r.globRoot(&p, p.Path)
	}
	if f.dynamic {
		p.Traits = append(p.Traits, TraitDynamic)
		p.Confidence = interlock.Inferred
	}
	if f.depth != 0 {
		r.s.found(&p, f.depth)
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
func (r *shellRun) globRoot(p *place, text string) {
	dir, last := "", text
	if i := strings.LastIndexByte(text, '/'); i >= 0 {
		dir, last = text[:i], text[i+1:]
		if dir == "" {
			dir = "/"
		}
	}
	if dir == "" {
		dir = r.s.dir // a bare * means what stands here
	}
	if dir == "" || strings.Trim(last, "*.?[]!") != "" || last == "" {
		return
	}
	parent := r.s.place(dir)
	for _, trait := range parent.Traits {
		if trait == TraitRoot {
			p.Traits = append(p.Traits, TraitRoot)
			p.Reach = parent.Reach
		}
	}
}
