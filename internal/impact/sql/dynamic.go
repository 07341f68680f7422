package sql

import (
	"slices"
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/flow"
	"interlock/internal/impact/know"
	"interlock/internal/lex"
)

// sqlBuild evaluates the text that tokens put together, by concatenation and the functions dialects have for it, and
// returns how many tokens that took.
func (s sqlRun) sqlBuild(tokens []sqlToken, depth int) (flow.BuiltSQL, int) {
	if depth > 16 || !s.Spend(1) {
		return flow.BuiltSQL{Text: "x"}, len(tokens)
	}
	var out flow.BuiltSQL
	at := 0
	for at < len(tokens) {
		one, n := s.sqlPiece(tokens[at:], depth)
		if n == 0 {
			break
		}
		out = out.Plus(one)
		at += n
		for at+1 < len(tokens) && tokens[at].is("::") {
			at += 2
		}
		if at < len(tokens) && (tokens[at].is("||") || tokens[at].is("+") || tokens[at].is("&")) {
			at++
			continue
		}
		if at < len(tokens) && tokens[at].kind == sqlString {
			continue
		}
		break
	}
	return out, at
}

// sqlPiece evaluates one operand.
func (s sqlRun) sqlPiece(tokens []sqlToken, depth int) (flow.BuiltSQL, int) {
	t := tokens[0]
	switch {
	case t.kind == sqlString:
		return flow.BuiltSQL{Text: strings.ReplaceAll(t.text, "''", "'"), Literal: true}, 1
	case t.kind == sqlNumber:
		if raw, ok := lex.Decode("hex", strings.TrimPrefix(strings.TrimPrefix(t.text, "0x"), "0X")); ok && len(t.text) > 4 &&
			(t.text[1] == 'x' || t.text[1] == 'X') {
			return flow.BuiltSQL{Text: strings.ReplaceAll(raw, "\x00", ""), Literal: true, Decoded: true}, 1
		}
		return flow.BuiltSQL{Text: t.text}, 1
	case t.is("("):
		end := closing(tokens)
		if end < 0 {
			return flow.BuiltSQL{Text: "x"}, len(tokens)
		}
		inner, _ := s.sqlBuild(tokens[1:end], depth+1)
		return inner, end + 1
	case t.kind != sqlWord:
		return flow.BuiltSQL{}, 0
	}
	name := strings.ToLower(sqlName(tokens))
	n := 1
	for n+1 < len(tokens) && tokens[n].is(".") {
		n += 2
	}
	if n < len(tokens) && tokens[n].is("(") {
		end := closing(tokens[n:])
		if end < 0 {
			return flow.BuiltSQL{Text: "x"}, len(tokens)
		}
		return s.sqlBuilder(lastName(name), sqlArguments(tokens[n+1:n+end]), depth+1), n + end + 1
	}
	if held, ok := s.Statements.Held[name]; ok {
		return held, n
	}
	return flow.BuiltSQL{Text: "x"}, n
}

// sqlArguments splits a list at its commas outside brackets.
func sqlArguments(tokens []sqlToken) (out [][]sqlToken) {
	depth, start := 0, 0
	for i, t := range tokens {
		if depth += t.nests(); depth == 0 && t.is(",") {
			out = append(out, tokens[start:i])
			start = i + 1
		}
	}
	if start < len(tokens) {
		out = append(out, tokens[start:])
	}
	return out
}

// sqlBuilder evaluates a function that makes text of text.
func (s sqlRun) sqlBuilder(name string, arguments [][]sqlToken, depth int) flow.BuiltSQL {
	value := func(i int) flow.BuiltSQL {
		if i >= len(arguments) {
			return flow.BuiltSQL{}
		}
		v, _ := s.sqlBuild(arguments[i], depth)
		return v
	}
	var out flow.BuiltSQL
	switch name {
	case "concat":
		for i := range arguments {
			out = out.Plus(value(i))
		}
	case "concat_ws":
		between := value(0)
		for i := 1; i < len(arguments); i++ {
			if i > 1 {
				out = out.Plus(between)
			}
			out = out.Plus(value(i))
		}
	case "char", "chr", "nchar":
		return sqlCharacters(arguments)
	case "format":
		return s.sqlFormat(arguments, depth)
	case "replace":
		whole, from, to := value(0), value(1), value(2)
		if from.Text != "" && len(whole.Text) <= 1<<10 && len(to.Text) <= 64 {
			whole.Text = strings.ReplaceAll(whole.Text, from.Text, to.Text)
		}
		whole.Decoded = whole.Literal
		return whole
	case "reverse":
		out = value(0)
		runes := []rune(out.Text)
		slices.Reverse(runes)
		out.Text, out.Decoded = string(runes), out.Literal
	case "unhex", "from_base64", "decode", "frombase64string", "utl_encode", "hextoraw", "from_hex":
		return decodedSQL(name, value(0), value(1).Text)
	case "cast", "convert", "convert_from", "to_char", "cast_to_varchar2", "lower", "upper", "trim", "ltrim", "rtrim",
		"quote_ident", "quote_literal", "quotename", "coalesce", "isnull", "nvl", "string_agg", "group_concat",
		"array_to_string", "encode":
		for i := range arguments {
			if out = value(i); out.Literal {
				return out
			}
		}
	default:
		return flow.BuiltSQL{Text: "x"}
	}
	return out
}

// decodedSQL is what a function that undoes an encoding makes of a text.
func decodedSQL(function string, text flow.BuiltSQL, encoding string) flow.BuiltSQL {
	scheme := "base64"
	switch function {
	case "unhex", "hextoraw", "from_hex":
		scheme = "hex"
	default:
		if strings.EqualFold(encoding, "hex") {
			scheme = "hex"
		}
	}
	if raw, ok := lex.Decode(scheme, text.Text); ok {
		text.Text, text.Decoded = raw, true
	}
	return text
}

// sqlCharacters is the text that numbers of characters make.
func sqlCharacters(arguments [][]sqlToken) flow.BuiltSQL {
	var out flow.BuiltSQL
	for i := range arguments {
		if len(arguments[i]) == 1 && arguments[i][0].kind == sqlNumber {
			if code, ok := sqlNumberOf(arguments[i][0].text); ok && code > 0 && code < 0x110000 {
				out = out.Plus(flow.BuiltSQL{Text: string(rune(code)), Literal: true, Decoded: true})
			}
		}
	}
	return out
}

// sqlFormat evaluates format('… %I …', name): a constant argument is put in, anything else becomes a name.
func (s sqlRun) sqlFormat(arguments [][]sqlToken, depth int) flow.BuiltSQL {
	if len(arguments) == 0 {
		return flow.BuiltSQL{Text: "x"}
	}
	pattern, _ := s.sqlBuild(arguments[0], depth)
	out := flow.BuiltSQL{Literal: pattern.Literal, Decoded: pattern.Decoded}
	next, text := 1, pattern.Text
	for {
		before, after, found := strings.Cut(text, "%")
		out = out.Plus(flow.BuiltSQL{Text: before})
		if !found {
			return out
		}
		after = strings.TrimLeft(after, "-0123456789$")
		if after == "" {
			return out
		}
		piece := flow.BuiltSQL{Text: "%"}
		if after[0] != '%' {
			piece = flow.BuiltSQL{Text: "x"}
			if next < len(arguments) {
				piece, _ = s.sqlBuild(arguments[next], depth)
			}
			if after[0] == 'L' {
				piece.Text = "'" + strings.ReplaceAll(piece.Text, "'", "") + "'"
			}
			next++
		}
		out = out.Plus(piece)
		text = after[1:]
	}
}

// sqlAssign remembers the text a variable is given, for a statement behind it that executes it.
func (s sqlRun) sqlAssign(name string, tokens []sqlToken) {
	for i := range tokens {
		if !(tokens[i].is("=") || tokens[i].is(":=")) || i+1 >= len(tokens) {
			continue
		}
		if built, _ := s.sqlBuild(tokens[i+1:], 0); built.Literal && len(s.Statements.Held) < 64 {
			if s.Statements.Held == nil {
				s.Statements.Held = map[string]flow.BuiltSQL{}
			}
			if i > 0 && tokens[i-1].is("+") { // @s += 'more'
				built = s.Statements.Held[strings.ToLower(name)].Plus(built)
			}
			s.Statements.Held[strings.ToLower(name)] = built
		}
		return
	}
}

// sqlDeclare remembers the texts that variables are declared with, or given in a query.
func (s sqlRun) sqlDeclare(tokens []sqlToken) {
	for i := range tokens {
		if (tokens[i].is("=") || tokens[i].is(":=")) && s.Spend(1) {
			at := i - 1
			for at > 0 && !(parameter(tokens[at].text) && tokens[at].kind == sqlWord) && i-at < 8 && !tokens[at].is(",") {
				at--
			}
			if at >= 0 && tokens[at].kind == sqlWord && (parameter(tokens[at].text) || tokens[i].is(":=")) {
				s.sqlAssign(tokens[at].text, tokens[i:])
			}
		}
	}
}

// sqlDynamic analyses a text that is executed as a statement. If nothing of it is written there, what would be executed is not
// known.
func (s sqlRun) sqlDynamic(st *sqlStatement, verb string, tokens []sqlToken) {
	built, _ := s.sqlBuild(tokens, 0)
	if !built.Literal || strings.TrimSpace(strings.Trim(built.Text, "x ")) == "" {
		i := interlock.Impact{Kind: interlock.ImpactExecute, Reach: interlock.ReachWorkspace, Via: "sql " + verb,
			Reversibility: interlock.Window,
			Confidence:    interlock.Inferred, Traits: []string{fact.TraitDatabase, fact.TraitDynamic}}
		if what := skipMarks(tokens, "("); len(what) > 0 && parameter(what[0].text) && st.level == 0 {
			i.Confidence = interlock.Unknown
		}
		s.Add(i)
		return
	}
	var w know.Words
	if built.Decoded {
		w.Traits = []string{fact.TraitDecoded}
	}
	s.Modified(w, func() { s.Nested(interlock.KindSQL, built.Text) })
}

// sqlGiven reads the statement that PREPARE names and the body of a DO, and reports whether there is one.
func (s sqlRun) sqlGiven(st *sqlStatement, verb string, rest []sqlToken) bool {
	switch verb {
	case "PREPARE":
		for i := range rest {
			if rest[i].upper == "AS" && i+1 < len(rest) {
				s.sqlVerb(st, rest[i+1:])
				return true
			}
			if rest[i].upper == "FROM" && i+1 < len(rest) {
				s.sqlDynamic(st, verb, rest[i+1:])
				return true
			}
		}
	case "DO":
		if untrustedLanguage(rest) {
			s.Add(interlock.Impact{Kind: interlock.ImpactExecute, Reach: interlock.ReachSystem, Via: "sql DO",
				Reversibility: interlock.Window, Traits: []string{fact.TraitDatabase}})
		}
		for i := range rest {
			if rest[i].kind == sqlString {
				s.sqlBody(languageOf(rest), rest[i].text)
				return true
			}
		}
		return s.sqlInner(st, rest)
	}
	return false
}

// sqlCall handles procedure calls, dynamic SQL and anonymous blocks.
func (s sqlRun) sqlCall(st *sqlStatement, tokens []sqlToken) {
	verb := tokens[0].upper
	rest := tokens[1:]
	if s.sqlGiven(st, verb, rest) {
		return
	}
	rest = skipWords(rest, "IMMEDIATE")
	if len(rest) > 2 && parameter(rest[0].text) && rest[1].is("=") { // EXEC @result = procedure
		rest = rest[2:]
	}
	if verb == "EXEC" && sqlUpper(rest, 0) == "AS" || verb == "EXECUTE" && sqlUpper(rest, 0) == "AS" {
		s.sqlAdd(st, interlock.ImpactPrivilege, interlock.Reversible, "EXECUTE AS", "", fact.TraitAccount)
		return
	}
	if len(rest) == 0 {
		return
	}
	name := sqlName(rest)
	low := strings.ToLower(lastName(name))
	switch {
	case low == "sp_executesql" || low == "sp_prepexec" || low == "sp_execute" || low == "sp_sqlexec" ||
		low == "sp_msforeachtable" || low == "sp_msforeachdb":
		arguments := rest[min(len(rest), 1+2*strings.Count(name, ".")):]
		if len(arguments) > 2 && arguments[1].is("=") {
			arguments = arguments[2:]
		}
		s.sqlDynamic(st, verb, arguments)
		return
	case verb != "CALL" && verb != "DO" && (tokens[1].upper == "IMMEDIATE" || composedText(rest, low)):
		s.sqlDynamic(st, verb, rest)
		return
	case sqlCalls()[low].kind != "" || sqlCalls()[strings.ToLower(name)].kind != "" || sqlCallNamed(name):
		return // sqlFunctions reads it
	}
	s.Add(interlock.Impact{Kind: interlock.ImpactExecute, Target: name, Reach: interlock.ReachWorkspace, Via: "sql " + verb,
		Reversibility: interlock.Window, Confidence: interlock.Inferred, Traits: []string{fact.TraitDatabase, fact.TraitDynamic}})
}

// composedText reports whether tokens begin as a text that is run, and not as the name of a procedure: a literal, a parameter,
// something in brackets, texts that are joined. low is the name they begin with.
func composedText(tokens []sqlToken, low string) bool {
	if tokens[0].kind == sqlString || tokens[0].is("(") || parameter(tokens[0].text) {
		return true
	}
	return len(tokens) > 1 && (tokens[1].is("||") ||
		tokens[1].is("(") && (low == "format" || low == "concat" || low == "replace"))
}

// sqlCallNamed reports whether a dotted name has a part that is the name of a package which reaches out.
func sqlCallNamed(name string) bool {
	for part := range strings.SplitSeq(strings.ToLower(name), ".") {
		if sqlCalls()[part].kind != "" {
			return true
		}
	}
	return false
}

// languageOf returns the language a body is written in, in lower case.
func languageOf(tokens []sqlToken) string {
	if i := findWord(tokens, "LANGUAGE"); i >= 0 && i+1 < len(tokens) {
		return strings.ToLower(tokens[i+1].text)
	}
	return ""
}

// sqlBody analyses the body of a block, function or trigger by its language.
func (s sqlRun) sqlBody(language, body string) {
	switch {
	case language == "" || language == "sql" || strings.HasPrefix(language, "plpgsql") || language == "plsql":
		s.Statements.Level++
		s.Nested(interlock.KindSQL, body)
		s.Statements.Level--
	case strings.HasPrefix(language, "plpython") || language == "python":
		s.Nested(interlock.KindPython, body)
	case language == "plv8" || language == "javascript" || language == "js" || language == "pljs":
		s.Nested(interlock.KindJavaScript, body)
	}
}
