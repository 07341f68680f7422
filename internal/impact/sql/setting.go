package sql

import (
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/lex"
)

// sqlSafeties are settings that remove a protection, and the values that do so.
var sqlSafeties = map[string]string{
	"foreign_key_checks": "off", "unique_checks": "off", "sql_safe_updates": "off", "sql_log_bin": "off", "row_security": "off",
	"log_bin":      "off",
	"foreign_keys": "off", "synchronous": "off", "journal_mode": "off", "fsync": "off", "general_log": "off",
	"log_statement": "off", "full_page_writes": "off",
	"session_replication_role": "replica", "writable_schema": "on", "local_infile": "on", "log_bin_trust_function_creators": "on",
	"zero_damaged_pages": "on",
	"secure_file_priv":   "off", "ignore_check_constraints": "on", "trusted_schema": "on", "xp_cmdshell": "on",
	"allow_system_table_mods":   "on",
	"ole automation procedures": "on", "clr enabled": "on", "clr strict security": "off", "ad hoc distributed queries": "on",
	"trustworthy":                "on",
	"log_min_duration_statement": "off", "audit_log": "off", "audit_log_policy": "off", "server_audit_logging": "off",
	"pgaudit.log": "off", "log_connections": "off", "log_disconnections": "off",
	"read_only": "off", "super_read_only": "off", "require_secure_transport": "off", "ssl": "off", "password_encryption": "off",
	"skip_grant_tables": "on", "autovacuum": "off", "cell_size_check": "off",
	"default_transaction_read_only": "off", "transaction_read_only": "off", "innodb_flush_log_at_trx_commit": "off",
	"sync_binlog": "off", "recursive_triggers": "", "query_only": "off", "validate_password.policy": "low",
}

// unsafeSetting reports whether a setting so set removes a protection.
func unsafeSetting(name, value string) bool {
	name, value = strings.ToLower(name), strings.ToLower(strings.TrimSpace(value))
	off := value == "0" || value == "off" || value == "false" || value == "none" || value == "no" || value == "-" ||
		value == "" || value == "-1" || value == "disabled"
	on := value == "1" || value == "on" || value == "true" || value == "yes"
	switch unsafe := sqlSafeties[name]; unsafe {
	case "":
		return false
	case "off":
		return off
	case "on":
		return on
	default:
		return value == unsafe
	}
}

// sqlSet handles SET, PRAGMA and RECONFIGURE: every setting of a list.
func (s sqlRun) sqlSet(st *sqlStatement, tokens []sqlToken) {
	if s.sqlBecomes(st, tokens) {
		return
	}
	plain := true
	for _, setting := range sqlArguments(tokens[1:]) {
		plain = s.sqlSetting(st, setting, tokens[0].upper) && plain
	}
	if tokens[0].upper == "RECONFIGURE" {
		s.sqlServerSetting("reconfigure")
		return
	}
	if plain {
		s.sqlAdd(st, interlock.ImpactRead, interlock.Readonly, tokens[0].upper, "")
	}
}

func (s sqlRun) sqlServerSetting(name string) {
	s.Add(interlock.Impact{Kind: interlock.ImpactConfigure, Target: name, Reach: interlock.ReachSystem,
		Reversibility: interlock.Window, Via: "sql SET GLOBAL", Traits: []string{fact.TraitDatabase}})
}

// sqlSetting handles one assignment and reports whether it concerns this session alone.
func (s sqlRun) sqlSetting(st *sqlStatement, rest []sqlToken, verb string) bool {
	global := false
	for len(rest) > 0 {
		switch rest[0].upper {
		case "GLOBAL", "PERSIST", "PERSIST_ONLY", "@@GLOBAL", "@@PERSIST":
			global = true
		case "SESSION", "LOCAL", "@@SESSION", "@@LOCAL", "CONFIGURATION", "VARIABLE":
		default:
			if !rest[0].is(".") {
				goto named
			}
		}
		rest = rest[1:]
	}
named:
	name := strings.TrimLeft(sqlName(rest), "@")
	if verb == "PRAGMA" {
		name = lastName(name)
	}
	value, given := settingValue(rest)
	if given && unsafeSetting(name, value) {
		s.sqlAdd(st, interlock.ImpactConfigure, interlock.Reversible, "SET "+strings.ToLower(name), "", fact.TraitDatabase,
			fact.TraitDefence)
		return false
	}
	if strings.EqualFold(name, "password") {
		s.sqlAdd(st, interlock.ImpactCredential, interlock.Window, "SET PASSWORD", "", fact.TraitAccount, fact.TraitSecret)
		return false
	}
	if global {
		s.sqlServerSetting(strings.ToLower(name))
		return false
	}
	if strings.HasPrefix(sqlName(rest), "@") {
		s.sqlAssign(sqlName(rest), rest)
	}
	return true
}

// settingValue reads what follows the name: = value, TO value, (value) or the value alone.
func settingValue(rest []sqlToken) (string, bool) {
	for len(rest) > 0 && (rest[0].kind == sqlWord || rest[0].is(".")) && rest[0].upper != "TO" {
		if len(rest) == 2 && rest[1].kind != sqlMark { // SET NAMES utf8
			return rest[1].text, true
		}
		rest = rest[1:]
	}
	for len(rest) > 0 && (rest[0].is("=") || rest[0].is(":=") || rest[0].is("(") || rest[0].upper == "TO") {
		rest = rest[1:]
	}
	if len(rest) == 0 {
		return "", false
	}
	if rest[0].is("-") && len(rest) > 1 {
		return "-" + rest[1].text, true
	}
	return rest[0].text, true
}

// sqlRulers are the users who may do everything.
var sqlRulers = lex.Set([]string{"postgres", "root", "sa", "admin", "superuser", "rdsadmin", "rds_superuser", "sys", "system",
	"dbo", "sysadmin", "accountadmin", "securityadmin", "pg_execute_server_program", "pg_write_server_files",
	"pg_read_server_files", "cloudsqlsuperuser", "supabase_admin"})

// sqlBecomes handles SET ROLE and SET SESSION AUTHORIZATION.
func (s sqlRun) sqlBecomes(st *sqlStatement, tokens []sqlToken) bool {
	rest := skipWords(tokens[1:], "LOCAL", "SESSION")
	if len(rest) < 2 || rest[0].upper != "ROLE" && rest[0].upper != "AUTHORIZATION" {
		return false
	}
	who := skipMarks(rest[1:], "=")
	if len(who) == 0 {
		return false
	}
	name := strings.ToLower(who[0].text)
	if rest[0].upper == "ROLE" && !sqlRulers.Has(name) || name == "default" {
		return false
	}
	s.sqlAdd(st, interlock.ImpactPrivilege, interlock.Reversible, "SET "+rest[0].upper, who[0].text, fact.TraitAccount)
	return true
}

func skipMarks(tokens []sqlToken, marks ...string) []sqlToken {
	for len(tokens) > 0 {
		found := false
		for _, m := range marks {
			found = found || tokens[0].is(m)
		}
		if !found {
			break
		}
		tokens = tokens[1:]
	}
	return tokens
}

// sqlAlterSettings handles SET inside ALTER SYSTEM, DATABASE, ROLE and the like.
func (s sqlRun) sqlAlterSettings(st *sqlStatement, rest []sqlToken) {
	for at := findWord(rest, "SET"); at >= 0 && at+1 < len(rest); {
		if after := rest[at+1:]; sqlUpper(rest, at+1) != "DEFAULT" {
			value, given := settingValue(after)
			if given && unsafeSetting(sqlName(after), value) {
				s.sqlAdd(st, interlock.ImpactConfigure, interlock.Window, "SET "+strings.ToLower(sqlName(after)), "",
					fact.TraitDatabase, fact.TraitDefence)
			}
		}
		next := findWord(rest[at+1:], "SET")
		if next < 0 {
			return
		}
		at += 1 + next
	}
}
