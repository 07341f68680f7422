package program

import (
	"strings"
)

// scriptBlock reads statements up to the limit.
func (p *codeParser) scriptBlock() *codeNode {
	var of []*codeNode
	for p.more() {
		before := p.at
		of = append(of, p.scriptStatement())
		p.step(before)
	}
	return p.node(nodeBlock, "", of...)
}

// braces reads a block in braces, or one statement.
func (p *codeParser) braces() *codeNode {
	if !p.is("{") {
		if !p.more() {
			return &codeNode{kind: nodeBlock}
		}
		return p.scriptStatement()
	}
	n := &codeNode{}
	p.within(func() { n = p.scriptBlock() })
	return n
}

func (p *codeParser) scriptStatement() *codeNode {
	if p.depth++; p.depth > maxCodeNesting {
		p.depth--
		p.at = min(p.limit, p.at+1)
		return &codeNode{}
	}
	defer func() { p.depth-- }()
	return p.scriptByWord()
}

// scriptByWord reads a statement as the word it begins with says.
func (p *codeParser) scriptByWord() *codeNode {
	t := p.ahead(0)
	if t.is("{") {
		return p.braces()
	}
	if t.kind != codeName {
		return p.scriptSimple()
	}
	next := p.ahead(1)
	switch t.text {
	case "const", "let", "var":
		if next.kind == codeName || next.is("{") || next.is("[") {
			p.at++
			return p.declarations()
		}
	case "function", "async", "class", "abstract":
		if made, is := p.scriptDefinition(t.text, next); is {
			return made
		}
	case "import":
		if !next.is("(") && !next.is(".") {
			p.at++
			return p.scriptImport()
		}
	case "export", "declare":
		if next.kind != 0 && !next.is(":") && !next.is("=") && !next.is(".") {
			p.at++
			return p.exported()
		}
	case "interface", "type", "enum", "namespace":
		if next.kind == codeName && !next.line {
			return p.typeDeclaration(t.text)
		}
	case "return", "throw", "break", "continue":
		return p.leaving(t.text)
	case "if", "while", "for", "do", "switch", "with", "else", "try", "catch", "finally", "case":
		if next.kind != 0 && !next.is("=") && !next.is(".") && !next.is(",") {
			return p.scriptCompound(t.text)
		}
	}
	if next.is(":") && !t.is("default") { // a label
		p.at += 2
		return p.scriptStatement()
	}
	return p.scriptSimple()
}

// scriptDefinition reads a function or a class. It reports whether the word and the one behind it begin one.
func (p *codeParser) scriptDefinition(word string, next codeToken) (*codeNode, bool) {
	switch word {
	case "function":
		if next.kind == codeName || next.is("*") {
			return p.scriptFunction(), true
		}
	case "async":
		if next.kind == codeName && next.text == "function" {
			p.at++
			return p.scriptFunction(), true
		}
	case "class", "abstract":
		if next.kind == codeName {
			p.at++
			return p.scriptClass(), true
		}
	}
	return nil, false
}

func (p *codeParser) leaving(keyword string) *codeNode {
	p.at++
	kind := nodeLeave
	switch keyword {
	case "return":
		kind = nodeReturn
	case "continue":
		kind = nodeOther
	}
	if !p.more() || p.tokens[p.at].line || p.is(";") || p.is("}") {
		return p.node(kind, keyword)
	}
	if keyword == "break" || keyword == "continue" {
		if p.name() {
			p.at++
		}
		return p.node(kind, keyword)
	}
	return p.node(kind, keyword, p.commas())
}

// scriptSimple reads an expression statement.
func (p *codeParser) scriptSimple() *codeNode {
	if p.take(";") {
		return &codeNode{}
	}
	return p.commas()
}

// commas reads expressions with commas between them; the last is the value.
func (p *codeParser) commas() *codeNode {
	first := p.expression()
	if !p.is(",") {
		return first
	}
	of := []*codeNode{first}
	for p.take(",") && p.more() {
		before := p.at
		of = append(of, p.expression())
		p.step(before)
	}
	return p.node(nodeSequence, "", of...)
}

func (p *codeParser) scriptCompound(keyword string) *codeNode {
	p.at++
	head := &codeNode{}
	switch keyword {
	case "for":
		if p.word("await") {
			p.at++
		}
		return p.scriptFor()
	case "do":
		body := p.braces()
		if p.word("while") {
			p.at++
			if p.is("(") {
				p.within(func() { head = p.commas() })
			}
		}
		return p.node(nodeLoop, endlessIf(head), p.node(nodeSequence, "", body, head))
	case "case":
		head = p.expression()
		p.take(":")
		return head
	}
	if p.is("(") {
		p.within(func() { head = p.commas() })
	}
	switch keyword {
	case "while":
		return p.node(nodeLoop, endlessIf(head), p.node(nodeSequence, "", head, p.braces()))
	case "try", "finally", "with":
		return p.node(nodeSequence, "", head, p.braces())
	}
	if keyword == "else" && p.word("if") {
		return p.scriptStatement()
	}
	return p.node(nodeBranch, "", head, p.braces())
}

// scriptFor reads the three kinds of for.
func (p *codeParser) scriptFor() *codeNode {
	if !p.is("(") {
		return p.braces()
	}
	var head []*codeNode
	target, kind := (*codeNode)(nil), ""
	endless := false
	p.within(func() {
		declared := p.word("const") || p.word("let") || p.word("var")
		if declared {
			p.at++
		}
		start := p.at
		first := p.postfix(p.primary())
		if p.word("of") || p.word("in") {
			target, kind = first, "values"
			if p.word("in") {
				kind = "keys"
			}
			p.at++
			head = append(head, p.commas())
			return
		}
		p.at = start
		endless = p.is(";") && p.ahead(1).is(";") || declared && p.emptyCondition()
		if declared {
			head = append(head, p.declarations())
		}
		for p.more() {
			before := p.at
			if !p.take(";") {
				head = append(head, p.commas())
			}
			p.step(before)
		}
	})
	body := p.braces()
	if target != nil {
		return p.node(nodeEach, kind, target, p.node(nodeSequence, "", head...), body)
	}
	text := ""
	if endless {
		text = "endless"
	}
	return p.node(nodeLoop, text, p.node(nodeSequence, "", append(head, body)...))
}

// emptyCondition reports whether the head of a for at hand has nothing between its semicolons.
func (p *codeParser) emptyCondition() bool {
	for i := p.at; i+1 < p.limit && i < p.at+256; i++ {
		if p.tokens[i].is(";") {
			return p.tokens[i+1].is(";")
		}
	}
	return false
}

// declarations reads what follows const, let or var.
func (p *codeParser) declarations() *codeNode {
	var of []*codeNode
	for p.more() {
		before := p.at
		target := p.primary()
		p.take("!")
		if p.is(":") {
			p.skipType()
		}
		if p.take("=") {
			of = append(of, p.node(nodeAssign, "", target, p.expression()))
		}
		p.step(before)
		if !p.take(",") {
			break
		}
	}
	if len(of) == 1 {
		return of[0]
	}
	return p.node(nodeSequence, "", of...)
}

// scriptFunction reads function name(…) {…}; the keyword is at hand.
func (p *codeParser) scriptFunction() *codeNode {
	p.at++
	p.take("*")
	name := "function"
	if p.name() {
		name = p.tokens[p.at].text
		p.at++
	}
	return p.functionRest(name)
}

// functionRest reads parameters and body.
func (p *codeParser) functionRest(name string) *codeNode {
	f := &codeFunction{name: name}
	if p.is("<") {
		p.typeArguments()
	}
	if p.is("(") {
		p.within(func() { f.params = p.params() })
	}
	if p.is(":") {
		p.returnType("{")
	}
	if p.is("{") {
		f.body = p.braces()
	} else {
		f.body = &codeNode{kind: nodeBlock}
	}
	n := p.node(nodeFunction, name, f.body)
	f.body, n.function = n.of[0], f
	return n
}

// scriptImport reads an import declaration behind its keyword.
func (p *codeParser) scriptImport() *codeNode {
	n := &codeNode{kind: nodeImport}
	start := p.at
	for p.more() && p.ahead(0).kind != codeString && p.at < start+512 {
		switch {
		case p.is("="): // import x = require("y")
			target := &codeNode{}
			if len(n.names) > 0 {
				target = p.leaf(nodeName, n.names[0].local)
			}
			p.at++
			return p.node(nodeAssign, "", target, p.expression())
		case p.is("*") && p.ahead(1).text == "as":
			n.names = append(n.names, codeImported{local: p.ahead(2).text})
			p.at += 2
		case p.is("{"):
			p.within(func() {
				for p.more() {
					n.names = append(n.names, p.importedName())
					p.take(",")
				}
			})
			continue
		case p.name() && !p.word("from") && !p.word("type"):
			n.names = append(n.names, codeImported{local: p.tokens[p.at].text})
		case p.is(";"):
			return n
		}
		p.at++
	}
	if p.more() && p.ahead(0).kind == codeString {
		n.text = moduleOf(p.tokens[p.at].text)
		p.at++
	}
	return n
}

// moduleOf gives a module the name that the table has for it.
func moduleOf(name string) string {
	return strings.ReplaceAll(strings.TrimPrefix(name, "node:"), "/promises", ".promises")
}

// scriptPrimary reads what begins with a keyword, or returns nil.
func (p *codeParser) scriptPrimary(t *codeToken) *codeNode {
	switch t.text {
	case "function":
		return p.scriptFunction()
	case "class":
		p.at++
		return p.scriptClass()
	case "async":
		if p.ahead(1).kind == codeName && p.ahead(1).text == "function" {
			p.at++
			return p.scriptFunction()
		}
	}
	return nil
}

// arrow reads an arrow function, if one begins here.
func (p *codeParser) arrow() *codeNode {
	start := p.at
	if p.word("async") && (p.ahead(1).kind == codeName || p.ahead(1).is("(")) {
		p.at++
	}
	f := &codeFunction{name: "lambda"}
	switch {
	case p.name() && p.ahead(1).is("=>"):
		f.params = []codeParam{{name: p.tokens[p.at].text}}
		p.at += 2
	case p.is("("):
		end := p.closing(p.at)
		behind := p.at
		p.at = end
		arrow := p.ahead(1).is("=>")
		if !arrow && p.ahead(1).is(":") {
			p.at++
			p.returnType("=>")
			arrow = p.is("=>")
		} else {
			p.at++
		}
		body := p.at
		p.at = behind
		if !arrow {
			p.at = start
			return nil
		}
		p.within(func() { f.params = p.params() })
		p.at = body + 1
	default:
		p.at = start
		return nil
	}
	if p.is("{") {
		f.body = p.braces()
	} else {
		f.body, f.expression = p.expression(), true
	}
	n := p.node(nodeFunction, f.name, f.body)
	f.body, n.function = n.of[0], f
	return n
}

// scriptExpression reads an expression with what is special to JavaScript.
func (p *codeParser) scriptExpression() *codeNode {
	if n := p.arrow(); n != nil {
		return n
	}
	n := p.binary(1)
	for (p.word("as") || p.word("satisfies")) && !p.tokens[p.at].line { // a type
		p.at++
		for p.name() || p.is(".") || p.is("[") || p.is("]") || p.is("<") || p.is(">") || p.is("|") {
			p.at++
		}
	}
	if p.is("?") {
		p.at++
		yes := p.expression()
		if p.take(":") {
			return p.node(nodeChoice, "if", p.node(nodeOther, "", n), yes, p.expression())
		}
		return p.node(nodeOther, "", n, yes)
	}
	t := p.ahead(0)
	if t.kind != codeMark {
		return n
	}
	switch t.text {
	case "=", "||=", "&&=", "??=":
		p.at++
		return p.node(nodeAssign, "", n, p.expression())
	case "+=", "-=", "*=", "/=", "%=", "|=", "&=", "^=", "**=", "<<=", ">>=":
		p.at++
		return p.node(nodeAssign, t.text[:len(t.text)-1], n, p.expression())
	}
	return n
}
