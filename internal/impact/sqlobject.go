package impact

import (
	"strings"

	"interlock"
)

// sqlObjects are the sorts of things that CREATE, ALTER and DROP work on.
var sqlObjects = set([]string{"TABLE", "DATABASE", "SCHEMA", "VIEW", "INDEX", "USER", "ROLE", "LOGIN", "FUNCTION", "PROCEDURE", "TRIGGER",
	"SEQUENCE", "TYPE", "EXTENSION", "SERVER", "TABLESPACE", "POLICY", "PUBLICATION", "SUBSCRIPTION", "EVENT", "DOMAIN", "MATERIALIZED",
	"TEMP", "TEMPORARY", "UNIQUE", "OR", "COLUMN", "CONSTRAINT", "KEYSPACE", "COLLECTION", "SYSTEM", "EXTERNAL", "FOREIGN", "SYNONYM",
	"WAREHOUSE", "STAGE", "PIPE", "TASK", "STREAM", "AGGREGATE", "OPERATOR", "RULE", "LANGUAGE", "CAST", "OWNED", "GROUP", "PROC", "BUCKET"})

// explained returns the statement that EXPLAIN ANALYZE would execute, and whether it executes it.
func explained(tokens []sqlToken) ([]sqlToken, bool) {
	runs := false
	rest := tokens[1:]
	for len(rest) > 0 && (rest[0].kind != sqlWord || !sqlHeads[rest[0].upper] || rest[0].upper == "ANALYZE") {
		if rest[0].upper == "ANALYZE" || rest[0].upper == "ANALYSE" {
			runs = true
		}
		rest = rest[1:]
	}
	return rest, runs && len(rest) > 0
}

func (s *scan) sqlDrop(st *sqlStatement, tokens []sqlToken) {
	rest := skipWords(tokens[1:], "TEMP", "TEMPORARY", "EXTERNAL", "FOREIGN", "MATERIALIZED", "OR", "REPLACE", "UNIQUE", "ICEBERG", "DYNAMIC")
	if len(rest) == 0 {
		s.sqlAdd(st, interlock.ImpactDelete, interlock.Irreversible, "DROP", "", TraitDatabase)
		return
	}
	sort := rest[0].upper
	target := sqlName(skipWords(rest[1:], "IF", "EXISTS", "CONCURRENTLY", "ONLY"))
	traits := []string{TraitDatabase}
	if findWord(rest, "CASCADE") > 0 {
		traits = append(traits, TraitRecursive)
	}
	reversibility := interlock.Irreversible
	switch sort {
	case "DATABASE", "SCHEMA", "KEYSPACE", "OWNED", "TABLESPACE", "CATALOG":
		traits = append(traits, TraitBulk)
	case "USER", "ROLE", "LOGIN", "GROUP":
		s.sqlAdd(st, interlock.ImpactPrivilege, interlock.Window, "DROP "+sort, target, TraitAccount)
	case "TABLE", "COLLECTION", "BUCKET", "STAGE":
		if tokens[1].upper == "TEMP" || tokens[1].upper == "TEMPORARY" || strings.HasPrefix(strings.ToLower(target), "temp_") || strings.HasPrefix(target, "#") {
			reversibility = interlock.Reversible
		}
	case "COLUMN", "PARTITION", "SERVER", "EXTENSION", "TYPE", "SEQUENCE":
	case "VIEW", "FUNCTION", "PROCEDURE", "PROC", "AGGREGATE", "TRIGGER", "DOMAIN", "SYNONYM":
		reversibility = interlock.Window
		traits = append(traits, TraitBreaking)
	case "PUBLICATION", "SUBSCRIPTION":
		reversibility = interlock.Window
		traits = append(traits, TraitBreaking, TraitForward)
	case "POLICY":
		reversibility = interlock.Window
		traits = append(traits, TraitDefence)
	default:
		reversibility = interlock.Window // a definition, which can be made again; no rows are lost
	}
	s.sqlAdd(st, interlock.ImpactDelete, reversibility, "DROP "+sort, target, traits...)
}

func (s *scan) sqlAlter(st *sqlStatement, tokens []sqlToken) {
	rest := skipWords(tokens[1:], "EXTERNAL", "FOREIGN", "MATERIALIZED", "DYNAMIC", "DEFAULT", "ICEBERG")
	if len(rest) == 0 {
		s.sqlAdd(st, interlock.ImpactConfigure, interlock.Reversible, "ALTER", "", TraitDatabase)
		return
	}
	sort := rest[0].upper
	target := sqlName(skipWords(rest[1:], "IF", "EXISTS", "ONLY"))
	switch sort {
	case "USER", "ROLE", "LOGIN", "GROUP", "PRIVILEGES", "AUTHORIZATION":
		s.sqlAdd(st, interlock.ImpactPrivilege, interlock.Window, "ALTER "+sort, target, TraitAccount)
		if findWord(rest, "PASSWORD") > 0 || findWord(rest, "IDENTIFIED") > 0 {
			s.sqlAdd(st, interlock.ImpactCredential, interlock.Window, "ALTER "+sort, target, TraitAccount, TraitSecret)
		}
	case "SYSTEM", "TABLESPACE":
		s.add(interlock.Impact{Kind: interlock.ImpactConfigure, Reach: interlock.ReachSystem, Reversibility: interlock.Window,
			Via: "sql ALTER " + sort, Traits: []string{TraitDatabase}})
	case "SERVER", "SUBSCRIPTION", "PUBLICATION":
		s.sqlAdd(st, interlock.ImpactConfigure, interlock.Window, "ALTER "+sort, target, TraitDatabase, TraitForward)
	case "TABLE":
		s.sqlAlterTable(st, rest, target)
	default:
		s.sqlAdd(st, interlock.ImpactWrite, interlock.Reversible, "ALTER "+sort, target, TraitDatabase)
	}
}

func (s *scan) sqlAlterTable(st *sqlStatement, rest []sqlToken, target string) {
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
			default:
				drops = true
			}
		case "DISABLE":
			if next == "ROW" || next == "TRIGGER" {
				s.sqlAdd(st, interlock.ImpactConfigure, interlock.Reversible, "ALTER TABLE", target, TraitDatabase, TraitDefence)
			}
		case "OWNER":
			s.sqlAdd(st, interlock.ImpactPrivilege, interlock.Reversible, "ALTER TABLE OWNER", target, TraitAccount)
		}
	}
	if drops {
		s.sqlAdd(st, interlock.ImpactDelete, interlock.Irreversible, "ALTER TABLE DROP", target, TraitDatabase)
		return
	}
	if breaksTable(rest) {
		s.sqlAdd(st, interlock.ImpactWrite, interlock.Window, "ALTER TABLE", target, TraitDatabase, TraitBreaking)
		return
	}
	s.sqlAdd(st, interlock.ImpactWrite, interlock.Reversible, "ALTER TABLE", target, TraitDatabase)
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
			if next == "ALWAYS" && after == "AS" && findWord(rest[i:], "STORED") > 0 {
				return true
			}
		case "DEFAULT":
			if i+2 < len(rest) && findWord(rest[:i], "ADD") > 0 && rest[i+1].kind == sqlWord && rest[i+2].is("(") && !sqlStable[next] {
				return true
			}
		case "ADD":
			if requiredColumn(rest[i+1:]) {
				return true
			}
		}
	}
	return false
}

// sqlStable are functions that give every row of one statement the same, so that a default of theirs is written once.
var sqlStable = set([]string{"NOW", "CURRENT_TIMESTAMP", "CURRENT_DATE", "LOCALTIMESTAMP", "GETDATE", "SYSDATE", "TRANSACTION_TIMESTAMP", "STATEMENT_TIMESTAMP",
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
		switch {
		case t.is("("):
			depth++
		case t.is(")"):
			depth--
		case t.is(",") && depth == 0:
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

func (s *scan) sqlCreate(st *sqlStatement, tokens []sqlToken) {
	rest := skipWords(tokens[1:], "OR", "REPLACE", "TEMP", "TEMPORARY", "UNIQUE", "MATERIALIZED", "GLOBAL", "LOCAL", "UNLOGGED", "EXTERNAL",
		"TRANSIENT", "SECURE", "RECURSIVE", "AGGREGATE", "DEFINER", "TRUSTED", "PROCEDURAL", "CONSTRAINT")
	if len(rest) == 0 {
		s.sqlAdd(st, interlock.ImpactWrite, interlock.Reversible, "CREATE", "", TraitDatabase)
		return
	}
	sort := rest[0].upper
	target := sqlName(skipWords(rest[1:], "IF", "NOT", "EXISTS", "CONCURRENTLY", "FOR"))
	traits := []string{TraitDatabase}
	if tokens[1].upper == "OR" {
		traits = append(traits, TraitOverwrite)
	}
	switch sort {
	case "USER", "ROLE", "LOGIN", "GROUP":
		s.sqlAdd(st, interlock.ImpactPrivilege, interlock.Window, "CREATE "+sort, target, TraitAccount)
		return
	case "EVENT", "TRIGGER", "TASK", "PIPE", "RULE":
		s.sqlAdd(st, interlock.ImpactPersist, interlock.Reversible, "CREATE "+sort, target, TraitDatabase)
	case "FUNCTION", "PROCEDURE", "PROC", "LANGUAGE", "EXTENSION", "ASSEMBLY":
		if native := findWord(rest, "SONAME") > 0 || sort == "ASSEMBLY" || untrustedLanguage(rest) || sort == "EXTENSION" && sqlOutward[strings.ToLower(target)]; native {
			s.add(interlock.Impact{Kind: interlock.ImpactConfigure, Target: target, Reach: interlock.ReachSystem, Via: "sql CREATE " + sort,
				Reversibility: interlock.Window, Traits: []string{TraitDatabase}})
		}
	case "SERVER", "SUBSCRIPTION", "PUBLICATION", "FOREIGN":
		s.add(interlock.Impact{Kind: interlock.ImpactNetwork, Target: target, Reach: interlock.ReachExternal, Via: "sql CREATE " + sort,
			Reversibility: interlock.Window, Traits: []string{TraitDatabase, TraitForward}})
	}
	s.sqlAdd(st, interlock.ImpactWrite, interlock.Reversible, "CREATE "+sort, target, traits...)
	if findWord(rest, "AS") > 0 || sort == "SCHEMA" {
		if body := findWord(rest, "AS"); body > 0 && sort != "FUNCTION" && sort != "PROCEDURE" && sort != "TRIGGER" {
			s.sqlInner(st, rest[body:])
		}
	}
}

// sqlOutward are extensions that give statements the server's files, programs or network.
var sqlOutward = set([]string{"dblink", "postgres_fdw", "file_fdw", "adminpack", "pg_cron", "http", "pgsql-http", "plpython3u", "plpythonu", "plperlu", "pltclu", "pg_execute_server_program", "pg_net"})

// untrustedLanguage reports whether a function is in a language that escapes the database.
func untrustedLanguage(tokens []sqlToken) bool {
	i := findWord(tokens, "LANGUAGE")
	if i < 0 || i+1 >= len(tokens) {
		return false
	}
	language := strings.ToLower(tokens[i+1].text)
	return language == "c" || language == "java" || strings.HasSuffix(language, "u") && strings.HasPrefix(language, "pl") || language == "external"
}

func (s *scan) sqlGrant(st *sqlStatement, tokens []sqlToken) {
	traits := []string{TraitAccount}
	target := sqlNameAfter(tokens, "TO")
	if target == "" {
		target = sqlNameAfter(tokens, "FROM")
	}
	text := sqlText(tokens[:min(len(tokens), 64)])
	if tokens[0].upper == "GRANT" && (strings.Contains(text, "* . *") || strings.Contains(text, "*.*") || strings.EqualFold(target, "public") ||
		findWord(tokens, "SUPER") > 0 || findWord(tokens, "SUPERUSER") > 0 || strings.Contains(text, "GRANT OPTION") || findWord(tokens, "SYSDBA") > 0) {
		traits = append(traits, TraitBulk)
	}
	s.sqlAdd(st, interlock.ImpactPrivilege, interlock.Window, tokens[0].upper, target, traits...)
}

// sqlTransfer handles statements that move data between a database and files, programs or other servers.
func (s *scan) sqlTransfer(st *sqlStatement, tokens []sqlToken) {
	verb := tokens[0].upper
	if program := findWord(tokens, "PROGRAM"); verb == "COPY" && program > 0 && program+1 < len(tokens) && tokens[program+1].kind == sqlString {
		s.add(interlock.Impact{Kind: interlock.ImpactExecute, Reach: interlock.ReachSystem, Reversibility: interlock.Irreversible,
			Via: "sql COPY PROGRAM", Traits: []string{TraitDatabase, TraitRemote}})
		s.nested(interlock.KindShell, tokens[program+1].text)
		return
	}
	s.sqlInner(st, tokens)
	path := ""
	for _, word := range []string{"INFILE", "DISK", "DATABASE", "FROM", "TO"} {
		if i := findWord(tokens, word); i > 0 && i+1 < len(tokens) && path == "" {
			after := skipWords(tokens[i+1:], "DISK")
			for len(after) > 0 && after[0].is("=") {
				after = after[1:]
			}
			if len(after) > 0 && after[0].kind == sqlString {
				path = after[0].text
			}
		}
	}
	out := findWord(tokens, "TO") > 0 || verb == "BACKUP" || verb == "UNLOAD"
	if strings.Contains(path, "://") {
		kind, traits := interlock.ImpactNetwork, []string{TraitDatabase, TraitDownload}
		if out {
			traits[1] = TraitUpload
		}
		s.add(interlock.Impact{Kind: kind, Target: cleanURL(path), Reach: interlock.ReachExternal, Reversibility: interlock.Window, Via: "sql " + verb, Traits: traits})
	} else if path != "" {
		i := interlock.Impact{Kind: interlock.ImpactRead, Via: "sql " + verb, Traits: []string{TraitDatabase}}
		if out || verb == "ATTACH" {
			i.Kind = interlock.ImpactWrite
		}
		s.touch(path, i)
	}
	switch {
	case verb == "ATTACH" || verb == "BACKUP" || verb == "UNLOAD":
	case out:
		s.sqlAdd(st, interlock.ImpactRead, interlock.Readonly, verb, sqlName(tokens[1:]), TraitDatabase, TraitBulk)
	case verb == "RESTORE":
		s.sqlAdd(st, interlock.ImpactWrite, interlock.Irreversible, verb, sqlNameAfter(tokens, "DATABASE"), TraitDatabase, TraitOverwrite)
	default:
		s.sqlAdd(st, interlock.ImpactWrite, interlock.Reversible, verb, sqlNameAfter(tokens, "INTO"), TraitDatabase)
	}
}

// sqlSafeties are settings that, switched off, remove a protection, and the values that do so.
var sqlSafeties = map[string]string{
	"FOREIGN_KEY_CHECKS": "off", "UNIQUE_CHECKS": "off", "SQL_SAFE_UPDATES": "off", "SQL_LOG_BIN": "off", "ROW_SECURITY": "off",
	"FOREIGN_KEYS": "off", "SYNCHRONOUS": "off", "JOURNAL_MODE": "off", "FSYNC": "off", "GENERAL_LOG": "off", "LOG_STATEMENT": "off",
	"SESSION_REPLICATION_ROLE": "replica", "WRITABLE_SCHEMA": "on", "LOCAL_INFILE": "on", "LOG_BIN_TRUST_FUNCTION_CREATORS": "on",
	"SECURE_FILE_PRIV": "off", "IGNORE_CHECK_CONSTRAINTS": "on", "TRUSTED_SCHEMA": "on", "XP_CMDSHELL": "on", "ALLOW_SYSTEM_TABLE_MODS": "on",
	"LOG_MIN_DURATION_STATEMENT": "off", "AUDIT_LOG": "off", "READ_ONLY": "off", "SUPER_READ_ONLY": "off",
}

func (s *scan) sqlSet(st *sqlStatement, tokens []sqlToken) {
	rest := tokens[1:]
	global := len(rest) > 0 && (rest[0].upper == "GLOBAL" || rest[0].upper == "PERSIST" || strings.HasPrefix(rest[0].upper, "@@GLOBAL"))
	rest = skipWords(rest, "GLOBAL", "SESSION", "LOCAL", "PERSIST", "@@GLOBAL", "@@SESSION")
	for len(rest) > 0 && rest[0].is(".") {
		rest = rest[1:]
	}
	name, value := "", ""
	if len(rest) > 0 {
		name = strings.TrimPrefix(strings.TrimPrefix(rest[0].upper, "@@"), "GLOBAL.")
	}
	if len(rest) > 2 {
		value = strings.ToLower(rest[2].text)
	}
	off := value == "0" || value == "off" || value == "false" || value == "none" || value == "no" || value == "-" || value == ""
	on := value == "1" || value == "on" || value == "true" || value == "yes"
	unsafe, known := sqlSafeties[name]
	if known && (unsafe == "off" && off && len(rest) > 2 || unsafe == "on" && on || unsafe == value) {
		s.sqlAdd(st, interlock.ImpactConfigure, interlock.Reversible, "SET "+strings.ToLower(name), "", TraitDatabase, TraitDefence)
		return
	}
	if name == "PASSWORD" {
		s.sqlAdd(st, interlock.ImpactCredential, interlock.Window, "SET PASSWORD", "", TraitAccount, TraitSecret)
		return
	}
	if global || tokens[0].upper == "RECONFIGURE" {
		s.add(interlock.Impact{Kind: interlock.ImpactConfigure, Target: strings.ToLower(name), Reach: interlock.ReachSystem,
			Reversibility: interlock.Window, Via: "sql SET GLOBAL", Traits: []string{TraitDatabase}})
		return
	}
	s.sqlAdd(st, interlock.ImpactRead, interlock.Readonly, tokens[0].upper, "")
}

// sqlCall handles procedure calls, dynamic SQL and anonymous blocks.
func (s *scan) sqlCall(st *sqlStatement, tokens []sqlToken) {
	verb := tokens[0].upper
	rest := skipWords(tokens[1:], "IMMEDIATE", "AS")
	for len(rest) > 0 && rest[0].is("(") {
		rest = rest[1:]
	}
	if verb == "PREPARE" {
		for i := range rest {
			if rest[i].upper == "AS" && i+1 < len(rest) {
				s.sqlVerb(st, rest[i+1:])
				return
			}
		}
	}
	if verb == "DO" || len(rest) > 0 && (rest[0].kind == sqlString || rest[0].upper == "SP_EXECUTESQL") || verb == "PREPARE" {
		for i := range rest {
			if rest[i].kind == sqlString {
				s.nested(interlock.KindSQL, rest[i].text)
				return
			}
		}
	}
	name := sqlName(rest)
	if sqlCalls[strings.ToLower(name[strings.LastIndexByte(name, '.')+1:])].kind != "" {
		return // sqlFunctions reads it
	}
	s.add(interlock.Impact{Kind: interlock.ImpactExecute, Target: name, Reach: interlock.ReachWorkspace, Via: "sql " + verb,
		Reversibility: interlock.Window, Confidence: interlock.Inferred, Traits: []string{TraitDatabase, TraitDynamic}})
}

// sqlClient handles commands of the psql and sqlite3 clients that are no SQL: \! and .shell run a shell.
func (s *scan) sqlClient(in string) {
	for line := range strings.SplitSeq(in, "\n") {
		line = strings.TrimSpace(line)
		command, ok := strings.CutPrefix(line, `\!`)
		if !ok {
			if command, ok = strings.CutPrefix(line, ".shell "); !ok {
				command, ok = strings.CutPrefix(line, ".system ")
			}
		}
		if ok && s.spend(16) {
			s.add(interlock.Impact{Kind: interlock.ImpactExecute, Reach: interlock.ReachSystem, Reversibility: interlock.Irreversible,
				Via: "sql client shell", Confidence: interlock.Inferred, Traits: []string{TraitDatabase}})
			s.nested(interlock.KindShell, command)
		}
	}
}
