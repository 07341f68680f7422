package sql

import (
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/lex"
)

// sqlObjects are the sorts of things that CREATE, ALTER and DROP work on.
var sqlObjects = lex.Set([]string{"TABLE", "DATABASE", "SCHEMA", "VIEW", "INDEX", "USER", "ROLE", "LOGIN", "FUNCTION",
	"PROCEDURE", "TRIGGER",
	"SEQUENCE", "TYPE", "EXTENSION", "SERVER", "TABLESPACE", "POLICY", "PUBLICATION", "SUBSCRIPTION", "EVENT",
	"DOMAIN", "MATERIALIZED",
	"TEMP", "TEMPORARY", "UNIQUE", "OR", "COLUMN", "CONSTRAINT", "KEYSPACE", "COLLECTION", "SYSTEM", "EXTERNAL",
	"FOREIGN", "SYNONYM",
	"WAREHOUSE", "STAGE", "PIPE", "TASK", "STREAM", "AGGREGATE", "OPERATOR", "RULE", "LANGUAGE", "CAST", "OWNED", "GROUP",
	"PROC", "BUCKET"})

// explained returns the statement that EXPLAIN ANALYZE would execute, and whether it executes it.
func explained(tokens []sqlToken) ([]sqlToken, bool) {
	runs := false
	rest := tokens[1:]
	for len(rest) > 0 && (rest[0].kind != sqlWord || !sqlHeads.Has(rest[0].upper) || rest[0].upper == "ANALYZE") {
		if rest[0].upper == "ANALYZE" || rest[0].upper == "ANALYSE" {
			runs = true
		}
		rest = rest[1:]
	}
	return rest, runs && len(rest) > 0
}

func (s sqlRun) sqlDrop(st *sqlStatement, tokens []sqlToken) {
	rest := skipWords(tokens[1:], "TEMP", "TEMPORARY", "EXTERNAL", "FOREIGN", "MATERIALIZED", "OR", "REPLACE", "UNIQUE",
		"ICEBERG", "DYNAMIC")
	if len(rest) == 0 {
		s.sqlAdd(st, interlock.ImpactDelete, interlock.Irreversible, "DROP", "", fact.TraitDatabase)
		return
	}
	sort := rest[0].upper
	concurrent := findWord(rest[:min(len(rest), 3)], "CONCURRENTLY") > 0
	target := sqlName(skipWords(rest[1:], "IF", "EXISTS", "CONCURRENTLY", "ONLY"))
	traits := []string{fact.TraitDatabase}
	if findWord(rest, "CASCADE") > 0 {
		traits = append(traits, fact.TraitRecursive)
	}
	reversibility := interlock.Irreversible
	switch sort {
	case "DATABASE", "SCHEMA", "KEYSPACE", "OWNED", "TABLESPACE", "CATALOG":
		traits = append(traits, fact.TraitBulk)
	case "USER", "ROLE", "LOGIN", "GROUP":
		s.sqlAdd(st, interlock.ImpactPrivilege, interlock.Window, "DROP "+sort, target, fact.TraitAccount)
	case "TABLE", "COLLECTION", "BUCKET", "STAGE":
		if tokens[1].upper == "TEMP" || tokens[1].upper == "TEMPORARY" || len(rest) > 1 && rest[1].is("#") ||
			strings.HasPrefix(strings.ToLower(target), "temp_") || strings.HasPrefix(target, "#") {
			reversibility = interlock.Reversible
		}
	case "COLUMN", "PARTITION", "SERVER", "EXTENSION", "TYPE", "SEQUENCE":
	case "VIEW", "FUNCTION", "PROCEDURE", "PROC", "AGGREGATE", "TRIGGER", "DOMAIN", "SYNONYM":
		reversibility = interlock.Window
		traits = append(traits, fact.TraitBreaking)
	case "PUBLICATION", "SUBSCRIPTION":
		reversibility = interlock.Window
		traits = append(traits, fact.TraitBreaking, fact.TraitForward)
	case "POLICY", "RULE", "EVENT", "AUDIT", "ROW", "MASKING":
		reversibility = interlock.Window
		traits = append(traits, fact.TraitDefence)
	case "INDEX":
		reversibility = interlock.Window // it can be made again, but meanwhile everybody waits
		if !concurrent && tokens[1].upper != "TEMPORARY" && !s.sqlOwn(sqlNameAfter(rest, "ON")) {
			traits = append(traits, fact.TraitBreaking)
		}
	case "CONSTRAINT", "DEFAULT", "VARIABLE", "CURSOR", "PREPARE":
		reversibility = interlock.Window
	default:
		reversibility = interlock.Window // a definition, which can be made again; no rows are lost
		traits = append(traits, fact.TraitBreaking)
	}
	s.sqlAdd(st, interlock.ImpactDelete, reversibility, "DROP "+sort, target, traits...)
}

func (s sqlRun) sqlAlter(st *sqlStatement, tokens []sqlToken) {
	rest := skipWords(tokens[1:], "EXTERNAL", "FOREIGN", "MATERIALIZED", "DYNAMIC", "DEFAULT", "ICEBERG")
	if len(rest) == 0 {
		s.sqlAdd(st, interlock.ImpactConfigure, interlock.Reversible, "ALTER", "", fact.TraitDatabase)
		return
	}
	sort := rest[0].upper
	target := sqlName(skipWords(rest[1:], "IF", "EXISTS", "ONLY"))
	switch sort {
	case "USER", "ROLE", "LOGIN", "GROUP", "PRIVILEGES", "AUTHORIZATION":
		s.sqlAdd(st, interlock.ImpactPrivilege, interlock.Window, "ALTER "+sort, target, fact.TraitAccount)
		s.sqlAlterSettings(st, rest)
		if findWord(rest, "PASSWORD") > 0 || findWord(rest, "IDENTIFIED") > 0 {
			s.sqlAdd(st, interlock.ImpactCredential, interlock.Window, "ALTER "+sort, target, fact.TraitAccount, fact.TraitSecret)
		}
	case "SYSTEM", "TABLESPACE", "INSTANCE", "DATABASE", "CLUSTER", "ENDPOINT", "RESOURCE":
		if findWord(rest, "OWNER") > 0 || findWord(rest, "AUTHORIZATION") > 0 {
			s.sqlAdd(st, interlock.ImpactPrivilege, interlock.Window, "ALTER "+sort+" OWNER", target, fact.TraitAccount)
		}
		s.sqlAlterSettings(st, rest)
		s.Add(interlock.Impact{Kind: interlock.ImpactConfigure, Reach: interlock.ReachSystem, Reversibility: interlock.Window,
			Via: "sql ALTER " + sort, Traits: []string{fact.TraitDatabase}})
	case "SERVER", "SUBSCRIPTION", "PUBLICATION":
		s.sqlAdd(st, interlock.ImpactConfigure, interlock.Window, "ALTER "+sort, target, fact.TraitDatabase, fact.TraitForward)
	case "TABLE":
		s.sqlAlterTable(st, rest, target)
	default:
		s.sqlAlterOther(st, rest, sort, target)
	}
}

// sqlAlterOther handles ALTER of what is neither a table nor the server: names others use, owners, what watches.
func (s sqlRun) sqlAlterOther(st *sqlStatement, rest []sqlToken, sort, target string) {
	traits, reversibility := []string{fact.TraitDatabase}, interlock.Reversible
	switch {
	case findWord(rest, "OWNER") > 0:
		s.sqlAdd(st, interlock.ImpactPrivilege, interlock.Reversible, "ALTER "+sort+" OWNER", target, fact.TraitAccount)
		return
	case (sort == "EVENT" || sort == "TRIGGER" || sort == "AUDIT" || sort == "RULE") &&
		(findWord(rest, "DISABLE") > 0 || findWord(rest, "OFF") > 0), sort == "POLICY" || sort == "ROW":
		traits = append(traits, fact.TraitDefence)
		s.sqlAdd(st, interlock.ImpactConfigure, interlock.Window, "ALTER "+sort, target, traits...)
		return
	case findWord(rest, "DEFINER") > 0 && findWord(rest, "SECURITY") > 0:
		s.sqlAdd(st, interlock.ImpactPrivilege, interlock.Reversible, "ALTER "+sort+" SECURITY DEFINER", target,
			fact.TraitAccount)
		return
	case sort == "SEQUENCE" && findWord(rest, "RESTART") > 0, sort == "DOMAIN" && findWord(rest, "DROP") > 0:
		traits, reversibility = append(traits, fact.TraitBreaking), interlock.Window
	case sort == "TYPE" && (findWord(rest, "RENAME") > 0 || findWord(rest, "DROP") > 0),
		(sort == "VIEW" || sort == "FUNCTION" || sort == "PROCEDURE" || sort == "SCHEMA") && findWord(rest, "RENAME") > 0,
		sort == "SCHEMA" && findWord(rest, "TRANSFER") > 0:
		traits, reversibility = append(traits, fact.TraitBreaking), interlock.Window
	}
	s.sqlAdd(st, interlock.ImpactWrite, reversibility, "ALTER "+sort, target, traits...)
}

// sqlOwn reports whether a table was made by a statement before: nobody waits for one that nobody else knows.
func (s sqlRun) sqlOwn(table string) bool {
	for _, made := range s.Statements.Made {
		if strings.EqualFold(made, table) {
			return table != ""
		}
	}
	return false
}

func (s sqlRun) sqlAlterTable(st *sqlStatement, rest []sqlToken, target string) {
	drops := false
	for i := range rest {
		next := ""
		if i+1 < len(rest) {
			next = rest[i+1].upper
		}
		switch rest[i].upper {
		case "DROP":
			switch next {
			case "CONSTRAINT", "INDEX", "DEFAULT", "NOT", "IDENTITY", "EXPRESSION", "PRIMARY", "FOREIGN", "KEY", "CHECK", "":
			case "STORAGE", "ROW", "ROWS", "ENCODING", "SEARCH", "PERIOD", "SYSTEM", "TAG":
			default:
				drops = true
			}
		case "DISABLE":
			if next == "ROW" || next == "TRIGGER" || next == "RULE" || next == "CHANGE_TRACKING" {
				s.sqlAdd(st, interlock.ImpactConfigure, interlock.Reversible, "ALTER TABLE", target, fact.TraitDatabase,
					fact.TraitDefence)
			}
		case "NO":
			if next == "FORCE" || next == "INHERIT" {
				s.sqlAdd(st, interlock.ImpactConfigure, interlock.Reversible, "ALTER TABLE", target, fact.TraitDatabase,
					fact.TraitDefence)
			}
		case "SET":
			if next == "SCHEMA" {
				s.sqlAdd(st, interlock.ImpactWrite, interlock.Window, "ALTER TABLE SET SCHEMA", target, fact.TraitDatabase,
					fact.TraitBreaking)
			}
		case "NOCHECK":
			s.sqlAdd(st, interlock.ImpactConfigure, interlock.Reversible, "ALTER TABLE", target, fact.TraitDatabase,
				fact.TraitDefence)
		case "TRUNCATE", "DISCARD":
			if next == "PARTITION" || next == "SUBPARTITION" || next == "TABLESPACE" {
				s.sqlAdd(st, interlock.ImpactDelete, interlock.Irreversible, "ALTER TABLE TRUNCATE", target,
					fact.TraitDatabase, fact.TraitBulk)
			}
		case "OWNER":
			s.sqlAdd(st, interlock.ImpactPrivilege, interlock.Reversible, "ALTER TABLE OWNER", target, fact.TraitAccount)
		}
	}
	if drops {
		s.sqlAdd(st, interlock.ImpactDelete, interlock.Irreversible, "ALTER TABLE DROP", target, fact.TraitDatabase)
		return
	}
	if breaksTable(rest) || locksTable(rest) && !s.sqlOwn(target) {
		s.sqlAdd(st, interlock.ImpactWrite, interlock.Window, "ALTER TABLE", target, fact.TraitDatabase, fact.TraitBreaking)
		return
	}
	s.sqlAdd(st, interlock.ImpactWrite, interlock.Reversible, "ALTER TABLE", target, fact.TraitDatabase)
}

// maxClause is how far one change of a table is looked at, in tokens, so that many of them cost no more than their number.
const maxClause = 512

// locksTable reports whether an ALTER TABLE keeps others out while it looks at or writes every row.
func locksTable(rest []sqlToken) bool {
	for i := range rest {
		next, after := sqlUpper(rest, i+1), sqlUpper(rest, i+2)
		switch rest[i].upper {
		case "SET":
			if next == "LOGGED" || next == "UNLOGGED" || next == "TABLESPACE" || next == "ACCESS" || next == "WITH" &&
				after == "OIDS" {
				return true
			}
		case "DETACH", "EXCHANGE", "REORGANIZE", "COALESCE":
			if next == "PARTITION" && findWord(rest[i:min(len(rest), i+maxClause)], "CONCURRENTLY") < 0 {
				return true
			}
		case "ENGINE", "CONVERT", "FORCE":
			if i > 1 && (rest[i].upper != "CONVERT" || next == "TO") && (rest[i].upper != "FORCE" || next == "") {
				return true
			}
		case "ADD":
			if addsChecked(rest[i+1 : min(len(rest), i+maxClause)]) {
				return true
			}
		}
	}
	return false
}

// addsChecked reports a new constraint that every row there is must be looked at for.
func addsChecked(tokens []sqlToken) bool {
	if sqlUpper(tokens, 0) == "CONSTRAINT" {
		tokens = tokens[min(len(tokens), 2):]
	}
	switch sqlUpper(tokens, 0) {
	case "CHECK", "FOREIGN":
		return findWord(tokens, "VALID") < 0 && findWord(tokens, "NOVALIDATE") < 0
	case "UNIQUE", "PRIMARY", "EXCLUDE":
		return findWord(tokens[:min(len(tokens), 4)], "USING") < 0 || sqlUpper(tokens, 0) == "EXCLUDE"
	}
	return false
}

// breaksTable reports whether an ALTER TABLE takes names away from those who use them, can fail on or lose the rows there
// are, or makes everybody wait while every row is written again.
func breaksTable(rest []sqlToken) bool {
	for i := range rest {
		next, after := sqlUpper(rest, i+1), sqlUpper(rest, i+2)
		switch rest[i].upper {
		case "RENAME":
			if next != "CONSTRAINT" && next != "INDEX" {
				return true
			}
		case "SET":
			if next == "NOT" && after == "NULL" || next == "DATA" && after == "TYPE" {
				return true
			}
		case "TYPE":
			if sqlUpper(rest, max(0, i-2)) == "COLUMN" || sqlUpper(rest, max(0, i-2)) == "ALTER" {
				return true
			}
		case "MODIFY", "CHANGE":
			if i > 0 && next != "" {
				return true
			}
		case "GENERATED":
			if next == "ALWAYS" && after == "AS" && findWord(rest[i:min(len(rest), i+maxClause)], "STORED") > 0 {
				return true
			}
		case "DEFAULT":
			if i+2 < len(rest) && findWord(rest[max(0, i-maxClause):i], "ADD") >= 0 && rest[i+1].kind == sqlWord &&
				rest[i+2].is("(") && (!sqlStable.Has(next) || i+3 < len(rest) && next == "NOW" && !rest[i+3].is(")")) {
				return true
			}
		case "ADD":
			if requiredColumn(rest[i+1 : min(len(rest), i+maxClause)]) {
				return true
			}
		}
	}
	return false
}

// sqlStable are functions that give every row of one statement the same, so that a default of theirs is written once.
var sqlStable = lex.Set([]string{"NOW", "CURRENT_TIMESTAMP", "CURRENT_DATE", "LOCALTIMESTAMP", "GETDATE", "SYSDATE",
	"TRANSACTION_TIMESTAMP", "STATEMENT_TIMESTAMP",
	"CAST", "COALESCE", "NULLIF", "GREATEST", "LEAST", "CONCAT"})

// requiredColumn reports a new column that may not be empty and has no default: the rows there are don't fit it.
func requiredColumn(tokens []sqlToken) bool {
	for _, word := range []string{"CONSTRAINT", "PRIMARY", "FOREIGN", "CHECK", "UNIQUE", "INDEX", "KEY", "PARTITION", "TABLE"} {
		if sqlUpper(tokens, 0) == word {
			return false
		}
	}
	depth, required := 0, false
	for i, t := range tokens {
		if depth += t.nests(); depth == 0 && t.is(",") {
			return required
		}
		switch t.upper {
		case "DEFAULT", "GENERATED", "IDENTITY", "AUTO_INCREMENT", "SERIAL", "BIGSERIAL", "PRIMARY":
			return false
		case "NOT":
			required = required || depth == 0 && sqlUpper(tokens, i+1) == "NULL"
		}
	}
	return required
}

func sqlUpper(tokens []sqlToken, i int) string {
	if i < 0 || i >= len(tokens) {
		return ""
	}
	return tokens[i].upper
}

func (s sqlRun) sqlCreate(st *sqlStatement, tokens []sqlToken) {
	rest := skipWords(tokens[1:], "OR", "REPLACE", "TEMP", "TEMPORARY", "UNIQUE", "MATERIALIZED", "GLOBAL", "LOCAL",
		"UNLOGGED", "EXTERNAL",
		"TRANSIENT", "SECURE", "RECURSIVE", "AGGREGATE", "DEFINER", "TRUSTED", "PROCEDURAL", "CONSTRAINT")
	if len(rest) == 0 {
		s.sqlAdd(st, interlock.ImpactWrite, interlock.Reversible, "CREATE", "", fact.TraitDatabase)
		return
	}
	sort := rest[0].upper
	target := sqlName(skipWords(rest[1:], "IF", "NOT", "EXISTS", "CONCURRENTLY", "FOR"))
	traits := []string{fact.TraitDatabase}
	if tokens[1].upper == "OR" {
		traits = append(traits, fact.TraitOverwrite)
	}
	switch sort {
	case "USER", "ROLE", "LOGIN", "GROUP":
		s.sqlAdd(st, interlock.ImpactPrivilege, interlock.Window, "CREATE "+sort, target, fact.TraitAccount)
		return
	case "TABLESPACE", "ENDPOINT":
		s.Add(interlock.Impact{Kind: interlock.ImpactConfigure, Target: target, Reach: interlock.ReachSystem,
			Via:           "sql CREATE " + sort,
			Reversibility: interlock.Window, Traits: []string{fact.TraitDatabase}})
	case "POLICY":
		if s.openPolicy(rest) {
			s.sqlAdd(st, interlock.ImpactConfigure, interlock.Window, "CREATE POLICY", target, fact.TraitDatabase,
				fact.TraitDefence)
		}
	case "TABLE":
		if len(s.Statements.Made) < 256 {
			s.Statements.Made = append(s.Statements.Made, target)
		}
	case "EVENT", "TRIGGER", "TASK", "PIPE", "RULE":
		s.sqlCreateBody(st, rest)
		s.sqlAdd(st, interlock.ImpactPersist, interlock.Reversible, "CREATE "+sort, target, fact.TraitDatabase)
	case "FUNCTION", "PROCEDURE", "PROC", "LANGUAGE", "EXTENSION", "ASSEMBLY":
		s.sqlCreateBody(st, rest)
		if native := findWord(rest, "SONAME") > 0 || sort == "ASSEMBLY" || untrustedLanguage(rest) || sort == "EXTENSION" &&
			sqlOutward.Has(strings.ToLower(target)); native {
			s.Add(interlock.Impact{Kind: interlock.ImpactConfigure, Target: target, Reach: interlock.ReachSystem,
				Via:           "sql CREATE " + sort,
				Reversibility: interlock.Window, Traits: []string{fact.TraitDatabase}})
		}
	case "SERVER", "SUBSCRIPTION", "PUBLICATION", "FOREIGN":
		s.Add(interlock.Impact{Kind: interlock.ImpactNetwork, Target: target, Reach: interlock.ReachExternal,
			Via:           "sql CREATE " + sort,
			Reversibility: interlock.Window, Traits: []string{fact.TraitDatabase, fact.TraitForward}})
	}
	s.sqlAdd(st, interlock.ImpactWrite, interlock.Reversible, "CREATE "+sort, target, traits...)
	if findWord(rest, "AS") > 0 || sort == "SCHEMA" {
		if body := findWord(rest, "AS"); body > 0 && sort != "FUNCTION" && sort != "PROCEDURE" && sort != "TRIGGER" {
			s.sqlInner(st, rest[body:])
		}
	}
}

// sqlCreateBody analyses what a function, trigger or event would do when it runs: a quoted body by its language, one that
// is written there as the statements it is.
func (s sqlRun) sqlCreateBody(st *sqlStatement, rest []sqlToken) {
	language := languageOf(rest)
	for i := 1; i < len(rest); i++ {
		if rest[i].kind == sqlString && (rest[i-1].upper == "AS" || rest[i-1].upper == "DO") {
			s.sqlBody(language, rest[i].text)
			return
		}
	}
	s.sqlInner(st, rest)
}

// openPolicy reports a policy that lets every row through.
func (s sqlRun) openPolicy(rest []sqlToken) bool {
	for _, word := range []string{"USING", "CHECK"} {
		at := findWord(rest, word)
		if at < 0 || at+1 >= len(rest) || !rest[at+1].is("(") {
			continue
		}
		end := closing(rest[at+1:])
		if end < 0 {
			continue
		}
		if truth, whole := s.truth(rest[at+2:at+1+end], ""); whole &&
			(truth == sqlAlways && findWord(rest[at+2:at+1+end], "NULL") < 0) {
			return true
		}
	}
	return false
}

// sqlOutward are extensions that give statements the server's files, programs or network.
var sqlOutward = lex.Set([]string{"dblink", "postgres_fdw", "file_fdw", "adminpack", "pg_cron", "http", "pgsql-http",
	"plpython3u", "plpythonu", "plperlu", "pltclu", "pg_net", "plsh", "pljava", "oracle_fdw", "mysql_fdw", "aws_s3", "aws_lambda",
	"pg_background"})

// untrustedLanguage reports whether a function is in a language that escapes the database.
func untrustedLanguage(tokens []sqlToken) bool {
	i := findWord(tokens, "LANGUAGE")
	if i < 0 || i+1 >= len(tokens) {
		return false
	}
	language := strings.ToLower(tokens[i+1].text)
	return language == "c" || language == "java" || strings.HasSuffix(language, "u") && strings.HasPrefix(language, "pl") ||
		language == "external"
}

func (s sqlRun) sqlGrant(st *sqlStatement, tokens []sqlToken) {
	traits := []string{fact.TraitAccount}
	target := sqlNameAfter(tokens, "TO")
	if target == "" {
		target = sqlNameAfter(tokens, "FROM")
	}
	text := sqlText(tokens[:min(len(tokens), 64)])
	if tokens[0].upper == "GRANT" && (strings.Contains(text, "* . *") || strings.Contains(text, "*.*") ||
		strings.EqualFold(target, "public") ||
		findWord(tokens, "SUPER") > 0 || findWord(tokens, "SUPERUSER") > 0 || strings.Contains(text, "GRANT OPTION") ||
		findWord(tokens, "SYSDBA") > 0) {
		traits = append(traits, fact.TraitBulk)
	}
	s.sqlAdd(st, interlock.ImpactPrivilege, interlock.Window, tokens[0].upper, target, traits...)
}
