package impact

import "strings"

// A psArg is one argument of a command: a value, or a parameter by name with or without one.
type psArg struct {
	name     string // lower case, with its dash; empty for a value alone
	value    psValue
	attached bool // -name:value
	splat    bool
}

// called runs what the call operator names: & 'x', . 'x', & { … }, & $name.
func (p *psRun) called(in psValue, piped, dotted bool) psValue {
	var target psValue
	switch c := p.peek(); {
	case c == '{' || c == '(' || c == '$' || c == '@' || c == '[':
		target = p.postfix(p.primary(), true)
		if c == '$' && !wordEnds(p.peek()) {
			target = psField(join(target.one(), p.rest(true).one()))
		}
	default:
		target = psField(p.rest(false).one())
	}
	if target.block {
		args := p.arguments()
		return p.redirected(p.invoke(target.code, args, in))
	}
	f := target.one()
	if f.text == "" && target.flow.network {
		p.runs("&", target)
	}
	if dotted && strings.HasSuffix(strings.ToLower(f.text), "1") && !f.dynamic {
		p.arguments()
		p.r.program([]field{f}, streams{})
		return psValue{}
	}
	return p.command(f, in, piped)
}

// command reads a command's arguments and runs it.
func (p *psRun) command(name field, in psValue, piped bool) psValue {
	args := p.arguments()
	if name.text == "" && !name.dynamic {
		return psValue{}
	}
	at, text := p.at, p.text
	out := p.run(name, args, in, piped)
	p.at, p.text = at, text
	return p.redirected(out)
}

// arguments reads up to the end of the command.
func (p *psRun) arguments() []psArg {
	var out []psArg
	for p.r.s.spend(1) {
		p.blank(false)
		c := p.peek()
		if c == 0 || strings.IndexByte("\n;|)}", c) >= 0 || c == '&' {
			return out
		}
		if c == ',' || c == ']' {
			p.at++
			continue
		}
		if c == '>' || (c == '*' || c >= '1' && c <= '6') && p.peekAt(1) == '>' {
			if to, appends, ok := p.redirection(); ok {
				p.sendTo(to, appends, psUnknown("$output", flow{}))
				continue
			}
		}
		start := p.at
		out = append(out, p.arg())
		if p.at == start {
			p.at++
		}
		if len(out) > maxList {
			p.at = len(p.text)
		}
	}
	return out
}

func (p *psRun) arg() psArg {
	c, next := p.peek(), p.peekAt(1)
	if c == '-' && (isNameStart(next) || next == '-' || next == '?') || c == 0xE2 && p.dash() {
		return p.parameter()
	}
	if c == '@' && isVariableByte(next) {
		p.at++
		return psArg{value: p.variable(p.variableName()), splat: true}
	}
	v := p.argument()
	for p.blank(false); p.peek() == ',' && p.r.s.spend(1); p.blank(false) {
		p.at++
		p.blank(true)
		v = p.both(v, p.argument())
	}
	return psArg{value: v}
}

// dash reports whether one of the dashes that typesetters use stands here, which PowerShell takes for a hyphen.
func (p *psRun) dash() bool {
	return p.at+2 < len(p.text) && p.text[p.at+1] == 0x80 && p.text[p.at+2] >= 0x93 && p.text[p.at+2] <= 0x95
}

// parameter reads -Name, -Name:value, or a word of another program's that begins with a dash.
func (p *psRun) parameter() psArg {
	if p.peek() != '-' {
		p.at += 2
		p.text = p.text[:p.at] + "-" + p.text[p.at+1:]
		p.r.s.spend(len(p.text) / 64)
	}
	start := p.at
	for p.at < len(p.text) && !wordEnds(p.text[p.at]) && strings.IndexByte(":'\"$`=", p.text[p.at]) < 0 {
		p.at++
	}
	a := psArg{name: strings.ToLower(p.text[start:p.at])}
	if p.peek() == ':' {
		p.at++
		p.blank(false)
		a.attached = true
		if !wordEnds(p.peek()) || p.peek() == '(' || p.peek() == '{' {
			a.value = p.argument()
		}
		a.value.items = append([]field(nil), a.value.items...)
		for i := range a.value.items {
			a.value.items[i].odd = false
		}
		return a
	}
	whole := literal(p.text[start:p.at])
	if !wordEnds(p.peek()) {
		return psArg{value: psField(join(whole, p.rest(true).one()))}
	}
	a.value = psField(whole) // as it is written, for programs that are no cmdlets
	return a
}

// plain are arguments as another program gets them.
func plainArgs(args []psArg) []field {
	var out []field
	for _, a := range args {
		switch {
		case a.attached:
			one := a.value.one()
			one.text = a.name + ":" + one.text
			out = append(out, one)
		case a.value.block:
			out = append(out, literal("{"+a.value.code+"}"))
		case len(a.value.items) == 0 && (a.value.class != "" || a.value.flow.network):
			out = append(out, field{text: "$(" + a.value.class + ")", dynamic: true, lead: true, flow: a.value.flow})
		default:
			out = append(out, a.value.fields()...)
		}
	}
	return out
}

// invoke walks a block with arguments.
func (p *psRun) invoke(code string, args []psArg, in psValue) psValue {
	var saved []psPair
	keep := func(name string, v psValue) {
		saved = append(saved, psPair{name, p.vars[name]})
		p.vars[name] = v
	}
	var rest psValue
	for i := 0; i < len(args) && i < maxList; i++ {
		a := args[i]
		switch {
		case a.splat && a.value.pairs != nil:
			for _, pair := range a.value.pairs {
				keep("-"+pair.name, pair.value)
			}
		case a.name == "" || a.splat:
			rest = p.both(rest, a.value)
		case a.attached:
			keep("-"+a.name[1:], a.value)
		case i+1 < len(args) && args[i+1].name == "":
			keep("-"+a.name[1:], args[i+1].value)
			i++
		}
	}
	keep("args", rest)
	if !in.empty() {
		keep("_", in)
		keep("psitem", in)
		keep("input", in)
	}
	out := p.inner(code)
	for i := len(saved) - 1; i >= 0; i-- {
		if v := saved[i].value; v.empty() && !v.array {
			delete(p.vars, saved[i].name)
		} else {
			p.vars[saved[i].name] = v
		}
	}
	return out
}

// each1 walks a block for the elements of a value: for a few of them, or for what they have in common.
func (p *psRun) each1(v psValue, code string) psValue {
	items := v.fields()
	if len(items) == 0 {
		items = []field{{text: "$_", dynamic: true, lead: true, flow: v.taint()}}
	}
	if len(items) > maxItems {
		items = items[:maxItems]
	}
	var out psValue
	p.r.rounds++
	for i, one := range items {
		if i > 0 && p.r.loops > 1 {
			break
		}
		p.r.loops++
		elem := psField(one)
		if v.class != "" {
			elem.class = v.class
		}
		out = p.both(out, p.invoke(code, nil, elem))
		p.r.loops--
	}
	p.r.rounds--
	return out
}

// run runs one command: a function of the script, an alias, one the reader follows itself, a described one, a program.
func (p *psRun) run(name field, args []psArg, in psValue, piped bool) psValue {
	r := p.r
	if !r.s.spend(len(args) + 1) {
		r.s.unknown("powershell", TraitWork)
		return psValue{}
	}
	if r.s.trace != nil {
		r.s.trace.enter("command", spelledOut(append([]field{name}, plainArgs(args)...)))
		defer r.s.trace.leave()
	}
	io := streams{in: p.fed(in, piped)}
	for _, a := range args {
		io.args.taint(a.value.taint())
	}
	if name.dynamic && (name.lead || name.text == "") {
		for _, a := range args {
			if a.value.block {
				p.invoke(a.value.code, nil, psValue{})
			}
		}
		return p.output(r.computed(append([]field{name}, plainArgs(args)...), io))
	}
	low := strings.ToLower(name.text)
	if body, ok := p.aliases[low]; ok && body != low {
		low = strings.ToLower(body)
		name.text = body
	}
	if code, ok := p.blocks[low]; ok {
		if p.active[low] {
			return psUnknown("$("+low+")", in.taint())
		}
		p.active[low] = true
		out := p.invoke(code, args, in)
		delete(p.active, low)
		return out
	}
	base, isPath := programName(low)
	if b := p.builtin(base); b != nil && (!isPath || base == "powershell" || base == "pwsh" || base == "cmd") {
		return b(p, name, args, in, io)
	}
	for _, a := range args {
		if a.value.block && !strings.HasPrefix(base, "where") && !strings.HasPrefix(base, "foreach") {
			p.invoke(a.value.code, nil, in)
		}
	}
	return p.external(name, base, isPath, args, in, io)
}

// fed is a pipeline's value as standard input.
func (p *psRun) fed(in psValue, piped bool) flow {
	out := in.asFlow()
	out.piped = piped
	return out
}

func (p *psRun) output(out flow) psValue {
	v := psValue{flow: taintOnly(out)}
	switch {
	case out.known && out.text != "":
		v.items = []field{{text: strings.TrimSuffix(out.text, "\n")}}
	case len(out.items) > 0:
		v.items = out.items
	case out.network || out.secret || out.decoded || out.outside:
		return psUnknown("$output", out)
	}
	return v
}

// programName is the name a program or script is known by: the last part of its path in lower case without .exe.
func programName(low string) (name string, isPath bool) {
	low = strings.ReplaceAll(low, `\`, "/")
	for _, suffix := range [...]string{".exe", ".com"} {
		low = strings.TrimSuffix(low, suffix)
	}
	if i := strings.LastIndexByte(low, '/'); i >= 0 {
		return low[i+1:], true
	}
	return low, false
}

// external runs a described command, a cmdlet known by its verb, or a program by its path.
func (p *psRun) external(name field, base string, isPath bool, args []psArg, in psValue, io streams) psValue {
	r := p.r
	plain := append([]field{name}, plainArgs(args)...)
	r.text(plain)
	spec := r.s.know.lookup("ps:" + base)
	if isPath || strings.HasSuffix(strings.ToLower(name.text), ".exe") {
		spec = nil
	}
	if spec == nil {
		spec = r.s.know.lookup("win:" + base)
	}
	if spec == nil {
		spec = r.s.know.lookup(base)
	}
	if spec == nil {
		spec = r.s.know.cmdletByVerb(base)
	}
	if spec != nil && spec.style == "cmdlet" && spec.wraps == "" {
		named := plain[0]
		named.text = base
		u := p.bind(spec, args, in)
		out := p.output(r.use(u, append([]field{named}, u.operands...), io))
		if spec.prints == "object" && len(u.operands) > 0 {
			class := strings.ToLower(u.operands[0].text)
			out.class = "wmi:" + class[strings.LastIndexAny(class, `:\/ `)+1:]
		}
		return out
	}
	if isPath && !windowsSystemProgram(name.text) {
		out := r.program(plain, io)
		if spec != nil {
			plain[0].text = base
			out.taint(r.described(spec, plain, io))
		}
		return p.output(out)
	}
	plain[0].text = base
	if spec == nil {
		plain[0].text = name.text
		return p.output(r.unknownCommand(plain, io))
	}
	return p.output(r.described(spec, plain, io))
}

// windowsSystemProgram reports whether a path names a program where Windows keeps them.
func windowsSystemProgram(name string) bool {
	low := strings.ReplaceAll(strings.ToLower(name), `\`, "/")
	return strings.HasPrefix(low, "c:/windows/") || strings.HasPrefix(low, "c:/program files") || strings.HasPrefix(low, "/") && !strings.HasPrefix(low, "//")
}

// cmdletByVerb returns what is known of a cmdlet by its verb alone.
func (k *Knowledge) cmdletByVerb(low string) *command {
	verb, noun, ok := strings.Cut(low, "-")
	if !ok || len(verb) < 2 || noun == "" || strings.ContainsAny(low, "./\\") {
		return nil
	}
	return k.lookup(verb + "-")
}
