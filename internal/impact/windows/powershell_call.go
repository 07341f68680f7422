package windows

import (
	"strings"

	"interlock/internal/impact/fact"
	"interlock/internal/impact/flow"
	"interlock/internal/impact/know"
	"interlock/internal/lex"
)

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
			target = psField(flow.Join(target.one(), p.rest(true).one()))
		}
	default:
		target = psField(p.rest(false).one())
	}
	if target.block {
		args := p.arguments()
		return p.redirected(p.invoke(target.code, args, in))
	}
	f := target.one()
	if f.Text == "" && target.flow.Network {
		p.runs("&", target)
	}
	if dotted && strings.HasSuffix(strings.ToLower(f.Text), "1") && !f.Dynamic {
		p.arguments()
		p.r.Program([]flow.Field{f}, flow.Streams{})
		return psValue{}
	}
	return p.command(f, in, piped)
}

// command reads a command's arguments and runs it.
func (p *psRun) command(name flow.Field, in psValue, piped bool) psValue {
	args := p.arguments()
	if name.Text == "" && !name.Dynamic {
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
	for p.r.S.Spend(1) {
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
				p.sendTo(to, appends, psUnknown("$output", flow.Flow{}))
				continue
			}
		}
		start := p.at
		out = append(out, p.arg())
		if p.at == start {
			p.at++
		}
		if len(out) > fact.MaxList {
			p.at = len(p.text)
		}
	}
	return out
}

func (p *psRun) arg() psArg {
	c, next := p.peek(), p.peekAt(1)
	if c == '-' && (lex.IsNameStart(next) || next == '-' || next == '?') || c == 0xE2 && p.dash() {
		return p.parameter()
	}
	if c == '@' && isVariableByte(next) {
		p.at++
		return psArg{value: p.variable(p.variableName()), splat: true}
	}
	v := p.argument()
	for p.blank(false); p.peek() == ',' && p.r.S.Spend(1); p.blank(false) {
		p.at++
		p.blank(true)
		v = p.both(v, p.argument())
	}
	return psArg{value: v}
}

// dash reports whether one of the dashes that typesetters use is here, which PowerShell takes for a hyphen.
func (p *psRun) dash() bool {
	return p.at+2 < len(p.text) && p.text[p.at+1] == 0x80 && p.text[p.at+2] >= 0x93 && p.text[p.at+2] <= 0x95
}

// parameter reads -Name, -Name:value, or a word of another program's that begins with a dash.
func (p *psRun) parameter() psArg {
	if p.peek() != '-' {
		p.at += 2
		p.text = p.text[:p.at] + "-" + p.text[p.at+1:]
		p.r.S.Spend(len(p.text) / 64)
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
		a.value.items = append([]flow.Field(nil), a.value.items...)
		for i := range a.value.items {
			a.value.items[i].Odd = false
		}
		return a
	}
	whole := flow.Literal(p.text[start:p.at])
	if !wordEnds(p.peek()) {
		return psArg{value: psField(flow.Join(whole, p.rest(true).one()))}
	}
	a.value = psField(whole) // as it is written, for programs that are no cmdlets
	return a
}

// plainArgs are arguments as another program gets them.
func plainArgs(args []psArg) []flow.Field {
	var out []flow.Field
	for _, a := range args {
		switch {
		case a.attached:
			one := a.value.one()
			one.Text = a.name + ":" + one.Text
			out = append(out, one)
		case a.value.block:
			out = append(out, flow.Literal("{"+a.value.code+"}"))
		case len(a.value.items) == 0 && (a.value.class != "" || a.value.flow.Network):
			out = append(out, flow.Field{Text: "$(" + a.value.class + ")", Dynamic: true, Lead: true, Flow: a.value.flow})
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
	for i := 0; i < len(args) && i < fact.MaxList; i++ {
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
		items = []flow.Field{{Text: "$_", Dynamic: true, Lead: true, Flow: v.taint()}}
	}
	if len(items) > fact.MaxItems {
		items = items[:fact.MaxItems]
	}
	var out psValue
	p.r.Rounds++
	for i, one := range items {
		if i > 0 && p.r.Loops > 1 {
			break
		}
		p.r.Loops++
		elem := psField(one)
		if v.class != "" {
			elem.class = v.class
		}
		out = p.both(out, p.invoke(code, nil, elem))
		p.r.Loops--
	}
	p.r.Rounds--
	return out
}

// run runs one command: a function of the script, an alias, one the reader follows itself, a described one, a program.
func (p *psRun) run(name flow.Field, args []psArg, in psValue, piped bool) psValue {
	r := p.r
	if !r.S.Spend(len(args) + 1) {
		r.S.Unknown("powershell", fact.TraitWork)
		return psValue{}
	}
	if r.S.Trace != nil {
		r.S.Trace.Enter("command", flow.SpelledOut(append([]flow.Field{name}, plainArgs(args)...)))
		defer r.S.Trace.Leave()
	}
	io := flow.Streams{In: p.fed(in, piped)}
	for _, a := range args {
		io.Args.Taint(a.value.taint())
	}
	if name.Dynamic && (name.Lead || name.Text == "") {
		for _, a := range args {
			if a.value.block {
				p.invoke(a.value.code, nil, psValue{})
			}
		}
		return p.output(r.Computed(append([]flow.Field{name}, plainArgs(args)...), io))
	}
	low := strings.ToLower(name.Text)
	if body, ok := p.aliases[low]; ok && body != low {
		low = strings.ToLower(body)
		name.Text = body
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
	base, isPath := ProgramName(low)
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
func (p *psRun) fed(in psValue, piped bool) flow.Flow {
	out := in.asFlow()
	out.Piped = piped
	return out
}

func (p *psRun) output(out flow.Flow) psValue {
	v := psValue{flow: flow.TaintOnly(out)}
	switch {
	case out.Known && out.Text != "":
		v.items = []flow.Field{{Text: strings.TrimSuffix(out.Text, "\n")}}
	case len(out.Items) > 0:
		v.items = out.Items
	case out.Network || out.Secret || out.Decoded || out.Outside:
		return psUnknown("$output", out)
	}
	return v
}

// ProgramName is the name a program or script is known by: the last part of its path in lower case without .exe.
func ProgramName(low string) (name string, isPath bool) {
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
func (p *psRun) external(name flow.Field, base string, isPath bool, args []psArg, in psValue, io flow.Streams) psValue {
	r := p.r
	plain := append([]flow.Field{name}, plainArgs(args)...)
	r.Text(plain)
	spec := r.S.Know.Lookup("ps:" + base)
	if isPath || strings.HasSuffix(strings.ToLower(name.Text), ".exe") {
		spec = nil
	}
	if spec == nil {
		spec = r.S.Know.Lookup("win:" + base)
	}
	if spec == nil {
		spec = r.S.Know.Lookup(base)
	}
	if spec == nil {
		spec = CmdletByVerb(r.S.Know, base)
	}
	if spec != nil && spec.Style == "cmdlet" && spec.Wraps == "" {
		named := plain[0]
		named.Text = base
		u := p.bind(spec, args, in)
		out := p.output(r.Use(u, append([]flow.Field{named}, u.Operands...), io))
		if spec.Prints == "object" && len(u.Operands) > 0 {
			class := strings.ToLower(u.Operands[0].Text)
			out.class = "wmi:" + class[strings.LastIndexAny(class, `:\/ `)+1:]
		}
		return out
	}
	if isPath && !SystemProgram(name.Text) {
		out := r.Program(plain, io)
		if spec != nil {
			plain[0].Text = base
			out.Taint(r.Described(spec, plain, io))
		}
		return p.output(out)
	}
	plain[0].Text = base
	if spec == nil {
		plain[0].Text = name.Text
		return p.output(r.UnknownCommand(plain, io))
	}
	return p.output(r.Described(spec, plain, io))
}

// SystemProgram reports whether a path names a program where Windows keeps them.
func SystemProgram(name string) bool {
	low := strings.ReplaceAll(strings.ToLower(name), `\`, "/")
	return strings.HasPrefix(low, "c:/windows/") || strings.HasPrefix(low, "c:/program files") || strings.HasPrefix(low, "/") &&
		!strings.HasPrefix(low, "//")
}

// CmdletByVerb returns what is known of a cmdlet by its verb alone.
func CmdletByVerb(k *know.Knowledge, low string) *know.Command {
	verb, noun, ok := strings.Cut(low, "-")
	if !ok || len(verb) < 2 || noun == "" || strings.ContainsAny(low, "./\\") {
		return nil
	}
	return k.Lookup(verb + "-")
}
