package windows

import (
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/flow"
	"interlock/internal/impact/place"
	"interlock/internal/lex"
)

// simple runs one command.
func (c *cmdRun) simple(text string, in flow.Flow) flow.Flow {
	text = c.expand(text)
	words, io := c.words(text, flow.Streams{In: in})
	if len(words) == 0 {
		return flow.Flow{}
	}
	words = spelledApart(words)
	out := c.run(words, text, io)
	return c.r.Deliver(io, out)
}

// spelledApart splits what needs no blank after its name, del/f or cd.., and switches run together, /f/q.
func spelledApart(words []flow.Field) []flow.Field {
	first := words[0]
	if i := strings.IndexAny(first.Text, `/.\(`); i > 0 && !first.Dynamic &&
		!(first.Text[i] == '.' && i+1 < len(first.Text) && lex.IsNameStart(first.Text[i+1])) {
		switch name := strings.ToLower(first.Text[:i]); name {
		case "del", "erase", "rd", "rmdir", "dir", "cd", "md", "copy", "move", "echo", "start", "call", "cmd", "type", "set",
			"if", "for", "reg", "net":
			rest := first
			rest.Text = first.Text[i:]
			if name == "echo" {
				rest.Text = rest.Text[1:]
			}
			first.Text = name
			words = append([]flow.Field{first, rest}, words[1:]...)
		}
	}
	out := make([]flow.Field, 0, len(words)+2)
	for i, w := range words {
		if i > 0 && len(w.Text) > 3 && len(w.Text)%2 == 0 && w.Text[0] == '/' && !w.Dynamic {
			parts := strings.Split(w.Text[1:], "/")
			short := true
			for _, part := range parts {
				short = short && len(part) == 1
			}
			if short {
				for _, part := range parts {
					out = append(out, flow.Literal("/"+part))
				}
				continue
			}
		}
		out = append(out, w)
	}
	return out
}

// run runs a command's words.
func (c *cmdRun) run(words []flow.Field, raw string, io flow.Streams) flow.Flow {
	r := c.r
	if r.S.Trace != nil {
		r.S.Trace.Enter("command", flow.SpelledOut(words))
		defer r.S.Trace.Leave()
	}
	low := strings.ToLower(words[0].Text)
	base, isPath := ProgramName(low)
	args := words[1:]
	for _, a := range words {
		io.Args.Taint(a.Flow)
	}
	switch base {
	case "echo", "echo.", "echo:":
		return r.Says(args, io, false, true)
	case "set", "setx":
		if base == "set" {
			return c.set(raw)
		}
	case "cd", "chdir", "pushd":
		for _, a := range args {
			if !strings.EqualFold(a.Text, "/d") {
				r.Stack = append(r.Stack, r.S.Dir)
				r.Chdir(a)
			}
		}
		return flow.Flow{}
	case "popd":
		if n := len(r.Stack); n > 0 {
			r.Stack, r.S.Dir = r.Stack[:n-1], r.Stack[n-1]
		}
		return flow.Flow{}
	case "call":
		if len(args) > 0 && !strings.HasPrefix(args[0].Text, ":") && r.S.Spend(len(args)) {
			return c.run(spelledApart(args), raw, io)
		}
		return flow.Flow{}
	case "start":
		return c.start(args, raw, io)
	case "cmd":
		r.Text(words)
		return r.CmdArguments([]flow.Field{flow.Literal(afterWord(raw))}, io)
	case "if", "for", "goto", "exit", "setlocal", "endlocal", "shift", "pause", "title", "cls", "color", "verify", "break":
		return flow.Flow{}
	case "powershell", "pwsh":
		r.Text(words)
		return r.windowsLine(base, flow.Field{Text: afterWord(raw), Flow: flow.TaintOnly(io.Args)}, io)
	}
	if words[0].Dynamic && words[0].Lead {
		return r.Computed(words, io)
	}
	return c.program(words, base, isPath, io)
}

// program runs a described command or a program by its path.
func (c *cmdRun) program(words []flow.Field, base string, isPath bool, io flow.Streams) flow.Flow {
	r := c.r
	r.Text(words)
	if !isPath && r.Wrote(words[0].Text) {
		return r.Program(words, io)
	}
	spec := r.S.Know.Lookup("cmd:" + base)
	if isPath || spec == nil {
		spec = r.S.Know.Lookup("win:" + base)
	}
	if spec == nil {
		spec = r.S.Know.Lookup(base)
	}
	if isPath && !SystemProgram(words[0].Text) {
		out := r.Program(words, io)
		if spec != nil {
			words[0].Text = base
			out.Taint(r.Described(spec, words, io))
		}
		return out
	}
	if spec == nil {
		return r.UnknownCommand(words, io)
	}
	words[0].Text = base
	return r.Described(spec, words, io)
}

// afterWord is a command line without its first word.
func afterWord(raw string) string {
	raw = strings.TrimLeft(raw, " \t@")
	quoted := false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case c == '"':
			quoted = !quoted
		case !quoted && (lex.IsBlank(c) || c == '/' && i > 0):
			return strings.TrimSpace(raw[i:])
		}
	}
	return ""
}

// start runs a program as start does, past its title and switches.
func (c *cmdRun) start(args []flow.Field, raw string, io flow.Streams) flow.Flow {
	c.r.S.Spend(len(args) + len(raw)/64)
	rest := strings.TrimSpace(afterWord(raw))
	if strings.HasPrefix(rest, `"`) && len(args) > 1 {
		args = args[1:] // the window's title
	}
	for len(args) > 0 && strings.HasPrefix(args[0].Text, "/") {
		if strings.EqualFold(args[0].Text, "/d") && len(args) > 1 {
			args = args[1:]
		}
		args = args[1:]
	}
	if len(args) == 0 {
		return flow.Flow{}
	}
	if strings.Contains(args[0].Text, "://") {
		// a page is looked at; what else has a scheme is acted on
		if low := strings.ToLower(args[0].Text); !strings.HasPrefix(low, "http") {
			c.r.Loads([]flow.Field{flow.Literal("start"), args[0]}, io)
		}
		return flow.Flow{}
	}
	return c.run(args, joinWindows(args), io)
}

// set gives a variable a value.
func (c *cmdRun) set(raw string) flow.Flow {
	rest := strings.TrimSpace(afterWord(raw))
	if low := strings.ToLower(rest); strings.HasPrefix(low, "/a") || strings.HasPrefix(low, "/p") {
		rest = strings.TrimSpace(rest[2:])
		if name, _, ok := strings.Cut(strings.Trim(rest, `"`), "="); ok && len(c.vars) < fact.MaxList {
			c.vars[strings.ToLower(strings.TrimSpace(name))] = flow.Field{Text: "%" + name + "%", Dynamic: true, Lead: true}
		}
		return flow.Flow{}
	}
	if strings.HasPrefix(rest, `"`) {
		rest = strings.Trim(rest, `"`)
	}
	if name, text, ok := strings.Cut(rest, "="); ok && len(c.vars) < fact.MaxList {
		f := flow.Literal(strings.ReplaceAll(text, "^", ""))
		name = strings.TrimSpace(name)
		c.vars[strings.ToLower(name)] = f
		c.r.Exported(strings.ToUpper(name), f)
	}
	return flow.Flow{}
}

// redirect sends output to a file, or takes input from one.
func (c *cmdRun) redirect(io *flow.Streams, op string, number string, f flow.Field) {
	if f.Text == "" || strings.HasPrefix(f.Text, "&") {
		return
	}
	p := c.r.PlaceOf(f, true)
	if place.QuietDevice(p.Path) || strings.EqualFold(f.Text, "nul") || strings.EqualFold(f.Text, "con") {
		io.Quiet = io.Quiet || op != "<" && (number == "" || number == "1")
		return
	}
	if op == "<" {
		c.r.S.TouchPlace(p, interlock.Impact{Kind: interlock.ImpactRead, Via: "<"})
		io.In, io.File = c.r.Stored(f, p), true
		return
	}
	i := interlock.Impact{Kind: interlock.ImpactWrite, Via: op, Traits: []string{fact.TraitOverwrite}}
	if op == ">>" {
		i.Traits = []string{fact.TraitAppend}
	}
	c.r.S.TouchPlace(p, i)
	if number == "" || number == "1" {
		io.Out, io.Quiet = append(io.Out, p.Path), true
	}
}
