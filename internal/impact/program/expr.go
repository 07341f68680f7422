package program

// A codeParser turns tokens into a tree. It is tolerant: what it can't place it steps over, token by token, reading every
// expression on the way, so that a mistake, a dialect or a piece of a program hides no call. It never goes back, except
// to see whether brackets are the parameters of an arrow function, and so reads each token a bounded number of times.
type codeParser struct {
	tokens []codeToken
	at     int
	limit  int // tokens from here on belong to something around
	script bool
	depth  int
	level  int  // how many strings around have expressions
	static bool // the function that comes next is a method without an object
	cut    []*codeNode
	slab   []codeNode
	failed int // tokens that were stepped over
	lines  []pythonLineAt
}

// parseCode parses a whole program. Trees that had to be cut off stand behind it.
func parseCode(tokens []codeToken, script bool, level int) *codeNode {
	p := &codeParser{tokens: tokens, limit: len(tokens), script: script, level: level}
	var whole *codeNode
	if script {
		whole = p.scriptBlock()
	} else {
		whole = p.pythonBlock(-1)
	}
	for i := 0; i < len(p.cut); i++ {
		whole.of = append(whole.of, p.cut[i])
	}
	return whole
}

func (p *codeParser) more() bool { return p.at < p.limit }

// is reports whether the next token is a mark.
func (p *codeParser) is(mark string) bool {
	return p.at < p.limit && p.tokens[p.at].kind == codeMark && p.tokens[p.at].text == mark
}

// word reports whether the next token is a name.
func (p *codeParser) word(name string) bool {
	return p.at < p.limit && p.tokens[p.at].kind == codeName && p.tokens[p.at].text == name
}

func (p *codeParser) name() bool { return p.at < p.limit && p.tokens[p.at].kind == codeName }

// ahead returns the token n after the next, or an empty one.
func (p *codeParser) ahead(n int) codeToken {
	if p.at+n < p.limit && p.at+n >= 0 {
		return p.tokens[p.at+n]
	}
	return codeToken{pair: -1}
}

func (p *codeParser) take(mark string) bool {
	if p.is(mark) {
		p.at++
		return true
	}
	return false
}

// closing returns where the bracket at i is closed, or the end of what may be read.
func (p *codeParser) closing(i int) int {
	if end := int(p.tokens[i].pair); end > i && end < p.limit {
		return end
	}
	return p.limit
}

// within reads what is between the bracket at hand and the one that closes it.
func (p *codeParser) within(read func()) {
	end, limit := p.closing(p.at), p.limit
	p.at++
	p.limit = end
	read()
	p.at, p.limit = end, limit
	if p.at < p.limit {
		p.at++
	}
}

// step makes sure that something was read since before.
func (p *codeParser) step(before int) {
	if p.at == before {
		p.at++
		p.failed++
	}
}

// expression reads one expression without commas.
func (p *codeParser) expression() *codeNode {
	if p.depth++; p.depth > maxCodeNesting {
		p.depth--
		p.at = min(p.limit, p.at+1)
		return &codeNode{}
	}
	defer func() { p.depth-- }()
	if p.script {
		return p.scriptExpression()
	}
	return p.pythonExpression()
}

// expressions reads expressions with commas between them.
func (p *codeParser) expressions() *codeNode {
	first := p.expression()
	if !p.is(",") {
		return first
	}
	list := []*codeNode{first}
	for p.take(",") && p.more() && !p.endsList() {
		before := p.at
		list = append(list, p.expression())
		p.step(before)
	}
	return p.node(nodeList, "", list...)
}

func (p *codeParser) endsList() bool {
	t := p.ahead(0)
	return t.kind == codeMark && (t.text == "=" || t.text == ")" || t.text == "]" || t.text == "}" ||
		t.text == ":" || t.text == ";")
}

// operator returns the precedence of the operator at hand, or 0, and how many tokens it is.
func (p *codeParser) operator() (text string, precedence, tokens int) {
	if !p.more() {
		return "", 0, 0
	}
	t := &p.tokens[p.at]
	switch t.kind {
	case codeName:
		switch t.text {
		case "or":
			precedence = 1
		case "and":
			precedence = 2
		case "in", "is":
			precedence = 4
		case "not":
			if p.ahead(1).text == "in" {
				return "not in", 4, 2
			}
		case "instanceof":
			precedence = 4
		}
		if p.script && t.text != "in" && t.text != "instanceof" || !p.script && t.text == "instanceof" {
			return "", 0, 0
		}
	case codeMark:
		switch t.text {
		case "||", "??":
			precedence = 1
		case "&&":
			precedence = 2
		case "==", "!=", "===", "!==", "<", ">", "<=", ">=":
			precedence = 4
		case "|":
			precedence = 5
		case "^":
			precedence = 6
		case "&":
			precedence = 7
		case "<<", ">>":
			precedence = 8
		case "+", "-":
			precedence = 9
		case "*", "/", "%", "//", "@":
			precedence = 10
		case "**":
			precedence = 12
		}
	}
	return t.text, precedence, 1
}

// binary reads operands and operators of at least a precedence.
func (p *codeParser) binary(least int) *codeNode {
	left := p.unary()
	for {
		text, precedence, n := p.operator()
		if precedence == 0 || precedence < least {
			return left
		}
		p.at += n
		before := p.at
		right := p.binaryRight(precedence + 1)
		if p.at == before && !p.more() {
			return left
		}
		left = p.combine(text, precedence, left, right)
	}
}

func (p *codeParser) binaryRight(least int) *codeNode {
	if p.depth++; p.depth > maxCodeNesting {
		p.depth--
		p.at = min(p.limit, p.at+1)
		return &codeNode{}
	}
	defer func() { p.depth-- }()
	return p.binary(least)
}

func (p *codeParser) combine(text string, precedence int, left, right *codeNode) *codeNode {
	switch {
	case precedence <= 2:
		return p.extend(nodeChoice, text, left, right)
	case precedence == 4:
		return p.node(nodeOther, text, left, right)
	}
	return p.extend(nodeBinary, text, left, right)
}

// extend makes a chain of one operator one node, so that long chains are no high trees.
func (p *codeParser) extend(kind codeNodeKind, text string, left, right *codeNode) *codeNode {
	if left.kind == kind && left.text == text && right.deep < maxCodeHeight {
		left.of = append(left.of, right)
		left.deep = max(left.deep, right.deep+1)
		return left
	}
	return p.node(kind, text, left, right)
}

// unary reads an operand with what comes before it.
func (p *codeParser) unary() *codeNode {
	if !p.more() {
		return &codeNode{}
	}
	t := &p.tokens[p.at]
	kind, prefix := nodeOther, false
	switch t.kind {
	case codeMark:
		switch t.text {
		case "-", "+", "~", "!", "++", "--":
			prefix = true
		case "*", "**":
			kind, prefix = nodeSpread, !p.script
		case "...":
			kind, prefix = nodeSpread, p.script || p.ahead(1).kind == codeName
		}
	case codeName:
		switch t.text {
		case "not":
			prefix = !p.script
		case "await":
			kind, prefix = nodeSequence, true
		case "typeof", "void", "delete":
			prefix = p.script
		case "yield":
			kind, prefix = nodeReturn, p.script
		case "new":
			return p.construct()
		}
	}
	if !prefix {
		return p.postfix(p.primary())
	}
	if p.depth++; p.depth > maxCodeNesting {
		p.depth--
		p.at++
		return &codeNode{}
	}
	defer func() { p.depth-- }()
	p.at++
	if t.is("-") && p.ahead(0).kind == codeNumber {
		p.at++
		return p.postfix(p.node(nodeNumber, "-"+p.tokens[p.at-1].text))
	}
	if kind == nodeReturn {
		return p.node(kind, "yield", p.unary())
	}
	return p.node(kind, t.text, p.unary())
}

// construct reads new X(…), and new where it is a name.
func (p *codeParser) construct() *codeNode {
	if !p.script || p.ahead(1).kind != codeName && !p.tokens[min(p.at+1, len(p.tokens)-1)].is("(") {
		return p.postfix(p.primary())
	}
	p.at++
	made := p.unary()
	for n := made; ; n = n.of[0] {
		switch n.kind {
		case nodeName:
			return p.node(nodeCall, "", made)
		case nodeAttr:
			continue
		}
		return made
	}
}

// postfix reads what follows an operand: attributes, calls and subscripts.
func (p *codeParser) postfix(n *codeNode) *codeNode {
	for p.more() {
		t := &p.tokens[p.at]
		if t.kind == codeString && t.ticked && p.script { // a template that is handed to a function
			n = p.node(nodeCall, "", n, p.primary())
			continue
		}
		if t.kind != codeMark {
			return n
		}
		switch t.text {
		case ".", "?.":
			switch next := p.ahead(1); {
			case next.kind == codeName:
				n = p.node(nodeAttr, next.text, n)
				p.at += 2
			case next.is("#") && p.ahead(2).kind == codeName:
				n = p.node(nodeAttr, p.ahead(2).text, n)
				p.at += 3
			case next.is("(") || next.is("["):
				p.at++
			default:
				p.at++
				return n
			}
		case "(":
			n = p.call(n)
		case "[":
			n = p.node(nodeIndex, "", append([]*codeNode{n}, p.subscript()...)...)
		case "++", "--":
			if t.line {
				return n
			}
			p.at++
			n = p.node(nodeOther, "", n)
		case "!": // TypeScript: surely there
			next := p.ahead(1)
			if !p.script || t.line || !(next.is(".") || next.is("(") || next.is("[") || next.is(")") ||
				next.is(",") || next.is(";")) {
				return n
			}
			p.at++
		case "<":
			if !p.script || !p.typeArguments() {
				return n
			}
		default:
			return n
		}
	}
	return n
}

func (p *codeParser) call(callee *codeNode) *codeNode {
	of := []*codeNode{callee}
	p.within(func() { of = append(of, p.elements(true)...) })
	return p.node(nodeCall, "", of...)
}
