package sql

import (
	"strconv"
	"strings"

	"interlock/internal/impact/fact"
	"interlock/internal/lex"
)

// A sqlTruth is what is known of a condition over the rows of a table.
type sqlTruth uint8

const (
	sqlSometimes sqlTruth = iota // it depends on the row
	sqlAlways                    // it holds for every row, or for all that matter
	sqlNever                     // it holds for no row
	sqlConstant                  // it is the same for every row; which of the two is not known here
)

// A sqlValue is one expression as far as it was evaluated.
type sqlValue struct {
	from, to  int // its tokens
	truth     sqlTruth
	column    bool // it depends on a row
	condition bool // it is a comparison or a combination of such
	number    *float64
	text      *string // a literal
	null      bool
	op        string // the comparison it is, with the ends of its sides
	left      [2]int
	right     [2]int
	query     [2]int // the tokens inside a subquery
	joined    bool   // two operands joined by ||, which is OR in one dialect
	few       bool   // it picks rows by their id, so that its opposite leaves nearly all
}

// A sqlExpr parses conditions by recursive descent. It is bounded by MaxNesting and by a count of steps in proportion to the
// tokens; what it does not understand makes it bad, and then nothing it says counts.
type sqlExpr struct {
	tokens []sqlToken
	at     int
	depth  int
	left   int // steps that may still be taken
	bad    bool
	target string // the table whose rows are changed, to recognise a subquery that selects all of them
}

// sqlClauses are words that end an expression wherever they stand.
var sqlClauses = lex.Set([]string{"WHERE", "GROUP", "ORDER", "LIMIT", "HAVING", "RETURNING", "UNION", "EXCEPT", "INTERSECT",
	"FETCH", "OFFSET", "FOR",
	"WINDOW", "WHEN", "THEN", "ELSE", "END", "AS", "ON", "USING", "SET", "ASC", "DESC", "OPTION", "OUTPUT", "JOIN", "LEFT",
	"RIGHT", "INNER", "FULL",
	"CROSS", "NATURAL", "FROM", "INTO", "VALUES", "SELECT", "BY", "QUALIFY", "SEPARATOR"})

func (p *sqlExpr) peek() sqlToken {
	if p.at < len(p.tokens) {
		return p.tokens[p.at]
	}
	return sqlToken{}
}

func (p *sqlExpr) word(words ...string) bool {
	upper := p.peek().upper
	if p.at >= len(p.tokens) || p.tokens[p.at].kind != sqlWord {
		return false
	}
	for _, w := range words {
		if upper == w {
			return true
		}
	}
	return false
}

func (p *sqlExpr) take(words ...string) bool {
	if p.word(words...) {
		p.at++
		return true
	}
	return false
}

// enter counts a step and a level; it fails beyond the bounds.
func (p *sqlExpr) enter() bool {
	p.left--
	if p.depth++; p.depth > fact.MaxNesting*4 || p.left < 0 {
		p.bad = true
	}
	return !p.bad
}

func (p *sqlExpr) leave() { p.depth-- }

// condition parses a whole condition.
func (p *sqlExpr) condition() sqlValue {
	if !p.enter() {
		return sqlValue{}
	}
	defer p.leave()
	left := p.conjunction()
	sides := []sqlValue{left}
	for !p.bad {
		xor := p.word("XOR")
		if !xor && !p.word("OR") && !p.peek().is("||") {
			break
		}
		p.at++
		right := p.conjunction()
		truth := orTruth(left.truth, right.truth)
		if xor {
			truth = xorTruth(left.truth, right.truth)
		} else {
			for _, side := range sides {
				if p.opposite(side, right) {
					truth = sqlAlways
				}
			}
		}
		sides = append(sides[:min(len(sides), 8)], right)
		left = sqlValue{from: left.from, to: p.at, truth: truth, column: left.column || right.column, condition: true}
	}
	return left
}

func (p *sqlExpr) conjunction() sqlValue {
	left := p.negation()
	for !p.bad && (p.word("AND") || p.peek().is("&&")) {
		p.at++
		right := p.negation()
		left = sqlValue{from: left.from, to: p.at, truth: andTruth(left.truth, right.truth), column: left.column ||
			right.column, condition: true}
	}
	return left
}

func (p *sqlExpr) negation() sqlValue {
	from, not := p.at, 0
	for p.word("NOT") || p.peek().is("!") {
		p.at++
		not++
	}
	v := p.predicate()
	if not == 0 {
		return v
	}
	v.from = from
	if not%2 == 1 {
		v.truth = notTruth(v)
		v.op, v.few = "", false
	}
	v.condition = true
	return v
}

func orTruth(a, b sqlTruth) sqlTruth {
	switch {
	case a == sqlAlways || b == sqlAlways:
		return sqlAlways
	case a == sqlConstant || b == sqlConstant:
		return sqlConstant
	case a == sqlNever:
		return b
	case b == sqlNever:
		return a
	}
	return sqlSometimes
}

func andTruth(a, b sqlTruth) sqlTruth {
	switch {
	case a == sqlNever || b == sqlNever:
		return sqlNever
	case a == sqlSometimes || b == sqlSometimes:
		return sqlSometimes
	case a == sqlConstant || b == sqlConstant:
		return sqlConstant
	}
	return sqlAlways
}

func xorTruth(a, b sqlTruth) sqlTruth {
	if a == sqlSometimes || b == sqlSometimes {
		return sqlSometimes
	}
	return sqlConstant
}

func notTruth(v sqlValue) sqlTruth {
	switch {
	case v.truth == sqlAlways:
		return sqlNever
	case v.truth == sqlNever:
		return sqlAlways
	case v.few, v.op == "IS NULL" && v.column:
		return sqlAlways
	}
	return v.truth
}

// opposite reports whether one of two comparisons holds where the other does not, so that either always does.
func (p *sqlExpr) opposite(a, b sqlValue) bool {
	if a.op == "" || b.op == "" || !p.same(a.left, b.left) {
		return false
	}
	if a.op == "IS NULL" || b.op == "IS NULL" { // the other half, IS NOT NULL, is taken to hold always as it is
		return false
	}
	switch a.op + " " + b.op {
	case "= <>", "<> =", "= !=", "!= =", "< >=", ">= <", "> <=", "<= >", "<= >=", ">= <=", "<> <>", "!= !=", "< >", "> <":
		return p.same(a.right, b.right) == (a.op != "<>" && a.op != "!=" || b.op == "=")
	}
	return false
}

// same reports whether two spans of tokens are one expression, but for brackets and the table's name before a column.
func (p *sqlExpr) same(a, b [2]int) bool {
	left, right := p.strip(a), p.strip(b)
	if len(left) == 0 || len(right) == 0 {
		return false
	}
	if len(left) == 1 && len(right) == 3 && right[1].is(".") {
		right = right[2:]
	} else if len(right) == 1 && len(left) == 3 && left[1].is(".") {
		left = left[2:]
	}
	if len(left) != len(right) {
		return false
	}
	for i := range left {
		if left[i].kind != right[i].kind || !strings.EqualFold(left[i].text, right[i].text) {
			return false
		}
	}
	return true
}

// strip takes brackets around a span away, and what changes no value: + 0, * 1.
func (p *sqlExpr) strip(span [2]int) []sqlToken {
	tokens := p.tokens[span[0]:max(span[0], min(span[1], len(p.tokens)))]
	for {
		n := len(tokens)
		switch {
		case n >= 2 && tokens[0].is("(") && closing(tokens) == n-1:
			tokens = tokens[1 : n-1]
		case n >= 3 && (tokens[n-2].is("+") || tokens[n-2].is("-")) && tokens[n-1].text == "0", n >= 3 &&
			(tokens[n-2].is("*") || tokens[n-2].is("/")) && tokens[n-1].text == "1":
			tokens = tokens[:n-2]
		case n >= 3 && tokens[1].is("+") && tokens[0].text == "0", n >= 3 && tokens[1].is("*") && tokens[0].text == "1":
			tokens = tokens[2:]
		default:
			return tokens
		}
	}
}

// closing returns the place of the bracket that closes the one in front, or -1.
func closing(tokens []sqlToken) int {
	depth := 0
	for i, t := range tokens {
		if depth += t.nests(); depth == 0 && t.is(")") {
			return i
		}
	}
	return -1
}

// sum parses operands joined by operators that yield a value.
func (p *sqlExpr) sum() sqlValue {
	left := p.operand()
	for !p.bad {
		t := p.peek()
		if t.kind == sqlWord && (t.upper == "DIV" || t.upper == "MOD" || t.upper == "@" || t.upper == "@@") {
			t = sqlToken{kind: sqlMark, text: t.upper}
		}
		if t.kind != sqlMark || len(t.text) > 2 || strings.Contains("()[],;=!{}:", t.text[:1]) || sqlCompares.Has(t.text) ||
			t.text == "&&" || t.text == "~" {
			return left
		}
		if t.text == "||" {
			if next := p.at + 1; next < len(p.tokens) &&
				(p.tokens[next].kind == sqlNumber || p.tokens[next].upper == "TRUE" || p.tokens[next].upper == "NOT" ||
					p.tokens[next].upper == "EXISTS") {
				return left // nobody joins texts with a number that is written out
			}
		}
		p.at++
		reads := !strings.Contains("+-*/%|&^||", t.text) || t.text == "-" && p.peek().is(">")
		right := p.operand()
		v := sqlValue{from: left.from, to: p.at, column: left.column || right.column, joined: t.text == "||" ||
			left.joined || right.joined}
		v.truth = sqlConstant
		switch { // a number where a condition is due: nearly every one counts as true
		case v.column && reads:
			v.truth = sqlSometimes
		case v.column:
			v.truth = sqlAlways
		}
		p.fold(&v, left, t.text, right)
		left = v
	}
	return left
}

// fold computes what can be computed of two constants.
func (p *sqlExpr) fold(v *sqlValue, left sqlValue, operator string, right sqlValue) {
	switch {
	case operator == "||" && left.text != nil && right.text != nil:
		joined := *left.text + *right.text
		v.text = &joined
	case left.number != nil && right.number != nil:
		n := 0.0
		switch operator {
		case "+":
			n = *left.number + *right.number
		case "-":
			n = *left.number - *right.number
		case "*":
			n = *left.number * *right.number
		case "/":
			if *right.number == 0 {
				return
			}
			n = *left.number / *right.number
		default:
			return
		}
		v.number = &n
		v.truth = numberTruth(n)
	}
}

func numberTruth(n float64) sqlTruth {
	if n == 0 {
		return sqlNever
	}
	return sqlAlways
}

func sqlNumberOf(text string) (float64, bool) {
	if n, err := strconv.ParseFloat(text, 64); err == nil {
		return n, true
	}
	if n, err := strconv.ParseUint(text, 0, 64); err == nil {
		return float64(n), true
	}
	return 0, false
}
