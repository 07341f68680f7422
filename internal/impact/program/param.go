package program

// skipTo steps over what comes before a mark in the line at hand: the type that a function returns.
func (p *codeParser) skipTo(mark string) {
	for p.more() && !p.is(mark) && !p.tokens[p.at].line {
		if pair := int(p.tokens[p.at].pair); pair > p.at && pair < p.limit {
			p.at = pair
		}
		p.at++
	}
}

// params reads parameters up to the limit, in both languages.
func (p *codeParser) params() (params []codeParam) {
	for p.more() {
		before := p.at
		var param codeParam
		switch {
		case p.take(","):
			continue
		case p.is("**"):
			param.table = true
			p.at++
		case p.is("*"), p.is("..."):
			param.rest = true
			p.at++
		case p.is("/"):
			p.at++
			continue
		}
		for p.script && p.name() && p.ahead(1).kind == codeName { // public x, readonly y
			p.at++
		}
		switch {
		case p.name():
			param.name = p.tokens[p.at].text
			p.at++
		case p.is("{") || p.is("["):
			param.pattern = p.primary()
		}
		p.take("?")
		if p.is(":") {
			p.skipType()
		}
		if p.take("=") {
			param.fallback = p.expression()
		}
		params = append(params, param)
		p.step(before)
		for p.more() && !p.is(",") {
			p.at++
		}
	}
	return params
}

// skipType steps over a type that is written behind a colon.
func (p *codeParser) skipType() {
	p.at++
	for p.more() && !p.is(",") && !p.is("=") && !p.is(";") && !p.is(")") {
		if p.script && p.tokens[p.at].line && !p.is("|") && !p.is("&") {
			return
		}
		if pair := int(p.tokens[p.at].pair); pair > p.at && pair < p.limit {
			p.at = pair
		}
		p.at++
	}
}

func (p *codeParser) pythonImport() *codeNode {
	n := &codeNode{kind: nodeImport}
	for p.more() && !p.is(";") {
		module := p.moduleName()
		if module == "" {
			p.at++
			continue
		}
		imported := codeImported{full: module}
		if p.word("as") && p.ahead(1).kind == codeName {
			imported.local = p.ahead(1).text
			p.at += 2
		}
		n.names = append(n.names, imported)
		if !p.take(",") {
			break
		}
	}
	return n
}

func (p *codeParser) pythonFrom() *codeNode {
	n := &codeNode{kind: nodeImport}
	n.text = p.moduleName()
	if p.word("import") {
		p.at++
	}
	read := func() {
		for p.more() && !p.is(";") {
			n.names = append(n.names, p.importedName())
			p.take(",")
		}
	}
	if p.is("(") {
		p.within(read)
	} else {
		read()
	}
	return n
}

// moduleName reads a dotted name.
func (p *codeParser) moduleName() (name string) {
	for p.more() && len(name) < 256 {
		t := &p.tokens[p.at]
		switch {
		case t.is("."), t.is("..."):
			if name != "" {
				name += "."
			}
		case t.kind == codeName && t.text != "import" && t.text != "as" && (name == "" || name[len(name)-1] == '.'):
			name += t.text
		default:
			return name
		}
		p.at++
	}
	return name
}

// importedName reads a name that is imported, and what it is called here.
func (p *codeParser) importedName() codeImported {
	imported := codeImported{full: p.tokens[p.at].text, local: p.tokens[p.at].text}
	p.at++
	if p.word("as") && p.ahead(1).kind == codeName {
		imported.local = p.ahead(1).text
		p.at += 2
	}
	return imported
}
