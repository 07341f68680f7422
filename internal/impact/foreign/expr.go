package foreign

import (
	"slices"
	"strings"

	"interlock/internal/impact/know"
	"interlock/internal/impact/program"
	"interlock/internal/impact/web"
	"interlock/internal/lex"
)

// A Run follows one program: what its variables hold, and what the calls it reaches do. It reads the words once, from
// the first to the last, and knows statements, calls, members, lists and joined texts; what it does not know is a value that
// is not known.
type Run struct {
	lang     *know.Language
	host     Host
	toks     []foreignToken
	at       int
	depth    int
	level    int  // texts inside texts
	inline   bool // the program is written in the command itself
	vars     map[string]Value
	given    *Value // what the program was called with, by whatever of its usual names
	defined  map[string]bool
	piped    *Value // what x |> f() gives to f
	prints   int    // awk: depth at which a print statement's redirection may follow, 0 for none
	secret   bool   // the program read a secret
	packages bool   // the program loads packages whose calls stand in no table
	inner    int    // brackets around what is being read, in which a line has no end
}

const maxForeignDepth = 48

func (r *Run) more() bool { return r.at < len(r.toks) }

func (r *Run) tok() *foreignToken {
	if r.at < len(r.toks) {
		return &r.toks[r.at]
	}
	return &foreignToken{kind: foreignLine}
}

func (r *Run) ahead(n int) *foreignToken {
	if r.at+n < len(r.toks) {
		return &r.toks[r.at+n]
	}
	return &foreignToken{kind: foreignLine}
}

func (r *Run) take(op string) bool {
	if r.tok().is(op) {
		r.at++
		return true
	}
	return false
}

func (r *Run) lines() {
	for r.more() && r.tok().kind == foreignLine {
		r.at++
	}
}

// statements reads to the end, or to the bracket that closes what it is in.
func (r *Run) statements(closing string) Value {
	last := UnknownValue()
	for r.more() && r.host.Spend(1) {
		t := r.tok()
		if closing != "" && t.is(closing) {
			r.at++
			return last
		}
		before := r.at
		switch {
		case t.kind == foreignLine || t.kind == foreignOp && strings.Contains(";,)]}|&", t.text):
			r.at++
		case t.kind == foreignName && r.statement(t.text):
		default:
			last = r.expression()
		}
		r.at = max(r.at, before+1)
	}
	return last
}

// statement reads what begins with a keyword, and reports whether it was one.
func (r *Run) statement(word string) bool {
	switch word {
	case "for", "foreach":
		r.at++
		r.forEach()
		return true
	case "sub", "def", "defp", "function", "fn", "fun", "func", "method":
		if r.lang.Keywords[word] && r.ahead(1).kind == foreignName {
			r.at += 2
			return true
		}
	case "print", "printf":
		if r.lang.Syntax == "awk" {
			r.at++
			r.awkPrint()
			return true
		}
	}
	r.packages = r.packages || r.lang.Syntax == "julia" && (word == "using" || word == "import")
	if r.lang.Keywords[word] && !valued(r.lang, word) {
		r.at++
		return true
	}
	return false
}

// valued reports whether a keyword comes before a value that somebody may use: new, my, local, return.
func valued(l *know.Language, word string) bool {
	switch word {
	case "new", "function", "sub", "fn", "lambda", "proc", "do", "my", "our", "local", "let", "var", "val", "def", "const":
		return true
	}
	return false
}

// forEach reads the head of a loop over a list: for x in list, foreach my $x (list), foreach (list as $x).
func (r *Run) forEach() {
	closes := r.take("(")
	if closes {
		r.inner++
		defer func() { r.inner-- }()
	}
	var names []string
	for r.more() && len(names) < 4 {
		t := r.tok()
		if t.kind == foreignName && (r.lang.Keywords[t.text] && t.text != "in" && t.text != "as") || t.is(",") {
			r.at++
			continue
		}
		if t.kind != foreignName || t.text == "in" || t.text == "as" {
			break
		}
		if n := r.ahead(1); closes && !(n.kind == foreignName && n.text == "in") && !n.is(",") && !n.is("<-") && !n.is(":") {
			break
		}
		names = append(names, t.text)
		r.at++
	}
	if r.tok().kind == foreignName && r.tok().text == "in" || r.tok().is("<-") || r.tok().is(":") || r.tok().is("=") {
		r.at++
	}
	v := r.expression()
	if r.tok().kind == foreignName && r.tok().text == "as" {
		r.at++
		names = names[:0]
		for r.tok().kind == foreignName || r.tok().is("=>") {
			names = append(names, r.tok().text)
			r.at++
		}
	}
	if len(names) == 0 {
		names = []string{"$_"}
	}
	for _, name := range names {
		if one := v.each(); v.listed || v.Glob || !v.Quoted {
			r.set(name, one)
		} else {
			r.set(name, v) // a list of one
		}
	}
	if closes {
		r.take(")")
	}
}

func (r *Run) set(name string, v Value) {
	if len(r.vars) < 4096 {
		r.vars[r.plainName(name)] = v
	}
}

// variable is what a variable holds that the program has set, or was given.
func (r *Run) variable(name string) (Value, bool) {
	name = r.plainName(name)
	if v, ok := r.vars[name]; ok {
		return v, true
	}
	if r.given != nil {
		switch name {
		case "ARGV", "argv", "arg", "args":
			return *r.given, true
		}
	}
	return Value{}, false
}

// plainName is a variable's name without the sign that says what part of it is meant.
func (r *Run) plainName(name string) string { return strings.TrimLeft(name, "$@%") }

// ends reports whether an expression is over here.
func (r *Run) ends() bool {
	t := r.tok()
	switch t.kind {
	case foreignLine:
		if r.inner > 0 && r.more() {
			r.lines()
			return r.ends()
		}
		return true
	case foreignOp:
		return strings.Contains(";,)]}{", t.text)
	case foreignName:
		switch t.text {
		case "if", "unless", "while", "until", "do", "then", "end", "for", "foreach", "as", "in", "rescue", "catch":
			return r.lang.Keywords[t.text]
		}
	}
	return false
}

// enter goes one value deeper, or past the token in front if values nest too deep to be followed.
func (r *Run) enter() bool {
	if r.depth >= maxForeignDepth {
		r.at++
		r.host.TooDeep()
		return false
	}
	r.depth++
	return true
}

func (r *Run) leave() { r.depth-- }

// expression reads values with operators between them. Operators that join texts join them, assignments are followed, of
// the others only the operands are looked at.
func (r *Run) expression() Value {
	if !r.enter() {
		return UnknownValue()
	}
	defer r.leave()
	v := r.operand()
	for r.more() && r.host.Spend(1) && !r.ends() {
		before := r.at
		v = r.operator(v)
		if r.at == before {
			break
		}
	}
	return v
}

// assigned reads what a variable is set to.
func (r *Run) assigned(name string) Value {
	r.at++
	v := r.expression()
	if name != "" {
		r.set(name, v)
	}
	return v
}

// appended reads what is added to the end of a text.
func (r *Run) appended(left Value) Value {
	r.at++
	more := r.expression()
	if left.Name == "" {
		return left.joined(more, "")
	}
	held := r.value(left.Name)
	v := held.joined(more, "")
	r.set(left.Name, v)
	return v
}

// handedOn reads the call that is given a value as its first argument: x |> f, x |> f(y).
func (r *Run) handedOn(given Value) Value {
	r.at++
	r.lines()
	r.piped = &given
	v := r.operand()
	taken := r.piped == nil
	r.piped = nil
	if !taken && v.Name != "" {
		return r.call(v.Name, nil, []Value{given})
	}
	return v
}

// operator reads an operator and what is behind it.
func (r *Run) operator(left Value) Value {
	t := r.tok()
	op := t.text
	switch {
	case t.kind != foreignOp:
		return r.beside(left, t)
	case op == "=" || op == ":=" || op == "<-" || op == "||=":
		v := r.assigned(left.Name)
		if left.variable != "" {
			r.setsVariable(left.variable, v)
		}
		return v
	case (op == "(" || op == "[") && r.lang.Syntax != "awk":
		return left // what follows belongs to something else
	case op == ".=" || op == "+=" || op == "<<" && r.lang.Syntax == "ruby":
		return r.appended(left)
	case op == "|>" || op == "%>%":
		return r.handedOn(left)
	case op == "%" && (left.Quoted || left.Known()) && r.lang.Syntax == "ruby":
		r.at++
		v := r.operand()
		return formatted(left, v.elements())
	case op == "|" || op == "|&" || op == ">" || op == ">>" || op == "<":
		if r.lang.Syntax == "awk" && r.awkRedirect(op, left) {
			return UnknownValue()
		}
	}
	if op == "(" || op == "$" {
		return r.beside(left, t)
	}
	if slices.Contains(r.lang.Concat, op) {
		return r.concatenated(left, op)
	}
	r.at++
	if r.ends() {
		return UnknownValue()
	}
	return r.oneOf(left, op)
}

// oneOf reads what follows an operator that chooses between two values; after any other, nothing is known.
func (r *Run) oneOf(left Value, op string) Value {
	right := r.operand()
	switch op {
	case "||", "//", "?:", "?", ":", "&&":
		if left = r.resolved(left); left.Some() && op != "&&" && op != "?" {
			return left
		}
		return r.resolved(right)
	}
	return UnknownValue()
}

// concatenated joins a value with the one behind an operator that joins texts, and adds numbers too.
func (r *Run) concatenated(left Value, op string) Value {
	r.at++
	right := r.resolved(r.operand())
	left = r.resolved(left)
	if op == "+" && (left.number && right.number || left.listed) {
		return left
	}
	return left.joined(right, "")
}

// beside reads what directly follows a value: in awk texts are joined so.
func (r *Run) beside(left Value, t *foreignToken) Value {
	switch {
	case t.kind == foreignName && (t.text == "and" || t.text == "or" || t.text == "not" || t.text == "eq" || t.text == "ne" ||
		t.text == "x" || t.text == "lt" || t.text == "gt"):
		r.at++
		return UnknownValue()
	case r.lang.Syntax == "awk" && t.kind == foreignName && t.text == "getline":
		return left
	case r.lang.Syntax == "awk":
		v := r.resolved(r.operand())
		return r.resolved(left).joined(v, "")
	case t.kind == foreignLine:
		return left
	}
	r.operand()
	return left
}

// resolved is the value of the variable that a name means, if it means one.
func (r *Run) resolved(v Value) Value {
	if v.Name == "" {
		return v
	}
	held := r.value(v.Name)
	if strings.HasPrefix(v.Class, "option:") {
		held.Class = v.Class
	}
	return held
}

// value is what is known of a name.
func (r *Run) value(name string) Value {
	if v, ok := r.variable(name); ok {
		return v
	}
	if text, ok := r.lang.Values[name]; ok {
		return textForeign(text)
	}
	if v, ok := r.environment(name); ok {
		return v
	}
	return Value{Name: name, Text: "\x00"}
}

// environment is a variable of the environment, written as a member of what holds them all.
func (r *Run) environment(name string) (Value, bool) {
	for _, table := range [...]string{"ENV.", "$ENV.", "_ENV.", "$_ENV.", "_SERVER.", "$_SERVER.", "ENVIRON.", "env."} {
		if key, ok := strings.CutPrefix(name, table); ok {
			v := environmentForeign(key)
			v.variable = key
			return v, true
		}
	}
	return Value{}, false
}

// setsVariable gives a variable of the environment that a program sets to the rules, as the shell's command would: what the
// programs that it starts obey.
func (r *Run) setsVariable(name string, v Value) {
	name = strings.Trim(name, "\"'")
	if !v.Known() || !r.host.Obeys(name) || len(v.Text) > lex.MaxText {
		return
	}
	r.host.Shell(textForeign("export " + name + "=" + lex.ShellQuote(v.Text)))
}

func environmentForeign(key string) Value {
	if text, known := program.EnvironmentText(key); known {
		return textForeign(text)
	}
	return Value{Text: "\x00", secret: web.NamesSecret(key)}
}
