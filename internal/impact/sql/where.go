package sql

import (
	"strings"

	"interlock/internal/lex"
)

// sqlParts are the clauses of one DELETE, UPDATE or query that say which rows it means.
type sqlParts struct {
	where   []sqlToken // nil: there is none
	limited bool       // few rows by count
	grouped bool
	joined  bool
	joins   [][]sqlToken // conditions of joins that leave rows out
}

// sqlWhereEnds are the clauses that may follow a condition.
var sqlWhereEnds = lex.Set([]string{"GROUP", "ORDER", "LIMIT", "HAVING", "RETURNING", "UNION", "EXCEPT", "INTERSECT", "FETCH",
	"OFFSET", "FOR", "WINDOW",
	"OPTION", "QUALIFY", "MINUS", "OUTPUT", "ALLOW", "WITH"})

// sqlClausesOf finds the clauses of the statement that tokens begin with, and none of those inside its brackets. It ends
// where a bracket closes that was open before.
func sqlClausesOf(tokens []sqlToken) (c sqlParts) {
	depth, end := 0, len(tokens)
	whereAt, whereEnd, on, outer := -1, -1, -1, false
	finishOn := func(i int) {
		if on >= 0 && !outer {
			c.joins = append(c.joins, tokens[on+1:i])
		}
		on = -1
	}
	for i, t := range tokens {
		if depth += t.nests(); depth < 0 {
			end = i
			break
		}
		if depth > 0 || t.kind != sqlWord || t.upper == "" || i == 0 || tokens[i-1].is(".") {
			continue
		}
		switch {
		case t.upper == "WHERE" && whereAt < 0:
			finishOn(i)
			whereAt = i
		case whereAt >= 0 && whereEnd < 0 && sqlWhereEnds.Has(t.upper):
			whereEnd = i
		}
		switch t.upper {
		case "JOIN":
			finishOn(i)
			c.joined, outer = true, keepsRows(tokens, i)
		case "ON":
			if on = i; !c.joined {
				on = -1
			}
		case "USING":
			if c.joined && !outer && i+1 < len(tokens) && tokens[i+1].is("(") {
				c.joins = append(c.joins, nil)
			}
		case "SET", "LEFT", "INNER", "RIGHT", "CROSS", "NATURAL":
			if i+1 < len(tokens) && !tokens[i+1].is("(") {
				finishOn(i)
			}
		case "GROUP", "HAVING":
			c.grouped = true
		case "LIMIT", "FETCH":
			c.limited = c.limited || fewRows(tokens[i+1:])
		}
	}
	finishOn(end)
	if whereAt >= 0 {
		if whereEnd < 0 {
			whereEnd = end
		}
		c.where = tokens[whereAt+1 : whereEnd]
	}
	return c
}

// keepsRows reports whether the join at i keeps rows that nothing matches.
func keepsRows(tokens []sqlToken, i int) bool {
	kind := sqlUpper(tokens, i-1)
	if kind == "OUTER" {
		kind = sqlUpper(tokens, i-2)
	}
	return kind == "LEFT" || kind == "FULL" || kind == "CROSS"
}

// fewRows reports whether a limit is a number that keeps most rows of a table out, or is passed in.
func fewRows(tokens []sqlToken) bool {
	tokens = skipWords(tokens, "FIRST", "NEXT")
	if len(tokens) == 0 {
		return false
	}
	if tokens[0].kind == sqlNumber {
		n, ok := sqlNumberOf(tokens[0].text)
		return ok && n <= 100_000
	}
	return tokens[0].is("?") || tokens[0].is(":") || tokens[0].is("%") || parameter(tokens[0].text)
}

// narrows reports whether the statement that tokens begin with is kept to some of its table's rows, and whether that was
// understood whole. A condition that every row fulfils keeps nothing out, and neither does one that no row has a part in.
func (s sqlRun) narrows(tokens []sqlToken, target string) (narrow, whole bool) {
	c := sqlClausesOf(tokens)
	if c.limited || topRows(tokens) {
		return true, true
	}
	whole = true
	for _, on := range c.joins {
		if on == nil {
			return true, true
		}
		if truth, understood := s.truth(on, target); understood && (truth == sqlSometimes || truth == sqlNever) {
			return true, true
		} else if !understood {
			whole = false
		}
	}
	if c.where == nil {
		return false, whole
	}
	truth, understood := s.truth(c.where, target)
	return truth == sqlSometimes || truth == sqlNever, whole && understood
}

// topRows reports TOP n of Transact-SQL right after the verb.
func topRows(tokens []sqlToken) bool {
	if sqlUpper(tokens, 1) != "TOP" {
		return false
	}
	rest := tokens[2:]
	for len(rest) > 0 && rest[0].is("(") {
		rest = rest[1:]
	}
	return fewRows(rest) && findWord(rest[:min(len(rest), 4)], "PERCENT") < 0
}

// truth evaluates a condition and reports whether all of it was understood.
func (s sqlRun) truth(condition []sqlToken, target string) (sqlTruth, bool) {
	if !s.Spend(len(condition)) {
		return sqlSometimes, false
	}
	p := sqlExpr{tokens: condition, left: 64 + 16*len(condition), target: lastName(target)}
	v := p.condition()
	rest := p.peek()
	if p.bad || p.at < len(condition) &&
		!(rest.kind == sqlWord && (sqlHeads.Has(rest.upper) || sqlReads.Has(rest.upper) || rest.upper == "ELSE")) {
		return v.truth, false
	}
	return v.truth, true
}

// lastName is a dotted name without what is before its last dot.
func lastName(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }
