package windows

import (
	"regexp/syntax"
	"strconv"
	"strings"

	"interlock/internal/impact/fact"
	"interlock/internal/impact/flow"
	"interlock/internal/lex"
)

// psNumber reads a decimal or hexadecimal number.
func psNumber(text string) (int, bool) {
	n, err := strconv.ParseInt(strings.ToLower(text), 0, 32)
	if err != nil {
		n, err = strconv.ParseInt(strings.TrimLeft(text, "0"), 10, 32)
	}
	return int(n), err == nil
}

func (v psValue) constant() bool {
	for i := range v.items {
		if v.items[i].Dynamic {
			return false
		}
	}
	return len(v.items) > 0 && !v.block
}

// fold applies an operator where its operands are known; else the result is unknown and holds what flowed into them.
func (p *psRun) fold(op string, a, b psValue) psValue {
	from := a.taint()
	from.Taint(b.taint())
	p.r.S.Spend((len(a.items) + len(b.items)) / 8)
	switch op {
	case ",":
		return p.both(a, b)
	case "+":
		return p.sum(a, b, from)
	case "-join":
		if len(a.items) > 0 {
			return psField(p.joined(a, b.one().Text))
		}
	case "-f":
		if a.constant() {
			return p.formatted(a.one().Text, b, from)
		}
	case "-split", "-isplit", "-csplit":
		return p.splitted(a, b, from)
	case "-replace", "-ireplace", "-creplace":
		return p.replaced(a, b, from)
	case "*":
		if n, ok := psNumber(b.one().Text); ok && a.constant() && !a.array && n >= 0 && n*len(a.one().Text) < 1024 {
			return psText(strings.Repeat(a.one().Text, n))
		}
	case "..":
		return p.span(a, b)
	case "-as":
		return p.cast(b.class, a)
	case "-bxor", "-band", "-bor", "-shl", "-shr", "-", "/", "%":
		return p.arithmetic(op, a, b, from)
	case "??":
		if !a.empty() {
			return a
		}
		return b
	}
	return psUnknown("$("+op+")", from)
}

func (p *psRun) joined(v psValue, between string) flow.Field {
	var out flow.Field
	for i, f := range v.items {
		if i > 0 && between != "" {
			out = flow.Join(out, flow.Literal(between))
		}
		out = flow.Join(out, f)
		if !p.r.S.Spend(len(out.Text) / 256) {
			break
		}
	}
	out.Lead = len(v.items) > 0 && v.items[0].Lead
	out.Odd = out.Odd || between == "" && len(v.items) > 2
	out.Flow.Taint(v.flow)
	return out
}

func (p *psRun) sum(a, b psValue, from flow.Flow) psValue {
	if a.array || len(a.items) > 1 {
		return p.both(a, b)
	}
	x, okX := psNumber(a.one().Text)
	y, okY := psNumber(b.one().Text)
	if okX && okY && !strings.HasPrefix(a.one().Text, "0") {
		return psText(strconv.Itoa(x + y))
	}
	if len(a.items) == 0 && a.class != "" {
		return psUnknown("$("+a.class+")", from)
	}
	p.r.S.SpendBytes(2 * (len(a.one().Text) + len(b.one().Text)))
	f := flow.Join(a.one(), b.one())
	f.Lead = a.one().Lead
	f.Flow.Taint(from)
	return psField(f)
}

func (p *psRun) arithmetic(op string, a, b psValue, from flow.Flow) psValue {
	x, okX := psNumber(a.one().Text)
	y, okY := psNumber(b.one().Text)
	if !okX || !okY {
		return psUnknown("$("+op+")", from)
	}
	switch {
	case op == "-bxor":
		x ^= y
	case op == "-band":
		x &= y
	case op == "-bor":
		x |= y
	case op == "-":
		x -= y
	case op == "/" && y != 0:
		x /= y
	case op == "%" && y != 0:
		x %= y
	default:
		return psUnknown("$("+op+")", from)
	}
	return psText(strconv.Itoa(x))
}

// span is a range of numbers: its first and its last few are followed.
func (p *psRun) span(a, b psValue) psValue {
	x, okX := psNumber(a.one().Text)
	y, okY := psNumber(b.one().Text)
	if !okX || !okY {
		return psUnknown("$range", flow.Flow{})
	}
	p.r.Many = p.r.Many || y-x >= fact.ManyTimes || x-y >= fact.ManyTimes
	step := 1
	if y < x {
		step = -1
	}
	out := psValue{array: true}
	for n := x; len(out.items) < 64; n += step {
		out.items = append(out.items, flow.Literal(strconv.Itoa(n)))
		if n == y {
			break
		}
	}
	return out
}

// formatted fills {0}, {1:x} and so on.
func (p *psRun) formatted(form string, args psValue, from flow.Flow) psValue {
	var out flow.Field
	moved := false
	for at, last := 0, -1; at < len(form); {
		open := strings.IndexByte(form[at:], '{')
		if open < 0 {
			out = flow.Join(out, flow.Literal(strings.ReplaceAll(form[at:], "}}", "}")))
			break
		}
		out = flow.Join(out, flow.Literal(form[at:at+open]))
		at += open + 1
		if at < len(form) && form[at] == '{' {
			out = flow.Join(out, flow.Literal("{"))
			at++
			continue
		}
		end := strings.IndexByte(form[at:], '}')
		if end < 0 {
			break
		}
		number, _, _ := strings.Cut(form[at:at+end], ":")
		number, _, _ = strings.Cut(number, ",")
		at += end + 1
		n, ok := psNumber(strings.TrimSpace(number))
		if !ok || n < 0 || n >= len(args.items) {
			return psUnknown("$(-f)", from)
		}
		moved, last = moved || n != last+1, n
		out = flow.Join(out, args.items[n])
		if !p.r.S.Spend(1 + len(out.Text)/256) {
			break
		}
	}
	out.Flow.Taint(from)
	out.Odd = out.Odd || moved
	out.Lead = false
	return psField(out)
}

func (p *psRun) splitted(a, b psValue, from flow.Flow) psValue {
	pattern, ok := plainPattern(b.one().Text)
	if !a.constant() || !ok || pattern == "" {
		return psUnknown("$(-split)", from)
	}
	return p.pieces(a, func(text string) []string { return strings.Split(text, pattern) })
}

func (p *psRun) pieces(v psValue, split func(string) []string) psValue {
	out := psValue{array: true, flow: v.flow}
	for _, f := range v.items {
		for _, piece := range split(f.Text) {
			if len(out.items) >= fact.MaxList || !p.r.S.Spend(1) {
				return out
			}
			out.items = append(out.items, flow.Literal(piece))
		}
	}
	return out
}

func (p *psRun) replaced(a, b psValue, from flow.Flow) psValue {
	if !a.constant() || len(b.items) == 0 || b.items[0].Dynamic {
		return psUnknown("$(-replace)", from)
	}
	with := ""
	if len(b.items) > 1 {
		with = b.items[1].Text
	}
	pattern, ok := plainPattern(b.items[0].Text)
	if !ok || pattern == "" || strings.Contains(with, "$") {
		return psUnknown("$(-replace)", from)
	}
	return p.substituted(a, pattern, with, true)
}

// substituted replaces text in every element.
func (p *psRun) substituted(v psValue, old, with string, odd bool) psValue {
	out := v
	out.items = append([]flow.Field(nil), v.items...)
	for i := range out.items {
		text := out.items[i].Text
		if !p.r.S.Spend(len(text)/64+1) || len(old) == 0 || len(with) > 64 {
			return psUnknown("$(replace)", v.taint())
		}
		changed := strings.ReplaceAll(text, old, with)
		if len(changed) > lex.MaxText {
			return psUnknown("$(replace)", v.taint())
		}
		out.items[i].Text = changed
		out.items[i].Odd = out.items[i].Odd || odd && changed != text
	}
	return out
}

// plainPattern is the text a regular expression matches, if it matches only one.
func plainPattern(pattern string) (string, bool) {
	if len(pattern) > 256 {
		return "", false
	}
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil || re.Op != syntax.OpLiteral {
		return "", false
	}
	return string(re.Rune), true
}

// cast converts a value where that is known: numbers to characters, lists of them to strings.
func (p *psRun) cast(name string, v psValue) psValue {
	switch name {
	case "char", "char[]":
		out := psValue{array: strings.HasSuffix(name, "[]"), flow: v.flow}
		for _, f := range v.items {
			if n, ok := psNumber(f.Text); ok && !f.Dynamic && (len(f.Text) > 1 || !out.array) {
				out.items = append(out.items, flow.Field{Text: string(rune(n)), Odd: true})
			} else if !f.Dynamic && out.array {
				for _, c := range f.Text {
					out.items = append(out.items, flow.Literal(string(c)))
				}
			} else {
				out.items = append(out.items, f)
			}
			if !p.r.S.Spend(1 + len(f.Text)/8) {
				break
			}
		}
		return out
	case "string":
		if len(v.items) > 0 {
			return psField(v.one())
		}
	case "scriptblock":
		if !v.block && len(v.items) > 0 {
			v.block, v.code = true, v.one().Text
			return v
		}
	case "wmiclass", "wmi", "cimclass":
		class := strings.ToLower(v.one().Text)
		v.class = "wmi:" + class[strings.LastIndexAny(class, `:\/ `)+1:]
		return v
	case "type":
		return psValue{class: typeName(v.one().Text), named: true, flow: v.flow}
	case "void", "array", "object[]", "object", "int", "int32", "byte[]", "byte", "string[]", "securestring", "bool", "switch",
		"long", "int64", "regex", "pscustomobject", "ordered", "hashtable", "validatenotnullorempty":
	default:
		if v.class == "" && !v.named {
			v.class = name
		}
		if spec := p.r.S.Know.Lookup("[" + name + "]"); spec != nil {
			out := p.r.Described(spec, append([]flow.Field{flow.Literal("[" + name + "]")}, v.fields()...),
				flow.Streams{Args: v.taint()})
			v.flow.Taint(out)
		}
	}
	return v
}
