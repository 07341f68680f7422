package sql

import (
	"strings"

	"interlock/internal/lex"
)

// LooksLikeStatement reports whether a text that nobody called SQL is a statement, or several: it begins with a verb
// and goes on as one.
func LooksLikeStatement(text string) bool {
	trimmed := strings.TrimLeft(text, " \t\r\n(")
	if len(trimmed) < 6 || !(trimmed[0]|0x20 >= 'a' && trimmed[0]|0x20 <= 'w' || trimmed[0] == '-' || trimmed[0] == '/') {
		return false
	}
	tokens, _ := sqlTokens(text[:min(len(text), 4096)], false)
	for n := 0; n < 8 && len(tokens) > 0; n++ {
		end := 0
		for end < len(tokens) && !tokens[end].is(";") {
			end++
		}
		if end > 0 && goesOnAsStatement(tokens[:end], end < len(tokens)) {
			return true
		}
		if end > 0 && !sqlHeads.Has(tokens[0].upper) {
			return false // it is prose, whatever follows
		}
		tokens = tokens[min(end+1, len(tokens)):]
	}
	return false
}

// goesOnAsStatement reports whether tokens that begin with a verb go on as its statement does. closed says that a semicolon
// follows, which prose rarely has.
func goesOnAsStatement(tokens []sqlToken, closed bool) bool {
	if len(tokens) < 2 || tokens[0].kind != sqlWord {
		return false
	}
	second := tokens[1].upper
	switch tokens[0].upper {
	case "SELECT":
		from := findWord(tokens, "FROM")
		return from > 0 && (tokens[1].is("*") || findMark(tokens, ",") > 0 || from <= 3 || findWord(tokens, "WHERE") > 0) ||
			len(tokens) > 3 && tokens[2].is("(")
	case "WITH":
		return findWord(tokens, "SELECT") > 0 && findMark(tokens, "(") > 0
	case "INSERT", "MERGE", "REPLACE", "UPDATE", "DELETE":
		return goesOnAsChange(tokens, closed)
	case "DROP", "ALTER", "TRUNCATE":
		return sqlObjects.Has(second) && (tokens[0].text == tokens[0].upper || endsAfterName(tokens[2:]) ||
			tokens[0].upper == "ALTER" && closed)
	case "CREATE":
		return sqlObjects.Has(second) && (findMark(tokens, "(") > 0 || findWord(tokens, "AS") > 0 ||
			tokens[0].text == tokens[0].upper)
	case "GRANT", "REVOKE":
		return (findWord(tokens, "TO") > 0 || findWord(tokens, "FROM") > 0) && findWord(tokens, "ON") > 0
	case "COPY":
		return findWord(tokens, "FROM") > 0 && findWord(tokens, "PROGRAM") > 0
	case "EXEC", "EXECUTE":
		return strings.HasPrefix(second, "XP_") || strings.HasPrefix(second, "SP_")
	case "DO":
		return tokens[1].kind == sqlString && len(tokens) <= 4
	}
	return false
}

// goesOnAsChange is goesOnAsStatement for statements that change rows.
func goesOnAsChange(tokens []sqlToken, closed bool) bool {
	second := tokens[1].upper
	switch tokens[0].upper {
	case "UPDATE":
		return findWord(tokens, "SET") > 0 && findMark(tokens, "=") > 0
	case "DELETE":
		return second == "FROM" && (len(tokens) <= 3 || findWord(tokens, "WHERE") > 0 || closed)
	}
	return second == "INTO" && (findWord(tokens, "VALUES") > 0 || findWord(tokens, "SELECT") > 0 ||
		findWord(tokens, "USING") > 0)
}

// sqlAlone are verbs that are a whole statement.
var sqlAlone = lex.Set([]string{"VACUUM", "CLUSTER", "SHUTDOWN", "ANALYZE", "CHECKPOINT", "COMMIT", "ROLLBACK", "BEGIN",
	"REINDEX", "RECONFIGURE"})

// BeginsStatement reports whether a text given where a statement belongs begins as one.
func BeginsStatement(text string) bool {
	tokens, _ := sqlTokens(text[:min(len(text), 512)], false)
	if len(tokens) == 0 || tokens[0].kind != sqlWord && !tokens[0].is("(") {
		return false
	}
	verb := skipMarks(tokens, "(")
	if len(verb) == 0 {
		return false
	}
	if len(verb) == 1 || verb[1].is(";") {
		return sqlAlone.Has(verb[0].upper)
	}
	return sqlHeads.Has(verb[0].upper) || sqlUpkeep.Has(verb[0].upper) || sqlOthers.Has(verb[0].upper)
}

// TakesStatement reports whether an argument of a tool is where a statement belongs, by its own name or by the tool's.
func TakesStatement(tool, key string) bool {
	if strings.Contains(key, "sql") || strings.HasPrefix(key, "statement") {
		return true
	}
	if key != "query" && key != "queries" && key != "command" && key != "rawquery" {
		return false
	}
	name := lex.Fold(tool)
	for _, part := range [...]string{"sql", "postgres", "database", "sqlite", "duckdb", "redshift", "snowflake", "bigquery",
		"clickhouse", "oracle", "supabase", "dbquery", "querydb", "mariadb", "cockroach"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}

// AboutDatabase reports whether a tool or its server is called after a database.
func AboutDatabase(name string) bool {
	for _, word := range lex.NameWords(name) {
		switch word {
		case "db", "sql", "pg", "postgres", "postgresql", "mysql", "mariadb", "sqlite", "database", "duckdb", "bigquery",
			"snowflake", "redshift", "clickhouse", "oracle",
			"supabase", "cockroach", "cockroachdb", "mssql", "sqlserver", "warehouse", "trino", "presto", "athena":
			return true
		}
	}
	return false
}
