package program

// exported reads what an export declares, or the module that it hands on.
func (p *codeParser) exported() *codeNode {
	if p.word("default") {
		p.at++
		if p.word("function") || p.word("class") || p.word("async") || p.word("abstract") {
			return p.scriptStatement()
		}
		return p.commas()
	}
	if p.is("{") || p.is("*") {
		for p.more() && !p.is(";") && p.ahead(0).kind != codeString {
			if pair := int(p.tokens[p.at].pair); pair > p.at && pair < p.limit {
				p.at = pair
			}
			p.at++
			if p.more() && p.tokens[p.at].line && !p.word("from") {
				break
			}
		}
		return &codeNode{}
	}
	return p.scriptStatement()
}

// typeDeclaration steps over a declaration that runs nothing; the members of an enum and a namespace are read.
func (p *codeParser) typeDeclaration(keyword string) *codeNode {
	p.at += 2
	for p.more() && !p.is("{") && !p.is(";") && !p.is("=") {
		p.at++
		if p.more() && p.tokens[p.at].line && !p.is("{") {
			return &codeNode{}
		}
	}
	if p.take("=") {
		p.at--
		p.skipType()
		return &codeNode{}
	}
	if !p.is("{") {
		return &codeNode{}
	}
	if keyword == "namespace" {
		return p.braces()
	}
	p.at = p.closing(p.at)
	p.take("}")
	return &codeNode{}
}

// returnType steps over the type that a function returns, up to its body.
func (p *codeParser) returnType(body string) {
	p.at++
	if p.is("{") {
		p.at = p.closing(p.at) + 1
	}
	for far := p.at + 64; p.at < far && p.more() && !p.is(body) && !p.is(";") && !p.tokens[p.at].line; {
		if pair := int(p.tokens[p.at].pair); pair > p.at && pair < p.limit {
			p.at = pair
		}
		p.at++
	}
	p.at = min(p.at, p.limit)
}

func (p *codeParser) scriptClass() *codeNode {
	f := &codeFunction{name: "class"}
	if p.word("class") {
		p.at++
	}
	if p.name() && !p.word("extends") {
		f.name = p.tokens[p.at].text
		p.at++
	}
	if p.is("<") {
		p.typeArguments()
	}
	var bases []*codeNode
	if p.word("extends") {
		p.at++
		bases = append(bases, p.postfix(p.primary()))
	}
	for p.more() && !p.is("{") && !p.is(";") && !p.is(")") {
		p.at++
	}
	body := &codeNode{kind: nodeBlock}
	if p.is("{") {
		p.within(func() { body = p.members() })
	}
	n := p.node(nodeClass, f.name, append(bases, body)...)
	f.body = n.of[len(n.of)-1]
	n.of, n.function = n.of[:len(n.of)-1], f
	return n
}

// members reads the members of a class up to the limit.
func (p *codeParser) members() *codeNode {
	var of []*codeNode
	for p.more() {
		before := p.at
		if p.take(";") || p.take("*") || p.take("#") || p.take(",") {
			continue
		}
		if p.word("static") && p.ahead(1).is("{") {
			p.at++
			of = append(of, p.braces())
			continue
		}
		t, next := p.ahead(0), p.ahead(1)
		switch {
		case t.is("@"):
			p.at++
			of = append(of, p.postfix(p.primary()))
		case (t.kind == codeName || t.kind == codeString) && (next.is("(") || next.is("<")):
			p.at++
			of = append(of, p.functionRest(memberName(t.text)))
		case t.is("["):
			name := p.primary()
			if p.is("(") {
				of = append(of, name, p.functionRest("computed"))
				break
			}
			of = append(of, name)
		// static, async, get, private
		case t.kind == codeName && (next.kind == codeName || next.is("#") || next.is("[") || next.is("*")) && !next.line:
			p.at++
		case t.kind == codeName:
			p.at++
			p.take("?")
			p.take("!")
			if p.is(":") {
				p.skipType()
			}
			if p.take("=") {
				of = append(of, p.node(nodeAssign, "", p.leaf(nodeName, t.text), p.expression()))
			}
		default:
			of = append(of, p.scriptStatement())
		}
		p.step(before)
	}
	return p.node(nodeBlock, "", of...)
}

// memberName gives a constructor the name that Python has for it.
func memberName(name string) string {
	if name == "constructor" {
		return "__init__"
	}
	return name
}

// typeArguments steps over <A, B> before a call and reports whether there were any.
func (p *codeParser) typeArguments() bool {
	depth := 0
	for i := p.at; i < p.limit && i < p.at+64; i++ {
		t := &p.tokens[i]
		if t.kind == codeName || t.kind == codeString {
			continue
		}
		switch t.text {
		case "<":
			depth++
		case ">", ">>":
			depth -= len(t.text)
			if depth <= 0 {
				if i+1 < p.limit && p.tokens[i+1].is("(") {
					p.at = i + 1
					return true
				}
				return false
			}
		case ",", ".", "|", "&", "[", "]", "?", ":", "{", "}", ";", "=>":
		default:
			return false
		}
	}
	return false
}

// objectLiteral reads the members of an object up to the limit.
func (p *codeParser) objectLiteral() *codeNode {
	var of []*codeNode
	for p.more() {
		before := p.at
		if p.take(",") {
			continue
		}
		for (p.word("async") || p.word("get") || p.word("set") || p.is("*")) &&
			(p.ahead(1).kind == codeName || p.ahead(1).is("[") || p.ahead(1).is("*") || p.ahead(1).kind == codeString) {
			p.at++
		}
		t, next := p.ahead(0), p.ahead(1)
		switch {
		case (t.kind == codeName || t.kind == codeString) && next.is("("):
			p.at++
			of = append(of, p.node(nodePair, "", p.leaf(nodeText, t.text), p.functionRest(t.text)))
		case t.kind == codeName && (next.is(":") || next.kind == 0 || next.is(",") || next.is("=")):
			p.at++
			key := p.leaf(nodeText, t.text)
			value := p.leaf(nodeName, t.text)
			if p.take(":") {
				value = p.expression()
			}
			if p.take("=") { // a default in a pattern
				value = p.node(nodeChoice, "", value, p.expression())
			}
			of = append(of, p.node(nodePair, "", key, value))
		case t.is("["):
			key := &codeNode{}
			p.within(func() { key = p.commas() })
			switch {
			case p.take(":"):
				of = append(of, p.node(nodePair, "", key, p.expression()))
			case p.is("("):
				of = append(of, p.node(nodePair, "", key, p.functionRest("computed")))
			default:
				of = append(of, key)
			}
		default:
			n := p.expression()
			if p.take(":") {
				n = p.node(nodePair, "", n, p.expression())
			}
			of = append(of, n)
		}
		p.step(before)
	}
	return p.node(nodeTable, "", of...)
}
