package foreign

import (
	"strings"

	"interlock"
	"interlock/internal/impact/know"
	"interlock/internal/lex"
)

// A lispReader follows a program that is written as lists: Emacs Lisp, Scheme, Common Lisp, Clojure.
type lispReader struct {
	*Run
	text string
	pos  int
}

// readLisp follows a program of lists.
func readLisp(l *know.Language, text string, host Host, inline bool) {
	run := &Run{lang: l, host: host, inline: inline, vars: map[string]Value{}, defined: map[string]bool{}}
	p := &lispReader{Run: run, text: text}
	for p.pos < len(text) && host.Spend(1) {
		before := p.pos
		p.read(false)
		p.pos = max(p.pos, before+1)
	}
}

// blanks skips white space and comments.
func (p *lispReader) blanks() {
	for p.pos < len(p.text) {
		switch c := p.text[p.pos]; {
		case c == ';':
			p.pos = lex.EndOfLine(p.text, p.pos)
		case strings.HasPrefix(p.text[p.pos:], "#|"):
			if end := strings.Index(p.text[p.pos:], "|#"); end > 0 {
				p.pos += end + 2
			} else {
				p.pos = len(p.text)
			}
		case c <= ' ' || c == ',' && p.lang.Name == "clojure":
			p.pos++
		default:
			return
		}
	}
}

// read reads one value: a text, a name, a list. In a quoted list nothing is called.
func (p *lispReader) read(quoted bool) Value {
	if p.depth++; p.depth > maxForeignDepth {
		p.depth--
		p.host.TooDeep()
		p.pos = len(p.text)
		return UnknownValue()
	}
	defer func() { p.depth-- }()
	p.blanks()
	if p.pos >= len(p.text) || !p.host.Spend(1) {
		return UnknownValue()
	}
	switch c := p.text[p.pos]; c {
	case '"':
		text, next := lex.StringLiteral(p.text, p.pos)
		p.pos = next
		return textForeign(text)
	case '\'', '`':
		p.pos++
		return p.read(true)
	case '#', '@', ',', '^':
		p.pos++
		if strings.HasPrefix(p.text[p.pos:], `p"`) || strings.HasPrefix(p.text[p.pos:], `P"`) {
			p.pos++ // a path
		}
		if p.pos < len(p.text) && (p.text[p.pos] == '\\' || p.text[p.pos] == ':') {
			p.atom()
			return UnknownValue()
		}
		return p.read(quoted && c != ',')
	case '(':
		p.pos++
		if quoted {
			return Value{listed: true, list: p.elements(true, ')')}
		}
		return p.form()
	case '[', '{':
		p.pos++
		return Value{listed: true, list: p.elements(quoted, c+2)}
	case ')', ']', '}':
		return UnknownValue()
	}
	return p.atom()
}

// atom reads a number or a name.
func (p *lispReader) atom() Value {
	start := p.pos
	for p.pos++; p.pos < len(p.text) && p.text[p.pos] > ' ' && strings.IndexByte("()[]{}\";'`", p.text[p.pos]) < 0; p.pos++ {
	}
	word := p.text[start:p.pos]
	switch {
	case word == "nil" || word == "t" || word == "true" || word == "false" || word[0] == ':':
		return Value{Text: "\x00", Name: word, Class: "option:" + word}
	case word[0] >= '0' && word[0] <= '9':
		return Value{Text: word, Quoted: true, number: true}
	}
	return Value{Name: word, Text: "\x00"}
}

// elements reads values up to the closing bracket.
func (p *lispReader) elements(quoted bool, closing byte) (list []Value) {
	for p.host.Spend(1) {
		p.blanks()
		if p.pos >= len(p.text) {
			return list
		}
		if c := p.text[p.pos]; c == ')' || c == ']' || c == '}' {
			p.pos++
			return list
		}
		v := p.read(quoted)
		if !quoted {
			v = p.resolved(v)
		}
		if len(list) < 256 {
			list = append(list, v)
		}
	}
	return list
}

// form reads a list that is a call.
func (p *lispReader) form() Value {
	p.blanks()
	if p.pos < len(p.text) && (p.text[p.pos] == '(' || p.text[p.pos] == '[') { // ((x 1) (y 2)), or a call of what a call gives
		list := p.elements(false, ')')
		return Value{listed: true, list: list, Text: "\x00"}
	}
	head := p.read(false)
	name := head.Name
	switch {
	case binds(name):
		return p.binding(name)
	case defines(strings.TrimPrefix(name, "public-")) || strings.HasPrefix(name, "def") && strings.IndexByte(name, '-') < 0:
		return p.definition(name)
	}
	args := p.elements(false, ')')
	if name == "" || p.lang.Keywords[name] {
		if len(args) > 0 {
			return args[len(args)-1]
		}
		return UnknownValue()
	}
	return p.call(p.lispName(name), nil, args)
}

// lispName is a call's name as the table has it: without the package or alias before it, and without the dot of a method.
func (p *lispReader) lispName(name string) string {
	if quiet(p.lang, name) || effectOf(p.lang, name) != nil {
		return name
	}
	if at := strings.LastIndexAny(name, "/:"); at >= 0 && at+1 < len(name) {
		return name[at+1:]
	}
	return name
}

// binds reports whether a form begins with names that are given values.
func binds(name string) bool {
	switch name {
	case "let", "let*", "letrec", "if-let", "when-let", "doseq", "for", "loop", "dolist", "dotimes", "with-open-file",
		"with-open", "binding", "setq", "setf", "set!", "define", "def", "defvar", "defparameter", "setq-default":
		return true
	}
	return false
}

// binding reads a form that gives values to names.
func (p *lispReader) binding(form string) Value {
	p.blanks()
	if p.pos < len(p.text) && (p.text[p.pos] == '(' || p.text[p.pos] == '[') && form != "setq" && form != "setf" {
		open := p.text[p.pos]
		p.pos++
		if form == "define" { // (define (name args) body)
			if list := p.elements(true, ')'); len(list) > 0 {
				p.defined[list[0].Name] = true
			}
			return p.rest()
		}
		p.bindings(form, open)
		return p.rest()
	}
	for p.host.Spend(1) {
		p.blanks()
		if p.pos >= len(p.text) || p.text[p.pos] == ')' {
			break
		}
		name := p.read(true)
		p.blanks()
		if p.pos >= len(p.text) || p.text[p.pos] == ')' {
			break
		}
		v := p.resolved(p.read(false))
		if name.Name != "" {
			p.set(name.Name, v)
		}
	}
	return p.rest()
}

// bindings reads the list of names and values of a form: ((x 1) (y 2)), [x 1 y 2], (x list).
func (p *lispReader) bindings(form string, open byte) {
	var flat []Value
	for p.host.Spend(1) {
		p.blanks()
		if p.pos >= len(p.text) {
			return
		}
		if c := p.text[p.pos]; c == ')' || c == ']' {
			p.pos++
			break
		}
		if p.text[p.pos] == '(' && open == '(' && len(flat)%2 == 0 {
			p.pos++
			name := p.read(true)
			if values := p.elements(false, ')'); len(values) > 0 && name.Name != "" {
				p.set(name.Name, values[0])
			}
			continue
		}
		if len(flat)%2 == 0 {
			flat = append(flat, p.read(true))
		} else {
			flat = append(flat, p.resolved(p.read(false)))
		}
	}
	p.opened(form, flat)
	for i := 0; i+1 < len(flat); i += 2 {
		v := flat[i+1]
		if form == "dolist" || form == "doseq" || form == "for" {
			v = v.each()
		}
		p.set(flat[i].Name, v)
	}
}

// opened reads (with-open-file (stream "path" :direction :output) …).
func (p *lispReader) opened(form string, flat []Value) {
	if form != "with-open-file" || len(flat) < 2 {
		return
	}
	kind := interlock.ImpactRead
	for _, v := range flat[2:] {
		if v.Name == ":output" || v.Name == ":io" {
			kind = interlock.ImpactWrite
		}
	}
	p.onPath(form, kind, flat[1], nil)
}

// definition reads (defun name (args) body).
func (p *lispReader) definition(form string) Value {
	p.blanks()
	if name := p.read(true); name.Name != "" {
		p.defined[name.Name] = true
		p.blanks()
		if p.pos < len(p.text) && (p.text[p.pos] == '(' || p.text[p.pos] == '[') {
			p.read(true)
		}
	}
	return p.rest()
}

// rest reads the rest of a form.
func (p *lispReader) rest() Value {
	if list := p.elements(false, ')'); len(list) > 0 {
		return list[len(list)-1]
	}
	return UnknownValue()
}
