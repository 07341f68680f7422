package foreign

import (
	"path"
	"strconv"
	"strings"

	"interlock/internal/impact/know"
	"interlock/internal/lex"
)

// fold returns the value of a call that does nothing and whose value follows from its arguments.
func (r *Run) fold(name string, self *Value, args []Value) (Value, bool) {
	how := r.lang.Folds[name]
	if how == "" && strings.LastIndexByte(name, '.') > 0 {
		how = r.lang.Folds[name[strings.LastIndexByte(name, '.'):]]
	}
	if how == "" {
		return Value{}, false
	}
	subject := UnknownValue()
	rest := args
	if self != nil {
		subject = *self
	} else if len(args) > 0 {
		subject, rest = args[0], args[1:]
	}
	out := UnknownValue()
	out.marks(&subject)
	switch how {
	case "env":
		if key := subject.Text; subject.Known() {
			return environmentForeign(key), true
		}
		return out, true
	case "first", "self":
		return subject, true
	case "made":
		if len(args) > 1 {
			subject = joinedPath(args)
		}
		subject.Class = "path"
		return subject, true
	case "map": // of a function given by its name
		for i := range args {
			if e := effectOf(r.lang, canonical(r.lang, args[i].Text)); e != nil && args[i].Known() {
				others := append(append([]Value{}, args[:i]...), args[i+1:]...)
				for j := range others {
					others[j] = others[j].each()
				}
				r.call(args[i].Text, nil, others)
			}
		}
		return out, true
	case "list":
		if len(args) == 1 && args[0].listed {
			return args[0], true
		}
		return Value{listed: true, list: args}, true
	case "home":
		return textForeign("~"), true
	case "here":
		return textForeign("."), true
	case "args":
		return r.value("ARGV"), true
	case "names": // of what lies in a directory, without it
		return Value{listed: true, list: []Value{{Text: "*", Quoted: true, Glob: true}}}, true
	case "glob":
		return r.globbed(subject, rest), true
	}
	return r.foldText(how, subject, rest, args, out)
}

// foldText folds what makes texts of texts.
func (r *Run) foldText(how string, subject Value, rest, args []Value, out Value) (Value, bool) {
	switch how {
	case "join": // of a list, with the text that comes first
		return joinedList(flattened(rest), subject.String()), true
	case "joinself": // of the value itself
		with := ""
		if len(rest) > 0 {
			with = rest[0].String()
		}
		return joinedList(flattened([]Value{subject}), with), true
	case "concat":
		return joinedList(flattened(args), ""), true
	case "paste":
		return joinedList(flattened(withoutOptions(args)), " "), true
	case "path":
		return joinedPath(flattened(args)), true
	case "format":
		return formatted(subject, flattened(rest)), true
	case "formatself":
		return formatted(subject, flattened(rest)), true
	case "chr", "pack":
		return characters(how, flattened(args), out), true
	case "split":
		if words := strings.Fields(subject.Text); subject.Known() && len(words) < 256 {
			list := make([]Value, len(words))
			for i, w := range words {
				list[i] = textForeign(w)
			}
			return Value{listed: true, list: list}, true
		}
	case "base64", "base64self":
		if text, ok := lex.Decode("base64", subject.Text); ok && subject.Known() {
			return Value{Text: text, Quoted: true, Class: "decoded"}, true
		}
		out.Class = "decoded"
	case "reverse":
		if subject.Known() {
			letters := []rune(subject.Text)
			for i, j := 0, len(letters)-1; i < j; i, j = i+1, j-1 {
				letters[i], letters[j] = letters[j], letters[i]
			}
			return textForeign(string(letters)), true
		}
	case "lower":
		if subject.Known() {
			return textForeign(strings.ToLower(subject.Text)), true
		}
	case "replace":
		if len(rest) == 2 && subject.Known() && rest[0].Known() && rest[1].Known() && rest[0].Text != "" &&
			len(subject.Text) < 4096 {
			return textForeign(strings.ReplaceAll(subject.Text, rest[0].Text, rest[1].Text)), true
		}
	}
	return out, true
}

func withoutOptions(args []Value) (out []Value) {
	for _, a := range args {
		if !strings.HasPrefix(a.Class, "option:") {
			out = append(out, a)
		}
	}
	return out
}

// flattened are the elements of lists and the values beside them.
func flattened(args []Value) (out []Value) {
	for i := range args {
		for _, e := range args[i].elements() {
			if len(out) < 256 {
				out = append(out, e)
			}
		}
	}
	return out
}

func joinedList(parts []Value, with string) Value {
	if len(parts) == 0 {
		return UnknownValue()
	}
	out := parts[0]
	out.Text, out.Name, out.Quoted = out.String(), "", true
	for _, p := range parts[1:] {
		out = out.joined(p, with)
	}
	return out
}

func joinedPath(parts []Value) Value {
	out := joinedList(parts, "/")
	if strings.IndexByte(out.Text, 0) < 0 && !strings.Contains(out.Text, "://") {
		out.Text = path.Clean(out.Text)
	}
	return out
}

// formatted puts values into a text in the places that % marks, or {} and ~.
func formatted(format Value, args []Value) Value {
	var b strings.Builder
	text := format.String()
	out := Value{Quoted: true, secret: format.secret, Sent: format.Sent}
	n := 0
	for i := 0; i < len(text) && b.Len() < lex.MaxText; i++ {
		if text[i] != '%' || i+1 >= len(text) {
			b.WriteByte(text[i])
			continue
		}
		i++
		if text[i] == '%' {
			b.WriteByte('%')
			continue
		}
		for i < len(text)-1 && strings.IndexByte("0123456789.-+ #$l", text[i]) >= 0 {
			i++
		}
		if n < len(args) {
			b.WriteString(args[n].String())
			out.marks(&args[n])
		} else {
			b.WriteByte(0)
		}
		n++
	}
	out.Text = b.String()
	return out
}

// characters are the letters with the given numbers.
func characters(how string, args []Value, out Value) Value {
	var b strings.Builder
	if how == "pack" && len(args) > 0 { // pack("H*", "…"), pack("C*", 1, 2)
		form := args[0].Text
		args = args[1:]
		if strings.HasPrefix(form, "H") && len(args) == 1 {
			if text, ok := lex.Decode("hex", args[0].Text); ok {
				return Value{Text: text, Quoted: true, Class: "decoded"}
			}
		}
	}
	for _, a := range args {
		n, err := strconv.ParseInt(a.Text, 0, 32)
		if err != nil || n <= 0 || n > 0x10ffff {
			out.Class = "decoded"
			return out
		}
		b.WriteRune(rune(n))
	}
	return Value{Text: b.String(), Quoted: true, Class: "decoded"}
}

// globbed are the files a pattern matches, or those in a directory.
func (r *Run) globbed(dir Value, rest []Value) Value {
	if dir.listed && len(dir.list) > 0 {
		dir = dir.list[0]
	}
	if len(rest) > 0 && rest[0].Known() && know.IsGlob(rest[0].Text) {
		dir = joinedPath([]Value{dir, rest[0]})
	}
	text := dir.String()
	if text == "" || text[0] == 0 {
		return UnknownValue()
	}
	words := strings.Fields(text) // Perl's glob takes several
	if r.lang.Syntax != "perl" || len(words) > 16 {
		words = []string{text}
	}
	var list []Value
	for _, w := range words {
		if !know.IsGlob(w) {
			w = strings.TrimSuffix(w, "/") + "/*"
		}
		list = append(list, Value{Text: w, Quoted: true, Glob: true})
	}
	if len(list) == 1 {
		return Value{listed: true, list: list}
	}
	return Value{listed: true, list: list}
}

// filled puts the values of variables into a text.
func (r *Run) filled(t *foreignToken) Value {
	if !t.fills || strings.IndexAny(t.text, "$#@\\") < 0 {
		return textForeign(t.text)
	}
	var b strings.Builder
	out := Value{Quoted: true}
	for i := 0; i < len(t.text) && b.Len() < lex.MaxText; {
		c := t.text[i]
		if c == '\\' && i+1 < len(t.text) {
			b.WriteString(lex.AnsiC(t.text[i:min(len(t.text), i+2)]))
			i += 2
			continue
		}
		v, next := r.fill(t.text, i)
		if next == i {
			b.WriteByte(c)
			i++
			continue
		}
		out.marks(&v)
		out.Glob = out.Glob || v.Glob
		if v.listed && len(v.list) > 0 {
			out.Glob = out.Glob || v.list[0].Glob
		}
		b.WriteString(v.String())
		i = next
	}
	out.Text = b.String()
	return out
}

// marksVariable reports whether a character comes before the name of a variable within a text.
func marksVariable(syntax string, c byte) bool {
	return syntax != "ruby" && syntax != "elixir" && (c == '$' || c == '@' && syntax == "perl")
}

// opensCode reports whether code to be filled in begins within a text: #{code}, ${code} or $(code).
func opensCode(syntax string, c, next byte) bool {
	switch next {
	case '{':
		return marksVariable(syntax, c) || c == '#' && (syntax == "ruby" || syntax == "elixir")
	case '(':
		return c == '$' && syntax == "julia"
	}
	return false
}

// fill is what is put into a text at i, and where the text goes on.
func (r *Run) fill(text string, i int) (Value, int) {
	c, next := text[i], byte(0)
	if i+1 < len(text) {
		next = text[i+1]
	}
	syntax := r.lang.Syntax
	if opensCode(syntax, c, next) {
		x := &foreignLexer{lang: r.lang, text: text, broken: r.level > maxForeignLevel}
		end := x.filled(i)
		if end == i {
			return UnknownValue(), len(text)
		}
		return r.inside(text[i+2 : end]), end + 1
	}
	if c == '{' && next == '$' && syntax == "php" {
		if end := strings.IndexByte(text[i:], '}'); end > 0 {
			return r.inside(text[i+1 : i+end]), i + end + 1
		}
	}
	if !marksVariable(syntax, c) || !lex.IsNameStart(next) {
		return Value{}, i
	}
	end := i + 1
	for end < len(text) && (lex.IsNameStart(text[end]) || text[end] >= '0' && text[end] <= '9') {
		end++
	}
	name := text[i:end]
	// a member
	for end < len(text) && end-i < 200 &&
		(text[end] == '[' || text[end] == '{' && syntax == "perl" || strings.HasPrefix(text[end:], "->")) && syntax != "groovy" &&
		syntax != "julia" {
		shut := strings.IndexAny(text[end:min(len(text), end+100)], "]}")
		if shut < 0 {
			break
		}
		end += shut + 1
		return r.inside(text[i:end]), end
	}
	if syntax == "julia" || syntax == "groovy" {
		name = name[1:]
	}
	v := r.value(name)
	return v, end
}

// inside is the value of a piece of program inside a text.
func (r *Run) inside(code string) Value {
	if r.level >= maxForeignLevel {
		r.host.TooDeep()
		return UnknownValue()
	}
	toks, ok := tokens(r.lang, code, r.host.Spend)
	if !ok {
		return UnknownValue()
	}
	outer, at, inner := r.toks, r.at, r.inner
	r.toks, r.at, r.inner = toks, 0, 0
	r.level++
	v := r.resolved(r.statements(""))
	r.level--
	r.toks, r.at, r.inner = outer, at, inner
	return v
}
