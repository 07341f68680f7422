package sql

import (
	"html"
	"strings"

	"interlock/internal/lex"
)

// fragmentMarks are shapes that only an attempt to break out of a quoted value has, in lower case with comments and runs
// of blanks turned into one blank.
var fragmentMarks = []string{
	"union select", "union all select", "union distinct select", "union (select", "union all (select", "union/select",
	"waitfor delay", "benchmark(", "pg_sleep(", "extractvalue(", "updatexml(", "xp_cmdshell", "information_schema", "load_file(",
	"into outfile", "into dumpfile", "utl_inaddr", "utl_http", "dbms_pipe", "dbms_lock.sleep", "procedure analyse",
	"sysobjects", "syscolumns",
	"sqlite_master", "@@version", "@@datadir", "having 1=1", "exp(~(", "name_const(", "generate_series(", "ctxsys",
	"randomblob(", "pg_catalog",
	"; exec ", ";exec ", "; drop ", ";drop ", "; shutdown", ";shutdown", "; insert into", ";insert into",
	"; delete from", ";delete from",
	"; update ", ";update ", "; select ", ";select ", "; declare @", ";declare @", "group_concat(", "concat_ws(0x",
	"concat(0x", "unhex(hex(",
	"&& sleep(", "or sleep(", "and sleep(", "if(sleep", "(sleep(", "or benchmark", "and(select", "or(select",
	"and (select", "or (select",
	"rlike (", "rlike sleep", "sounds like", "procedure analyze", "mid(version(", "ascii(substr", "substring(version", "db_name(",
	"current_user()",
	"[$ne]", "[$gt]", "[$regex]", "$where", "'||'", "' || '", "create_user(", "lo_import(", "json_extract(",
	"like binary", "div sleep(",
	"=(select", "= (select", "cast((select", "and substring(", "or substring(", "and substr(", "and ascii(", "or ascii(",
	"and ord(", "and length(", "and mid(", "group by concat(", "&&sleep(", "||sleep(", ",sleep(", " sleep(",
}

// sqlFragment returns what makes a text an injected fragment, or "" if it is a statement of its own or nothing of the
// kind. A text that begins as a statement is analysed as one, unless it stops in its middle. What a text carries inside
// another notation is looked at like the text itself.
func sqlFragment(in string, tokens []sqlToken, odd sqlOddities) string {
	if len(in) > 16<<10 {
		in = in[:16<<10] // a fragment that needs more room is a statement
		tokens, odd = sqlTokens(in, false)
	}
	if found := fragmentOf(in, tokens, odd); found != "" {
		return found
	}
	if len(in) > 4<<10 {
		return ""
	}
	for _, value := range carried(in) {
		inner, odd := sqlTokens(value, false)
		if found := fragmentOf(value, inner, odd); found != "" {
			return found
		}
	}
	return ""
}

func fragmentOf(in string, tokens []sqlToken, odd sqlOddities) string {
	if len(tokens) == 0 || clientLine(in) {
		return ""
	}
	if sqlStatementHead(tokens) && !odd.open {
		if len(in) < 512 && (cutOff(tokens) || tokens[0].is("(") && wholeBracketed(tokens, fragmentText(in)) ||
			tokens[0].upper == "FROM" && strings.Contains(strings.ToLower(in), "information_schema")) {
			return "fragment"
		}
		return ""
	}
	flat := fragmentText(in)
	if flat == "" {
		return ""
	}
	for _, mark := range fragmentMarks {
		if wordIn(flat, mark) {
			return "fragment"
		}
	}
	if quoteBreak(flat) || quoteClosed(flat) || probes(flat) || joined(flat) || computed(flat) || quotedVerb(flat) ||
		leaks(flat, in) {
		return "fragment"
	}
	if logicalBreak(flat) {
		return "tautology"
	}
	return ""
}

// clientLine reports whether text begins with a command of a client: a backslash and a word alone.
func clientLine(in string) bool {
	if len(in) < 2 || in[0] != '\\' {
		return false
	}
	end := 1
	for end < len(in) && (in[end]|0x20 >= 'a' && in[end]|0x20 <= 'z' || in[end] == '_' || in[end] == '!') {
		end++
	}
	return end > 1 && (end == len(in) || strings.IndexByte(" \n\r\t+", in[end]) >= 0)
}

// wordIn reports whether a mark occurs; the one that is also English ("the union selected") only as whole words.
func wordIn(flat, mark string) bool {
	for at := strings.Index(flat, mark); at >= 0; {
		end := at + len(mark)
		if end == len(flat) || mark != "union select" || !isSQLWord(flat[end]) {
			return true
		}
		next := strings.Index(flat[at+1:], mark)
		if next < 0 {
			return false
		}
		at += 1 + next
	}
	return false
}

// sqlStatementHead reports whether tokens begin as a statement: a verb that is followed by more than a value.
func sqlStatementHead(tokens []sqlToken) bool {
	for len(tokens) > 0 && tokens[0].is("(") {
		tokens = tokens[1:]
	}
	if len(tokens) == 0 || tokens[0].kind != sqlWord {
		return false
	}
	head := tokens[0].upper
	if head == "IF" && len(tokens) > 1 && tokens[1].is("(") { // if(a, b, c) is a value
		depth := 0
		for _, t := range tokens[1:] {
			if depth += t.nests(); depth == 0 {
				break
			}
			if depth == 1 && t.is(",") {
				return false
			}
		}
	}
	if head == "UNION" || head == "HAVING" || head == "PROCEDURE" {
		return false
	}
	return sqlHeads.Has(head) || sqlReads.Has(head) || sqlUpkeep.Has(head) || sqlOthers.Has(head)
}

// fragmentText decodes percent-encoding once and turns comments, plus signs between words and blanks to one blank, in
// lower case.
func fragmentText(in string) string {
	in = strings.ToLower(lex.PercentDecode(lex.PercentDecode(in)))
	in = strings.ReplaceAll(in, "’", "'")
	if strings.Contains(in, "&") {
		in = html.UnescapeString(in)
	}
	var out strings.Builder
	blank := false
	for i := 0; i < len(in); i++ {
		c := in[i]
		if strings.HasPrefix(in[i:], "/*") {
			end := strings.Index(in[i+2:], "*/")
			if end < 0 && strings.HasPrefix(in[i:], "/*!") { // cut off, and executed
				i += 2
				for i+1 < len(in) && in[i+1] >= '0' && in[i+1] <= '9' {
					i++
				}
				blank = true
				continue
			}
			if end < 0 { // cut off: what follows is a comment
				out.WriteString(" /*")
				break
			}
			if strings.HasPrefix(in[i:], "/*!") {
				in = in[:i] + " " + strings.TrimLeft(in[i+3:i+2+end], "0123456789") + " " + in[i+4+end:]
			} else {
				i += 3 + end
			}
			c = ' '
		}
		if c == '+' && i+1 < len(in) && in[i+1] >= 'a' && in[i+1] <= 'z' {
			c = ' '
		}
		if c <= ' ' || c == 0xa0 || c == 0xc2 {
			blank = true
			continue
		}
		if blank {
			out.WriteByte(' ')
			blank = false
		}
		out.WriteByte(c)
	}
	return out.String()
}

// quoteBreak reports whether a quote is closed and what follows is cut off: ' -- or ' # or ')) -- at the end.
func quoteBreak(flat string) bool {
	trimmed := strings.TrimRight(flat, " -+;\x00")
	cut := len(flat) > len(trimmed) && strings.Contains(flat[len(trimmed):], "--")
	if !cut {
		for _, end := range []string{"#", "/*"} {
			if strings.HasSuffix(trimmed, end) {
				trimmed, cut = strings.TrimRight(strings.TrimSuffix(trimmed, end), " "), true
				break
			}
		}
	}
	return cut && strings.ContainsAny(trimmed, "'\"")
}

// logicalBreak reports whether a condition is joined that holds always or never: or 1=1, and 'a'='b, || 1 like 1.
func logicalBreak(flat string) bool {
	for i := 0; i+4 < len(flat); i++ {
		rest := flat[i:]
		joint := 0
		for _, j := range [...]string{"or ", "and ", "|| ", "&& ", "||", "&&", "or(", "and(", "xor ", "having ", "or'", "or\"",
			"and'", "like "} {
			if strings.HasPrefix(rest, j) {
				joint = len(j)
				break
			}
		}
		if joint == 0 || i > 0 && isSQLWord(flat[i-1]) && flat[i-1] >= 'a' {
			continue
		}
		if sameSides(rest[joint:min(len(rest), joint+80)]) {
			return true
		}
	}
	return false
}

// sameSides reports whether text begins with a comparison of two constants or of something with itself.
func sameSides(text string) bool {
	text = strings.TrimLeft(text, " (+-~")
	for strings.HasPrefix(text, "not ") {
		text = strings.TrimLeft(text[4:], " (+-~")
	}
	left, rest := side(text)
	if left == "" {
		return false
	}
	rest = strings.TrimLeft(rest, " )")
	operator := ""
	for _, o := range [...]string{"<=>", "<>", "!=", ">=", "<=", "=", "<", ">", "like ", "is ", "in (", "in(", "between ",
		"not between ", "not in (", "not like ", "rlike ", "regexp ", "sounds like "} {
		if strings.HasPrefix(rest, o) {
			operator = o
			break
		}
	}
	if operator == "" {
		return left[0] == '\'' && strings.TrimSpace(rest) == "" && !decade(left)
	}
	right, _ := side(strings.TrimLeft(rest[len(operator):], " (+-"))
	if right == "" {
		return false
	}
	constant := func(v string) bool { return v[0] == '\'' || v[0] == '"' || v[0] >= '0' && v[0] <= '9' }
	return strings.Trim(left, `'"`) == strings.Trim(right, `'"`) || constant(left) && constant(right) &&
		(operator == "=" || left[0] == '\'' || left[0] == '"' || operator == ">" || operator == "<" || operator == "like " ||
			strings.HasPrefix(operator, "not ") || operator == "between ")
}

// decade reports the years of a decade, which people write with an apostrophe: '60s.
func decade(text string) bool {
	return len(text) >= 4 && text[1] >= '0' && text[1] <= '9' && text[2] == '0' && text[3] == 's'
}

// side reads a literal, number or name.
func side(text string) (value, rest string) {
	if text == "" {
		return "", ""
	}
	if q := text[0]; q == '\'' || q == '"' || q == '`' {
		end := strings.IndexByte(text[1:], q)
		if end < 0 {
			return text, ""
		}
		return text[:end+2], text[end+2:]
	}
	i := 0
	for i < len(text) && (isSQLWord(text[i]) || text[i] == '.') {
		i++
	}
	return text[:i], text[i:]
}
