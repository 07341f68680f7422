package sql

import (
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/lex"
)

// sqlSecretTables hold password hashes, keys or what the database server is made of.
var sqlSecretTables = lex.Set([]string{"mysql.user", "mysql.global_priv", "mysql.db", "pg_shadow", "pg_authid",
	"pg_catalog.pg_shadow", "pg_catalog.pg_authid", "sys.sql_logins", "sys.user$",
	"user$", "dba_users", "sys.dba_users", "master.sys.sql_logins", "syslogins", "master..sysxlogins", "sysxlogins",
	"master..syslogins", "pg_user_mapping", "pg_user_mappings", "sys.syslogins", "master.dbo.syslogins",
	"pg_database", "pg_class", "pg_proc", "pg_largeobject", "sqlite_master", "sqlite_schema", "cron.job", "pg_auth_members",
	"mysql.func", "mysql.plugin", "mysql.proxies_priv", "mysql.tables_priv"})

// sqlPlainTables are those of them that anybody reads for their other columns; only writing to them is remarkable.
var sqlPlainTables = lex.Set([]string{"pg_database", "pg_class", "pg_proc", "pg_largeobject", "sqlite_master", "sqlite_schema",
	"cron.job", "pg_auth_members", "mysql.func", "mysql.plugin", "mysql.db", "mysql.tables_priv", "dba_users", "sys.dba_users"})

// sqlSecrets records tables of password hashes that a statement reads, and tables of the server itself that it changes,
// wherever in it they are named as tables.
func (s sqlRun) sqlSecrets(st *sqlStatement) {
	for i, t := range st.tokens {
		if i == 0 || t.kind != sqlWord ||
			!sqlUpperIn(st.tokens, i-1, "FROM", "JOIN", "INTO", "UPDATE", "TABLE", "ONLY", ",", "COPY", "LATERAL", "USING") {
			continue
		}
		name := strings.ToLower(sqlName(st.tokens[i:]))
		if name == "" || len(name) > 40 {
			continue
		}
		if i+4 < len(st.tokens) && st.tokens[i+1].is(".") && st.tokens[i+2].is(".") { // database..table
			name = strings.ToLower(t.text) + ".." + strings.ToLower(st.tokens[i+3].text)
		}
		if !sqlSecretTables.Has(name) {
			continue
		}
		before := sqlUpper(st.tokens, i-1)
		if before == "ONLY" {
			before = sqlUpper(st.tokens, i-2)
		}
		switch {
		case before == "INTO" || before == "UPDATE" || before == "FROM" && sqlUpper(st.tokens, i-2) == "DELETE" ||
			before == "TABLE" && sqlUpper(st.tokens, 0) != "TABLE":
			s.sqlAdd(st, interlock.ImpactPrivilege, interlock.Window, "write", name, fact.TraitAccount)
		case !sqlPlainTables.Has(name):
			s.sqlAdd(st, interlock.ImpactCredential, interlock.Readonly, "SELECT", name, fact.TraitSecret)
		}
	}
}

// grantsRole reports an assignment that makes a row's owner an administrator.
func grantsRole(tokens []sqlToken) bool {
	set := findWord(tokens, "SET")
	if set < 0 {
		return false
	}
	for i := set; i+2 < len(tokens); i++ {
		if tokens[i].kind != sqlWord || !tokens[i+1].is("=") {
			continue
		}
		name, value := strings.ToLower(tokens[i].text), strings.ToLower(tokens[i+2].text)
		switch name {
		case "is_superuser", "is_admin", "isadmin", "is_staff", "superuser", "is_root", "admin", "rolsuper", "super_priv",
			"grant_priv", "file_priv":
			if value == "1" || value == "true" || value == "y" || value == "t" || value == "yes" {
				return true
			}
		case "role", "user_role", "role_name", "account_type", "user_type", "access_level", "privilege":
			switch value {
			case "admin", "administrator", "superuser", "root", "owner", "superadmin", "super_admin":
				return true
			}
		}
	}
	return false
}

// sqlMerge handles MERGE: what it does with the rows that match, that don't, and that only the target has.
func (s sqlRun) sqlMerge(st *sqlStatement, tokens []sqlToken) {
	if !s.Spend(len(tokens)) {
		s.Unknown("sql", fact.TraitWork)
		return
	}
	target := sqlName(skipWords(tokens[1:], "INTO", "ONLY"))
	on := findDeep(tokens, "ON")
	when := findDeep(tokens, "WHEN")
	narrow := true
	if on > 0 && when > on {
		if truth, whole := s.truth(tokens[on+1:when], target); whole {
			narrow = truth == sqlSometimes || truth == sqlNever
		}
	}
	for when > 0 {
		clause := tokens[when+1:]
		next := findDeep(clause, "WHEN")
		if next >= 0 {
			clause = clause[:next]
			when += 1 + next
		} else {
			when = -1
		}
		then := findDeep(clause, "THEN")
		if then < 0 {
			continue
		}
		some := narrow && (findWord(clause[:then], "AND") >= 0 || findWord(clause[:then], "SOURCE") < 0 &&
			sqlUpper(clause, then+1) != "DELETE")
		s.sqlMerged(st, sqlUpper(clause, then+1), target, some)
	}
	s.sqlAdd(st, interlock.ImpactWrite, interlock.Reversible, "MERGE", target, fact.TraitDatabase)
}

func (s sqlRun) sqlMerged(st *sqlStatement, what, target string, some bool) {
	kind, reversibility := interlock.ImpactWrite, interlock.Reversible
	switch what {
	case "DELETE":
		kind, reversibility = interlock.ImpactDelete, interlock.Window
	case "UPDATE":
	default:
		return
	}
	traits := []string{fact.TraitDatabase}
	if !some {
		reversibility = interlock.Irreversible
		traits = append(traits, fact.TraitBulk)
	}
	s.sqlAdd(st, kind, reversibility, "MERGE "+what, target, traits...)
}

// sqlLock handles statements that keep others out, and those that throw logs of changes away.
func (s sqlRun) sqlLock(st *sqlStatement, tokens []sqlToken) {
	verb, next := tokens[0].upper, sqlUpper(tokens, 1)
	switch {
	case verb == "RESET" && (next == "MASTER" || next == "SLAVE" || next == "REPLICA" || next == "BINARY" || next == "PERSIST"):
		s.sqlAdd(st, interlock.ImpactDelete, interlock.Irreversible, "RESET "+next, "", fact.TraitDatabase, fact.TraitLog)
	case verb == "LOCK" && (findWord(tokens, "EXCLUSIVE") > 0 || findWord(tokens, "WRITE") > 0 || findWord(tokens, "MODE") < 0 &&
		findWord(tokens, "READ") < 0 || next == "INSTANCE"),
		verb == "FLUSH" && findWord(tokens, "LOCK") > 0:
		s.sqlAdd(st, interlock.ImpactConfigure, interlock.Window, verb, "", fact.TraitDatabase, fact.TraitBreaking)
	case verb == "FLUSH" && next == "PRIVILEGES":
		s.sqlAdd(st, interlock.ImpactConfigure, interlock.Reversible, verb, "", fact.TraitDatabase)
	case verb == "FLUSH":
		s.sqlAdd(st, interlock.ImpactConfigure, interlock.Reversible, verb, "", fact.TraitDatabase)
	default:
		s.sqlAdd(st, interlock.ImpactRead, interlock.Readonly, verb, "")
	}
}
