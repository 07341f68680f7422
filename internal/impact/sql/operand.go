package sql

import (
	"strings"

	"interlock/internal/lex"
)

// operand parses one operand with its signs before and its casts behind.
func (p *sqlExpr) operand() sqlValue {
	if !p.enter() {
		return sqlValue{}
	}
	defer p.leave()
	from, minus := p.at, false
	for t := p.peek(); t.kind == sqlMark && len(t.text) == 1 && strings.Contains("+-~@#|<>&^", t.text) || t.kind == sqlWord &&
		(t.upper == "BINARY" || t.upper == "PRIOR" || t.upper == "@"); t = p.peek() {
		minus = minus != (t.text == "-")
		p.at++
	}
	v := p.primary()
	v.from = from
	if minus && v.number != nil {
		n := -*v.number
		v.number = &n
	}
	for !p.bad {
		switch t := p.peek(); {
		case t.is("::"):
			p.at++
			p.typeName()
		case t.is("["):
			p.subscript()
		case p.word("COLLATE"):
			p.at += 2
		case p.word("AT") && sqlUpper(p.tokens, p.at+1) == "TIME":
			p.at += 3
			p.operand()
		default:
			v.to = p.at
			return v
		}
	}
	return v
}

// typeName skips the name of a type.
func (p *sqlExpr) typeName() {
	if p.peek().kind != sqlWord {
		p.bad = true
		return
	}
	for p.peek().kind == sqlWord && !sqlClauses.Has(p.peek().upper) &&
		!p.word("AND", "OR", "NOT", "IS", "IN", "LIKE", "BETWEEN", "XOR") || p.peek().is(".") {
		p.at++
	}
	if p.peek().is("(") {
		p.brackets()
	}
	for p.peek().is("[") {
		p.subscript()
	}
}

func (p *sqlExpr) subscript() {
	for p.at < len(p.tokens) && !p.peek().is("]") {
		p.at++
	}
	p.at++
}

// brackets skips a bracketed list and reports whether a row's columns occur in it.
func (p *sqlExpr) brackets() (column bool) {
	end := closing(p.tokens[p.at:])
	if end < 0 {
		p.bad = true
		return true
	}
	p.left -= end / 16
	for i := p.at + 1; i < p.at+end; i++ {
		t := p.tokens[i]
		called := i+1 < len(p.tokens) && p.tokens[i+1].is("(")
		if t.kind == sqlWord && !called && !sqlConstants.Has(t.upper) && !sqlClauses.Has(t.upper) && !parameter(t.text) {
			column = true
		}
	}
	p.at += end + 1
	return column
}

// sqlConstants are words that name no column.
var sqlConstants = lex.Set([]string{"NULL", "TRUE", "FALSE", "UNKNOWN", "CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP",
	"LOCALTIME", "LOCALTIMESTAMP",
	"CURRENT_USER", "SESSION_USER", "USER", "SYSDATE", "SYSTIMESTAMP", "CURRENT_ROLE", "UTC_DATE", "UTC_TIMESTAMP",
	"CURRENT_CATALOG", "CURRENT_SCHEMA",
	"INTERVAL", "DISTINCT", "ALL", "YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND", "EPOCH", "WEEK", "INT", "INTEGER", "TEXT",
	"VARCHAR", "CHAR", "DATE",
	"TIMESTAMP", "TIME", "NUMERIC", "DECIMAL", "FLOAT", "BIGINT", "BOOLEAN", "UNSIGNED", "SIGNED", "AND", "OR", "NOT", "IS", "IN",
	"LIKE", "BETWEEN", "CASE", "BOTH", "LEADING", "TRAILING"})

// parameter reports whether a word represents a value that is passed in.
func parameter(word string) bool {
	return word != "" && (word[0] == '$' || word[0] == '@' && len(word) > 1)
}

// primary parses an operand without signs.
func (p *sqlExpr) primary() sqlValue {
	t := p.peek()
	v := sqlValue{from: p.at, truth: sqlConstant}
	switch {
	case p.at >= len(p.tokens):
		p.bad = true
	case t.kind == sqlNumber:
		p.at++
		if n, ok := sqlNumberOf(t.text); ok {
			v.number, v.truth = &n, numberTruth(n)
		}
	case t.kind == sqlString:
		text := t.text
		for p.at++; p.peek().kind == sqlString; p.at++ {
			text += p.peek().text
		}
		v.text = &text
	case t.is("("):
		return p.bracketed()
	case t.is("?"):
		p.at++
	case (t.is(":") || t.is("%") || t.is("#")) && p.at+1 < len(p.tokens) && p.tokens[p.at+1].kind != sqlMark:
		p.at += 2 // a parameter by name or by the language around
	case (t.is("%") || t.is("$") || t.is("#")) && p.at+1 < len(p.tokens) &&
		(p.tokens[p.at+1].is("(") || p.tokens[p.at+1].is("{")), t.is("{"):
		p.template()
	case t.is("*"):
		p.at++
		v.column = true
	case t.kind == sqlWord:
		return p.named()
	default:
		p.bad = true
	}
	v.to = p.at
	return v
}

// template skips a place of a template: %(name)s, {name}, ${name}.
func (p *sqlExpr) template() {
	for n := 0; n < 12 && p.at < len(p.tokens); n++ {
		end := p.peek().is(")") || p.peek().is("}")
		p.at++
		if end {
			for p.peek().is("}") {
				p.at++
			}
			p.take("S")
			return
		}
	}
	p.bad = true
}

// bracketed parses what is in brackets: a condition, a row of values or a query.
func (p *sqlExpr) bracketed() sqlValue {
	from := p.at
	end := closing(p.tokens[p.at:])
	if end < 0 || end == 1 {
		p.bad = true
		return sqlValue{}
	}
	if head := p.tokens[p.at+1].upper; head == "SELECT" || head == "WITH" || head == "VALUES" || head == "TABLE" {
		p.left -= end / 16
		v := sqlValue{from: from, to: from + end + 1, column: true, query: [2]int{from + 1, from + end}}
		p.at = v.to
		return v
	}
	p.at++
	v := p.condition()
	for !p.bad && p.peek().is(",") {
		p.at++
		next := p.condition()
		v = sqlValue{column: v.column || next.column, truth: sqlConstant}
	}
	if !p.peek().is(")") {
		p.bad = true
		return sqlValue{}
	}
	p.at++
	v.from, v.to = from, p.at
	return v
}

// named parses what begins with a word: a constant, a function call, CASE, EXISTS or a column.
func (p *sqlExpr) named() sqlValue {
	t, from := p.peek(), p.at
	next := sqlToken{}
	if p.at+1 < len(p.tokens) {
		next = p.tokens[p.at+1]
	}
	v := sqlValue{from: from, truth: sqlConstant}
	switch {
	case t.text == "$" && next.is("{"):
		p.at++
		p.template()
	case t.upper == "NULL":
		p.at++
		v.null, v.truth = true, sqlNever
	case t.upper == "TRUE":
		p.at++
		v.truth = sqlAlways
	case t.upper == "FALSE":
		p.at++
		v.truth = sqlNever
	case t.upper == "CASE":
		return p.choice()
	case t.upper == "EXISTS" && next.is("("):
		p.at++
		inner := p.bracketed()
		v.truth, v.column, v.condition = p.exists(inner), inner.column, true
	case t.upper == "INTERVAL":
		p.at++
		p.primary()
		p.take("YEAR", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND", "YEARS", "MONTHS", "DAYS", "HOURS")
	case t.upper == "ARRAY" && next.is("["):
		p.at++
		p.subscript()
	case (t.upper == "DATE" || t.upper == "TIMESTAMP" || t.upper == "TIME" || t.upper == "TIMESTAMPTZ") && next.kind == sqlString:
		p.at += 2
	case t.upper == "CURRENT" && next.upper == "OF":
		p.at += 3
		v.truth, v.column, v.condition = sqlSometimes, true, true
	case t.upper != "" && !next.is("(") && !next.is(".") && sqlConstants.Has(t.upper) && !columnToo.Has(t.upper):
		p.at++
	case t.upper != "" && sqlClauses.Has(t.upper) && !next.is("(") && !next.is("."):
		p.bad = true
	default:
		return p.columnOrCall()
	}
	v.to = p.at
	return v
}

// columnToo are words for constants that are the names of columns as often.
var columnToo = lex.Set([]string{"DATE", "TIME", "TIMESTAMP", "USER", "YEAR", "MONTH", "DAY", "WEEK", "HOUR", "TEXT"})

// columnOrCall parses a dotted name, and the arguments if it is called.
func (p *sqlExpr) columnOrCall() sqlValue {
	v := sqlValue{from: p.at}
	first := p.peek()
	p.at++
	for p.peek().is(".") && p.at+1 < len(p.tokens) && (p.tokens[p.at+1].kind == sqlWord || p.tokens[p.at+1].is("*")) {
		p.at += 2
	}
	switch {
	case p.peek().is("("):
		v.column = p.brackets()
		for p.word("FILTER", "OVER", "AGAINST") && p.at+1 < len(p.tokens) && p.tokens[p.at+1].is("(") {
			p.at++
			p.brackets()
		}
		if v.truth = sqlSometimes; !v.column {
			v.truth = sqlConstant
		}
	case parameter(first.text):
		v.truth = sqlConstant
	default:
		v.column = true
		if p.identity(p.tokens[v.from:p.at]) {
			v.truth = sqlAlways
		}
	}
	v.to = p.at
	return v
}

// choice parses CASE … END. If all it can yield is true, so is it.
func (p *sqlExpr) choice() sqlValue {
	v := sqlValue{from: p.at}
	p.at++
	if !p.enter() {
		return v
	}
	defer p.leave()
	if !p.word("WHEN") {
		v.column = p.condition().column
	}
	always, branches := true, 0
	for !p.bad && p.take("WHEN") {
		when := p.condition()
		if !p.take("THEN") {
			p.bad = true
		}
		then := p.condition()
		v.column = v.column || when.column || then.column
		always = always && then.truth == sqlAlways
		branches++
	}
	if p.take("ELSE") {
		other := p.condition()
		v.column = v.column || other.column
		always = always && other.truth == sqlAlways
	}
	if !p.take("END") || branches == 0 {
		p.bad = true
	}
	switch {
	case always:
		v.truth = sqlAlways
	case !v.column:
		v.truth = sqlConstant
	}
	v.to = p.at
	return v
}
