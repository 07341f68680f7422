package impact

import (
	"strings"

	"interlock"
)

// python analyses Python source.
func (s *scan) python(in string) { s.program(interlock.KindPython, in, 0) }

// learn collects a program's names: imports, constants, parameters and what they are called with.
func (r *codeRun) learn() {
	within := "" // the function that is being read
	for i := 0; i < len(r.tokens); i++ {
		t := r.tokens[i]
		if t.kind != codeName {
			continue
		}
		starts := i == 0 || r.tokens[i-1].kind == codeLine || r.tokens[i-1].is(";") || r.tokens[i-1].is(":") || r.tokens[i-1].is("{") || r.tokens[i-1].is("}")
		switch {
		case r.kind == interlock.KindPython && starts && t.text == "import":
			r.pythonImport(r.line(i + 1))
		case r.kind == interlock.KindPython && starts && t.text == "from":
			r.pythonFrom(r.line(i + 1))
		case t.text == "def" || t.text == "function":
			r.function(i + 1)
			if i+1 < len(r.tokens) {
				within = r.tokens[i+1].text
			}
		case t.text == "return" && within != "":
			r.bind(within+"()", r.expression(i+1))
		case t.text == "for":
			r.loop(i + 1)
		case r.kind == interlock.KindJavaScript && (t.text == "const" || t.text == "let" || t.text == "var"):
			r.declare(i + 1)
		case r.kind == interlock.KindJavaScript && starts && t.text == "import":
			r.scriptImport(r.line(i + 1))
		case i+1 < len(r.tokens) && (r.tokens[i+1].is("=") || r.tokens[i+1].is(":=")) && (i == 0 || !r.tokens[i-1].is(".")):
			r.bind(t.text, r.expression(i+2))
		case t.text == "as" && i+1 < len(r.tokens) && r.tokens[i+1].kind == codeName && i > 0 && r.tokens[i-1].is(")"):
			// with open(x) as f: f stands for nothing that is looked at
		}
	}
	r.bindParameters()
}

// line returns the tokens from i to the end of the line.
func (r *codeRun) line(i int) []codeToken {
	end := i
	for end < len(r.tokens) && r.tokens[end].kind != codeLine && !r.tokens[end].is(";") {
		end++
	}
	return r.tokens[min(i, end):end]
}

// expression returns the tokens of the expression that begins at i: to the end of the line, or to a comma or bracket
// that closes what it stands in.
func (r *codeRun) expression(i int) []codeToken {
	depth, end := 0, i
	for end < len(r.tokens) && end-i < 4096 {
		t := &r.tokens[end]
		if depth == 0 && (t.kind == codeLine || t.is(";") || t.is(",") || t.is(")") || t.is("]") || t.is("}")) {
			break
		}
		if t.kind == codeMark {
			switch t.text {
			case "(", "[", "{":
				depth++
			case ")", "]", "}":
				depth--
			}
		}
		end++
	}
	return r.tokens[min(i, len(r.tokens)):end]
}

// bind gives a name a value; a name bound twice may be either.
func (r *codeRun) bind(name string, expression []codeToken) {
	if len(expression) == 0 || len(r.vars) > 4096 || !r.s.spend(1+len(expression)/16) {
		return
	}
	v := r.value(expression, 0)
	if have, ok := r.vars[name]; ok {
		have.merge(v)
		v = have
	}
	r.vars[name] = v
}

func (r *codeRun) pythonImport(tokens []codeToken) {
	for _, part := range splitArguments(tokens) {
		module, next := moduleName(part)
		if module == "" {
			continue
		}
		root, _, _ := strings.Cut(module, ".")
		r.imports[root], r.imports[module] = true, true
		if next+1 < len(part) && part[next].text == "as" {
			r.aliases[part[next+1].text] = module
		}
	}
}

func (r *codeRun) pythonFrom(tokens []codeToken) {
	module, next := moduleName(tokens)
	if module == "" || next >= len(tokens) || tokens[next].text != "import" {
		return
	}
	root, _, _ := strings.Cut(module, ".")
	r.imports[root], r.imports[module] = true, true
	rest := tokens[next+1:]
	if len(rest) > 0 && rest[0].is("(") {
		rest = rest[1:]
	}
	for _, part := range splitArguments(rest) {
		if len(part) == 0 || part[0].kind != codeName {
			if len(part) > 0 && part[0].is("*") {
				r.star(module)
			}
			continue
		}
		name := part[0].text
		if len(part) > 2 && part[1].text == "as" {
			r.aliases[part[2].text] = module + "." + name
		} else {
			r.aliases[name] = module + "." + name
		}
	}
}

// star imports every name of a module that the table knows.
func (r *codeRun) star(module string) {
	for _, name := range sortedNames(r.calls) {
		if rest, ok := strings.CutPrefix(name, module+"."); ok && !strings.Contains(rest, ".") {
			r.aliases[rest] = name
		}
	}
}

// moduleName reads a dotted module name.
func moduleName(tokens []codeToken) (name string, next int) {
	for next < len(tokens) && next < 32 {
		if tokens[next].kind == codeName && (tokens[next].text == "import" || tokens[next].text == "as") {
			break
		}
		if tokens[next].kind == codeName || tokens[next].is(".") {
			name += tokens[next].text
			next++
			continue
		}
		break
	}
	return strings.Trim(name, "."), next
}

// function notes a function's parameters and their defaults.
func (r *codeRun) function(i int) {
	if i+1 >= len(r.tokens) || r.tokens[i].kind != codeName || !r.tokens[i+1].is("(") {
		return
	}
	end := matching(r.tokens[:min(len(r.tokens), i+512)], i+1)
	if end < 0 {
		return
	}
	var params []string
	for _, part := range splitArguments(r.tokens[i+2 : end]) {
		if len(part) > 0 && part[0].kind == codeName {
			params = append(params, part[0].text)
		}
	}
	r.params[r.tokens[i].text] = params
	if params == nil {
		r.params[r.tokens[i].text] = []string{}
	}
}

// loop binds the variable of a loop over constants: for x in [...], for (const x of [...]).
func (r *codeRun) loop(i int) {
	for i < len(r.tokens) && (r.tokens[i].is("(") || r.tokens[i].text == "const" || r.tokens[i].text == "let" || r.tokens[i].text == "var") {
		i++
	}
	if name, at := r.walked(i); at > 0 {
		if v := r.value(r.expression(at), 0); len(v.texts) > 0 {
			below := codeValue{texts: joinTexts(v, codeValue{}, "/"), dynamic: true}
			if have, ok := r.vars[name]; ok {
				have.merge(below)
				below = have
			}
			r.vars[name] = below
		}
		return
	}
	if i+2 < len(r.tokens) && r.tokens[i].kind == codeName && (r.tokens[i+1].text == "in" || r.tokens[i+1].text == "of") {
		expression := r.expression(i + 2)
		if colon := topMark(expression, ":"); colon > 0 {
			expression = expression[:colon]
		}
		r.bind(r.tokens[i].text, expression)
	}
}

// walked reads for root, dirs, files in os.walk(x): the name of the directories, and where x begins.
func (r *codeRun) walked(i int) (name string, at int) {
	if i+1 >= len(r.tokens) || r.tokens[i].kind != codeName || !r.tokens[i+1].is(",") {
		return "", 0
	}
	for k := i + 2; k < min(len(r.tokens), i+8); k++ {
		if r.tokens[k].text != "in" || k+2 >= len(r.tokens) {
			continue
		}
		if function, next := r.qualified(r.tokens, k+1); function == "os.walk" && next < len(r.tokens) && r.tokens[next].is("(") {
			return r.tokens[i].text, next + 1
		}
		break
	}
	return "", 0
}

// bindParameters gives parameters the values that calls in the program give them.
func (r *codeRun) bindParameters() {
	if len(r.params) == 0 {
		return
	}
	for i := range r.tokens {
		params := r.params[r.tokens[i].text]
		if r.tokens[i].kind != codeName || len(params) == 0 || i+1 >= len(r.tokens) || !r.tokens[i+1].is("(") ||
			i > 0 && (r.tokens[i-1].text == "def" || r.tokens[i-1].text == "function" || r.tokens[i-1].is(".")) {
			continue
		}
		end := matching(r.tokens[:min(len(r.tokens), i+1024)], i+1)
		if end < 0 || !r.s.spend(1+(end-i)/16) {
			continue
		}
		for n, part := range splitArguments(r.tokens[i+2 : end]) {
			if len(part) > 2 && part[1].is("=") {
				r.bind(part[0].text, part[2:])
			} else if n < len(params) && !(len(part) == 1 && part[0].text == params[n]) {
				r.bind(params[n], part)
			}
		}
	}
}
