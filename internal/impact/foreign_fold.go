package impact

import (
	"path"
	"strconv"
	"strings"
)

// foreignFolds lists how the value of a call may follow from its arguments.
func foreignFolds() []string {
	return []string{"call", "map", "env", "first", "self", "list", "glob", "names", "join", "joinself", "concat", "paste", "path", "format", "formatself", "chr", "split", "home", "here",
		"base64", "base64self", "reverse", "lower", "replace", "made", "args", "pack", "decode"}
}

// fold returns the value of a call that does nothing and whose value follows from its arguments.
func (r *foreignRun) fold(name string, self *foreignValue, args []foreignValue) (foreignValue, bool) {
	how := r.lang.folds[name]
	if how == "" && strings.LastIndexByte(name, '.') > 0 {
		how = r.lang.folds[name[strings.LastIndexByte(name, '.'):]]
	}
	if how == "" {
		return foreignValue{}, false
	}
	subject := unknownForeign()
	rest := args
	if self != nil {
		subject = *self
	} else if len(args) > 0 {
		subject, rest = args[0], args[1:]
	}
	out := unknownForeign()
	out.marks(&subject)
	switch how {
	case "env":
		if key := subject.text; subject.known() {
			return environmentForeign(key), true
		}
		return out, true
	case "first", "self":
		return subject, true
	case "made":
		if len(args) > 1 {
			subject = joinedPath(args)
		}
		subject.class = "path"
		return subject, true
	case "map": // of a function given by its name
		for i := range args {
			if e := r.lang.effectOf(r.lang.canonical(args[i].text)); e != nil && args[i].known() {
				others := append(append([]foreignValue{}, args[:i]...), args[i+1:]...)
				for j := range others {
					others[j] = others[j].each()
				}
				r.call(args[i].text, nil, others)
			}
		}
		return out, true
	case "list":
		if len(args) == 1 && args[0].listed {
			return args[0], true
		}
		return foreignValue{listed: true, list: args}, true
	case "home":
		return textForeign("~"), true
	case "here":
		return textForeign("."), true
	case "args":
		return r.value("ARGV"), true
	case "names": // of what lies in a directory, without it
		return foreignValue{listed: true, list: []foreignValue{{text: "*", quoted: true, glob: true}}}, true
	case "glob":
		return r.globbed(subject, rest), true
	}
	return r.foldText(how, subject, rest, args, out)
}

// foldText folds what makes texts of texts.
func (r *foreignRun) foldText(how string, subject foreignValue, rest, args []foreignValue, out foreignValue) (foreignValue, bool) {
	switch how {
	case "join": // of a list, with the text that comes first
		return joinedList(flattened(rest), subject.string()), true
	case "joinself": // of the value itself
		with := ""
		if len(rest) > 0 {
			with = rest[0].string()
		}
		return joinedList(flattened([]foreignValue{subject}), with), true
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
		if words := strings.Fields(subject.text); subject.known() && len(words) < 256 {
			list := make([]foreignValue, len(words))
			for i, w := range words {
				list[i] = textForeign(w)
			}
			return foreignValue{listed: true, list: list}, true
		}
	case "base64", "base64self":
		if text, ok := decode("base64", subject.text); ok && subject.known() {
			return foreignValue{text: text, quoted: true, class: "decoded"}, true
		}
		out.class = "decoded"
	case "reverse":
		if subject.known() {
			letters := []rune(subject.text)
			for i, j := 0, len(letters)-1; i < j; i, j = i+1, j-1 {
				letters[i], letters[j] = letters[j], letters[i]
			}
			return textForeign(string(letters)), true
		}
	case "lower":
		if subject.known() {
			return textForeign(strings.ToLower(subject.text)), true
		}
	case "replace":
		if len(rest) == 2 && subject.known() && rest[0].known() && rest[1].known() && rest[0].text != "" && len(subject.text) < 4096 {
			return textForeign(strings.ReplaceAll(subject.text, rest[0].text, rest[1].text)), true
		}
	}
	return out, true
}

func withoutOptions(args []foreignValue) (out []foreignValue) {
	for _, a := range args {
		if !strings.HasPrefix(a.class, "option:") {
			out = append(out, a)
		}
	}
	return out
}

// flattened are the elements of lists and the values beside them.
func flattened(args []foreignValue) (out []foreignValue) {
	for i := range args {
		for _, e := range args[i].elements() {
			if len(out) < 256 {
				out = append(out, e)
			}
		}
	}
	return out
}

func joinedList(parts []foreignValue, with string) foreignValue {
	if len(parts) == 0 {
		return unknownForeign()
	}
	out := parts[0]
	out.text, out.name, out.quoted = out.string(), "", true
	for _, p := range parts[1:] {
		out = out.joined(p, with)
	}
	return out
}

func joinedPath(parts []foreignValue) foreignValue {
	out := joinedList(parts, "/")
	if strings.IndexByte(out.text, 0) < 0 && !strings.Contains(out.text, "://") {
		out.text = path.Clean(out.text)
	}
	return out
}

// formatted puts values into a text in the places that % marks, or {} and ~.
func formatted(format foreignValue, args []foreignValue) foreignValue {
	var b strings.Builder
	text := format.string()
	out := foreignValue{quoted: true, secret: format.secret, sent: format.sent}
	n := 0
	for i := 0; i < len(text) && b.Len() < maxText; i++ {
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
			b.WriteString(args[n].string())
			out.marks(&args[n])
		} else {
			b.WriteByte(0)
		}
		n++
	}
	out.text = b.String()
	return out
}

// characters are the letters with the given numbers.
func characters(how string, args []foreignValue, out foreignValue) foreignValue {
	var b strings.Builder
	if how == "pack" && len(args) > 0 { // pack("H*", "…"), pack("C*", 1, 2)
		form := args[0].text
		args = args[1:]
		if strings.HasPrefix(form, "H") && len(args) == 1 {
			if text, ok := decode("hex", args[0].text); ok {
				return foreignValue{text: text, quoted: true, class: "decoded"}
			}
		}
	}
	for _, a := range args {
		n, err := strconv.ParseInt(a.text, 0, 32)
		if err != nil || n <= 0 || n > 0x10ffff {
			out.class = "decoded"
			return out
		}
		b.WriteRune(rune(n))
	}
	return foreignValue{text: b.String(), quoted: true, class: "decoded"}
}

// globbed are the files a pattern stands for, or those in a directory.
func (r *foreignRun) globbed(dir foreignValue, rest []foreignValue) foreignValue {
	if dir.listed && len(dir.list) > 0 {
		dir = dir.list[0]
	}
	if len(rest) > 0 && rest[0].known() && isGlob(rest[0].text) {
		dir = joinedPath([]foreignValue{dir, rest[0]})
	}
	text := dir.string()
	if text == "" || text[0] == 0 {
		return unknownForeign()
	}
	words := strings.Fields(text) // Perl's glob takes several
	if r.lang.syntax != "perl" || len(words) > 16 {
		words = []string{text}
	}
	var list []foreignValue
	for _, w := range words {
		if !isGlob(w) {
			w = strings.TrimSuffix(w, "/") + "/*"
		}
		list = append(list, foreignValue{text: w, quoted: true, glob: true})
	}
	if len(list) == 1 {
		return foreignValue{listed: true, list: list}
	}
	return foreignValue{listed: true, list: list}
}

// filled puts the values of variables into a text.
func (r *foreignRun) filled(t *foreignToken) foreignValue {
	if !t.fills || strings.IndexAny(t.text, "$#@\\") < 0 {
		return textForeign(t.text)
	}
	var b strings.Builder
	out := foreignValue{quoted: true}
	for i := 0; i < len(t.text) && b.Len() < maxText; {
		c := t.text[i]
		if c == '\\' && i+1 < len(t.text) {
			b.WriteString(ansiC(t.text[i:min(len(t.text), i+2)]))
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
		out.glob = out.glob || v.glob
		if v.listed && len(v.list) > 0 {
			out.glob = out.glob || v.list[0].glob
		}
		b.WriteString(v.string())
		i = next
	}
	out.text = b.String()
	return out
}

// fill is what is put into a text at i, and where the text goes on.
func (r *foreignRun) fill(text string, i int) (foreignValue, int) {
	c, next := text[i], byte(0)
	if i+1 < len(text) {
		next = text[i+1]
	}
	syntax := r.lang.syntax
	braces := next == '{' && (c == '#' && (syntax == "ruby" || syntax == "elixir") || (c == '$' || c == '@' && syntax == "perl") && syntax != "ruby" && syntax != "elixir")
	if braces || c == '$' && next == '(' && syntax == "julia" {
		x := &foreignLexer{lang: r.lang, text: text, broken: r.level > maxForeignLevel}
		end := x.filled(i)
		if end == i {
			return unknownForeign(), len(text)
		}
		return r.inside(text[i+2 : end]), end + 1
	}
	if c == '{' && next == '$' && syntax == "php" {
		if end := strings.IndexByte(text[i:], '}'); end > 0 {
			return r.inside(text[i+1 : i+end]), i + end + 1
		}
	}
	if (c != '$' && !(c == '@' && syntax == "perl")) || syntax == "ruby" || syntax == "elixir" || !isNameStart(next) {
		return foreignValue{}, i
	}
	end := i + 1
	for end < len(text) && (isNameStart(text[end]) || text[end] >= '0' && text[end] <= '9') {
		end++
	}
	name := text[i:end]
	for end < len(text) && end-i < 200 && (text[end] == '[' || text[end] == '{' && syntax == "perl" || strings.HasPrefix(text[end:], "->")) && syntax != "groovy" && syntax != "julia" { // a member
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
func (r *foreignRun) inside(code string) foreignValue {
	if r.level >= maxForeignLevel {
		r.host.tooDeep()
		return unknownForeign()
	}
	toks, ok := r.lang.tokens(code, r.host.spend)
	if !ok {
		return unknownForeign()
	}
	outer, at, inner := r.toks, r.at, r.inner
	r.toks, r.at, r.inner = toks, 0, 0
	r.level++
	v := r.resolved(r.statements(""))
	r.level--
	r.toks, r.at, r.inner = outer, at, inner
	return v
}
