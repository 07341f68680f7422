package windows

import (
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/flow"
	"interlock/internal/impact/place"
	"interlock/internal/lex"
)

// chain walks a pipeline and those after && and ||.
func (p *psRun) chain() psValue {
	out := p.pipeline()
	for p.r.S.Spend(1) {
		p.blank(false)
		if two := p.text[p.at:min(p.at+2, len(p.text))]; two != "&&" && two != "||" {
			return out
		}
		p.at += 2
		p.blank(true)
		out = p.both(out, p.pipeline())
	}
	return out
}

// pipeline walks elements joined by |.
func (p *psRun) pipeline() psValue {
	out := p.element(psValue{}, false)
	for p.r.S.Spend(1) {
		p.blank(false)
		switch {
		case p.peek() == '\n' && p.continues():
		case p.peek() != '|' || p.peekAt(1) == '|':
			if p.peek() == '&' && p.peekAt(1) != '&' {
				p.at++ // in the background
			}
			return out
		}
		p.at++
		p.blank(true)
		out = p.element(out, true)
	}
	return out
}

// continues reports whether the next line begins with a pipe, and moves there.
func (p *psRun) continues() bool {
	at := lex.SkipAny(p.text, p.at, " \t\r\n")
	if at+1 < len(p.text) && p.text[at] == '|' && p.text[at+1] != '|' {
		p.at = at
		return true
	}
	return false
}

// element walks one element of a pipeline, which gets what the one before it gives.
func (p *psRun) element(in psValue, piped bool) psValue {
	if !p.deeper() {
		return psValue{}
	}
	defer func() { p.r.Steps-- }()
	c, next := p.peek(), p.peekAt(1)
	var out psValue
	switch {
	case c == '&' && next != '&', c == '.' && (lex.IsBlank(next) || strings.IndexByte("'\"$({", next) >= 0 && next != 0):
		p.at++
		p.blank(false)
		return p.called(in, piped, c == '.')
	case p.startsExpression():
		start := p.at
		out = p.expression(true)
		if p.at == start {
			p.at++
		}
	default:
		return p.command(p.commandName(), in, piped)
	}
	return p.redirected(out)
}

// startsExpression reports whether what comes is a value and not the name of a command.
func (p *psRun) startsExpression() bool {
	switch c := p.peek(); {
	case strings.IndexByte("$('\"[@{!,", c) >= 0 && c != 0:
		return true
	case c == '-' || c == '+':
		next := p.peekAt(1)
		if next >= '0' && next <= '9' || next == c || next == '(' || next == '$' {
			return true
		}
		switch strings.ToLower(p.operator()) {
		case "-not", "-join", "-split", "-bnot", "-isplit", "-csplit":
			return true
		}
	case c >= '0' && c <= '9':
		number, _, _ := strings.Cut(p.bare(), "]")
		return strings.Trim(number, "0123456789.xXabcdefABCDEFkKmMgGtTlLbB") == ""
	}
	return false
}

// operator returns the -word at the current place.
func (p *psRun) operator() string {
	if p.at >= len(p.text) {
		return ""
	}
	end := p.at + 1
	for end < len(p.text) && p.text[end]|0x20 >= 'a' && p.text[end]|0x20 <= 'z' {
		end++
	}
	return p.text[p.at:min(end, len(p.text))]
}

// commandName reads the first word of a command.
func (p *psRun) commandName() flow.Field { return p.rest(false).one() }

// redirected sends a value where a redirection says.
func (p *psRun) redirected(v psValue) psValue {
	for p.blank(false); ; p.blank(false) {
		to, appends, ok := p.redirection()
		if !ok {
			return v
		}
		p.sendTo(to, appends, v)
		v = psValue{flow: v.taint()}
	}
}

// redirection reads > file, 2>> file, *>&1.
func (p *psRun) redirection() (to psValue, appends, ok bool) {
	at := p.at
	if c := p.peek(); c >= '1' && c <= '6' || c == '*' {
		at++
	}
	if at >= len(p.text) || p.text[at] != '>' {
		return psValue{}, false, false
	}
	at++
	if at < len(p.text) && p.text[at] == '>' {
		at, appends = at+1, true
	}
	p.at = at
	if p.peek() == '&' {
		p.at += 2
		return psValue{}, false, true
	}
	p.blank(false)
	return p.argument(), appends, true
}

func (p *psRun) sendTo(to psValue, appends bool, v psValue) {
	f := to.one()
	if f.Text == "" {
		return
	}
	spot := p.r.PlaceOf(f, true)
	if place.QuietDevice(spot.Path) || f.Text == "$null" {
		return
	}
	i := interlock.Impact{Kind: interlock.ImpactWrite, Via: ">", Traits: []string{fact.TraitOverwrite}}
	if appends {
		i.Via, i.Traits = ">>", []string{fact.TraitAppend}
	}
	p.r.S.TouchPlace(spot, i)
	p.r.Deliver(flow.Streams{Out: []string{spot.Path}, Quiet: true}, v.asFlow())
}

// expression reads an expression with its operators, and an assignment where one may stand.
func (p *psRun) expression(assigns bool) psValue {
	if !p.deeper() {
		return psValue{}
	}
	defer func() { p.r.Steps-- }()
	start := p.at
	left := p.postfix(p.primary(), false)
	if assigns {
		if done, v := p.assignment(start, left); done {
			return v
		}
	}
	for p.r.S.Spend(1) {
		p.blank(false)
		op := p.binary()
		if op == "" {
			return left
		}
		p.at += len(op)
		p.blank(true)
		right := p.operand()
		left = p.fold(strings.ToLower(op), left, right)
	}
	return left
}

// operand reads what comes after an operator: a primary, and the list a comma makes of it.
func (p *psRun) operand() psValue {
	if !p.deeper() {
		return psValue{}
	}
	defer func() { p.r.Steps-- }()
	v := p.postfix(p.primary(), false)
	for p.blank(false); p.peek() == ',' && p.r.S.Spend(1); p.blank(false) {
		p.at++
		p.blank(true)
		v = p.both(v, p.postfix(p.primary(), false))
	}
	return v
}

// binary returns the operator at the current place, or "".
func (p *psRun) binary() string {
	switch c := p.peek(); c {
	case ',', '*', '/', '%':
		return string(c)
	case '+':
		if p.peekAt(1) != '=' && p.peekAt(1) != '+' {
			return "+"
		}
	case '.':
		if p.peekAt(1) == '.' {
			return ".."
		}
	case '?':
		if p.peekAt(1) == '?' {
			return "??"
		}
	case '-':
		op := p.operator()
		if len(op) > 1 {
			return op
		}
		if p.peekAt(1) != '=' && p.peekAt(1) != '-' {
			return "-"
		}
	}
	return ""
}

// assignment reads = and its kin after something that can be assigned to.
func (p *psRun) assignment(start int, left psValue) (bool, psValue) {
	end := min(p.at, len(p.text))
	p.blank(false)
	op := byte('=')
	switch {
	case p.peek() == '=' && p.peekAt(1) != '=':
		p.at++
	case p.peek() != 0 && strings.IndexByte("+-*/%", p.peek()) >= 0 && p.peekAt(1) == '=':
		op = p.peek()
		p.at += 2
	case p.peek() == '?' && p.peekAt(1) == '?' && p.peekAt(2) == '=':
		p.at += 3
	case p.peek() == ',' && p.text[start] == '$' && p.assignsList():
		return true, p.assignList(start)
	default:
		return false, psValue{}
	}
	p.blank(true)
	v := p.statement()
	p.assign(strings.TrimSpace(p.text[start:end]), op, left, v)
	return true, psValue{}
}

// assignsList reports whether $a, $b, … is followed by an equals sign.
func (p *psRun) assignsList() bool {
	at := p.at
	for at < len(p.text) && (isVariableByte(p.text[at]) || strings.IndexByte("$, \t:{}", p.text[at]) >= 0) {
		at++
	}
	return at+1 < len(p.text) && p.text[at] == '=' && p.text[at+1] != '='
}

func (p *psRun) assignList(start int) psValue {
	eq := strings.IndexByte(p.text[p.at:], '=') + p.at
	names := strings.Split(p.text[start:eq], ",")
	p.at = eq + 1
	p.blank(true)
	v := p.statement()
	for i, name := range names {
		one := psUnknown(strings.TrimSpace(name), v.taint())
		if i < len(v.items) {
			one = psField(v.items[i])
		}
		p.assign(strings.TrimSpace(name), '=', psValue{}, one)
	}
	return psValue{}
}

// assign puts a value where target says: a variable, a variable of the environment, a property.
func (p *psRun) assign(target string, op byte, old, v psValue) {
	if i := strings.LastIndexByte(target, '$'); i > 0 && target[0] == '[' { // [string]$x = …
		target = target[i:]
	}
	if len(target) < 2 || target[0] != '$' {
		return
	}
	outer, at := p.text, p.at
	p.text, p.at = target, 1
	name := p.variableName()
	property := p.text[p.at:]
	p.text, p.at = outer, at
	if property != "" {
		p.property(name, property, v)
		return
	}
	if op == '+' {
		v = p.fold("+", old, v)
	}
	if env, ok := strings.CutPrefix(name, "env:"); ok {
		p.r.Exported(strings.ToUpper(env), v.one())
	}
	if name != "null" && p.r.S.Spend(1) {
		p.vars[name] = v
	}
}

// property notes a value put into an object or hash table.
func (p *psRun) property(name, property string, v psValue) {
	key := strings.ToLower(strings.Trim(property, ".[]'\""))
	old := p.vars[name]
	if old.pairs != nil && len(old.pairs) < fact.MaxList {
		old.pairs = append(old.pairs[:len(old.pairs):len(old.pairs)], psPair{key, v})
		p.vars[name] = old
	}
	if spec := p.r.S.Know.Lookup("." + key + "="); spec != nil {
		p.r.Described(spec, append([]flow.Field{flow.Literal("." + key + "=")}, v.fields()...), flow.Streams{Args: v.taint()})
	}
	if from := v.taint(); from.Secret || from.Network {
		old.flow.Taint(from)
		p.vars[name] = old
	}
}
