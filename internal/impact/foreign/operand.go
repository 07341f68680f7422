package foreign

import (
	"strings"
)

// operand reads one value with all that hangs on it: members, calls, indexes, blocks.
func (r *Run) operand() Value {
	if !r.enter() {
		return UnknownValue()
	}
	defer r.leave()
	if r.inner > 0 {
		r.lines()
	}
	t := r.tok()
	switch t.kind {
	case foreignText:
		r.at++
		v := r.filled(t)
		if next := r.tok(); next.is("(") && !next.space && r.lang.Syntax == "lua" { // ("x"):rep(3) only
			return v
		}
		return r.hanging(v)
	case foreignNumber:
		r.at++
		return r.hanging(Value{Text: t.text, Quoted: true, number: true})
	case foreignCommand:
		r.at++
		v := r.filled(t)
		if r.lang.Syntax == "julia" {
			v.Class = "command"
			return r.hanging(v)
		}
		r.host.Shell(v)
		return r.hanging(Value{Text: "\x00"})
	case foreignPattern:
		r.at++
		return UnknownValue()
	case foreignName:
		return r.named(t)
	case foreignLine:
		return UnknownValue()
	}
	return r.bracket(t)
}

// bracket reads a value that begins with a sign: a list, a block, a bracket, or what an operator is put before.
func (r *Run) bracket(t *foreignToken) Value {
	switch t.text {
	case "(":
		r.at++
		list := r.arguments(")")
		if len(list) == 1 && !r.listsAlways() {
			return r.hanging(list[0])
		}
		return r.hanging(Value{listed: true, list: list})
	case "[":
		r.at++
		return r.hanging(Value{listed: true, list: r.arguments("]")})
	case "{":
		r.at++
		return r.hanging(r.block("}"))
	case ")", "]", "}", ";", ",":
		return UnknownValue()
	case "$": // ${name}, @{$list}, $$name; a field, in awk
		r.at++
		if v := r.operand(); r.lang.Syntax != "awk" {
			return v
		}
		return UnknownValue()
	case "->": // a function without a name
		r.at++
		if r.take("(") {
			r.arguments(")")
		}
		return Value{Text: "\x00", Class: "lambda"}
	case "<":
		if r.lang.Syntax == "awk" {
			r.at++
			return UnknownValue()
		}
	}
	r.at++
	if r.ends() {
		return UnknownValue()
	}
	v := r.operand()
	switch t.text {
	case "\\", "@", "&", "*", "+":
		return v
	}
	return Value{Text: "\x00", secret: v.secret, Sent: v.Sent}
}

// listsAlways reports whether brackets around one value make a list of it.
func (r *Run) listsAlways() bool { return false }

// arguments reads values with commas between them, up to the closing bracket.
func (r *Run) arguments(closing string) (list []Value) {
	r.inner++
	defer func() { r.inner-- }()
	for r.more() && r.host.Spend(1) {
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
func (r *Run) argument() Value {
	t, next := r.tok(), r.ahead(1)
	if (t.kind == foreignName || t.kind == foreignText) &&
		(next.is("=>") || next.is(":") && r.ahead(2).kind != foreignLine && r.lang.Syntax != "lua" || next.is("=") &&
			r.lang.Syntax != "perl") && !strings.HasPrefix(t.text, "$") {
		r.at += 2
		v := r.resolved(r.expression())
		v.Class = "option:" + t.text
		return v
	}
	if r.lang.Keywords[t.text] && t.kind == foreignName && !valued(r.lang, t.text) && t.text != "not" && t.text != "getline" {
		r.at++
		return UnknownValue()
	}
	v := r.resolved(r.expression())
	if next = r.tok(); next.is("=>") {
		r.at++
		return r.resolved(r.expression())
	}
	return v
}

// block reads what is in braces or between do and end: statements, or the members of a table. What a block gives is the
// last value in it.
func (r *Run) block(closing string) Value {
	inner := r.inner
	r.inner = 0
	defer func() { r.inner = inner }()
	r.lines()
	if t, next := r.tok(), r.ahead(1); (t.kind == foreignName || t.kind == foreignText) &&
		(next.is("=>") || next.is(":") || next.is("=") && r.lang.Syntax == "lua") {
		return Value{listed: true, list: r.arguments(closing)}
	}
	if r.lang.Syntax == "lua" || r.lang.Syntax == "php" && r.inner > 0 {
		return Value{listed: true, list: r.arguments(closing)}
	}
	if r.level++; r.level > maxForeignDepth {
		r.level--
		r.host.TooDeep()
		return UnknownValue()
	}
	v := r.statements(closing)
	r.level--
	return v
}

// named reads a name and what hangs on it.
func (r *Run) named(t *foreignToken) Value {
	r.at++
	name := t.text
	switch name {
	case "new":
		if r.tok().kind == foreignName { // new File("x")
			return r.made()
		}
	case "not", "return", "my", "our", "local", "let", "var", "val", "const", "await", "defined", "def", "else", "then", "and",
		"or", "yield", "do", "begin", "BEGIN", "END":
		if r.lang.Keywords[name] {
			if r.ends() {
				return UnknownValue()
			}
			return r.operand()
		}
	case "getline":
		if r.lang.Syntax == "awk" {
			return r.awkGetline()
		}
	case "sub", "function", "fn", "lambda", "proc":
		if r.lang.Keywords[name] {
			if r.tok().is("(") {
				r.at++
				r.arguments(")")
			}
			return Value{Text: "\x00", Class: "lambda"}
		}
	}
	return r.hanging(Value{Name: name, Text: "\x00"})
}

// made reads what makes an object: new File("x"), new \COM('…').
func (r *Run) made() Value {
	name := ""
	for r.more() && (r.tok().kind == foreignName || r.tok().is(".") || r.tok().is("\\")) {
		if r.tok().kind == foreignName {
			name = strings.TrimPrefix(name+"."+r.tok().text, ".")
		}
		r.at++
	}
	var args []Value
	if r.take("(") {
		args = r.arguments(")")
	}
	if last := strings.LastIndexByte(name, '.'); last >= 0 && effectOf(r.lang, name+".new") == nil {
		name = name[last+1:]
	}
	return r.hanging(r.call(name+".new", nil, args))
}

// hanging reads what hangs on a value.
func (r *Run) hanging(v Value) Value {
	for r.more() && r.host.Spend(1) {
		t := r.tok()
		switch {
		case t.kind == foreignOp && r.isMember(t, v):
			r.at++
			v = r.member(v)
		case t.is("(") && (!t.space || !r.lang.Bare) &&
			(v.Name != "" || v.Class == "lambda" || v.Text == "\x00" || v.Quoted && r.lang.Syntax == "php"):
			r.at++
			v = r.calling(v, r.arguments(")"))
		case t.is("[") && !t.space, t.is("{") && !t.space && r.lang.Syntax == "perl":
			r.at++
			v = r.index(v, r.arguments(map[string]string{"[": "]", "{": "}"}[t.text]))
		case r.lang.Syntax == "lua" && v.Name != "" && (t.kind == foreignText || t.is("{")) && !r.lang.Keywords[v.Name]:
			arg := r.bareOperand()
			v = r.calling(v, []Value{arg})
		case v.Name != "" && r.lang.Bare && r.bareCall(v, t):
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
func (r *Run) standing(v Value) Value {
	if v.Name == "" {
		return v
	}
	if t := r.tok(); t.is("=") || t.is(":=") || t.is("<-") || t.is(".=") || t.is("+=") || t.is("||=") || t.is("=>") {
		return v
	}
	if held := r.value(v.Name); held.Name == "" {
		return held
	}
	if r.lang.Bare && r.piped == nil && effectOf(r.lang, v.Name) != nil && !strings.HasPrefix(v.Name, "$") {
		return r.call(v.Name, nil, nil)
	}
	if how := r.lang.Folds[v.Name]; how != "" && r.lang.Bare {
		return r.call(v.Name, nil, nil)
	}
	return v
}

func (r *Run) bareOperand() Value {
	if t := r.tok(); t.kind == foreignText {
		r.at++
		return r.filled(t)
	}
	return r.operand()
}

// isMember reports whether an operator leads to a member of what comes before it.
func (r *Run) isMember(t *foreignToken, v Value) bool {
	next := r.ahead(1)
	for _, op := range r.lang.Member {
		if op != t.text {
			continue
		}
		if op == ":" || op == "." {
			return next.kind == foreignName && !next.space || op == "." && next.is("(") || op == "." && next.kind == foreignLine
		}
		return next.kind == foreignName || next.is("(") || next.is("[") || next.is("{") || next.is("$")
	}
	if t.text == "." && len(r.lang.Member) > 0 && r.lang.Member[0] == "." && next.kind == foreignLine {
		return true
	}
	return false
}

// member reads the member of a value whose operator has been read.
func (r *Run) member(v Value) Value {
	r.lines()
	t := r.tok()
	if t.kind != foreignName {
		return v // ->[0], ->{x}, .( ): what follows says what it is
	}
	r.at++
	name := t.text
	held := v
	if v.Name != "" {
		if known := r.value(v.Name); known.Name == "" {
			held = known
		} else if len(v.Name) > maxForeignName {
			return UnknownValue()
		} else {
			held = Value{Name: strings.TrimPrefix(strings.TrimPrefix(v.Name+"."+name, "_G."), "Kernel."), Text: "\x00"}
			return held
		}
	}
	var args []Value
	next := r.tok()
	switch {
	case next.is("(") && !next.space:
		r.at++
		args = r.arguments(")")
	case r.lang.Syntax == "lua" && (next.kind == foreignText || next.is("{")):
		args = []Value{r.bareOperand()}
	case r.lang.Bare && r.beginsArgument(next):
		args = r.bareArguments()
	}
	return r.call("."+name, &held, args)
}
