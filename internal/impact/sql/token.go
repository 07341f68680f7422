package sql

import (
	"strings"

	"interlock/internal/impact/fact"
	"interlock/internal/lex"
)

// A sqlSort is the sort of an SQL token.
type sqlSort uint8

const (
	sqlWord   sqlSort = iota + 1 // keyword or name, quoted or not
	sqlString                    // literal
	sqlNumber
	sqlMark // operator or punctuation
)

// A sqlToken is one token: its text without quotes, and in upper case if it is an unquoted word.
type sqlToken struct {
	kind  sqlSort
	text  string
	upper string // empty for everything but unquoted words and marks
}

func (t sqlToken) is(mark string) bool { return t.kind == sqlMark && t.text == mark }

// nests says how many brackets deeper it is behind a token: 1 behind one that opens, -1 behind one that closes.
func (t sqlToken) nests() int {
	switch {
	case t.is("("):
		return 1
	case t.is(")"):
		return -1
	}
	return 0
}

// sqlOddities are what a tokeniser noticed on the way.
type sqlOddities struct {
	open      bool // a quote or comment is not closed
	backslash bool // a backslash comes before a quote: dialects differ about where the literal ends
	hidden    bool // a keyword is split by a comment
}

// A sqlReader turns SQL into tokens, in one pass.
type sqlReader struct {
	in     string
	at     int
	escape bool // backslash escapes in plain literals
	tokens []sqlToken
	odd    sqlOddities
	flat   bool // comments were found not to nest
	glued  bool // the last thing read was a comment that touched the word before it
}

// sqlTokens reads SQL. escape says whether a backslash escapes a quote in a plain literal, as in MySQL.
func sqlTokens(in string, escape bool) ([]sqlToken, sqlOddities) {
	r := sqlReader{in: in, escape: escape, tokens: make([]sqlToken, 0, len(in)/6+4)}
	for r.at < len(in) && len(r.tokens) <= fact.MaxWork { // beyond it the count alone refuses
		r.next()
	}
	return r.tokens, r.odd
}

func (r *sqlReader) push(kind sqlSort, text, upper string) {
	r.glued = false
	r.tokens = append(r.tokens, sqlToken{kind, text, upper})
}

func (r *sqlReader) next() {
	in, c := r.in, r.in[r.at]
	switch {
	case c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v':
		r.at++
		r.glued = false
	case strings.HasPrefix(in[r.at:], "--"):
		r.line()
	case c == '#' && (r.at+1 == len(in) || in[r.at+1] == ' ' || in[r.at+1] == '\n'):
		r.line()
	case strings.HasPrefix(in[r.at:], "/*!"), strings.HasPrefix(in[r.at:], "/*M!"):
		r.at += strings.IndexByte(in[r.at:], '!') + 1 // MySQL executes it
		for r.at < len(in) && in[r.at] >= '0' && in[r.at] <= '9' {
			r.at++
		}
		r.odd.hidden = true
	case strings.HasPrefix(in[r.at:], "/*"):
		r.comment()
	case strings.HasPrefix(in[r.at:], "*/"):
		r.at += 2
	case c == '\'':
		r.literal('\'', r.escape)
	case c == '"' || c == '`':
		r.quotedName(c)
	case c == '[' && r.bracketName():
	case c == '$' && r.dollar():
	case isSQLWord(c) && !(c >= '0' && c <= '9'):
		r.word()
	case r.beginsNumber():
		r.number()
	default:
		r.mark()
	}
}

// beginsNumber reports whether a number begins here, perhaps with its point.
func (r *sqlReader) beginsNumber() bool {
	at := r.at
	if r.in[at] == '.' && !r.afterName() {
		at++
	}
	return at < len(r.in) && r.in[at] >= '0' && r.in[at] <= '9'
}

func (r *sqlReader) afterName() bool {
	return len(r.tokens) > 0 && r.tokens[len(r.tokens)-1].kind == sqlWord
}

func (r *sqlReader) line() {
	if end := strings.IndexByte(r.in[r.at:], '\n'); end >= 0 {
		r.at += end
		return
	}
	r.at = len(r.in)
}

// comment skips a block comment, nested as in PostgreSQL. One that does not nest well is closed at its first end.
func (r *sqlReader) comment() {
	touched := r.at > 0 && isSQLWord(r.in[r.at-1])
	depth, i, firstEnd := 0, r.at, -1
	for i < len(r.in) {
		if strings.HasPrefix(r.in[i:], "/*") {
			depth++
			i += 2
		} else if strings.HasPrefix(r.in[i:], "*/") {
			depth--
			i += 2
			if firstEnd < 0 {
				firstEnd = i
			}
			if depth == 0 || r.flat {
				depth = 0
				break
			}
		} else {
			i++
		}
	}
	switch {
	case depth == 0:
		r.at = i
	case firstEnd >= 0:
		r.at, r.flat = firstEnd, true
	default:
		r.at, r.odd.open = len(r.in), true
	}
	r.glued = touched && r.at < len(r.in) && isSQLWord(r.in[r.at])
}

// literal reads a quoted literal; a doubled quote is a quote.
func (r *sqlReader) literal(quote byte, escape bool) {
	i := r.at + 1
	start := i
	for i < len(r.in) {
		c := r.in[i]
		if c == '\\' && i+1 < len(r.in) {
			if r.in[i+1] == quote && !escape {
				r.odd.backslash = true
			}
			if escape {
				i += 2
				continue
			}
		}
		if c == quote {
			if i+1 < len(r.in) && r.in[i+1] == quote {
				i += 2
				continue
			}
			r.push(sqlString, r.in[start:i], "")
			r.at = i + 1
			return
		}
		i++
	}
	r.odd.open = true
	r.push(sqlString, r.in[start:], "")
	r.at = len(r.in)
}

func (r *sqlReader) quotedName(quote byte) {
	end := strings.IndexByte(r.in[r.at+1:], quote)
	if end < 0 {
		r.odd.open = true
		r.push(sqlWord, r.in[r.at+1:], "")
		r.at = len(r.in)
		return
	}
	r.push(sqlWord, r.in[r.at+1:r.at+1+end], "")
	r.at += end + 2
}

// bracketName reads a [name] of Transact-SQL; after a name or a bracket it is an index instead.
func (r *sqlReader) bracketName() bool {
	if r.at > 0 && (isSQLWord(r.in[r.at-1]) || r.in[r.at-1] == ']' || r.in[r.at-1] == ')') {
		return false
	}
	end := strings.IndexByte(r.in[r.at:min(len(r.in), r.at+130)], ']')
	if end < 2 || strings.ContainsAny(r.in[r.at+1:r.at+end], "',;(") {
		return false
	}
	r.push(sqlWord, r.in[r.at+1:r.at+end], "")
	r.at += end + 1
	return true
}

// dollar reads a dollar-quoted literal.
func (r *sqlReader) dollar() bool {
	i := r.at + 1
	for i < len(r.in) && i-r.at < 64 && isSQLWord(r.in[i]) && r.in[i] != '$' {
		i++
	}
	if i >= len(r.in) || r.in[i] != '$' {
		return false
	}
	tag := r.in[r.at : i+1]
	end := strings.Index(r.in[i+1:], tag)
	if end < 0 {
		r.odd.open = true
		r.push(sqlString, r.in[i+1:], "")
		r.at = len(r.in)
		return true
	}
	r.push(sqlString, r.in[i+1:i+1+end], "")
	r.at = i + 1 + end + len(tag)
	return true
}

func (r *sqlReader) word() {
	start := r.at
	for r.at < len(r.in) && isSQLWord(r.in[r.at]) {
		r.at++
	}
	text := r.in[start:r.at]
	if r.at < len(r.in) && r.in[r.at] == '\'' && len(text) == 1 && strings.IndexByte("eEnNbBxXuU", text[0]) >= 0 {
		r.literal('\'', text[0]|0x20 == 'e' || r.escape)
		return
	}
	upper := strings.ToUpper(text)
	if len(text) >= 4 && unevenCase(text) && (sqlHeads.Has(upper) || sqlUneven.Has(upper)) {
		r.odd.hidden = true
	}
	if last := len(r.tokens) - 1; r.glued && last >= 0 && r.tokens[last].kind == sqlWord && r.joins(last, upper) {
		joined := r.tokens[last].upper + upper
		r.tokens[last] = sqlToken{sqlWord, joined, joined}
		r.odd.hidden, r.glued = true, false
		return
	}
	r.push(sqlWord, text, upper)
}

// joins reports whether a word and the one a comment parts it from are a verb together.
func (r *sqlReader) joins(last int, upper string) bool {
	left := r.tokens[last].upper
	joined := left + upper
	if sqlHeads.Has(joined) {
		return !sqlHeads.Has(upper) || !sqlHeads.Has(left)
	}
	first := last == 0 || r.tokens[last-1].is(";")
	return first && !sqlHeads.Has(left) && (sqlOthers.Has(joined) || sqlUpkeep.Has(joined) || sqlReads.Has(joined) ||
		joined == "REASSIGN" ||
		joined == "SECURITY")
}

// sqlUneven are further words that nobody spells in a mixture of cases but to walk around somebody who looks for them.
var sqlUneven = lex.Set([]string{"FROM", "WHERE", "TABLE", "INTO", "SLEEP", "PG_SLEEP", "BENCHMARK", "WAITFOR",
	"INFORMATION_SCHEMA", "XP_CMDSHELL", "LOAD_FILE", "HAVING", "ORDER", "GROUP", "VALUES", "CONCAT",
	"EXTRACTVALUE", "UPDATEXML"})

// unevenCase reports whether a word's case changes more than once.
func unevenCase(word string) bool {
	changes := 0
	for i := 1; i < len(word); i++ {
		a, b := word[i-1], word[i]
		if a|0x20 >= 'a' && a|0x20 <= 'z' && b|0x20 >= 'a' && b|0x20 <= 'z' && (a^b)&0x20 != 0 {
			changes++
		}
	}
	return changes >= 2
}

func (r *sqlReader) number() {
	start := r.at
	for r.at < len(r.in) && (isSQLWord(r.in[r.at]) || r.in[r.at] == '.') {
		r.at++
	}
	r.push(sqlNumber, r.in[start:r.at], "")
}

func (r *sqlReader) mark() {
	if r.at+1 < len(r.in) && strings.IndexByte("=>|&:", r.in[r.at+1]) >= 0 {
		switch two := r.in[r.at : r.at+2]; two {
		case "<>", "!=", ">=", "<=", "||", "&&", "==", "::", ":=":
			r.push(sqlMark, two, two)
			r.at += 2
			return
		}
	}
	one := r.in[r.at : r.at+1]
	r.push(sqlMark, one, one)
	r.at++
}

func isSQLWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '$' || c == '@' || c >= 0x80
}

// sqlHeads are the verbs statements begin with.
var sqlHeads = lex.Set([]string{"SELECT", "INSERT", "UPDATE", "DELETE", "DROP", "ALTER", "CREATE", "TRUNCATE", "GRANT",
	"REVOKE", "MERGE", "WITH",
	"COPY", "EXEC", "EXECUTE", "CALL", "SET", "REPLACE", "PRAGMA", "EXPLAIN", "BEGIN", "COMMIT", "ROLLBACK", "LOAD",
	"ATTACH", "DETACH",
	"VACUUM", "ANALYZE", "SHOW", "DESCRIBE", "DO", "DENY", "SHUTDOWN", "KILL", "BACKUP", "RESTORE", "USE", "UNION",
	"DECLARE", "PREPARE"})

// startsLikeSQL reports whether text begins with a verb of SQL.
func startsLikeSQL(text string) bool {
	tokens, _ := sqlTokens(text[:min(len(text), 256)], false)
	return len(tokens) > 0 && sqlHeads.Has(tokens[0].upper)
}

// endsAfterName reports whether tokens are names and nothing that a sentence would go on with.
func endsAfterName(tokens []sqlToken) bool {
	tokens = skipWords(tokens, "IF", "NOT", "EXISTS", "CONCURRENTLY", "TABLE")
	name := false
	for i, t := range tokens {
		switch {
		case t.is(";") || t.upper == "CASCADE" || t.upper == "RESTRICT":
			return name
		case t.is(",") || t.is("."):
		case t.kind == sqlWord && (i == 0 || tokens[i-1].is(",") || tokens[i-1].is(".")):
			name = true
		default:
			return false
		}
	}
	return name
}

func findWord(tokens []sqlToken, word string) int {
	for i := range tokens {
		if tokens[i].kind == sqlWord && tokens[i].upper == word {
			return i
		}
	}
	return -1
}

func findMark(tokens []sqlToken, mark string) int {
	for i := range tokens {
		if tokens[i].is(mark) {
			return i
		}
	}
	return -1
}

// skipWords drops leading words of the list.
func skipWords(tokens []sqlToken, words ...string) []sqlToken {
	for len(tokens) > 0 {
		found := false
		for _, w := range words {
			found = found || tokens[0].upper == w
		}
		if !found {
			break
		}
		tokens = tokens[1:]
	}
	return tokens
}

// sqlName reads a possibly dotted name at the front of tokens.
func sqlName(tokens []sqlToken) string {
	name := ""
	for i, t := range tokens {
		if i > 6 || len(name) > 128 {
			break
		}
		if i%2 == 0 && t.kind == sqlWord {
			name += t.text
			continue
		}
		if i%2 == 1 && t.is(".") {
			name += "."
			continue
		}
		break
	}
	return name
}

// sqlNameAfter reads the name after the first occurrence of a word.
func sqlNameAfter(tokens []sqlToken, word string) string {
	i := findWord(tokens, word)
	if i < 0 {
		return ""
	}
	return sqlName(skipWords(tokens[i+1:], "TABLE", "ONLY", "LATERAL", "IF", "EXISTS", "NOT"))
}

// sqlText is a statement in one line with comments and spare blanks gone.
func sqlText(tokens []sqlToken) string {
	var out strings.Builder
	for i, t := range tokens {
		if i > 0 && !t.is(",") && !t.is(")") && !t.is(".") && !t.is("(") && !tokens[i-1].is("(") && !tokens[i-1].is(".") {
			out.WriteByte(' ')
		}
		switch {
		case t.kind == sqlString:
			out.WriteString("'" + t.text + "'")
		case t.upper != "":
			out.WriteString(t.upper)
		default:
			out.WriteString(t.text)
		}
	}
	return out.String()
}

// squeeze folds white space.
func squeeze(text string) string { return strings.Join(strings.Fields(text), " ") }
