package sql

import (
	"strings"

	"interlock/internal/lex"
)

// sqlCompares are operators that compare.
var sqlCompares = lex.Set([]string{"=", "==", "<>", "!=", "<", ">", "<=", ">=", "<=>"})

// predicate parses a value with the comparison that follows it.
func (p *sqlExpr) predicate() sqlValue {
	left := p.sum()
	for n := 0; !p.bad; n++ {
		not := p.word("NOT") && sqlNegatable.Has(sqlUpper(p.tokens, p.at+1))
		if not {
			p.at++
		}
		var v sqlValue
		switch t := p.peek(); {
		case t.kind == sqlMark && sqlCompares.Has(t.text):
			v = p.comparison(left)
		case t.kind == sqlMark && (t.text == "~" || t.text == "!" && p.at+1 < len(p.tokens) && p.tokens[p.at+1].is("~")):
			not = t.text == "!"
			v = p.pattern(left)
		case p.word("IS", "ISNULL", "NOTNULL"):
			v = p.is(left)
		case p.word("IN"):
			v = p.in(left)
		case p.word("BETWEEN"):
			v = p.between(left)
		case p.word("LIKE", "ILIKE", "RLIKE", "REGEXP", "GLOB", "MATCH", "SIMILAR", "SOUNDS"):
			v = p.pattern(left)
		default:
			p.bad = p.bad || not
			return left
		}
		v.from, v.to, v.condition = left.from, p.at, true
		v.column = v.column || left.column
		if not {
			v.truth, v.op, v.few = notTruth(v), "", false
		}
		// a = b = c, and what binds otherwise in another dialect
		if v.op != "" && v.op != "IS NULL" && (n > 0 || left.condition) {
			v.truth = sqlConstant
			if v.column && !left.joined && !v.joined {
				v.truth = sqlSometimes
			}
		}
		left = v
	}
	return left
}

var sqlNegatable = lex.Set([]string{"IN", "BETWEEN", "LIKE", "ILIKE", "RLIKE", "REGEXP", "GLOB", "MATCH", "SIMILAR"})

// comparison parses an operator and its right side.
func (p *sqlExpr) comparison(left sqlValue) sqlValue {
	operator := p.peek().text
	p.at++
	if operator == "<=" && p.peek().is(">") {
		operator = "<=>"
		p.at++
	}
	p.take("ALL", "ANY", "SOME")
	right := p.sum()
	v := sqlValue{op: operator, left: [2]int{left.from, left.to}, right: [2]int{right.from, right.to}, column: left.column ||
		right.column, joined: left.joined || right.joined}
	equal := operator == "=" || operator == "==" || operator == ">=" || operator == "<=" || operator == "<=>"
	switch {
	case (left.null || right.null) && operator != "<=>":
		v.truth = sqlNever
	case p.same(v.left, v.right):
		if v.truth = sqlNever; equal {
			v.truth = sqlAlways
		}
	case !v.column:
		v.truth = constantTruth(left, operator, right)
	case right.query != [2]int{} && operator == "=" && p.selectsAll(right.query, p.strip(v.left)):
		v.truth = sqlAlways
	case left.column && right.column:
		v.truth = sqlSometimes
	case left.column:
		v.truth = p.bounded(v.left, operator, right)
		v.few = equal && operator != "<=" && operator != ">=" && p.identity(p.strip(v.left))
	default:
		v.truth = p.bounded(v.right, mirrored(operator), left)
	}
	return v
}

func mirrored(operator string) string {
	switch operator {
	case "<":
		return ">"
	case ">":
		return "<"
	case "<=":
		return ">="
	case ">=":
		return "<="
	}
	return operator
}

// constantTruth compares two constants.
func constantTruth(left sqlValue, operator string, right sqlValue) sqlTruth {
	order, known := 0, true
	switch {
	case left.number != nil && right.number != nil:
		switch {
		case *left.number < *right.number:
			order = -1
		case *left.number > *right.number:
			order = 1
		}
	case left.text != nil && right.text != nil:
		order = strings.Compare(*left.text, *right.text)
		known = order == 0 || !strings.EqualFold(strings.TrimRight(*left.text, " "), strings.TrimRight(*right.text, " "))
	default:
		known = false
	}
	if !known {
		return sqlConstant
	}
	holds := false
	switch operator {
	case "=", "==", "<=>":
		holds = order == 0
	case "<>", "!=":
		holds = order != 0
	case "<":
		holds = order < 0
	case ">":
		holds = order > 0
	case "<=":
		holds = order <= 0
	case ">=":
		holds = order >= 0
	}
	if holds {
		return sqlAlways
	}
	return sqlNever
}

// bounded judges a column against a constant: a bound that every id and every length keeps, or every row that was ever made,
// is none.
func (p *sqlExpr) bounded(column [2]int, operator string, bound sqlValue) sqlTruth {
	tokens := p.strip(column)
	if len(tokens) == 0 {
		return sqlSometimes
	}
	last := tokens[len(tokens)-1]
	if p.identity(tokens) {
		if operator == "<>" || operator == "!=" {
			return sqlAlways // all but one
		}
		if n := bound.number; n != nil &&
			((operator == ">" || operator == ">=") && *n <= 1 || (operator == "<" || operator == "<=") && *n >= 1e6) {
			return sqlAlways
		}
		if text := bound.text; text != nil && *text == "" && operator != "=" && operator != "==" {
			return sqlAlways
		}
	}
	if n := bound.number; n != nil && sqlLengths.Has(tokens[0].upper) && last.is(")") &&
		(operator == ">=" && *n <= 0 || operator == ">" && *n < 0) {
		return sqlAlways
	}
	if (operator == "<" || operator == "<=") && p.sinceEver(tokens) && bound.to-bound.from <= 3 &&
		sqlNow.Has(p.tokens[bound.from].upper) {
		return sqlAlways
	}
	return sqlSometimes
}

var sqlLengths = lex.Set([]string{"LENGTH", "CHAR_LENGTH", "CHARACTER_LENGTH", "OCTET_LENGTH", "LEN", "ABS", "CARDINALITY",
	"COUNT", "BIT_LENGTH"})
var sqlNow = lex.Set([]string{"NOW", "CURRENT_TIMESTAMP", "CURRENT_DATE", "GETDATE", "SYSDATE", "LOCALTIMESTAMP", "CURDATE",
	"CLOCK_TIMESTAMP", "TRANSACTION_TIMESTAMP"})

// identity reports whether tokens name a column that counts rows.
func (p *sqlExpr) identity(tokens []sqlToken) bool {
	if len(tokens) == 0 || tokens[len(tokens)-1].kind != sqlWord || len(tokens)%2 == 0 {
		return false
	}
	name := tokens[len(tokens)-1].text
	low := strings.ToLower(name)
	switch low {
	case "id", "_id", "uuid", "guid", "rowid", "_rowid_", "oid", "ctid", "pk":
		return true
	}
	return strings.HasSuffix(low, "_id") || strings.HasSuffix(low, "_pk") || len(name) > 2 &&
		(strings.HasSuffix(name, "Id") || strings.HasSuffix(name, "ID"))
}

// sinceEver reports whether tokens name the time a row was made, which lies in the past for all.
func (p *sqlExpr) sinceEver(tokens []sqlToken) bool {
	low := strings.ToLower(tokens[len(tokens)-1].text)
	for _, part := range [...]string{"creat", "insert", "added", "registered", "modified", "updated_at", "signup"} {
		if strings.Contains(low, part) {
			return true
		}
	}
	return false
}

// is parses IS and what it compares with.
func (p *sqlExpr) is(left sqlValue) sqlValue {
	v := sqlValue{left: [2]int{left.from, left.to}, column: left.column}
	word := p.peek().upper
	p.at++
	not := word == "NOTNULL" || word == "IS" && p.take("NOT")
	switch {
	case word != "IS" || p.take("NULL"):
		v.op, v.truth = "IS NULL", sqlSometimes
		if !left.column {
			if v.truth = sqlConstant; left.null {
				v.truth = sqlAlways
			} else if left.number != nil || left.text != nil || left.truth == sqlAlways {
				v.truth = sqlNever
			}
		}
	case p.take("TRUE"):
		v.truth = left.truth
	case p.take("FALSE"):
		v.truth = notTruth(left)
	case p.word("UNKNOWN", "JSON", "DOCUMENT", "NORMALIZED"):
		p.at++
	case p.take("DISTINCT"):
		if !p.take("FROM") {
			p.bad = true
		}
		right := p.sum()
		v.column = v.column || right.column
		switch {
		case p.same(v.left, [2]int{right.from, right.to}):
			v.truth = sqlNever
		case !v.column:
			v.truth = sqlConstant
		case p.identity(p.strip(v.left)) && !right.column && !not:
			v.truth = sqlAlways // all but one
		}
	default:
		right := p.sum()
		v.column = v.column || right.column
		switch {
		case p.same(v.left, [2]int{right.from, right.to}):
			v.truth = sqlAlways
		case !v.column:
			v.truth = sqlConstant
		}
	}
	if not {
		v.truth, v.op = notTruth(v), ""
	}
	return v
}

// in parses IN with a list or a query.
func (p *sqlExpr) in(left sqlValue) sqlValue {
	p.at++
	v := sqlValue{left: [2]int{left.from, left.to}, column: left.column, truth: sqlSometimes}
	if !p.peek().is("(") {
		p.operand() // a parameter that holds the list
		return v
	}
	end := closing(p.tokens[p.at:])
	if end <= 1 {
		p.bad = true
		return v
	}
	if head := p.tokens[p.at+1].upper; head == "SELECT" || head == "WITH" || head == "TABLE" || head == "VALUES" {
		v.query = [2]int{p.at + 1, p.at + end}
		v.column = true
		if p.at += end + 1; p.selectsAll(v.query, p.strip(v.left)) {
			v.truth = sqlAlways
		}
		return v
	}
	p.at++
	all := sqlNever
	for !p.bad {
		item := p.condition()
		v.column = v.column || item.column
		one := sqlSometimes
		switch {
		case p.same(v.left, [2]int{item.from, item.to}):
			one = sqlAlways
		case !left.column && !item.column:
			one = constantTruth(left, "=", item)
		}
		all = orTruth(all, one)
		if !p.peek().is(",") {
			break
		}
		p.at++
	}
	if !p.peek().is(")") {
		p.bad = true
	}
	p.at++
	v.truth = all
	v.few = all == sqlSometimes && p.identity(p.strip(v.left))
	return v
}

// between parses BETWEEN low AND high.
func (p *sqlExpr) between(left sqlValue) sqlValue {
	p.at++
	p.take("SYMMETRIC", "ASYMMETRIC")
	low := p.sum()
	if !p.take("AND") {
		p.bad = true
		return sqlValue{}
	}
	high := p.sum()
	v := sqlValue{column: left.column || low.column || high.column, truth: sqlSometimes}
	span := [2]int{left.from, left.to}
	switch {
	case p.same(span, [2]int{low.from, low.to}) && p.same(span, [2]int{high.from, high.to}):
		v.truth = sqlAlways
	case !v.column:
		v.truth = andTruth(constantTruth(left, ">=", low), constantTruth(left, "<=", high))
	case left.column && !low.column && !high.column:
		v.truth = andTruth(p.bounded(span, ">=", low), p.bounded(span, "<=", high))
	}
	return v
}

// pattern parses LIKE and its kin. A pattern that everything matches narrows nothing.
func (p *sqlExpr) pattern(left sqlValue) sqlValue {
	operator := p.peek().upper
	p.at++
	for p.peek().is("~") || p.peek().is("*") || p.word("TO", "LIKE", "BINARY") {
		p.at++
	}
	p.take("ANY", "ALL", "SOME")
	right := p.sum()
	if p.take("ESCAPE") {
		p.operand()
	}
	v := sqlValue{left: [2]int{left.from, left.to}, column: left.column || right.column, truth: sqlSometimes}
	switch {
	case p.same(v.left, [2]int{right.from, right.to}):
		v.truth = sqlAlways
	case right.text != nil && everything(operator, *right.text):
		v.truth = sqlAlways
	case !v.column:
		v.truth = sqlConstant
	}
	return v
}

// everything reports whether a pattern matches every text.
func everything(operator, pattern string) bool {
	switch operator {
	case "LIKE", "ILIKE", "SIMILAR":
		return pattern != "" && strings.Trim(pattern, "%") == "" || pattern == "_%" || pattern == "%_"
	case "GLOB":
		return pattern != "" && strings.Trim(pattern, "*") == ""
	case "MATCH", "SOUNDS":
		return false
	}
	switch strings.TrimSuffix(strings.TrimPrefix(pattern, "^"), "$") {
	case "", ".*", ".", ".+", ".?", "(.*)", ".{0,}", ".*.*":
		return true
	}
	return false
}

// exists judges EXISTS by the query inside: one that does not depend on anything is the same for all rows.
func (p *sqlExpr) exists(v sqlValue) sqlTruth {
	if v.query == [2]int{} {
		return sqlConstant
	}
	c := sqlClausesOf(p.tokens[v.query[0]:v.query[1]])
	if c.where == nil {
		if c.joined {
			return sqlSometimes
		}
		return sqlConstant
	}
	if !p.enter() {
		return sqlConstant
	}
	defer p.leave()
	inner := sqlExpr{tokens: c.where, depth: p.depth, left: p.left - len(c.where)/16}
	truth := inner.condition().truth
	p.left = inner.left
	if inner.bad || inner.at < len(inner.tokens) {
		p.bad = true
	}
	if truth == sqlSometimes || truth == sqlNever {
		return truth
	}
	return sqlConstant
}

// selectsAll reports whether a query selects the same column of every row of the table that is being changed.
func (p *sqlExpr) selectsAll(query [2]int, column []sqlToken) bool {
	tokens := p.tokens[query[0]:query[1]]
	p.left -= len(tokens) / 16
	if len(tokens) < 4 || tokens[0].upper != "SELECT" || p.target == "" || len(column) == 0 {
		return false
	}
	from := findWord(tokens, "FROM")
	if from < 2 || !strings.EqualFold(sqlName(tokens[from+1:]), p.target) {
		return false
	}
	selected := skipWords(tokens[1:from], "DISTINCT", "ALL")
	if len(selected) == 0 || !strings.EqualFold(selected[len(selected)-1].text, column[len(column)-1].text) {
		return false
	}
	c := sqlClausesOf(tokens)
	if c.joined || c.limited || c.grouped {
		return false
	}
	if c.where == nil {
		return true
	}
	inner := sqlExpr{tokens: c.where, depth: p.depth + 1, left: p.left - len(c.where)/16}
	truth := inner.condition().truth
	p.left = inner.left
	return !inner.bad && inner.at == len(inner.tokens) && (truth == sqlAlways || truth == sqlConstant)
}
