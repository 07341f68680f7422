package impact

import (
	"strings"
)

// operand reads one value with all that hangs on it: members, calls, indexes, blocks.
func (r *foreignRun) operand() foreignValue {
	if r.depth++; r.depth > maxForeignDepth {
		r.depth--
		r.at++
		r.host.tooDeep()
		return unknownForeign()
	}
	defer func() { r.depth-- }()
	if r.inner > 0 {
		r.lines()
	}
	t := r.tok()
	switch t.kind {
	case foreignText:
		r.at++
		v := r.filled(t)
		if next := r.tok(); next.is("(") && !next.space && r.lang.syntax == "lua" { // ("x"):rep(3) only
			return v
		}
		return r.hanging(v)
	case foreignNumber:
		r.at++
		return r.hanging(foreignValue{text: t.text, quoted: true, number: true})
	case foreignCommand:
		r.at++
		v := r.filled(t)
		if r.lang.syntax == "julia" {
			v.class = "command"
			return r.hanging(v)
		}
		r.host.shell(v)
		return r.hanging(foreignValue{text: "\x00"})
	case foreignPattern:
		r.at++
		return unknownForeign()
	case foreignName:
		return r.named(t)
	case foreignLine:
		return unknownForeign()
	}
	return r.bracket(t)
}

// bracket reads a value that begins with a sign: a list, a block, a bracket, or what an operator is put before.
func (r *foreignRun) bracket(t *foreignToken) foreignValue {
	switch t.text {
	case "(":
		r.at++
		list := r.arguments(")")
		if len(list) == 1 && !r.listsAlways() {
			return r.hanging(list[0])
		}
		return r.hanging(foreignValue{listed: true, list: list})
	case "[":
		r.at++
		return r.hanging(foreignValue{listed: true, list: r.arguments("]")})
	case "{":
		r.at++
		return r.hanging(r.block("}"))
	case ")", "]", "}", ";", ",":
		return unknownForeign()
	case "$": // ${name}, @{$list}, $$name; a field, in awk
		r.at++
		if v := r.operand(); r.lang.syntax != "awk" {
			return v
		}
		return unknownForeign()
	case "->": // a function without a name
		r.at++
		if r.take("(") {
			r.arguments(")")
		}
		return foreignValue{text: "\x00", class: "lambda"}
	case "<":
		if r.lang.syntax == "awk" {
			r.at++
			return unknownForeign()
		}
	}
	r.at++
	if r.ends() {
		return unknownForeign()
	}
	v := r.operand()
	switch t.text {
	case "\\", "@", "&", "*", "+":
		return v
	}
	return foreignValue{text: "\x00", secret: v.secret, sent: v.sent}
}

// listsAlways reports whether brackets around one value make a list of it.
func (r *foreignRun) listsAlways() bool { return false }

// arguments reads values with commas between them, up to the closing bracket.
func (r *foreignRun) arguments(closing string) (list []foreignValue) {
	r.inner++
	defer func() { r.inner-- }()
	for r.more() && r.host.spend(1) {
		r.lines()
		if r.take(closing) {
			return list
		}
		if r.take(",") || r.take(";") || r.take("|") {
			continue
		}
		if r.tok().kind == foreignOp && strings.Contains(")]}", r.tok().text) {
			return list // a bracket that belongs to something else
		}
		before := r.at
		v := r.argument()
		if len(list) < 256 {
			list = append(list, v)
		}
		r.at = max(r.at, before+1)
	}
	return list
}

// argument reads one value of a list, without the name that may stand before it: key: value, key => value, key = value.
func (r *foreignRun) argument() foreignValue {
	t, next := r.tok(), r.ahead(1)
	if (t.kind == foreignName || t.kind == foreignText) && (next.is("=>") || next.is(":") && r.ahead(2).kind != foreignLine && r.lang.syntax != "lua" || next.is("=") && r.lang.syntax != "perl") && !strings.HasPrefix(t.text, "$") {
		r.at += 2
		v := r.resolved(r.expression())
		v.class = "option:" + t.text
		return v
	}
	if r.lang.keywords[t.text] && t.kind == foreignName && !r.lang.valued(t.text) && t.text != "not" && t.text != "getline" {
		r.at++
		return unknownForeign()
	}
	v := r.resolved(r.expression())
	if next = r.tok(); next.is("=>") {
		r.at++
		return r.resolved(r.expression())
	}
	return v
}

// block reads what stands in braces or between do and end: statements, or the members of a table. What a block gives is the
// last value in it.
func (r *foreignRun) block(closing string) foreignValue {
	inner := r.inner
	r.inner = 0
	defer func() { r.inner = inner }()
	r.lines()
	if t, next := r.tok(), r.ahead(1); (t.kind == foreignName || t.kind == foreignText) && (next.is("=>") || next.is(":") || next.is("=") && r.lang.syntax == "lua") {
		return foreignValue{listed: true, list: r.arguments(closing)}
	}
	if r.lang.syntax == "lua" || r.lang.syntax == "php" && r.inner > 0 {
		return foreignValue{listed: true, list: r.arguments(closing)}
	}
	if r.level++; r.level > maxForeignDepth {
		r.level--
		r.host.tooDeep()
		return unknownForeign()
	}
	v := r.statements(closing)
	r.level--
	return v
}

// named reads a name and what hangs on it.
func (r *foreignRun) named(t *foreignToken) foreignValue {
	r.at++
	name := t.text
	switch name {
	case "new":
		if r.tok().kind == foreignName { // new File("x")
			return r.made()
		}
	case "not", "return", "my", "our", "local", "let", "var", "val", "const", "await", "defined", "def", "else", "then", "and", "or", "yield", "do", "begin", "BEGIN", "END":
		if r.lang.keywords[name] {
			if r.ends() {
				return unknownForeign()
			}
			return r.operand()
		}
	case "getline":
		if r.lang.syntax == "awk" {
			return r.awkGetline()
		}
	case "sub", "function", "fn", "lambda", "proc":
		if r.lang.keywords[name] {
			if r.tok().is("(") {
				r.at++
				r.arguments(")")
			}
			return foreignValue{text: "\x00", class: "lambda"}
		}
	}
	return r.hanging(foreignValue{name: name, text: "\x00"})
}

// made reads what makes an object: new File("x"), new \COM('…').
func (r *foreignRun) made() foreignValue {
	name := ""
	for r.more() && (r.tok().kind == foreignName || r.tok().is(".") || r.tok().is("\\")) {
		if r.tok().kind == foreignName {
			name = strings.TrimPrefix(name+"."+r.tok().text, ".")
		}
		r.at++
	}
	var args []foreignValue
	if r.take("(") {
		args = r.arguments(")")
	}
	if last := strings.LastIndexByte(name, '.'); last >= 0 && r.lang.effectOf(name+".new") == nil {
		name = name[last+1:]
	}
	return r.hanging(r.call(name+".new", nil, args))
}

// hanging reads what hangs on a value.
func (r *foreignRun) hanging(v foreignValue) foreignValue {
	for r.more() && r.host.spend(1) {
		t := r.tok()
		switch {
		case t.kind == foreignOp && r.isMember(t, v):
			r.at++
			v = r.member(v)
		case t.is("(") && (!t.space || !r.lang.bare) && (v.name != "" || v.class == "lambda" || v.text == "\x00" || v.quoted && r.lang.syntax == "php"):
			r.at++
			v = r.calling(v, r.arguments(")"))
		case t.is("[") && !t.space, t.is("{") && !t.space && r.lang.syntax == "perl":
			r.at++
			v = r.index(v, r.arguments(map[string]string{"[": "]", "{": "}"}[t.text]))
		case r.lang.syntax == "lua" && v.name != "" && (t.kind == foreignText || t.is("{")) && !r.lang.keywords[v.name]:
			arg := r.bareOperand()
			v = r.calling(v, []foreignValue{arg})
		case v.name != "" && r.lang.bare && r.bareCall(v, t):
			v = r.calling(v, r.bareArguments())
		case (t.is("{") || t.kind == foreignName && t.text == "do") && r.takesBlock(v, t):
			r.at++
			v = r.blockOf(v)
		default:
			return r.standing(v)
		}
	}
	return r.standing(v)
}

// standing is a name nothing hangs on: a variable, or a call without arguments where the language writes one so.
func (r *foreignRun) standing(v foreignValue) foreignValue {
	if v.name == "" {
		return v
	}
	if t := r.tok(); t.is("=") || t.is(":=") || t.is("<-") || t.is(".=") || t.is("+=") || t.is("||=") || t.is("=>") {
		return v
	}
	if held := r.value(v.name); held.name == "" {
		return held
	}
	if r.lang.bare && r.piped == nil && r.lang.effectOf(v.name) != nil && !strings.HasPrefix(v.name, "$") {
		return r.call(v.name, nil, nil)
	}
	if how := r.lang.folds[v.name]; how != "" && r.lang.bare {
		return r.call(v.name, nil, nil)
	}
	return v
}

func (r *foreignRun) bareOperand() foreignValue {
	if t := r.tok(); t.kind == foreignText {
		r.at++
		return r.filled(t)
	}
	return r.operand()
}

// isMember reports whether an operator leads to a member of what stands before it.
func (r *foreignRun) isMember(t *foreignToken, v foreignValue) bool {
	next := r.ahead(1)
	for _, op := range r.lang.member {
		if op != t.text {
			continue
		}
		if op == ":" || op == "." {
			return next.kind == foreignName && !next.space || op == "." && next.is("(") || op == "." && next.kind == foreignLine
		}
		return next.kind == foreignName || next.is("(") || next.is("[") || next.is("{") || next.is("$")
	}
	if t.text == "." && len(r.lang.member) > 0 && r.lang.member[0] == "." && next.kind == foreignLine {
		return true
	}
	return false
}

// member reads the member of a value whose operator has been read.
func (r *foreignRun) member(v foreignValue) foreignValue {
	r.lines()
	t := r.tok()
	if t.kind != foreignName {
		return v // ->[0], ->{x}, .( ): what follows says what it is
	}
	r.at++
	name := t.text
	held := v
	if v.name != "" {
		if known := r.value(v.name); known.name == "" {
			held = known
		} else if len(v.name) > maxForeignName {
			return unknownForeign()
		} else {
			held = foreignValue{name: strings.TrimPrefix(strings.TrimPrefix(v.name+"."+name, "_G."), "Kernel."), text: "\x00"}
			return held
		}
	}
	var args []foreignValue
	next := r.tok()
	switch {
	case next.is("(") && !next.space:
		r.at++
		args = r.arguments(")")
	case r.lang.syntax == "lua" && (next.kind == foreignText || next.is("{")):
		args = []foreignValue{r.bareOperand()}
	case r.lang.bare && r.beginsArgument(next):
		args = r.bareArguments()
	}
	return r.call("."+name, &held, args)
}
