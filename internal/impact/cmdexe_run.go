package impact

import (
	"strings"

	"interlock"
)

// simple runs one command.
func (c *cmdRun) simple(text string, in flow) flow {
	text = c.expand(text)
	words, io := c.words(text, streams{in: in})
	if len(words) == 0 {
		return flow{}
	}
	words = spelledApart(words)
	out := c.run(words, text, io)
	return c.r.deliver(io, out)
}

// spelledApart splits what needs no blank after its name, del/f or cd.., and switches run together, /f/q.
func spelledApart(words []field) []field {
	first := words[0]
	if i := strings.IndexAny(first.text, `/.\(`); i > 0 && !first.dynamic && !(first.text[i] == '.' && i+1 < len(first.text) && isNameStart(first.text[i+1])) {
		switch name := strings.ToLower(first.text[:i]); name {
		case "del", "erase", "rd", "rmdir", "dir", "cd", "md", "copy", "move", "echo", "start", "call", "cmd", "type", "set", "if", "for", "reg", "net":
			rest := first
			rest.text = first.text[i:]
			if name == "echo" {
				rest.text = rest.text[1:]
			}
			first.text = name
			words = append([]field{first, rest}, words[1:]...)
		}
	}
	out := make([]field, 0, len(words)+2)
	for i, w := range words {
		if i > 0 && len(w.text) > 3 && len(w.text)%2 == 0 && w.text[0] == '/' && !w.dynamic {
			parts := strings.Split(w.text[1:], "/")
			short := true
			for _, part := range parts {
				short = short && len(part) == 1
			}
			if short {
				for _, part := range parts {
					out = append(out, literal("/"+part))
				}
				continue
			}
		}
		out = append(out, w)
	}
	return out
}

// run runs a command's words.
func (c *cmdRun) run(words []field, raw string, io streams) flow {
	r := c.r
	if r.s.trace != nil {
		r.s.trace.enter("command", spelledOut(words))
		defer r.s.trace.leave()
	}
	low := strings.ToLower(words[0].text)
	base, isPath := programName(low)
	args := words[1:]
	for _, a := range words {
		io.args.taint(a.flow)
	}
	switch base {
	case "echo", "echo.", "echo:":
		return r.says(args, io, false, true)
	case "set", "setx":
		if base == "set" {
			return c.set(raw)
		}
	case "cd", "chdir", "pushd":
		for _, a := range args {
			if !strings.EqualFold(a.text, "/d") {
				r.stack = append(r.stack, r.s.dir)
				r.chdir(a)
			}
		}
		return flow{}
	case "popd":
		if n := len(r.stack); n > 0 {
			r.stack, r.s.dir = r.stack[:n-1], r.stack[n-1]
		}
		return flow{}
	case "call":
		if len(args) > 0 && !strings.HasPrefix(args[0].text, ":") {
			return c.run(spelledApart(args), raw, io)
		}
		return flow{}
	case "start":
		return c.start(args, raw, io)
	case "cmd":
		r.text(words)
		return r.cmdArguments([]field{literal(afterWord(raw))}, io)
	case "if", "for", "goto", "exit", "setlocal", "endlocal", "shift", "pause", "title", "cls", "color", "verify", "break":
		return flow{}
	case "powershell", "pwsh":
		r.text(words)
		return r.windowsLine(base, field{text: afterWord(raw), flow: taintOnly(io.args)}, io)
	}
	if words[0].dynamic && words[0].lead {
		return r.computed(words, io)
	}
	return c.program(words, base, isPath, io)
}

// program runs a described command or a program by its path.
func (c *cmdRun) program(words []field, base string, isPath bool, io streams) flow {
	r := c.r
	r.text(words)
	if !isPath && r.wrote(words[0].text) {
		return r.program(words, io)
	}
	spec := r.s.know.lookup("cmd:" + base)
	if isPath || spec == nil {
		spec = r.s.know.lookup("win:" + base)
	}
	if spec == nil {
		spec = r.s.know.lookup(base)
	}
	if isPath && !windowsSystemProgram(words[0].text) {
		out := r.program(words, io)
		if spec != nil {
			words[0].text = base
			out.taint(r.described(spec, words, io))
		}
		return out
	}
	if spec == nil {
		return r.unknownCommand(words, io)
	}
	words[0].text = base
	return r.described(spec, words, io)
}

// afterWord is a command line without its first word.
func afterWord(raw string) string {
	raw = strings.TrimLeft(raw, " \t@")
	quoted := false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case c == '"':
			quoted = !quoted
		case !quoted && (isBlank(c) || c == '/' && i > 0):
			return strings.TrimSpace(raw[i:])
		}
	}
	return ""
}

// start runs a program as start does, past its title and switches.
func (c *cmdRun) start(args []field, raw string, io streams) flow {
	rest := strings.TrimSpace(afterWord(raw))
	if strings.HasPrefix(rest, `"`) && len(args) > 1 {
		args = args[1:] // the window's title
	}
	for len(args) > 0 && strings.HasPrefix(args[0].text, "/") {
		if strings.EqualFold(args[0].text, "/d") && len(args) > 1 {
			args = args[1:]
		}
		args = args[1:]
	}
	if len(args) == 0 {
		return flow{}
	}
	if strings.Contains(args[0].text, "://") {
		if low := strings.ToLower(args[0].text); !strings.HasPrefix(low, "http") { // a page is looked at; what else has a scheme is acted on
			c.r.loads([]field{literal("start"), args[0]}, io)
		}
		return flow{}
	}
	return c.run(args, joinWindows(args), io)
}

// set gives a variable a value.
func (c *cmdRun) set(raw string) flow {
	rest := strings.TrimSpace(afterWord(raw))
	if low := strings.ToLower(rest); strings.HasPrefix(low, "/a") || strings.HasPrefix(low, "/p") {
		rest = strings.TrimSpace(rest[2:])
		if name, _, ok := strings.Cut(strings.Trim(rest, `"`), "="); ok && len(c.vars) < maxList {
			c.vars[strings.ToLower(strings.TrimSpace(name))] = field{text: "%" + name + "%", dynamic: true, lead: true}
		}
		return flow{}
	}
	if strings.HasPrefix(rest, `"`) {
		rest = strings.Trim(rest, `"`)
	}
	if name, text, ok := strings.Cut(rest, "="); ok && len(c.vars) < maxList {
		f := literal(strings.ReplaceAll(text, "^", ""))
		name = strings.TrimSpace(name)
		c.vars[strings.ToLower(name)] = f
		c.r.exported(strings.ToUpper(name), f)
	}
	return flow{}
}

// redirect sends output to a file, or takes input from one.
func (c *cmdRun) redirect(io *streams, op string, number string, f field) {
	if f.text == "" || strings.HasPrefix(f.text, "&") {
		return
	}
	p := c.r.placeOf(f, true)
	if quietDevice(p.Path) || strings.EqualFold(f.text, "nul") || strings.EqualFold(f.text, "con") {
		io.quiet = io.quiet || op != "<" && (number == "" || number == "1")
		return
	}
	if op == "<" {
		c.r.s.touchPlace(p, interlock.Impact{Kind: interlock.ImpactRead, Via: "<"})
		io.in, io.file = c.r.stored(f, p), true
		return
	}
	i := interlock.Impact{Kind: interlock.ImpactWrite, Via: op, Traits: []string{TraitOverwrite}}
	if op == ">>" {
		i.Traits = []string{TraitAppend}
	}
	c.r.s.touchPlace(p, i)
	if number == "" || number == "1" {
		io.out, io.quiet = append(io.out, p.Path), true
	}
}
