package foreign

import (
	"strings"

	"interlock/internal/impact/know"
)

// effectOf is what a call does that a language's table describes: under its whole name, or, for a method of any value, under
// a dot and its last part.
func effectOf(l *know.Language, name string) *know.LanguageEffect {
	if e, ok := l.Calls[name]; ok {
		return &e
	}
	if at := strings.LastIndexByte(name, '.'); at > 0 {
		if e, ok := l.Calls[name[at:]]; ok {
			return &e
		}
	}
	return nil
}

// callable reports whether a name is that of a call and not of a variable, as far as the table says.
func callable(l *know.Language, name string) bool {
	if l.Harmless[name] || l.Folds[name] != "" {
		return true
	}
	_, ok := l.Calls[name]
	return ok
}

// quiet reports whether a call is known to do nothing but compute or print.
func quiet(l *know.Language, name string) bool {
	if callable(l, name) || l.Keywords[name] {
		return true
	}
	if at := strings.LastIndexByte(name, '.'); at > 0 {
		return l.Harmless[name[at:]] || l.Folds[name[at:]] != "" || l.Harmless[name[:strings.IndexByte(name, '.')]+".*"]
	}
	return false
}

// calling is a call of a value: of a name, or of what a variable holds.
func (r *Run) calling(v Value, args []Value) Value {
	name := v.Name
	if name == "" && v.Quoted && strings.IndexByte(v.Text, 0) < 0 {
		name = v.Text // its name in a text: $f = "system"; $f(…)
	}
	if held := r.value(name); name != "" && held.Name == "" {
		if held.Class == "lambda" {
			return UnknownValue()
		}
		if held.Quoted && held.Known() && r.lang.Syntax != "tcl" {
			name = held.Text
		}
	}
	if name == "" {
		if v.Class != "lambda" {
			r.unknownCall("a function that is chosen at run time")
		}
		return UnknownValue()
	}
	return r.call(name, nil, args)
}

// call judges a call and returns its value. What it is called on, if it is a method of a value, is self.
func (r *Run) call(name string, self *Value, args []Value) Value {
	if !r.host.Spend(1 + len(args)) {
		return UnknownValue()
	}
	if r.piped != nil {
		args = append([]Value{*r.piped}, args...)
		r.piped = nil
	}
	name = canonical(r.lang, name)
	out := UnknownValue()
	for i := range args {
		args[i] = r.resolved(args[i])
		out.marks(&args[i])
	}
	if self != nil {
		v := r.resolved(*self)
		self = &v
		out.marks(self)
	}
	if target, rest, ok := r.indirect(name, args); ok {
		return r.call(target, self, rest)
	}
	if v, ok := r.fold(name, self, args); ok {
		return v
	}
	key := name
	if self != nil && self.Class != "" {
		key = self.Class + name
	}
	effect := effectOf(r.lang, key)
	if effect == nil {
		effect = effectOf(r.lang, name)
	}
	if effect == nil {
		r.unlisted(name, self)
		return out
	}
	return r.perform(name, effect, self, args, out)
}

// canonical is a call's name as the table has it.
func canonical(l *know.Language, name string) string {
	name = strings.TrimPrefix(strings.TrimPrefix(name, "&"), "\\")
	name = strings.TrimPrefix(strings.TrimPrefix(name, "CORE."), "GLOBAL.")
	name = strings.TrimPrefix(name, "Kernel.")
	if l.Syntax == "php" {
		name = strings.ToLower(name)
	}
	return name
}

// indirect is a call whose function is given by name: send(:system, …), call_user_func("system", …), apply(Mod, :f, [args]).
func (r *Run) indirect(name string, args []Value) (string, []Value, bool) {
	how := r.lang.Folds[name]
	if how == "" && strings.LastIndexByte(name, '.') > 0 {
		how = r.lang.Folds[name[strings.LastIndexByte(name, '.'):]]
	}
	if how != "call" || len(args) == 0 {
		return "", nil, false
	}
	target := args[0].Text
	if args[0].Name != "" {
		target = args[0].Name
	}
	if target == "" || strings.IndexByte(target, 0) >= 0 || r.lang.Folds[target] == "call" {
		r.unknownCall(name + " of a function that is chosen at run time")
		return "", nil, false
	}
	rest := args[1:]
	if len(rest) == 1 && rest[0].listed && len(rest[0].list) > 0 {
		rest = rest[0].list
	}
	return target, rest, true
}

// unlisted is a call that is in no table and that the program doesn't define.
//
// Where R and Julia load a package, the calls nobody knows are its own: what these languages do to the world is in the table.
func (r *Run) unlisted(name string, self *Value) {
	r.packages = r.packages || r.lang.Syntax == "r" && (name == "library" || name == "require")
	last := name[strings.LastIndexByte(name, '.')+1:]
	if self != nil && (self.Quoted || self.listed || self.number || self.Class == "option") || quiet(r.lang, name) ||
		r.lang.Harmless["."+last] ||
		r.defined[last] || r.defined[name] || last == "" {
		return
	}
	if !r.lang.Closed && !r.packages {
		r.unknownCall(strings.TrimPrefix(name, "."))
	}
}

// unknownCall asks about a call that nothing is known of, in a program that is written in the command.
func (r *Run) unknownCall(name string) {
	if r.inline {
		r.host.Unknown(name)
	}
}

// index is an element of a value, or a member by its name.
func (r *Run) index(v Value, keys []Value) Value {
	if len(keys) == 0 {
		return UnknownValue()
	}
	key := keys[0]
	if v.Name != "" {
		known := r.value(v.Name)
		if known.Name != "" {
			text := key.Text
			if key.Name != "" {
				text = key.Name
			}
			if text == "" || strings.IndexByte(text, 0) >= 0 {
				return UnknownValue()
			}
			name := strings.TrimPrefix(v.Name+"."+text, "_G.")
			if held := r.value(name); held.Name == "" {
				return held
			}
			return Value{Name: name, Text: "\x00"}
		}
		v = known
	}
	if v.listed && key.number && key.Known() {
		n := 0
		for i := 0; i < len(key.Text) && n < 1000; i++ {
			n = n*10 + int(key.Text[i]-'0')
		}
		if r.lang.Syntax == "lua" || r.lang.Syntax == "julia" || r.lang.Syntax == "r" {
			n--
		}
		if n >= 0 && n < len(v.list) {
			return v.list[n]
		}
	}
	return Value{Text: "\x00", secret: v.secret, Sent: v.Sent}
}

// bareCall reports whether a name is called with what follows it, without brackets.
func (r *Run) bareCall(v Value, t *foreignToken) bool {
	if !t.space && t.kind != foreignText || r.lang.Keywords[v.Name] || strings.IndexAny(v.Name[:1], "$@%") == 0 ||
		!r.beginsArgument(t) {
		return false
	}
	if r.lang.Syntax == "perl" && v.Name == strings.ToUpper(v.Name) || r.lang.Syntax == "elixir" && v.Name[0] == ':' &&
		strings.IndexByte(v.Name, '.') < 0 {
		return false // a file handle, an atom
	}
	if _, variable := r.variable(v.Name); variable {
		return false
	}
	return r.lang.Syntax != "php" && r.lang.Syntax != "groovy" && r.lang.Syntax != "julia" ||
		callable(r.lang, canonical(r.lang, v.Name)) || r.lang.Syntax == "groovy" && t.kind == foreignText
}

// beginsArgument reports whether a word can begin the argument of a call without brackets.
func (r *Run) beginsArgument(t *foreignToken) bool {
	switch t.kind {
	case foreignText, foreignNumber, foreignCommand:
		return true
	case foreignPattern:
		return true
	case foreignName:
		switch t.text {
		case "if", "unless", "while", "until", "do", "then", "end", "and", "or", "in", "for", "foreach", "rescue", "x", "eq",
			"ne", "lt", "gt", "cmp", "is":
			return false
		}
		return true
	case foreignOp:
		next := r.ahead(1)
		switch t.text {
		case "[", "\\", "->", "::":
			return t.space
		case "(":
			return t.space
		case "@", "$", "*", "&", "-", "!":
			return t.space && !next.space
		case "{":
			return r.lang.Syntax == "perl"
		}
	}
	return false
}

// bareArguments reads the arguments of a call without brackets: up to the end of the line or the statement.
func (r *Run) bareArguments() (list []Value) {
	if t := r.tok(); r.lang.Syntax == "perl" && t.is("{") { // map { … } list, print {$handle} text
		r.at++
		given := r.block("}")
		given.Class = "lambda"
		list = append(list, given)
	}
	if t, next := r.tok(), r.ahead(1); r.lang.Syntax == "perl" && t.kind == foreignName && !callable(r.lang, t.text) &&
		!next.is("(") && !next.is(",") &&
		(next.kind == foreignText || next.kind == foreignName && !r.lang.Keywords[next.text] && next.text != "x" &&
			next.text != "eq") {
		r.at++ // a handle: print STDERR "text"
	}
	for r.more() && r.host.Spend(1) && !r.ends() {
		before := r.at
		v := r.argument()
		if len(list) < 256 {
			list = append(list, v)
		}
		if !r.tok().is(",") && !r.tok().is("=>") {
			break
		}
		r.at++
		r.lines()
		r.at = max(r.at, before+1)
	}
	return list
}

// takesBlock reports whether a block that begins here belongs to the call before it.
func (r *Run) takesBlock(v Value, t *foreignToken) bool {
	switch r.lang.Syntax {
	case "ruby", "groovy", "elixir":
		return t.is("{") && (r.lang.Syntax != "elixir") || t.kind == foreignName && r.lang.Syntax == "ruby"
	}
	return false
}

// blockOf reads the block of a call, whose variables stand for what the call goes through.
func (r *Run) blockOf(v Value) Value {
	closing := "}"
	if r.toks[r.at-1].kind == foreignName {
		closing = ""
	}
	given := r.resolved(v)
	given = given.each()
	r.lines()
	names := r.blockNames()
	for _, name := range names {
		r.set(name, given)
	}
	if len(names) == 0 {
		r.set("it", given)
	}
	if closing == "" {
		return v // up to end, in which the statements that follow stand
	}
	r.block(closing)
	return v
}

// blockNames reads the variables of a block: |a, b| or a, b ->.
func (r *Run) blockNames() (names []string) {
	if r.take("|") {
		for r.more() && !r.take("|") && len(names) < 8 {
			if r.tok().kind == foreignName {
				names = append(names, r.tok().text)
			}
			r.at++
		}
		return names
	}
	at := r.at
	for at < len(r.toks) && at < r.at+8 && (r.toks[at].kind == foreignName || r.toks[at].is(",")) {
		at++
	}
	if r.lang.Syntax == "groovy" && at < len(r.toks) && r.toks[at].is("->") {
		for ; r.at < at; r.at++ {
			if r.toks[r.at].kind == foreignName {
				names = append(names, r.toks[r.at].text)
			}
		}
		r.at++
	}
	return names
}
