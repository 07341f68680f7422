package program

// pythonBlock reads statements up to the first line that is indented no deeper than around; -1 reads everything.
func (p *codeParser) pythonBlock(around int32) *codeNode {
	var of []*codeNode
	for p.at < len(p.tokens) && p.at < p.limit {
		if t := &p.tokens[p.at]; t.line && t.indent <= around {
			break
		}
		before := p.at
		of = append(of, p.pythonStatement())
		p.step(before)
	}
	return p.node(nodeBlock, "", of...)
}

// pythonStatement reads one statement; a compound one with everything below it.
func (p *codeParser) pythonStatement() *codeNode {
	if p.take(";") {
		return &codeNode{}
	}
	if p.depth++; p.depth > maxCodeNesting { // deeper blocks are read as if they stood here
		p.depth--
		return p.pythonSimple()
	}
	defer func() { p.depth-- }()
	t := &p.tokens[p.at]
	if t.kind == codeMark && t.text == "@" {
		p.at++
		p.static = p.word("staticmethod")
		return p.pythonLine(func() *codeNode { return p.expressions() })
	}
	if t.kind != codeName {
		return p.pythonSimple()
	}
	switch t.text {
	case "async":
		if next := p.ahead(1); next.kind == codeName && (next.text == "def" || next.text == "for" || next.text == "with") {
			p.at++
			return p.pythonStatement()
		}
	case "def":
		if p.ahead(1).kind == codeName {
			return p.pythonFunction(t.indent)
		}
	case "class":
		if p.ahead(1).kind == codeName {
			return p.pythonClass()
		}
	case "if", "elif", "else", "while", "for", "with", "try", "except", "finally":
		return p.pythonCompound(t.text)
	case "match", "case":
		if next := p.ahead(1); !next.is("=") && !next.is(".") && !next.is("(") && !next.is(",") && !next.is(")") &&
			next.kind != 0 && !next.line && p.headEnds() {
			return p.pythonCompound(t.text)
		}
	}
	return p.pythonSimple()
}

// A pythonLineAt is what is known of the logical line that a token is in: many statements may be in one.
type pythonLineAt struct {
	end    int32 // where the line ends, seen from here: the next token, or the one behind the bracket that closes, that begins one
	indent int32
}

// line returns what is known of the line that a token is in.
func (p *codeParser) line(at int) pythonLineAt {
	if n := len(p.tokens); p.lines == nil && n > 0 {
		p.lines = make([]pythonLineAt, n+1)
		p.lines[n].end = int32(n)
		for i := n - 1; i >= 0; i-- {
			t := &p.tokens[i]
			switch {
			case t.line:
				p.lines[i].end = int32(i)
			case int(t.pair) > i:
				p.lines[i].end = p.lines[t.pair+1].end
			default:
				p.lines[i].end = p.lines[i+1].end
			}
		}
		indent := int32(0)
		for i := range p.tokens {
			if p.tokens[i].line {
				indent = p.tokens[i].indent
			}
			p.lines[i].indent = indent
		}
		p.lines[n].indent = indent
	}
	return p.lines[min(at, len(p.tokens))]
}

// lineEnd returns where the logical line at hand ends.
func (p *codeParser) lineEnd() int { return min(int(p.line(p.at+1).end), p.limit) }

// headEnds reports whether the line at hand ends in a colon, as the head of a block does.
func (p *codeParser) headEnds() bool { return p.tokens[p.lineEnd()-1].is(":") }

// pythonLine reads something within the logical line at hand, and whatever is left of the line.
func (p *codeParser) pythonLine(read func() *codeNode) *codeNode {
	end, limit := p.lineEnd(), p.limit
	p.limit = end
	n := read()
	for p.more() && !p.is(";") {
		before := p.at
		n = p.node(nodeOther, "", n, p.expression())
		p.step(before)
	}
	p.limit = limit
	return n
}

// indentAround returns the indentation of the line that the token at hand is in.
func (p *codeParser) indentAround() int32 { return p.line(p.at).indent }

// pythonBody reads the body behind a colon: the rest of the line, or the block below it.
func (p *codeParser) pythonBody(around int32) *codeNode {
	if !p.is(":") {
		return &codeNode{kind: nodeBlock}
	}
	p.at++
	if !p.more() || p.tokens[p.at].line {
		if !p.more() || p.tokens[p.at].indent <= around {
			return &codeNode{kind: nodeBlock}
		}
		return p.pythonBlock(around)
	}
	var of []*codeNode
	for p.more() && !p.tokens[p.at].line {
		before := p.at
		of = append(of, p.pythonStatement())
		p.step(before)
	}
	return p.node(nodeBlock, "", of...)
}

// head reads an expression up to the colon that ends the head of a block, and what it can't read on the way.
func (p *codeParser) head() *codeNode {
	end, limit := p.lineEnd(), p.limit
	p.limit = end
	var of []*codeNode
	for p.more() && !p.is(":") {
		before := p.at
		of = append(of, p.expressions())
		if p.word("as") {
			p.at++
			last := len(of) - 1
			of[last] = p.node(nodeAssign, "", p.targets(), of[last])
		}
		p.take(",")
		p.step(before)
	}
	p.limit = limit
	if len(of) == 1 {
		return of[0]
	}
	return p.node(nodeSequence, "", of...)
}

// pythonCompound reads a statement with a block.
func (p *codeParser) pythonCompound(keyword string) *codeNode {
	around := p.indentAround()
	p.at++
	switch keyword {
	case "for":
		target := p.targets()
		if p.word("in") {
			p.at++
		}
		each := p.head()
		return p.node(nodeEach, "values", target, each, p.pythonBody(around))
	case "while":
		condition := p.head()
		return p.node(nodeLoop, endlessIf(condition), p.node(nodeSequence, "", condition, p.pythonBody(around)))
	case "if":
		condition := p.head()
		body := p.pythonBody(around)
		if condition.kind == nodeOther && len(condition.of) == 2 && condition.of[0].kind == nodeName &&
			condition.of[0].text == "__name__" {
			return body // the program is run, not imported
		}
		return p.node(nodeBranch, "", condition, body)
	case "with", "try", "finally":
		return p.node(nodeSequence, "", p.head(), p.pythonBody(around))
	}
	return p.node(nodeBranch, "", p.head(), p.pythonBody(around)) // elif, else, except, match, case
}

// endlessIf says that a loop with this condition has no end of its own.
func endlessIf(condition *codeNode) string {
	switch {
	case condition.kind == nodeName && (condition.text == "True" || condition.text == "true"),
		condition.kind == nodeNumber && condition.text != "0",
		condition.kind == nodeText && condition.text != "":
		return "endless"
	}
	return ""
}

func (p *codeParser) pythonFunction(indent int32) *codeNode {
	f := &codeFunction{name: p.ahead(1).text, static: p.static}
	p.static = false
	around := p.indentAround()
	p.at += 2
	if p.is("[") { // type parameters
		p.at = p.closing(p.at)
		p.take("]")
	}
	if p.is("(") {
		p.within(func() { f.params = p.params() })
	}
	p.skipTo(":")
	f.body = p.pythonBody(around)
	n := p.node(nodeFunction, f.name, f.body)
	f.body, n.function = n.of[0], f
	return n
}

func (p *codeParser) pythonClass() *codeNode {
	f := &codeFunction{name: p.ahead(1).text}
	around := p.indentAround()
	p.at += 2
	if p.is("[") {
		p.at = p.closing(p.at)
		p.take("]")
	}
	var bases []*codeNode
	if p.is("(") {
		p.within(func() { bases = p.elements(true) })
	}
	p.skipTo(":")
	f.body = p.pythonBody(around)
	n := p.node(nodeClass, f.name, append(bases, f.body)...)
	f.body = n.of[len(n.of)-1]
	n.of, n.function = n.of[:len(n.of)-1], f
	return n
}

// pythonSimple reads a statement without a block.
func (p *codeParser) pythonSimple() *codeNode {
	return p.pythonLine(func() *codeNode {
		t := p.ahead(0)
		if t.kind != codeName {
			return p.assignment()
		}
		next := p.ahead(1)
		switch t.text {
		case "import":
			p.at++
			return p.pythonImport()
		case "from":
			p.at++
			return p.pythonFrom()
		case "return":
			p.at++
			return p.node(nodeReturn, "", p.expressions())
		case "raise", "break", "assert":
			p.at++
			return p.node(nodeLeave, t.text, p.expressions())
		case "del", "pass", "continue":
			p.at++
			return p.node(nodeOther, "", p.expressions())
		case "global", "nonlocal":
			p.at++
			n := &codeNode{kind: nodeGlobal}
			for p.more() && !p.is(";") {
				if p.name() {
					n.names = append(n.names, codeImported{local: p.tokens[p.at].text})
				}
				p.at++
			}
			return n
		case "exec", "print": // statements of Python 2
			if next.kind == codeString || next.kind == codeName && t.text == "exec" {
				p.at++
				return p.node(nodeCall, "", p.leaf(nodeName, t.text), p.expression())
			}
		}
		return p.assignment()
	})
}

// assignment reads an expression, or what is assigned to it.
func (p *codeParser) assignment() *codeNode {
	left := p.expressions()
	if p.is(":") && !p.script { // an annotation
		p.at++
		p.expression()
	}
	t := p.ahead(0)
	if t.kind != codeMark {
		return left
	}
	switch t.text {
	case "=":
		p.at++
		return p.node(nodeAssign, "", left, p.assignmentRight())
	case "+=", "-=", "*=", "/=", "//=", "%=", "|=", "&=", "^=", "**=", "<<=", ">>=":
		p.at++
		return p.node(nodeAssign, t.text[:len(t.text)-1], left, p.expressions())
	}
	return left
}

// assignmentRight reads the right side, which may be an assignment again: a = b = c.
func (p *codeParser) assignmentRight() *codeNode {
	if p.depth++; p.depth > maxCodeNesting {
		p.depth--
		p.at = min(p.limit, p.at+1)
		return &codeNode{}
	}
	defer func() { p.depth-- }()
	right := p.expressions()
	if p.take("=") {
		return p.node(nodeAssign, "", right, p.assignmentRight())
	}
	return right
}

// pythonTable reads a dict or a set up to the limit.
func (p *codeParser) pythonTable() *codeNode {
	kind := nodeList
	var of []*codeNode
	for p.more() {
		before := p.at
		if p.take(",") {
			continue
		}
		n := p.expression()
		if p.take(":") {
			kind = nodeTable
			n = p.node(nodePair, "", n, p.expression())
		} else if n.kind == nodeSpread {
			kind = nodeTable
		}
		of = append(of, p.comprehended(n))
		p.step(before)
	}
	if len(of) == 0 {
		kind = nodeTable
	}
	if len(of) == 1 && of[0].kind == nodeComprehension {
		return of[0]
	}
	return p.node(kind, "", of...)
}

// pythonExpression reads an expression with what is special to Python.
func (p *codeParser) pythonExpression() *codeNode {
	if p.word("lambda") {
		p.at++
		f := &codeFunction{name: "lambda", expression: true}
		end := p.at
		for end < p.limit && !p.tokens[end].is(":") {
			if pair := int(p.tokens[end].pair); pair > end && pair < p.limit {
				end = pair
			}
			end++
		}
		limit := p.limit
		p.limit = end
		f.params = p.params()
		p.at, p.limit = min(end, limit), limit
		p.take(":")
		f.body = p.expression()
		n := p.node(nodeFunction, f.name, f.body)
		f.body, n.function = n.of[0], f
		return n
	}
	if p.word("yield") {
		p.at++
		if p.word("from") {
			p.at++
		}
		return p.node(nodeReturn, "yield", p.expression())
	}
	n := p.binary(1)
	if p.word("if") {
		p.at++
		condition := p.binary(1)
		if p.word("else") {
			p.at++
			return p.node(nodeChoice, "if", p.node(nodeOther, "", condition), n, p.expression())
		}
		return p.node(nodeOther, "", n, condition)
	}
	if p.take(":=") {
		return p.node(nodeAssign, "", n, p.expression())
	}
	return n
}
