package impact

import (
	"strings"

	"interlock"
)

// javascript analyses JavaScript source.
func (s *scan) javascript(in string) { s.program(interlock.KindJavaScript, in, 0) }

// declare reads const, let and var: a name or a pattern taken out of a module.
func (r *codeRun) declare(i int) {
	if i >= len(r.tokens) {
		return
	}
	if r.tokens[i].is("{") {
		end := matching(r.tokens[:min(len(r.tokens), i+256)], i)
		if end < 0 || end+2 >= len(r.tokens) || !r.tokens[end+1].is("=") {
			return
		}
		module := r.value(r.expression(end+2), 0).is
		if module == "" {
			return
		}
		r.take(r.tokens[i+1:end], module)
		return
	}
	if r.tokens[i].kind != codeName || i+1 >= len(r.tokens) || !r.tokens[i+1].is("=") {
		return
	}
	expression := r.expression(i + 2)
	if v := r.value(expression, 0); v.is != "" && len(v.texts) == 0 && len(expression) > 1 {
		if expression[0].text == "require" || expression[0].text == "await" {
			r.module(r.tokens[i].text, v.is)
			return
		}
	}
	if len(expression) > 4 && expression[0].text == "require" { // require("x").y
		name, _ := r.requireTail(expression)
		if name != "" {
			r.module(r.tokens[i].text, name)
			return
		}
	}
	r.bind(r.tokens[i].text, expression)
}

func (r *codeRun) requireTail(expression []codeToken) (string, bool) {
	end := matching(expression, 1)
	if end < 0 {
		return "", false
	}
	name := r.value(expression[:end+1], 0).is
	for i := end + 1; i+1 < len(expression) && expression[i].is("."); i += 2 {
		name += "." + expression[i+1].text
	}
	return name, name != ""
}

func (r *codeRun) module(local, name string) {
	name = strings.TrimPrefix(name, "node:")
	name = strings.ReplaceAll(name, "/promises", ".promises")
	root, _, _ := strings.Cut(name, ".")
	r.imports[root] = true
	r.aliases[local] = name
}

// take binds the names of { a, b: c } or { a, b as c } to members of a module.
func (r *codeRun) take(tokens []codeToken, module string) {
	module = strings.ReplaceAll(strings.TrimPrefix(module, "node:"), "/promises", ".promises")
	root, _, _ := strings.Cut(module, ".")
	r.imports[root] = true
	for _, part := range splitArguments(tokens) {
		switch {
		case len(part) == 1 && part[0].kind == codeName:
			r.aliases[part[0].text] = module + "." + part[0].text
		case len(part) == 3 && (part[1].is(":") || part[1].text == "as"):
			r.aliases[part[2].text] = module + "." + part[0].text
		}
	}
}

// scriptImport reads an import declaration.
func (r *codeRun) scriptImport(tokens []codeToken) {
	if len(tokens) == 0 || tokens[len(tokens)-1].kind != codeString {
		return
	}
	module := tokens[len(tokens)-1].text
	for i := 0; i < len(tokens); i++ {
		t := tokens[i]
		switch {
		case t.is("{"):
			if end := matching(tokens, i); end > i {
				r.take(tokens[i+1:end], module)
				i = end
			}
		case t.is("*") && i+2 < len(tokens):
			r.module(tokens[i+2].text, module)
			i += 2
		case t.kind == codeName && t.text != "from":
			r.module(t.text, module)
		}
	}
	r.imports[strings.TrimPrefix(module, "node:")] = true
}
