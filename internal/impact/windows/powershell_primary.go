package windows

import (
	"strings"

	"interlock/internal/impact/fact"
	"interlock/internal/impact/flow"
	"interlock/internal/lex"
)

// primary reads one value.
func (p *psRun) primary() psValue {
	if !p.r.S.Spend(1) || !p.deeper() {
		return psValue{}
	}
	defer func() { p.r.Steps-- }()
	switch c := p.peek(); {
	case c == '\'':
		return p.singleQuoted()
	case c == '"':
		return p.doubleQuoted()
	case c == '$':
		p.at++
		if p.peek() == '(' {
			p.at++
			return p.statements(')')
		}
		if !isVariableByte(p.peek()) && strings.IndexByte("{?^$", p.peek()) < 0 || p.peek() == 0 {
			return psText("$")
		}
		p.holder = p.variableName()
		return p.variable(p.holder)
	case c == '(':
		p.at++
		return p.statements(')')
	case c == '@':
		return p.atSign()
	case c == '{':
		p.at++
		return psValue{block: true, code: p.balanced('{', '}')}
	case c == '[':
		return p.typed()
	case c == '!':
		p.at++
		p.blank(false)
		v := p.postfix(p.primary(), false)
		return psUnknown("$false", v.taint())
	case c == ',':
		p.at++
		p.blank(true)
		v := p.postfix(p.primary(), false)
		v.array = true
		return v
	case c == '-' || c == '+':
		return p.unary()
	}
	word := p.bare()
	if i := strings.IndexAny(word, "*/%+=]<>"); i > 0 {
		word = word[:i]
	}
	if i := strings.Index(word, ".."); i > 0 {
		word = word[:i]
	}
	if word == "" {
		return psValue{}
	}
	p.at += len(word)
	return psText(word)
}

// unary reads an operator in front of a value.
func (p *psRun) unary() psValue {
	op := strings.ToLower(p.operator())
	if len(op) == 1 {
		p.at++
		if p.peek() == op[0] {
			p.at++
		}
		v := p.postfix(p.primary(), false)
		if op == "-" && len(v.items) == 1 && !v.items[0].Dynamic {
			return psText("-" + v.items[0].Text)
		}
		return v
	}
	p.at += len(op)
	p.blank(true)
	v := p.operand()
	switch op {
	case "-join":
		return p.fold("-join", v, psText(""))
	case "-split":
		return p.fold("-split", v, psText(" "))
	}
	return psUnknown("$false", v.taint())
}

// atSign reads @( ), @{ }, a here-string or a splatted variable.
func (p *psRun) atSign() psValue {
	switch c := p.peekAt(1); c {
	case '(':
		p.at += 2
		v := p.statements(')')
		v.array = true
		return v
	case '{':
		p.at += 2
		return p.hash()
	case '\'', '"':
		if v, ok := p.hereString(c); ok {
			return v
		}
	}
	p.at++
	if isVariableByte(p.peek()) {
		return p.variable(p.variableName())
	}
	return psText("@")
}

// hash reads a hash table's pairs.
func (p *psRun) hash() psValue {
	v := psValue{pairs: []psPair{}, class: "hashtable"}
	for p.blank(true); p.at < len(p.text) && p.peek() != '}'; p.blank(true) {
		start := p.at
		key := p.postfix(p.primary(), false).one()
		p.blank(true)
		if p.peek() == '=' {
			p.at++
			p.blank(true)
			value := p.statement()
			if len(v.pairs) < fact.MaxList {
				v.pairs = append(v.pairs, psPair{strings.ToLower(key.Text), value})
			}
			v.flow.Taint(value.taint())
		}
		if p.at == start {
			p.at++
		}
		if !p.r.S.Spend(1) {
			p.at = len(p.text)
		}
	}
	if p.at >= len(p.text) {
		p.broken = true
	}
	p.at++
	return v
}

// typed reads [type], and what it is a cast of.
func (p *psRun) typed() psValue {
	p.at++
	name := typeName(p.balanced('[', ']'))
	if p.peek() == ':' && p.peekAt(1) == ':' {
		return psValue{class: name, named: true}
	}
	at := p.at
	p.blank(false)
	if c := p.peek(); c != 0 && (strings.IndexByte("$('\"[@{", c) >= 0 || c >= '0' && c <= '9' || c == '-' &&
		p.peekAt(1) >= '0' && p.peekAt(1) <= '9') {
		v := p.postfix(p.primary(), false)
		return p.cast(name, v)
	}
	p.at = at
	return psValue{class: name, named: true}
}

// typeName writes a type's name as the knowledge does: lower case, without System in front and without an assembly.
func typeName(text string) string {
	text, _, _ = strings.Cut(text, ",")
	name := strings.ToLower(strings.Join(strings.Fields(strings.ReplaceAll(text, "`", "")), ""))
	return strings.TrimPrefix(name, "system.")
}

// postfix reads members, calls and indexes after a value; tight says that blanks end it.
func (p *psRun) postfix(v psValue, tight bool) psValue {
	for p.r.S.Spend(1) {
		switch c, next := p.peek(), p.peekAt(1); {
		case c == '.' && next != '.' && !lex.IsBlank(next) && !(tight && (next == '\\' || next == '/')):
			p.at++
			v = p.member(v, false)
		case c == '?' && next == '.' && !tight:
			p.at += 2
			v = p.member(v, false)
		case c == ':' && next == ':':
			p.at += 2
			v = p.member(v, true)
		case c == '[':
			p.at++
			v = p.index(v)
		case (c == '+' || c == '-') && next == c:
			p.at += 2
		case c == '\n' && !tight && p.chained():
		default:
			return v
		}
	}
	return v
}

// chained reports whether the next line goes on with a member of this value, and moves there.
func (p *psRun) chained() bool {
	at := lex.SkipAny(p.text, p.at, " \t\r\n")
	if at+1 < len(p.text) && p.text[at] == '.' && lex.IsNameStart(p.text[at+1]) {
		p.at = at
		return true
	}
	return false
}

// index takes elements of a list by constant numbers.
func (p *psRun) index(v psValue) psValue {
	at := p.statements(']')
	if v.pairs != nil && len(at.items) == 1 {
		for _, pair := range v.pairs {
			if strings.EqualFold(pair.name, at.items[0].Text) {
				return pair.value
			}
		}
	}
	source := v
	if len(v.items) == 1 && !v.array && !v.items[0].Dynamic { // characters of a string
		source = psValue{flow: v.taint()}
		for _, c := range v.items[0].Text {
			source.items = append(source.items, flow.Literal(string(c)))
		}
		p.r.S.Spend(len(source.items) / 8)
	}
	out := psValue{flow: v.flow}
	for _, one := range at.items {
		n, ok := psNumber(one.Text)
		if n < 0 {
			n += len(source.items)
		}
		if one.Dynamic || !ok || n < 0 || n >= len(source.items) {
			return psUnknown("$item", v.taint())
		}
		out.items = append(out.items, source.items[n])
	}
	if len(out.items) == 0 {
		return psUnknown("$item", v.taint())
	}
	return out
}

// member reads a name after . or :: and, where arguments follow, calls it.
func (p *psRun) member(v psValue, static bool) psValue {
	name, holder := "", p.holder
	switch c := p.peek(); {
	case c == '\'' || c == '"' || c == '(' || c == '$' || c == '[':
		name = p.primary().one().Text
	default:
		end := p.at
		for end < len(p.text) && isVariableByte(p.text[end]) {
			end++
		}
		name = p.text[p.at:end]
		p.at = end
	}
	name = strings.ToLower(name)
	if p.peek() == '(' {
		p.at++
		args := p.statements(')')
		p.holder = holder
		return p.method(v, name, args, static)
	}
	if p.peek() == '{' && (name == "foreach" || name == "where") {
		p.at++
		return p.each1(v, p.balanced('{', '}'))
	}
	return p.read(v, name, static)
}
