package program

import (
	"interlock/internal/impact/fact"
)

// subscript reads what is between [ and ]; a slice has a mark for what it leaves out.
func (p *codeParser) subscript() (of []*codeNode) {
	p.within(func() {
		for p.more() {
			before := p.at
			if p.take(":") {
				of = append(of, p.leaf(nodeOther, ":"))
				continue
			}
			if p.take(",") {
				continue
			}
			of = append(of, p.expression())
			p.step(before)
		}
	})
	return of
}

// elements reads what is in brackets up to the limit: expressions with commas between them, keywords, comprehensions.
func (p *codeParser) elements(called bool) (of []*codeNode) {
	for p.more() {
		before := p.at
		if p.take(",") {
			continue
		}
		if called && !p.script && p.name() && p.ahead(1).is("=") {
			name := p.tokens[p.at].text
			p.at += 2
			of = append(of, p.comprehended(p.node(nodeKeyword, name, p.expression())))
			p.step(before)
			continue
		}
		n := p.expression()
		if p.script {
			of = append(of, n)
			p.step(before)
			continue
		}
		if p.word("as") { // with (open(x) as f, open(y) as g):
			p.at++
			n = p.node(nodeAssign, "", p.unary(), n)
		}
		of = append(of, p.comprehended(n))
		p.step(before)
	}
	return of
}

// comprehended reads the clauses behind an element: for x in xs if x.
func (p *codeParser) comprehended(element *codeNode) *codeNode {
	if p.script || !p.word("for") && !p.word("async") {
		return element
	}
	of := []*codeNode{element}
	for p.more() {
		before := p.at
		switch {
		case p.word("async"):
			p.at++
		case p.word("for"):
			p.at++
			target := p.targets()
			if p.word("in") {
				p.at++
			}
			of = append(of, p.node(nodeEach, "values", target, p.binary(1)))
		case p.word("if"):
			p.at++
			of = append(of, p.binary(1))
		default:
			return p.node(nodeComprehension, "", of...)
		}
		p.step(before)
	}
	return p.node(nodeComprehension, "", of...)
}

// targets reads what a loop binds: names and patterns with commas between them.
func (p *codeParser) targets() *codeNode {
	var list []*codeNode
	for p.more() {
		before := p.at
		if p.is("*") {
			p.at++
		}
		list = append(list, p.postfix(p.primary()))
		p.step(before)
		if !p.take(",") || p.word("in") {
			break
		}
	}
	if len(list) == 1 {
		return list[0]
	}
	return p.node(nodeList, "", list...)
}

// primary reads a name, a literal or something in brackets.
func (p *codeParser) primary() *codeNode {
	if !p.more() {
		return &codeNode{}
	}
	t := &p.tokens[p.at]
	switch t.kind {
	case codeName:
		if p.script {
			if n := p.scriptPrimary(t); n != nil {
				return n
			}
		}
		p.at++
		return p.leaf(nodeName, t.text)
	case codeNumber:
		p.at++
		return p.leaf(nodeNumber, t.text)
	case codeString:
		return p.stringLiteral()
	}
	switch t.text {
	case "(":
		return p.parentheses()
	case "[":
		n := &codeNode{}
		p.within(func() { n = p.gathered(nodeList) })
		return n
	case "{":
		n := &codeNode{}
		p.within(func() {
			if p.script {
				n = p.objectLiteral()
			} else {
				n = p.pythonTable()
			}
		})
		return n
	}
	return &codeNode{}
}

// gathered reads elements as one node; a comprehension is that node itself.
func (p *codeParser) gathered(kind codeNodeKind) *codeNode {
	of := p.elements(false)
	if len(of) == 1 && of[0].kind == nodeComprehension {
		return of[0]
	}
	return p.node(kind, "", of...)
}

func (p *codeParser) parentheses() *codeNode {
	tuple := false
	var of []*codeNode
	p.within(func() {
		start, end := p.at, p.limit
		of = p.elements(false)
		tuple = end > start && p.tokens[end-1].is(",")
	})
	switch {
	case len(of) == 1 && !tuple:
		return of[0]
	case p.script:
		return p.node(nodeSequence, "", of...)
	}
	return p.node(nodeList, "", of...)
}

// stringLiteral reads a string, adjacent strings of Python, and the expressions inside.
func (p *codeParser) stringLiteral() *codeNode {
	first := p.tokens[p.at]
	next := p.ahead(1)
	if first.parts == nil && (p.script || next.kind != codeString) {
		p.at++
		return p.leaf(nodeText, first.text)
	}
	var pieces []*codeNode
	for p.more() && p.tokens[p.at].kind == codeString {
		t := &p.tokens[p.at]
		p.at++
		if t.parts == nil {
			pieces = append(pieces, p.leaf(nodeText, t.text))
		}
		for _, part := range t.parts {
			if part.computed {
				pieces = append(pieces, p.computed(part.text))
			} else {
				pieces = append(pieces, p.leaf(nodeText, part.text))
			}
		}
		if p.script {
			break
		}
	}
	return p.node(nodeJoin, "", pieces...)
}

// computed parses an expression that is in a string.
func (p *codeParser) computed(source string) *codeNode {
	if p.level >= 3 {
		return &codeNode{}
	}
	reader := readCode(source, p.script)
	if reader.deepest > fact.MaxNesting {
		return &codeNode{}
	}
	inner := &codeParser{tokens: reader.tokens, limit: len(reader.tokens), script: p.script, depth: p.depth, level: p.level + 1}
	n := inner.expressions()
	if inner.more() {
		rest := []*codeNode{n}
		for inner.more() {
			before := inner.at
			rest = append(rest, inner.expression())
			inner.step(before)
		}
		n = inner.node(nodeOther, "", rest...)
	}
	p.cut = append(p.cut, inner.cut...)
	return n
}
