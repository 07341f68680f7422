package sql

import (
	"html"
	"strings"
)

// carried returns the values that a text carries inside another notation: the strings of JSON, the attributes and texts of
// markup, the value of a form field. The text itself is not among them.
func carried(text string) (out []string) {
	trimmed := strings.TrimSpace(text)
	switch {
	case trimmed == "":
	case trimmed[0] == '<' && strings.Contains(trimmed, ">"):
		out = quotedParts(trimmed, out)
		for rest := trimmed; len(out) < 32; {
			_, after, found := strings.Cut(rest, ">")
			inner, next, more := strings.Cut(after, "<")
			if inner = strings.TrimSpace(inner); inner != "" && found {
				out = append(out, html.UnescapeString(inner))
			}
			if !found || !more {
				break
			}
			rest = next
		}
	case (trimmed[0] == '{' || trimmed[0] == '[') && strings.Contains(trimmed, `"`) &&
		strings.ContainsAny(trimmed[len(trimmed)-1:], "}]"):
		out = quotedParts(trimmed, out)
	default:
		name, value, found := strings.Cut(trimmed, "=")
		if found && value != "" && len(name) <= 40 && fieldName(name) {
			out = append(out, value)
		}
	}
	return out
}

// quotedParts appends what is between double quotes.
func quotedParts(text string, out []string) []string {
	for len(out) < 32 {
		_, rest, found := strings.Cut(text, `"`)
		if !found {
			break
		}
		end := 0
		for end < len(rest) && rest[end] != '"' {
			if rest[end] == '\\' {
				end++
			}
			end++
		}
		if end >= len(rest) {
			break
		}
		if part := strings.ReplaceAll(rest[:end], `\`, ""); part != "" {
			out = append(out, html.UnescapeString(part))
		}
		text = rest[end+1:]
	}
	return out
}

// fieldName reports whether text is the name of a form field: one word, perhaps with an index.
func fieldName(text string) bool {
	for i := 0; i < len(text); i++ {
		c := text[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '-' || c == '.' || i > 0 &&
			(c >= '0' && c <= '9' || c == '[' || c == ']')) {
			return false
		}
	}
	return text != "" && !strings.ContainsAny(text, "[]")
}

// joined reports a text that begins in the middle of a condition, or goes on with one behind its first quote: an operator that
// joins, and a constant or half a comparison behind it.
func joined(flat string) bool {
	body := strings.TrimLeft(flat, " )'\"`\\;")
	if (body == flat || strings.ContainsAny(flat[:len(flat)-len(body)], "'\"`)")) && joins(body) {
		return true
	}
	at := strings.IndexAny(flat, "'\"`")
	return at > 0 && joins(strings.TrimLeft(flat[at+1:], " );"))
}

// joins reports whether text begins with an operator that joins, and goes on as half a condition.
func joins(body string) bool {
	for _, joint := range [...]string{"or", "and", "xor", "having", "&&", "||"} {
		rest, ok := strings.CutPrefix(body, joint)
		if !ok || rest == "" || joint[0] >= 'a' && strings.IndexByte(" ('\"`-!~+", rest[0]) < 0 {
			continue
		}
		return halfCondition(rest)
	}
	return false
}

// halfCondition reports whether text goes on as a condition with a constant: a literal with an operator, an end or a comment
// behind it, or a name with a comparison.
func halfCondition(text string) bool {
	text = strings.TrimLeft(text, " (")
	for strings.HasPrefix(text, "not ") || strings.HasPrefix(text, "!") || strings.HasPrefix(text, "~") ||
		strings.HasPrefix(text, "-") || strings.HasPrefix(text, "+") {
		_, text, _ = strings.Cut(text, text[:1])
		text = strings.TrimPrefix(text, "ot ")
		text = strings.TrimLeft(text, " (")
	}
	left, rest := side(text)
	if left == "" {
		return false
	}
	rest = strings.TrimLeft(rest, " )")
	literal := left[0] == '\'' || left[0] == '"' || left[0] == '`' || left[0] >= '0' && left[0] <= '9' && numbersOnly(left) ||
		left == "true" || left == "false" || left == "null"
	if literal && (rest == "" || rest == "-" || strings.HasPrefix(rest, "--") ||
		strings.IndexByte("=<>!?|&@#;+*/%^~,:", rest[0]) >= 0) {
		return true
	}
	if len(rest) == 1 && strings.IndexByte("-+*/%<>=|&", rest[0]) >= 0 {
		return true
	}
	for _, operator := range [...]string{"=", "<", ">", "!=", "<>", "like ", "rlike ", "regexp ", "glob ", "is null", "is not ",
		"in (", "between ", "sounds like"} {
		if after, ok := strings.CutPrefix(rest, operator); ok &&
			(operator != "<" && operator != ">" || literal || strings.TrimSpace(after) != "") {
			return true
		}
	}
	return false
}

// sqlNames are functions whose call tells a value from a piece of a query.
var sqlNames = []string{"version(", "database(", "user(", "current_user(", "system_user(", "session_user(", "schema(", "ord(",
	"ascii(", "hex(", "unhex(", "substr(", "substring(", "mid(", "char(", "chr(", "concat(",
	"ifnull(", "nullif(", "coalesce(", "extractvalue(", "updatexml(", "load_file(", "pi(", "cos(", "sin(", "rand(", "floor(",
	"conv(", "find_in_set(", "json_build_object(", "starts_with(", "group_concat(", "row_count(", "last_insert_id(", "quote(",
	"elt(", "make_set(", "export_set(", "json_valid(", "json_keys(", "xmltype("}

// computed reports a number that is computed with what only a query knows: 1-false, 1 - ord('a').
func computed(flat string) bool {
	i := 0
	for i < len(flat) && (flat[i] >= '0' && flat[i] <= '9' || flat[i] == '.' || flat[i] == ' ') {
		i++
	}
	if i == 0 || i >= len(flat) || strings.IndexByte("-+*/%|&^,", flat[i]) < 0 {
		return false
	}
	rest := strings.TrimLeft(flat[i:], "-+*/%|&^, (")
	if rest == "true" || rest == "false" || rest == "null" {
		return true
	}
	return startsWithCall(rest)
}

func startsWithCall(text string) bool {
	for _, name := range sqlNames {
		if strings.HasPrefix(text, name) {
			return true
		}
	}
	return false
}

// sqlVerbsAhead are verbs that a quote in front turns into a statement behind a value.
var sqlVerbsAhead = []string{"select ", "union ", "insert into ", "update ", "delete from ", "drop ", "alter ", "create ",
	"exec ", "execute ", "print", "declare @", "begin declare", "begin goto", "waitfor ", "shutdown", "order by ", "group by ",
	"having ", "limit "}

// quotedVerb reports a quote that closes a value before it, never opens another, and a verb behind.
func quotedVerb(flat string) bool {
	body := strings.TrimLeft(flat, " \\")
	if body == "" || body[0] != '\'' && body[0] != '"' && body[0] != '`' {
		return false
	}
	rest := strings.TrimLeft(body[1:], " ;)")
	for _, verb := range sqlVerbsAhead {
		if strings.HasPrefix(rest, verb) && strings.Count(body, body[:1])%2 == 1 {
			return true
		}
	}
	return false
}

// sqlCasts end a value that is read as another type, so that an error shows it.
var sqlCasts = []string{"::int", "::integer", "::numeric", "::jsonb", "::json", "::text", "::bool", "::float", "::bytea",
	"::xml", "::money"}

// leaks reports the ends of queries that stand alone: what a name is given and where it comes from, a cast, a comparison of two
// literals, a comment that a server executes.
func leaks(flat, text string) bool {
	if strings.Contains(text, "/*!") || strings.Contains(text, "*/") && strings.ContainsAny(text, "'\"") &&
		strings.Contains(text, "/*") {
		return true
	}
	for _, cast := range sqlCasts {
		if at := strings.Index(flat, cast); at > 0 {
			if end := at + len(cast); end == len(flat) || !isSQLWord(flat[end]) {
				return true
			}
		}
	}
	if strings.IndexByte(")'\"`", flat[0]) >= 0 && len(flat) < 80 && strings.HasSuffix(flat, " from") &&
		strings.Contains(flat, "as") {
		return true
	}
	if flat[0] == '\'' {
		if end := strings.IndexByte(flat[1:], '\''); end >= 0 {
			rest := strings.TrimLeft(flat[end+2:], " ")
			if operator := strings.TrimLeft(rest, "=<>!"); len(operator) < len(rest) && operator != "" &&
				strings.IndexByte("' 0123456789", operator[0]) >= 0 {
				return true
			}
		}
	}
	for _, end := range [...]string{"'--", "\"--", "' --", "'#", ";set @", "; set @", ">set @", "'; print", "';print"} {
		if strings.Contains(flat, end) {
			return true
		}
	}
	if rest, ok := strings.CutPrefix(flat, "in ("); ok && rest != "" &&
		strings.IndexByte("0123456789'\"", strings.TrimLeft(rest+" ", " ")[0]) >= 0 || strings.HasPrefix(flat, "in ( select") ||
		strings.HasPrefix(flat, "in (select") || flat == "like null" {
		return true
	}
	return false
}

// cutOff reports a statement that stops where more must follow: behind an operator or a word that needs an operand, or inside
// a bracket.
func cutOff(tokens []sqlToken) bool {
	depth, cases := 0, 0
	for _, t := range tokens {
		depth += t.nests()
		switch t.upper {
		case "CASE":
			cases++
		case "END":
			cases--
		}
	}
	switch head := tokens[0].upper; head {
	case "SELECT", "FROM", "EXECUTE", "EXEC", "WITH":
	default:
		return false
	}
	last := tokens[len(tokens)-1]
	switch last.upper {
	case "WHERE", "FROM", "AND", "OR", "LIKE", "=", "<", ">", "<>", "!=", "||", ",", "SELECT", "BY", "HAVING", "UNION", "JOIN",
		"WHEN", "THEN", "LIMIT", ".":
		return true
	}
	return (depth > 0 || cases > 0) && !sqlDeep(tokens)
}

// wholeBracketed reports a query in brackets that asks what tables there are, or that ends in a comment with nothing in it.
func wholeBracketed(tokens []sqlToken, flat string) bool {
	if !tokens[0].is("(") || closing(tokens) != len(tokens)-1 {
		return false
	}
	if strings.HasSuffix(strings.TrimRight(flat, " "), "--") || strings.HasSuffix(flat, "#") {
		return true
	}
	for _, catalog := range [...]string{"information_schema", "rdb$", "from dual", "sysobjects", "sysibm", "all_tables",
		"pg_catalog", "sqlite_master", "@:="} {
		if strings.Contains(flat, catalog) {
			return true
		}
	}
	return false
}

// FreeText reports whether an argument's name says that people's words go into it, in which quotes and SQL are talked about.
func FreeText(key string) bool {
	switch key {
	case "q", "query", "question", "prompt", "text", "message", "body", "search", "searchquery", "searchterm", "keywords", "term",
		"description", "title", "subject", "note", "comment", "content", "reason", "jql", "cql", "filter", "where", "sql":
		return true
	}
	return false
}

// BreaksOut reports whether a value that nobody called SQL is shaped to end the literal it is put into and go on as SQL. It
// wants more than a piece of a query has to show: a quote, and behind it a statement, a union, a condition that holds for all
// or a comment that takes the rest away.
func BreaksOut(text string) bool {
	at := strings.IndexAny(text, "'\"")
	if at < 0 {
		return breaksOutOfNumber(text)
	}
	if at > 200 || !strings.ContainsAny(text[at:], "=;-#(") {
		return false
	}
	flat := fragmentText(text)
	if before, after, ok := strings.Cut(flat, "'"); ok && before != "" && len(flat) <= 64 &&
		(strings.HasPrefix(strings.TrimLeft(after, " )"), "--") || strings.TrimSpace(after) == "#") {
		return strings.Trim(after, " )-+#") == ""
	}
	at = strings.IndexAny(flat, "'\"")
	if at < 0 || strings.Contains(flat, "<") && strings.Contains(flat, ">") && strings.Contains(flat, "</") {
		return false
	}
	rest := strings.TrimLeft(flat[at+1:], " )")
	if stacked, ok := strings.CutPrefix(rest, ";"); ok {
		stacked = strings.TrimLeft(stacked, " ")
		for _, verb := range [...]string{"drop table ", "drop database ", "delete from ", "insert into ", "truncate ", "update ",
			"exec ", "exec(", "execute ", "shutdown", "waitfor delay", "alter ", "create user ", "select pg_sleep("} {
			if strings.HasPrefix(stacked, verb) {
				return true
			}
		}
		return false
	}
	if strings.HasPrefix(rest, "union select ") || strings.HasPrefix(rest, "union all select ") {
		return true
	}
	for _, joint := range [...]string{"or ", "and ", "|| ", "or(", "||", "or'", "or\""} {
		if condition, ok := strings.CutPrefix(rest, joint); ok && strings.ContainsAny(condition, "=<>(") {
			return logicalBreak(rest[:min(len(rest), 160)]) || strings.HasPrefix(condition, "sleep(") ||
				strings.HasPrefix(condition, "(select ")
		}
	}
	return false
}

// breaksOutOfNumber is breaksOut for a value without quotes: a word or number, and a statement or union behind.
func breaksOutOfNumber(text string) bool {
	if len(text) < 8 || text[0] != '-' && !(text[0] >= '0' && text[0] <= '9') {
		return false
	}
	flat := fragmentText(text)
	rest := strings.TrimLeft(flat, "-0123456789 )")
	if strings.HasPrefix(rest, "union select ") || strings.HasPrefix(rest, "union all select ") {
		return true
	}
	if stacked, ok := strings.CutPrefix(rest, ";"); ok {
		return LooksLikeStatement(strings.TrimSpace(stacked))
	}
	condition, ok := strings.CutPrefix(rest, "or ")
	return ok && strings.Contains(condition, "=") && logicalBreak(rest)
}
