package windows

import (
	"slices"
	"strings"

	"interlock/internal/impact/fact"
	"interlock/internal/impact/flow"
	"interlock/internal/lex"
)

// A psRun reads PowerShell: statements are walked where they stand, so that what a variable holds, which functions are
// defined and where the script is are followed as in a shell. What is not known stays written as it was. Everything a
// statement could run is run once: both branches of an if, the body of a loop, the block behind a cmdlet.
type psRun struct {
	r       *Run
	text    string
	at      int
	vars    map[string]psValue
	blocks  map[string]string // functions, by lower-case name
	active  map[string]bool   // functions being walked
	aliases map[string]string
	holder  string // the variable read last
	broken  bool   // a bracket or quote is never closed
}

// A psValue is what an expression gives, as far as it is known.
type psValue struct {
	items []flow.Field // its elements
	array bool         // it is a list, even of one element
	code  string       // a script block's text
	block bool         // it is a script block
	class string       // lower-case name of the type it is an object of, or of the type it names
	named bool         // it is the type itself
	pairs []psPair     // a hash table
	flow  flow.Flow    // what flowed into it that no element carries
}

type psPair struct {
	name  string
	value psValue
}

func psText(text string) psValue { return psValue{items: []flow.Field{{Text: text}}} }

func psField(f flow.Field) psValue { return psValue{items: []flow.Field{f}} }

// psUnknown is a value that shows only when the script runs; text is how it is written.
func psUnknown(text string, from flow.Flow) psValue {
	if len(text) > 60 {
		text = strings.ToValidUTF8(text[:57], "") + "..."
	}
	if text == "" {
		text = "$_"
	}
	return psValue{items: []flow.Field{{Text: text, Dynamic: true, Lead: true, Flow: flow.TaintOnly(from)}}}
}

// one is a value as a single argument: its elements with blanks between them.
func (v psValue) one() flow.Field {
	if len(v.items) == 0 {
		return flow.Field{Flow: v.flow}
	}
	f := v.items[0]
	for _, next := range v.items[1:] {
		f = flow.Join(flow.Join(f, flow.Literal(" ")), next)
	}
	f.Flow.Taint(v.flow)
	return f
}

// fields are a value's elements as arguments.
func (v psValue) fields() []flow.Field {
	out := append([]flow.Field(nil), v.items...)
	for i := range out {
		out[i].Flow.Taint(v.flow)
	}
	return out
}

// taint is everything that flowed into a value.
func (v psValue) taint() flow.Flow {
	out := v.flow
	out.Items, out.Text, out.Known = nil, "", false
	for i := range v.items {
		out.Taint(v.items[i].Flow)
	}
	return out
}

func (v psValue) empty() bool {
	return len(v.items) == 0 && !v.block && v.class == "" && v.pairs == nil && !v.flow.Network
}

// PowerShell walks a PowerShell script.
func (r *Run) PowerShell(text string, in flow.Flow) (out flow.Flow) {
	s := r.S
	defer r.giveUp("powershell", r.Steps, r.ps, r.batch, s.Windows, r.Src, &out)()
	if reason := s.Enter(text); reason != "" {
		s.Unknown("powershell", reason)
		return flow.Flow{}
	}
	defer s.Leave()
	if s.Trace != nil {
		s.Trace.Enter("powershell", text)
		defer s.Trace.Leave()
	}
	windows, src := s.Windows, r.Src
	s.Windows, r.Src = true, text
	p := &psRun{r: r, text: text, vars: map[string]psValue{}, blocks: map[string]string{}, active: map[string]bool{},
		aliases: map[string]string{}}
	if r.ps != nil {
		p.vars, p.blocks, p.aliases, p.active = r.ps.vars, r.ps.blocks, r.ps.aliases, r.ps.active
	}
	outer := r.ps
	r.ps = p
	if in.Known || in.Piped || in.Network {
		p.vars["input"] = psValue{items: []flow.Field{{Text: in.Text, Dynamic: !in.Known, Lead: !in.Known,
			Flow: flow.TaintOnly(in)}}}
	}
	value := p.statements(0)
	if p.broken {
		s.Unknown("powershell", fact.TraitUnparsable)
	}
	if !s.Spend(0) {
		s.Unknown("powershell", fact.TraitWork)
	}
	r.ps = outer
	s.Windows, r.Src = windows, src
	return value.asFlow()
}

// giveUp is deferred by the readers of Windows' shells: a place they can't go on from is input that is not understood, and
// the analysis goes on after it.
func (r *Run) giveUp(via string, steps int, ps *psRun, batch *cmdRun, windows bool, src string, out *flow.Flow) func() {
	return func() {
		if r.S.Strict {
			return
		}
		switch v := recover().(type) {
		case nil:
			return
		case fact.Ended: // the whole analysis ends, not only this reader
			panic(v)
		}
		r.Steps, r.ps, r.batch, r.Src, r.S.Windows = steps, ps, batch, src, windows
		r.S.Unknown(via, fact.TraitUnparsable)
		*out = flow.Flow{}
	}
}

// asFlow is a value as the output of a command.
func (v psValue) asFlow() flow.Flow {
	out := v.taint()
	if len(v.items) == 0 {
		return out
	}
	out.Known = true
	var b strings.Builder
	for i, f := range v.items {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(f.Text)
		out.Known = out.Known && !f.Dynamic && !f.Glob && b.Len() <= lex.MaxText
	}
	out.Text = b.String()
	if !out.Known {
		out.Text, out.Items = "", v.items
	}
	return out
}

// inner walks text as part of the same script: a block, a function's body.
func (p *psRun) inner(text string) psValue {
	if !p.deeper() || !p.r.S.Spend(len(text)/16+1) {
		return psUnknown("{...}", flow.Flow{})
	}
	outer, at := p.text, p.at
	p.text, p.at = text, 0
	out := p.statements(0)
	p.text, p.at = outer, at
	p.r.Steps--
	return out
}

// deeper goes one step further in, or records that the input nests beyond the bound and gives the rest up.
func (p *psRun) deeper() bool {
	if p.r.Steps >= fact.MaxSteps {
		p.r.S.Unknown("powershell", fact.TraitNested)
		p.at = len(p.text)
		return false
	}
	p.r.Steps++
	return true
}

func (p *psRun) peek() byte { return p.peekAt(0) }

func (p *psRun) peekAt(n int) byte {
	if p.at+n < len(p.text) {
		return p.text[p.at+n]
	}
	return 0
}

// blank skips blanks, comments and continued lines; with lines also the ends of statements.
func (p *psRun) blank(lines bool) {
	p.at = min(p.at, len(p.text)) // an escape at the end reaches past it
	for p.at < len(p.text) {
		switch c := p.text[p.at]; {
		case c == ' ' || c == '\t' || c == '\r' || lines && (c == '\n' || c == ';'):
			p.at++
		case c == '`' && (p.peekAt(1) == '\n' || p.peekAt(1) == '\r'):
			p.at += 2
		case c == '#':
			p.at = lex.EndOfLine(p.text, p.at)
		case c == '<' && p.peekAt(1) == '#':
			end := strings.Index(p.text[p.at:], "#>")
			if end < 0 {
				p.broken, p.at = true, len(p.text)
				return
			}
			p.at += end + 2
		case c == 0xC2 && p.peekAt(1) == 0xA0: // a no-break space is a blank there
			p.at += 2
		default:
			return
		}
	}
}

// statements walks statements up to a closing bracket, or to the end of the text for 0.
func (p *psRun) statements(end byte) psValue {
	var out psValue
	if !p.deeper() {
		return out
	}
	defer func() { p.r.Steps-- }()
	for n := 0; ; n++ {
		p.blank(true)
		if p.at >= len(p.text) {
			p.broken = p.broken || end != 0
			return out
		}
		if end != 0 && p.text[p.at] == end {
			p.at++
			return out
		}
		if !p.r.S.Spend(1) {
			p.r.S.Unknown("powershell", fact.TraitWork)
			p.at = len(p.text)
			return out
		}
		start := p.at
		one := p.statement()
		if n == 0 || out.empty() {
			out = one
		} else if !one.empty() {
			out = p.both(out, one)
		}
		if p.at == start {
			p.at++ // something that belongs nowhere
		}
	}
}

// both is the output of one statement followed by another's.
func (p *psRun) both(a, b psValue) psValue {
	out := psValue{items: a.items, array: true, flow: a.flow}
	switch n := len(a.items) + len(b.items); {
	case n > fact.MaxList || !p.r.S.Spend(n/4):
		out.items = slices.Concat(a.items, b.items[:min(1, len(b.items))])[:1]
	case len(b.items) > 0:
		out.items = slices.Concat(a.items, b.items)
	}
	out.flow.Taint(b.flow)
	return out
}

// word reads the letters at the current place without moving.
func (p *psRun) word() string {
	p.at = min(p.at, len(p.text))
	end := p.at
	for end < len(p.text) && end < p.at+16 && p.text[end]|0x20 >= 'a' && p.text[end]|0x20 <= 'z' {
		end++
	}
	if end < len(p.text) && (p.text[end] == '-' || p.text[end] == '.' || p.text[end] == '_' || p.text[end] == '\\' ||
		p.text[end] >= '0' && p.text[end] <= '9') {
		return ""
	}
	return strings.ToLower(p.text[p.at:end])
}

func (p *psRun) statement() psValue {
	word := p.word()
	switch word {
	case "if", "elseif", "while", "switch", "until", "foreach", "for":
		if p.opens(word) {
			return p.conditional(word)
		}
	case "else", "do", "try", "finally", "begin", "process", "end", "catch", "clean", "trap":
		if v, ok := p.clause(word); ok {
			return v
		}
	case "function", "filter", "workflow":
		return p.function(word)
	case "class", "enum", "interface":
		p.at += len(word)
		if open := strings.IndexByte(p.text[p.at:], '{'); open >= 0 {
			p.at += open + 1
			p.balanced('{', '}')
		}
		return psValue{}
	case "param":
		p.at += len(word)
		p.blank(true)
		if p.peek() == '(' {
			p.at++
			p.parameters()
		}
		return psValue{}
	case "return", "throw", "exit":
		p.at += len(word)
		p.blank(false)
		if c := p.peek(); c == 0 || strings.IndexByte(";}\n)", c) >= 0 {
			return psValue{}
		}
		return p.chain()
	case "break", "continue", "using":
		p.at = endOfStatement(p.text, p.at)
		return psValue{}
	}
	if p.peek() == ':' && lex.IsNameStart(p.peekAt(1)) { // a loop's label
		p.at++
		p.at += len(p.bare())
		return psValue{}
	}
	return p.chain()
}

// opens reads the word of a condition and the bracket it begins with, if there is one.
func (p *psRun) opens(word string) bool {
	start := p.at
	p.at += len(word)
	p.blank(false)
	for word == "switch" && p.peek() == '-' {
		p.at += len(p.bare())
		p.blank(false)
	}
	if p.peek() != '(' {
		p.at = start
		return false
	}
	p.at++
	return true
}

// clause reads a word that a block follows, with the block, if one does.
func (p *psRun) clause(word string) (psValue, bool) {
	start := p.at
	p.at += len(word)
	p.blank(true)
	for (word == "catch" || word == "trap") && p.peek() == '[' {
		p.skipTo(']')
		p.blank(true)
		if p.peek() == ',' {
			p.at++
			p.blank(true)
		}
	}
	if word == "else" && p.word() == "if" {
		return p.statement(), true
	}
	if p.peek() == '{' {
		p.at++
		return p.statements('}'), true
	}
	p.at = start
	return psValue{}, false
}

func endOfStatement(text string, at int) int {
	for at < len(text) && strings.IndexByte(";\n}", text[at]) < 0 {
		at++
	}
	return at
}

// skipTo moves past the next c.
func (p *psRun) skipTo(c byte) {
	if i := strings.IndexByte(p.text[p.at:], c); i >= 0 {
		p.at += i + 1
		return
	}
	p.at = len(p.text)
}

// conditional walks what is in a statement's parentheses and the block after it.
func (p *psRun) conditional(word string) psValue {
	var name string
	var over psValue
	if word == "foreach" {
		name, over = p.each()
	} else {
		over = p.statements(')')
	}
	p.blank(true)
	if p.peek() != '{' {
		return psValue{}
	}
	p.at++
	switch word {
	case "switch":
		return p.cases(over)
	case "foreach":
		return p.loop(name, over.fields())
	case "while", "for":
		p.r.Rounds++
		defer func() { p.r.Rounds-- }()
	}
	return p.statements('}')
}

// each reads ($name in values).
func (p *psRun) each() (string, psValue) {
	p.blank(true)
	name := ""
	if p.peek() == '$' {
		p.at++
		name = p.variableName()
	}
	p.blank(true)
	if p.word() == "in" {
		p.at += len("in")
	}
	return name, p.statements(')')
}

// loop walks a body once for each of the first few values.
func (p *psRun) loop(name string, values []flow.Field) psValue {
	if len(values) == 0 {
		values = []flow.Field{{Text: "$" + name, Dynamic: true, Lead: true}}
	}
	start := p.at
	var out psValue
	p.r.Rounds++
	p.r.Loops++
	limit := fact.MaxItems
	if p.r.Loops > 1 {
		limit = 1
	}
	for i, one := range values {
		if i >= limit || !p.r.S.Spend(4) {
			break
		}
		p.at = start
		p.vars[name] = psField(one)
		out = p.both(out, p.statements('}'))
	}
	p.r.Loops--
	p.r.Rounds--
	return out
}

// cases walks every block of a switch.
func (p *psRun) cases(over psValue) psValue {
	var out psValue
	p.vars["_"] = over
	for p.blank(true); p.at < len(p.text) && p.peek() != '}'; p.blank(true) {
		start := p.at
		if p.peek() == '{' {
			p.at++
			out = p.both(out, p.statements('}'))
		} else {
			p.primary()
		}
		if p.at == start {
			p.at++
		}
		if !p.r.S.Spend(1) {
			break
		}
	}
	p.at++
	return out
}
