package impact

import (
	"cmp"
	"strings"

	"interlock"
)

// payloads runs the code a command runs: a wrapped command line, an inline program, a script file, standard input.
func (r *shellRun) payloads(u *use, args []field, io streams) flow {
	r.recipe(u)
	r.toPeers(u)
	var out flow
	ran, fed := false, false
	for at, g := range u.flags {
		switch {
		case g.option.exec:
			out.taint(r.onFound(u, g, io))
			ran = true
		case g.option.nested != "" && u.continued(at):
		case g.option.nested != "":
			var named bool
			if out, named = r.library(u, g.value, io); !named {
				out = r.inline(u, g.option.nested, u.lines(at), args, io)
			}
			ran = true
		case g.option.file != "":
			out.taint(r.codeFile(u, g, io))
			ran = ran || g.option.alone
		case g.option.peer:
			r.toPeer(u, g.value)
		case g.option.pipe:
			r.piped(u, g.value)
		case g.option.module != "":
			out, _ = r.module(u, g, io)
			return out
		case g.option.data:
			return out
		case g.option.code != "" && len(u.operands) > 0 && !ran:
			out = r.inline(u, g.option.code, u.operands[0], args, io)
			ran = true
		case g.option.setting != "":
			r.setting(u, g.option.setting, g.value)
		case g.option.stdin:
			fed = true
		case g.option.feed && u.spec.wraps == "":
			io.in = r.stored(g.value, r.placeOf(g.value, true))
			fed = io.in.known
			r.wants(io.in)
		}
	}
	return r.runs(u, args, io, out, ran, fed)
}

// runs runs what a command runs without a flag that says so, unless a flag's code ran: a wrapped command line, its first
// operand as code or as a script, standard input.
func (r *shellRun) runs(u *use, args []field, io streams, out flow, ran, fed bool) flow {
	spec := u.spec
	switch {
	case len(u.rest) > 0:
		return r.wrapped(u, io)
	case spec.stdin == "patch":
		return r.applied(u, io)
	case ran:
		return out
	case spec.code != "" && len(u.operands) > spec.skip && !hasNested(u) && !u.replaced():
		return r.inline(u, spec.code, u.operands[spec.skip], args, io)
	case spec.script != "" && len(u.operands) > 0 && !fed:
		if u.operands[0].text != "-" && u.operands[0].text != "/dev/stdin" {
			return r.scriptOperand(u, io)
		}
		return r.fromStdin(u, io)
	case spec.stdin != "" && spec.wraps != "":
		if io.in.known || io.in.piped {
			r.s.modified(r.elsewhere(u), func() { out = r.fromStdin(u, io) })
		}
	case spec.stdin != "" && (fed || len(u.operands) == 0 || spec.script == ""):
		return r.fromStdin(u, io)
	}
	return out
}

// onFound runs the command line a flag gives on what a search finds.
func (r *shellRun) onFound(u *use, g given, io streams) flow {
	argv := g.argv
	if g.option.append && !strings.Contains(quoteAll(argv), "{}") {
		argv = append(argv[:len(argv):len(argv)], literal("{}"))
	}
	r.s.within++
	out := r.command(withFound(u, argv), io)
	r.s.within--
	return out
}

// withFound replaces {} in a -exec command line with what the search finds.
func withFound(u *use, argv []field) []field {
	found := u.operands
	if len(found) == 0 {
		found = []field{literal(".")}
	}
	found = withDepth(append([]field(nil), narrowed(u, found)...))
	out := make([]field, 0, len(argv))
	for _, a := range argv {
		if a.text == "{}" {
			out = append(out, found...)
			continue
		}
		a.text = strings.ReplaceAll(a.text, "{}", found[0].text)
		out = append(out, a)
	}
	return out
}

// wrapped runs the command line a wrapper runs.
func (r *shellRun) wrapped(u *use, io streams) flow {
	var out flow
	adds := r.elsewhere(u)
	rest := u.rest
	for _, g := range u.flags {
		if g.option.feed {
			p := r.placeOf(g.value, true)
			io.in = r.stored(g.value, p)
			io.in.known = io.in.known || quietDevice(p.Path)
		}
	}
	if u.spec.flags["{}"] != nil { // operands come from standard input
		rest = r.fed(u, rest, io)
		io.in = flow{network: io.in.network, source: io.in.source, secret: io.in.secret, decoded: io.in.decoded}
	}
	if adds.empty() { // not elsewhere and not as somebody else: nothing that needs a shell to type into
		r.s.within++
		defer func() { r.s.within-- }()
	}
	vars, shared := r.vars, r.shared
	defer func() { r.vars, r.shared = vars, shared }()
	r.environment(u)
	r.s.modified(adds, func() {
		switch {
		case u.asWords():
			out = r.subshell(func() flow { return r.command(rest, io) })
		case u.spec.wraps == "bash":
			out = r.subshell(func() flow { return r.command(append([]field{literal("bash")}, rest...), io) })
		case u.spec.wraps == "shell":
			texts := make([]string, len(rest))
			for i, a := range rest {
				texts[i] = a.text
			}
			out = r.subshell(func() flow { return r.script(strings.Join(texts, " "), io.in) })
		case u.spec.wraps == "powershell":
			out = r.subshell(func() flow { return r.windows().powershellWords(u.via, rest, io) })
		case u.spec.wraps == "cmd":
			out = r.subshell(func() flow { return r.windows().cmdArguments(append([]field{literal("/c")}, rest...), io) })
		case u.spec.wraps == "exec":
			out = r.command(rest, io)
		default:
			out = r.subshell(func() flow { return r.command(rest, io) })
		}
	})
	return out
}

// fed appends what a wrapper like xargs takes from standard input.
func (r *shellRun) fed(u *use, rest []field, io streams) []field {
	var items []field
	rest, after := cutColons(rest)
	for _, g := range u.flags {
		if g.name == ":::" { // no command stands before the arguments: they are commands themselves
			return []field{literal("sh"), literal("-c"), literal(joinLines(rest))}
		}
	}
	placeholder, replaces := u.placeholder()
	for _, a := range rest {
		if !replaces && a.text == "{}" && u.spec.flags[":::"] != nil { // GNU parallel's default
			placeholder, replaces = "{}", true
		}
	}
	switch {
	case after != nil:
		items = after
	case io.in.known && replaces:
		items = literals(strings.Split(strings.TrimRight(io.in.text, "\n"), "\n"))
	case io.in.known:
		items = literals(strings.Fields(strings.ReplaceAll(io.in.text, "\x00", " ")))
	case len(io.in.items) > 0:
		items = io.in.items
	default:
		r.wants(io.in)
		items = []field{{text: "{stdin}", dynamic: true, lead: true}}
	}
	if len(items) > maxBraces {
		items = append(items[:maxBraces:maxBraces], field{text: "{stdin}", dynamic: true, lead: true})
	}
	for i := range items {
		items[i].flow.taint(io.in)
	}
	if len(rest) > 0 && strings.ContainsAny(rest[0].text, " \t\n()<>$|;&`,'\"\\?*[") && after != nil {
		rest = append([]field{literal("sh"), literal("-c")}, rest...)
	}
	if !replaces || !anyHolds(rest, placeholder) {
		return append(append([]field(nil), rest...), items...)
	}
	out := make([]field, 0, len(rest))
	for _, a := range rest {
		if !strings.Contains(a.text, placeholder) {
			out = append(out, a)
			continue
		}
		for _, item := range items {
			before, after, _ := strings.Cut(a.text, placeholder)
			one := join(join(literal(before), item), literal(after))
			out = append(out, one)
		}
	}
	return out
}

// cutColons splits GNU parallel's command from the arguments after ":::".
func cutColons(rest []field) (command, items []field) {
	for i, a := range rest {
		if strings.HasPrefix(a.text, ":::") {
			return rest[:i:i], append([]field{}, rest[i+1:]...)
		}
	}
	return rest, nil
}

// placeholder is what stands for an item in the command line of a wrapper like xargs.
func (u *use) placeholder() (string, bool) {
	for _, g := range u.flags {
		if g.option == u.spec.flags["{}"] || g.option == u.spec.flags["{i}"] {
			if g.value.text == "" {
				return "{}", true
			}
			return g.value.text, true
		}
	}
	return "", false
}

// inline runs code given as an argument.
func (r *shellRun) inline(u *use, kind string, value field, args []field, io streams) flow {
	if value.text == "" {
		return flow{}
	}
	r.wants(value.flow)
	if value.dynamic && value.lead || value.flow.network && !value.dynamic {
		for _, i := range r.s.capture(func() { r.unread(u.via, kind, value, value.flow) }) {
			if kind == "shell" && value.text == "{stdin}" { // as good as a pipe into the shell
				i.Reversibility = interlock.Irreversible
			}
			r.s.add(i)
		}
		if value.dynamic {
			return flow{}
		}
	}
	if value.flow.network {
		r.opaque(u.via, value.flow, value.text)
	}
	params, outer, within := r.params, r.zero, r.inlined
	r.inlined = u
	r.zero = field{text: u.via}
	if kind == "shell" {
		r.params = []field{}
		if after := u.operands; len(after) > 0 && after[0].text == value.text {
			if after = after[1:]; len(after) > 0 {
				r.zero, r.params = after[0], after[1:]
			}
		}
	}
	var out flow
	traits := r.unwrapped(u.via, value.flow)
	shell := u.spec.stdin == "shell" || r.s.within == 0 && (u.spec.wraps != "" || u.spec.adds.reach != "")
	if !shell {
		r.s.within++
	}
	r.s.modified(traits, func() {
		out = r.subshell(func() flow { return r.code(kind, value.text, io.in) })
	})
	if !shell {
		r.s.within--
	}
	out.saidBy(kind, value.text, u.via)
	r.params, r.zero, r.inlined = params, outer, within
	return out
}

// unwrapped returns the words for what code does that came out of a decoder, and records that such code runs: whoever
// encodes what is to run hides it, harmless as it may read.
func (r *shellRun) unwrapped(via string, from flow) words {
	if !from.decoded {
		return words{}
	}
	r.s.add(interlock.Impact{Kind: interlock.ImpactExecute, Target: via, Reach: interlock.ReachWorkspace, Via: via,
		Reversibility: interlock.Reversible, Traits: []string{TraitDecoded, TraitObfuscated}})
	return words{traits: []string{TraitDecoded, TraitObfuscated}}
}

// opaque records that code runs which is only known when it runs.
func (r *shellRun) opaque(via string, from flow, text string) {
	r.wants(from)
	i := interlock.Impact{Kind: interlock.ImpactExecute, Target: via, Reach: interlock.ReachWorkspace, Via: via,
		Reversibility: interlock.Reversible, Confidence: interlock.Inferred, Traits: []string{TraitDynamic}}
	if from.network {
		i.Target, i.Reach, i.Reversibility = from.source, interlock.ReachExternal, interlock.Irreversible
		i.Confidence, i.Traits = interlock.Parsed, []string{TraitDownloadRun}
	}
	if from.composed {
		i.Reversibility = interlock.Irreversible
	}
	if from.decoded {
		i.Traits = append(i.Traits, TraitDecoded, TraitObfuscated)
	}
	if from.secret && !from.network {
		i.Traits = append(i.Traits, TraitSecret)
	}
	r.s.add(i)
}

// fromStdin runs what comes in on standard input.
func (r *shellRun) fromStdin(u *use, io streams) flow {
	in := io.in
	r.wants(in)
	if io.socket != "" || r.socket && !in.known {
		r.reverse(u.via, cmp.Or(io.socket, r.peer))
		return flow{}
	}
	switch {
	case in.network:
		r.opaque(u.via, in, in.text)
		return flow{shell: true}
	case in.known:
		var out flow
		if u.spec.stdin != "shell" {
			r.s.within++
			defer func() { r.s.within-- }()
		}
		r.s.modified(r.unwrapped(u.via, in), func() { out = r.subshell(func() flow { return r.code(u.spec.stdin, in.text, flow{}) }) })
		return out
	case in.piped || in.decoded || in.secret || in.written:
		for _, i := range r.s.capture(func() { r.opaque(u.via, in, "") }) {
			if u.spec.stdin == "shell" {
				i.Reversibility = interlock.Irreversible
			}
			r.s.add(i)
		}
		return flow{shell: true}
	}
	traits, shell := []string{TraitDynamic}, u.spec.stdin == "shell"
	if shell && (r.s.within > 0 || r.prompt) {
		traits = append(traits, TraitHooked)
	}
	r.prompt = r.prompt || !shell                                                                                                              // what follows may be meant for it
	if kind := u.spec.stdin; kind != "sql" && kind != "redis" && kind != "mongo" && (kind != "vim" && kind != "ftp" || len(u.operands) == 0) { // interactive: whoever types, or whatever the caller's own input holds, decides
		r.s.add(interlock.Impact{Kind: interlock.ImpactExecute, Target: u.via, Reach: interlock.ReachWorkspace, Via: u.via,
			Reversibility: interlock.Reversible, Confidence: interlock.Inferred, Traits: traits})
	}
	return flow{shell: io.file} // what a person types goes out, and nobody else's words come in
}

// code analyses code of a kind: shell in this run, other kinds of action by their analysers, other languages for what
// they run.
func (r *shellRun) code(kind, text string, in flow) flow {
	s := r.s
	switch kind {
	case "shell":
		return r.script(text, in)
	case "sql":
		s.nested(interlock.KindSQL, text)
	case "python":
		s.nested(interlock.KindPython, text)
	case "javascript":
		s.nested(interlock.KindJavaScript, text)
	case "argv":
		return r.script(text, in)
	case "powershell":
		return r.windows().powershell(text, in)
	case "cmd":
		return r.windows().cmdexe(text, in)
	case "debugger":
		r.debugger(text)
	case "other":
		s.add(interlock.Impact{Kind: interlock.ImpactExecute, Target: "code", Reach: interlock.ReachWorkspace,
			Reversibility: interlock.Reversible, Confidence: interlock.Inferred, Traits: []string{TraitInline}})
		r.mentionsShell(text)
		return r.foreign(kind, text)
	default:
		return r.foreign(kind, text)
	}
	return flow{}
}

// output is what a command's standard output carries on: known text for the few whose output follows from their input.
func (r *shellRun) output(u *use, out, ran, carried flow, io streams) flow {
	if len(u.rest) > 0 || hasNested(u) {
		carried.composed = carried.composed || u.composes()
		ran.taint(carried)
		return ran
	}
	carried.shell = carried.shell || ran.shell
	for _, g := range u.flags {
		if g.option.decode != "" {
			return r.decoded(g.option.decode, u, carried, io)
		}
	}
	for _, o := range u.spec.conditions(u.operands) {
		if o.decode != "" {
			return r.decoded(o.decode, u, carried, io)
		}
	}
	if u.prints() == "" {
		if ran.known {
			carried.text, carried.known = ran.text, true
		}
		return carried
	}
	return r.printed(u, carried, io)
}

// printed follows a description's "prints": the input passed on, the names found, or a constant.
func (r *shellRun) printed(u *use, carried flow, io streams) flow {
	switch p := u.prints(); {
	case p == "workspace":
		carried.text, carried.known = cmp.Or(r.s.view.Workspace, r.s.dir, "."), true
	case p == "input":
		carried = r.passed(u, carried, io)
	case p == "stored":
		carried = r.teed(u, carried, io)
	case p == "translated":
		carried.endless = io.in.endless
		return r.translated(u, carried, io)
	case p == "names" || p == "found":
		for _, t := range u.searched() {
			if !strings.Contains(t.text, "*") && !u.findsName() {
				t.text = strings.TrimSuffix(t.text, "/") + "/*"
				t.glob = true
				if t.depth == 0 && (p == "found" || u.spec.seeks) {
					t.depth = wholeTree
				}
			}
			t.flow = flow{}
			carried.items = append(carried.items, t)
		}
	case p == "encoded":
		carried.encoded, carried.endless = true, io.in.endless || len(u.operands) == 1 && r.endless(u.operands[0])
	case p == "endless":
		carried.endless = true
	case p == "first":
		if len(u.operands) == 1 && !u.operands[0].dynamic {
			carried.items = []field{{text: u.operands[0].text}}
		}
	case p == "$PWD":
		if r.s.dir != "" {
			carried.text, carried.known = r.s.dir, true
		}
	case strings.HasPrefix(p, "decode "):
		return r.decoded(p[len("decode "):], u, carried, io)
	case p == "clipboard":
		carried.composed = true
	default:
		r.printedWord(u, p, &carried)
	}
	return carried
}

// passed is the output of cat and its kind: the input, or the files named, where this action wrote them.
func (r *shellRun) passed(u *use, carried flow, io streams) flow {
	if len(u.operands) == 0 || len(u.operands) == 1 && u.operands[0].text == "-" {
		carried.text, carried.known, carried.items, carried.endless = io.in.text, io.in.known, io.in.items, io.in.endless
		carried.taint(io.in)
		return carried
	}
	carried.known = true
	for _, f := range u.operands {
		carried.endless = carried.endless || r.endless(f)
		if f.flow.known && strings.HasPrefix(f.text, "/dev/fd/") {
			carried.text += f.flow.text
			continue
		}
		held := r.holds(r.s.place(f.text))
		if !held.known {
			carried.known, carried.filed = false, true
		}
		if len(carried.text)+len(held.text) > maxText {
			carried.known = false
			break
		}
		carried.text += held.text
		carried.taint(held)
		carried.decoded = carried.decoded || held.decoded
	}
	if !carried.known {
		carried.text = ""
	}
	return carried
}
