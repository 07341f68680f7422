package shell

import (
	"cmp"
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/flow"
	"interlock/internal/impact/know"
	"interlock/internal/impact/place"
)

// payloads runs the code a command runs: a wrapped command line, an inline program, a script file, standard input.
func (r *shellRun) payloads(u *flow.Use, args []flow.Field, io flow.Streams) flow.Flow {
	r.recipe(u, io)
	r.toPeers(u)
	var out flow.Flow
	ran, fed := false, false
	for at, g := range u.Flags {
		switch {
		case g.Option.Exec:
			out.Taint(r.onFound(u, g, io))
			ran = true
		case g.Option.Nested != "" && continued(u, at):
		case g.Option.Nested != "":
			var named bool
			if out, named = r.library(u, g.Value, io); !named {
				out = r.inline(u, g.Option.Nested, lines(u, at), args, io)
				if g.Option.Prints == "value" && out.Named == "" {
					out.Named = r.printsOf(g.Value.Text)
				}
			}
			ran = true
		case g.Option.File != "":
			out.Taint(r.codeFile(u, g, io))
			ran = ran || g.Option.Alone
		case g.Option.Peer:
			r.toPeer(u, g.Value)
		case g.Option.Pipe:
			r.piped(u, g.Value)
		case g.Option.Module != "":
			out, _ = r.module(u, g, io)
			return out
		case g.Option.Data:
			return out
		case g.Option.Code != "" && len(u.Operands) > 0 && !ran:
			out = r.inline(u, g.Option.Code, u.Operands[0], args, io)
			ran = true
		case g.Option.Setting != "":
			r.setting(u, g.Option.Setting, g.Value)
		case g.Option.Folder != "":
			r.repository(u, g.Option.Folder, g.Value)
		case g.Option.Stdin:
			fed = true
		case g.Option.Feed && u.Spec.Wraps == "":
			io.In = r.Stored(g.Value, r.PlaceOf(g.Value, true))
			fed = io.In.Known
			r.wants(io.In)
		}
	}
	if r.sourcesGiven(u, io) {
		return out
	}
	return r.runs(u, args, io, out, ran, fed)
}

// runs runs what a command runs without a flag that says so, unless a flag's code ran: a wrapped command line, its first
// operand as code or as a script, standard input.
func (r *shellRun) runs(u *flow.Use, args []flow.Field, io flow.Streams, out flow.Flow, ran, fed bool) flow.Flow {
	spec := u.Spec
	switch {
	case len(u.Rest) > 0:
		return r.wrapped(u, io)
	case spec.Stdin == "patch":
		return r.applied(u, io)
	case ran:
		return out
	case len(u.Operands) > 0 && strings.HasPrefix(u.Operands[0].Text, "npm:"):
		if called := r.packaged(u.Operands[0].Text); called != nil {
			return r.subshell(func() flow.Flow { return r.Described(called, u.Operands, io) })
		}
	case spec.Code != "" && len(u.Operands) > spec.Skip && !hasNested(u) && !replaced(u):
		return r.inline(u, spec.Code, u.Operands[spec.Skip], args, io)
	case spec.Script != "" && len(u.Operands) > 0 && !fed:
		if u.Operands[0].Text != "-" && u.Operands[0].Text != "/dev/stdin" {
			return r.scriptOperand(u, io)
		}
		return r.FromStdin(u, io)
	case spec.Stdin != "" && spec.Wraps != "":
		if io.In.Known || io.In.Piped {
			r.S.Modified(r.elsewhere(u), func() { out = r.FromStdin(u, io) })
		}
	case spec.Stdin != "" && (fed || len(u.Operands) == 0 || spec.Script == ""):
		return r.FromStdin(u, io)
	}
	return out
}

// onFound runs the command line a flag gives on what a search finds.
func (r *shellRun) onFound(u *flow.Use, g flow.Given, io flow.Streams) flow.Flow {
	argv := g.Argv
	if g.Option.Append && !strings.Contains(QuoteAll(argv), "{}") {
		argv = append(argv[:len(argv):len(argv)], flow.Literal("{}"))
	}
	r.S.Within++
	out := r.command(withFound(u, argv), io)
	r.S.Within--
	return out
}

// withFound replaces {} in a -exec command line with what the search finds.
func withFound(u *flow.Use, argv []flow.Field) []flow.Field {
	found := u.Operands
	if len(found) == 0 {
		found = []flow.Field{flow.Literal(".")}
	}
	found = withDepth(append([]flow.Field(nil), narrowed(u, found)...))
	out := make([]flow.Field, 0, len(argv))
	for _, a := range argv {
		if a.Text == "{}" {
			out = append(out, found...)
			continue
		}
		a.Text = strings.ReplaceAll(a.Text, "{}", found[0].Text)
		out = append(out, a)
	}
	return out
}

// wrapped runs the command line a wrapper runs.
func (r *shellRun) wrapped(u *flow.Use, io flow.Streams) flow.Flow {
	var out flow.Flow
	adds := r.elsewhere(u)
	rest := u.Rest
	for _, g := range u.Flags {
		if g.Option.Feed {
			p := r.PlaceOf(g.Value, true)
			io.In = r.Stored(g.Value, p)
			io.In.Known = io.In.Known || place.QuietDevice(p.Path)
		}
	}
	if u.Spec.Flags["{}"] != nil { // operands come from standard input
		rest = r.fed(u, rest, io)
		io.In = flow.Flow{Network: io.In.Network, Fetched: io.In.Fetched, Source: io.In.Source, Secret: io.In.Secret,
			Decoded: io.In.Decoded}
	}
	if adds.Empty() { // not elsewhere and not as somebody else: nothing that needs a shell to type into
		r.S.Within++
		defer func() { r.S.Within-- }()
	}
	vars, shared := r.vars, r.shared
	defer func() { r.vars, r.shared = vars, shared }()
	r.environment(u)
	run := func() {
		switch {
		case asWords(u):
			out = r.subshell(func() flow.Flow { return r.command(rest, io) })
		case u.Spec.Wraps == "bash":
			out = r.subshell(func() flow.Flow { return r.command(append([]flow.Field{flow.Literal("bash")}, rest...), io) })
		case u.Spec.Wraps == "shell":
			texts := make([]string, len(rest))
			for i, a := range rest {
				texts[i] = a.Text
			}
			out = r.subshell(func() flow.Flow { return r.script(strings.Join(texts, " "), io.In) })
		case u.Spec.Wraps == "powershell":
			out = r.subshell(func() flow.Flow { return r.windows().PowerShellWords(u.Via, rest, io) })
		case u.Spec.Wraps == "cmd":
			out = r.subshell(func() flow.Flow {
				return r.windows().CmdArguments(append([]flow.Field{flow.Literal("/c")}, rest...), io)
			})
		case u.Spec.Wraps == "exec":
			out = r.command(rest, io)
		default:
			out = r.subshell(func() flow.Flow { return r.command(rest, io) })
		}
	}
	r.S.Modified(adds, func() { r.givesLine(adds, rest, run) })
	return out
}

// fed appends what a wrapper like xargs takes from standard input.
func (r *shellRun) fed(u *flow.Use, rest []flow.Field, io flow.Streams) []flow.Field {
	var items []flow.Field
	rest, after := cutColons(rest)
	for _, g := range u.Flags {
		if g.Name == ":::" { // no command comes before the arguments: they are commands themselves
			return []flow.Field{flow.Literal("sh"), flow.Literal("-c"), flow.Literal(joinLines(rest))}
		}
	}
	placeholder, replaces := placeholder(u)
	for _, a := range rest {
		if !replaces && a.Text == "{}" && u.Spec.Flags[":::"] != nil { // GNU parallel's default
			placeholder, replaces = "{}", true
		}
	}
	switch {
	case after != nil:
		items = after
	case io.In.Known && replaces:
		items = flow.Literals(strings.Split(strings.TrimRight(io.In.Text, "\n"), "\n"))
	case io.In.Known:
		items = flow.Literals(strings.Fields(strings.ReplaceAll(io.In.Text, "\x00", " ")))
	case len(io.In.Items) > 0:
		items = io.In.Items
	default:
		r.wants(io.In)
		items = []flow.Field{{Text: "{stdin}", Dynamic: true, Lead: true}}
	}
	if len(items) > MaxBraces {
		items = append(items[:MaxBraces:MaxBraces], flow.Field{Text: "{stdin}", Dynamic: true, Lead: true})
	}
	for i := range items {
		items[i].Flow.Taint(io.In)
	}
	if len(rest) > 0 && strings.ContainsAny(rest[0].Text, " \t\n()<>$|;&`,'\"\\?*[") && after != nil {
		rest = append([]flow.Field{flow.Literal("sh"), flow.Literal("-c")}, rest...)
	}
	if !replaces || !anyHolds(rest, placeholder) {
		return append(append([]flow.Field(nil), rest...), items...)
	}
	out := make([]flow.Field, 0, len(rest))
	for _, a := range rest {
		if !strings.Contains(a.Text, placeholder) {
			out = append(out, a)
			continue
		}
		for _, item := range items {
			before, after, _ := strings.Cut(a.Text, placeholder)
			one := flow.Join(flow.Join(flow.Literal(before), item), flow.Literal(after))
			out = append(out, one)
		}
	}
	return out
}

// cutColons splits GNU parallel's command from the arguments after ":::".
func cutColons(rest []flow.Field) (command, items []flow.Field) {
	for i, a := range rest {
		if strings.HasPrefix(a.Text, ":::") {
			return rest[:i:i], append([]flow.Field{}, rest[i+1:]...)
		}
	}
	return rest, nil
}

// placeholder is what represents an item in the command line of a wrapper like xargs.
func placeholder(u *flow.Use) (string, bool) {
	for _, g := range u.Flags {
		if g.Option == u.Spec.Flags["{}"] || g.Option == u.Spec.Flags["{i}"] {
			if g.Value.Text == "" {
				return "{}", true
			}
			return g.Value.Text, true
		}
	}
	return "", false
}

// inline runs code given as an argument.
func (r *shellRun) inline(u *flow.Use, kind string, value flow.Field, args []flow.Field, io flow.Streams) flow.Flow {
	if value.Text == "" {
		return flow.Flow{}
	}
	r.wants(value.Flow)
	if value.Dynamic && value.Lead || value.Flow.Network && !value.Dynamic {
		for _, i := range r.S.Capture(func() { r.unread(u.Via, kind, value, value.Flow) }) {
			if kind == "shell" && value.Text == "{stdin}" { // as good as a pipe into the shell
				i.Reversibility = interlock.Irreversible
			}
			r.S.Add(i)
		}
		if value.Dynamic {
			return flow.Flow{}
		}
	}
	if value.Flow.Network {
		r.Opaque(u.Via, value.Flow, value.Text)
	}
	params, outer, within := r.params, r.zero, r.inlined
	r.inlined = u
	r.zero = flow.Field{Text: u.Via}
	if kind == "shell" {
		r.params = []flow.Field{}
		if after := u.Operands; len(after) > 0 && after[0].Text == value.Text {
			if after = after[1:]; len(after) > 0 {
				r.zero, r.params = after[0], after[1:]
			}
		}
	}
	var out flow.Flow
	traits := r.Unwrapped(u.Via, value.Flow)
	shell := u.Spec.Stdin == "shell" || r.S.Within == 0 && (u.Spec.Wraps != "" || u.Spec.Adds.Reach != "")
	if !shell {
		r.S.Within++
	}
	r.S.Modified(traits, func() {
		out = r.subshell(func() flow.Flow { return r.code(kind, value.Text, io.In) })
	})
	if !shell {
		r.S.Within--
	}
	saidBy(&out, kind, value.Text, u.Via)
	r.params, r.zero, r.inlined = params, outer, within
	return out
}

// Unwrapped returns the words for what code does that came out of a decoder, and records that such code runs: encoding
// what is to run hides it, harmless as it may read.
func (r *shellRun) Unwrapped(via string, from flow.Flow) know.Words {
	if !from.Decoded {
		return know.Words{}
	}
	r.S.Add(interlock.Impact{Kind: interlock.ImpactExecute, Target: via, Reach: interlock.ReachWorkspace, Via: via,
		Reversibility: interlock.Reversible, Traits: []string{fact.TraitDecoded, fact.TraitObfuscated}})
	return know.Words{Traits: []string{fact.TraitDecoded, fact.TraitObfuscated}}
}

// Opaque records that code runs which is only known when it runs.
func (r *shellRun) Opaque(via string, from flow.Flow, text string) {
	r.wants(from)
	i := interlock.Impact{Kind: interlock.ImpactExecute, Target: via, Reach: interlock.ReachWorkspace, Via: via,
		Reversibility: interlock.Reversible, Confidence: interlock.Inferred, Traits: []string{fact.TraitDynamic}}
	if from.Network {
		i.Target, i.Reach, i.Reversibility = from.Source, interlock.ReachExternal, interlock.Irreversible
		i.Confidence, i.Traits = interlock.Parsed, []string{from.RunTrait()}
	}
	if from.Composed {
		i.Reversibility = interlock.Irreversible
	}
	if from.Decoded {
		i.Traits = append(i.Traits, fact.TraitDecoded, fact.TraitObfuscated)
	}
	if from.Secret && !from.Network {
		i.Traits = append(i.Traits, fact.TraitSecret)
	}
	r.S.Add(i)
}

// FromStdin runs what comes in on standard input.
func (r *shellRun) FromStdin(u *flow.Use, io flow.Streams) flow.Flow {
	in := io.In
	r.wants(in)
	if io.Socket != "" || r.Socket && !in.Known {
		r.Reverse(u.Via, cmp.Or(io.Socket, r.peer))
		return flow.Flow{}
	}
	switch {
	case in.Network:
		r.Opaque(u.Via, in, in.Text)
		return flow.Flow{Shell: true}
	case in.Known:
		var out flow.Flow
		if u.Spec.Stdin != "shell" {
			r.S.Within++
			defer func() { r.S.Within-- }()
		}
		r.S.Modified(r.Unwrapped(u.Via, in),
			func() { out = r.subshell(func() flow.Flow { return r.code(u.Spec.Stdin, in.Text, flow.Flow{}) }) })
		return out
	case in.Piped || in.Decoded || in.Secret || in.Written:
		for _, i := range r.S.Capture(func() { r.Opaque(u.Via, in, "") }) {
			if u.Spec.Stdin == "shell" {
				i.Reversibility = interlock.Irreversible
			}
			r.S.Add(i)
		}
		return flow.Flow{Shell: true}
	}
	traits, shell := []string{fact.TraitDynamic}, u.Spec.Stdin == "shell"
	if shell && (r.S.Within > 0 || r.prompt) {
		traits = append(traits, fact.TraitHooked)
	}
	// what follows may be meant for it
	r.prompt = r.prompt || !shell
	// interactive: the person who types, or whatever the caller's own input holds, decides
	if kind := u.Spec.Stdin; kind != "sql" && kind != "redis" && kind != "mongo" &&
		(kind != "vim" && kind != "ftp" || len(u.Operands) == 0) {
		r.S.Add(interlock.Impact{Kind: interlock.ImpactExecute, Target: u.Via, Reach: interlock.ReachWorkspace, Via: u.Via,
			Reversibility: interlock.Reversible, Confidence: interlock.Inferred, Traits: traits})
	}
	return flow.Flow{Shell: io.File} // what a person types goes out, and nobody else's words come in
}

// code analyses code of a kind: shell in this run, other kinds of action by their analysers, other languages for what
// they run.
func (r *shellRun) code(kind, text string, in flow.Flow) flow.Flow {
	s := r.S
	switch kind {
	case "shell":
		return r.script(text, in)
	case "sql":
		s.Nested(interlock.KindSQL, text)
	case "python":
		s.Nested(interlock.KindPython, text)
		r.siblings(kind, text)
		return r.printedByCode()
	case "javascript":
		s.Nested(interlock.KindJavaScript, text)
		r.siblings(kind, text)
		return r.printedByCode()
	case "argv":
		return r.script(text, in)
	case "powershell":
		return r.windows().PowerShell(text, in)
	case "cmd":
		return r.windows().CmdExe(text, in)
	case "debugger":
		r.debugger(text)
	case "make":
		r.makefile(text)
	case "pager":
		r.pager(text)
	case "ssh-config":
		r.sshConfig(text, 0)
	case "redis":
		r.linesOf("redis-cli", text)
	case "tmux":
		r.tmuxConfig(text)
	case "other":
		s.Add(interlock.Impact{Kind: interlock.ImpactExecute, Target: "code", Reach: interlock.ReachWorkspace,
			Reversibility: interlock.Reversible, Confidence: interlock.Inferred, Traits: []string{fact.TraitInline}})
		r.mentionsShell(text)
		return r.foreign(kind, text)
	default:
		return r.foreign(kind, text)
	}
	return flow.Flow{}
}
