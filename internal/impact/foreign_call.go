package impact

import (
	"strings"
)

// effectOf is what a call does that a language's table describes: under its whole name, or, for a method of any value, under
// a dot and its last part.
func (l *foreignLanguage) effectOf(name string) *foreignEffect {
	if e, ok := l.calls[name]; ok {
		return &e
	}
	if at := strings.LastIndexByte(name, '.'); at > 0 {
		if e, ok := l.calls[name[at:]]; ok {
			return &e
		}
	}
	return nil
}

// callable reports whether a name is that of a call and not of a variable, as far as the table says.
func (l *foreignLanguage) callable(name string) bool {
	if l.harmless[name] || l.folds[name] != "" {
		return true
	}
	_, ok := l.calls[name]
	return ok
}

// quiet reports whether a call is known to do nothing but compute or print.
func (l *foreignLanguage) quiet(name string) bool {
	if l.callable(name) || l.keywords[name] {
		return true
	}
	if at := strings.LastIndexByte(name, '.'); at > 0 {
		return l.harmless[name[at:]] || l.folds[name[at:]] != "" || l.harmless[name[:strings.IndexByte(name, '.')]+".*"]
	}
	return false
}

// calling is a call of a value: of a name, or of what a variable holds.
func (r *foreignRun) calling(v foreignValue, args []foreignValue) foreignValue {
	name := v.name
	if name == "" && v.quoted && strings.IndexByte(v.text, 0) < 0 {
		name = v.text // its name in a text: $f = "system"; $f(…)
	}
	if held := r.value(name); name != "" && held.name == "" {
		if held.class == "lambda" {
			return unknownForeign()
		}
		if held.quoted && held.known() && r.lang.syntax != "tcl" {
			name = held.text
		}
	}
	if name == "" {
		if v.class != "lambda" {
			r.unknownCall("a function that is chosen at run time")
		}
		return unknownForeign()
	}
	return r.call(name, nil, args)
}

// call judges a call and returns its value. What it is called on, if it is a method of a value, is self.
func (r *foreignRun) call(name string, self *foreignValue, args []foreignValue) foreignValue {
	if !r.host.spend(1 + len(args)) {
		return unknownForeign()
	}
	if r.piped != nil {
		args = append([]foreignValue{*r.piped}, args...)
		r.piped = nil
	}
	name = r.lang.canonical(name)
	out := unknownForeign()
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
	if self != nil && self.class != "" {
		key = self.class + name
	}
	effect := r.lang.effectOf(key)
	if effect == nil {
		effect = r.lang.effectOf(name)
	}
	if effect == nil {
		r.unlisted(name, self)
		return out
	}
	return r.perform(name, effect, self, args, out)
}

// canonical is a call's name as the table has it.
func (l *foreignLanguage) canonical(name string) string {
	name = strings.TrimPrefix(strings.TrimPrefix(name, "&"), "\\")
	name = strings.TrimPrefix(strings.TrimPrefix(name, "CORE."), "GLOBAL.")
	name = strings.TrimPrefix(name, "Kernel.")
	if l.syntax == "php" {
		name = strings.ToLower(name)
	}
	return name
}

// indirect is a call whose function is given by name: send(:system, …), call_user_func("system", …), apply(Mod, :f, [args]).
func (r *foreignRun) indirect(name string, args []foreignValue) (string, []foreignValue, bool) {
	how := r.lang.folds[name]
	if how == "" && strings.LastIndexByte(name, '.') > 0 {
		how = r.lang.folds[name[strings.LastIndexByte(name, '.'):]]
	}
	if how != "call" || len(args) == 0 {
		return "", nil, false
	}
	target := args[0].text
	if args[0].name != "" {
		target = args[0].name
	}
	if target == "" || strings.IndexByte(target, 0) >= 0 || r.lang.folds[target] == "call" {
		r.unknownCall(name + " of a function that is chosen at run time")
		return "", nil, false
	}
	rest := args[1:]
	if len(rest) == 1 && rest[0].listed && len(rest[0].list) > 0 {
		rest = rest[0].list
	}
	return target, rest, true
}

// unlisted is a call that stands in no table and that the program doesn't define.
//
// Where R and Julia load a package, the calls nobody knows are its own: what these languages do to the world stands in the table.
func (r *foreignRun) unlisted(name string, self *foreignValue) {
	r.packages = r.packages || r.lang.syntax == "r" && (name == "library" || name == "require")
	last := name[strings.LastIndexByte(name, '.')+1:]
	if self != nil && (self.quoted || self.listed || self.number || self.class == "option") || r.lang.quiet(name) || r.lang.harmless["."+last] ||
		r.defined[last] || r.defined[name] || last == "" {
		return
	}
	if !r.lang.closed && !r.packages {
		r.unknownCall(strings.TrimPrefix(name, "."))
	}
}

// unknownCall asks about a call that nothing is known of, in a program that stands in the command.
func (r *foreignRun) unknownCall(name string) {
	if r.inline {
		r.host.unknown(name)
	}
}

// index is an element of a value, or a member by its name.
func (r *foreignRun) index(v foreignValue, keys []foreignValue) foreignValue {
	if len(keys) == 0 {
		return unknownForeign()
	}
	key := keys[0]
	if v.name != "" {
		known := r.value(v.name)
		if known.name != "" {
			text := key.text
			if key.name != "" {
				text = key.name
			}
			if text == "" || strings.IndexByte(text, 0) >= 0 {
				return unknownForeign()
			}
			name := strings.TrimPrefix(v.name+"."+text, "_G.")
			if held := r.value(name); held.name == "" {
				return held
			}
			return foreignValue{name: name, text: "\x00"}
		}
		v = known
	}
	if v.listed && key.number && key.known() {
		n := 0
		for i := 0; i < len(key.text) && n < 1000; i++ {
			n = n*10 + int(key.text[i]-'0')
		}
		if r.lang.syntax == "lua" || r.lang.syntax == "julia" || r.lang.syntax == "r" {
			n--
		}
		if n >= 0 && n < len(v.list) {
			return v.list[n]
		}
	}
	return foreignValue{text: "\x00", secret: v.secret, sent: v.sent}
}

// bareCall reports whether a name is called with what stands behind it, without brackets.
func (r *foreignRun) bareCall(v foreignValue, t *foreignToken) bool {
	if !t.space && t.kind != foreignText || r.lang.keywords[v.name] || strings.IndexAny(v.name[:1], "$@%") == 0 || !r.beginsArgument(t) {
		return false
	}
	if r.lang.syntax == "perl" && v.name == strings.ToUpper(v.name) || r.lang.syntax == "elixir" && v.name[0] == ':' && strings.IndexByte(v.name, '.') < 0 {
		return false // a file handle, an atom
	}
	if _, variable := r.vars[r.plainName(v.name)]; variable {
		return false
	}
	return r.lang.syntax != "php" && r.lang.syntax != "groovy" && r.lang.syntax != "julia" || r.lang.callable(r.lang.canonical(v.name)) || r.lang.syntax == "groovy" && t.kind == foreignText
}

// beginsArgument reports whether a word can begin the argument of a call without brackets.
func (r *foreignRun) beginsArgument(t *foreignToken) bool {
	switch t.kind {
	case foreignText, foreignNumber, foreignCommand:
		return true
	case foreignPattern:
		return true
	case foreignName:
		switch t.text {
		case "if", "unless", "while", "until", "do", "then", "end", "and", "or", "in", "for", "foreach", "rescue", "x", "eq", "ne", "lt", "gt", "cmp", "is":
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
			return r.lang.syntax == "perl"
		}
	}
	return false
}

// bareArguments reads the arguments of a call without brackets: up to the end of the line or the statement.
func (r *foreignRun) bareArguments() (list []foreignValue) {
	if t := r.tok(); r.lang.syntax == "perl" && t.is("{") { // map { … } list, print {$handle} text
		r.at++
		given := r.block("}")
		given.class = "lambda"
		list = append(list, given)
	}
	if t, next := r.tok(), r.ahead(1); r.lang.syntax == "perl" && t.kind == foreignName && !r.lang.callable(t.text) && !next.is("(") && !next.is(",") &&
		(next.kind == foreignText || next.kind == foreignName && !r.lang.keywords[next.text] && next.text != "x" && next.text != "eq") {
		r.at++ // a handle: print STDERR "text"
	}
	for r.more() && r.host.spend(1) && !r.ends() {
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
func (r *foreignRun) takesBlock(v foreignValue, t *foreignToken) bool {
	switch r.lang.syntax {
	case "ruby", "groovy", "elixir":
		return t.is("{") && (r.lang.syntax != "elixir") || t.kind == foreignName && r.lang.syntax == "ruby"
	}
	return false
}

// blockOf reads the block of a call, whose variables stand for what the call goes through.
func (r *foreignRun) blockOf(v foreignValue) foreignValue {
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
func (r *foreignRun) blockNames() (names []string) {
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
	if r.lang.syntax == "groovy" && at < len(r.toks) && r.toks[at].is("->") {
		for ; r.at < at; r.at++ {
			if r.toks[r.at].kind == foreignName {
				names = append(names, r.toks[r.at].text)
			}
		}
		r.at++
	}
	return names
}
