package sql

import (
	"strings"
	"sync"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/know"
	"interlock/internal/lex"
)

// A sqlCallEffect is what a function or procedure of some database does outside of it.
type sqlCallEffect struct {
	kind interlock.ImpactKind
	arg  int    // which literal argument names the target, counted from 1; 0 is none
	what string // path, shell, host or empty
}

// A sqlCallGroup is the functions and procedures, with blanks between them, that have the same effect.
type sqlCallGroup struct {
	kind  interlock.ImpactKind
	arg   int
	what  string
	names string
}

func sqlCallsOf(groups []sqlCallGroup) func() map[string]sqlCallEffect {
	return sync.OnceValue(func() map[string]sqlCallEffect {
		calls := map[string]sqlCallEffect{}
		for _, group := range groups {
			for name := range strings.FieldsSeq(group.names) {
				calls[name] = sqlCallEffect{group.kind, group.arg, group.what}
			}
		}
		return calls
	})
}

// sqlCalls are functions that reach beyond the database: files, programs, networks, processes.
var sqlCalls = sqlCallsOf([]sqlCallGroup{
	{interlock.ImpactRead, 0, "",
		"xp_regread pg_ls_logdir pg_ls_waldir pg_ls_tmpdir pg_ls_archive_statusdir pg_logdir_ls bfilename " +
			"xp_loginconfig xp_availablemedia xp_enumdsn xp_ntsec_enumdomains"},
	{interlock.ImpactRead, 1, "file",
		"read_csv read_csv_auto read_text read_blob read_json read_json_auto read_ndjson read_parquet " +
			"parquet_scan sniff_csv"},
	{interlock.ImpactRead, 0, "none", "cursor_to_xml connectby"},
	{interlock.ImpactRead, 1, "path",
		"pg_read_file pg_read_binary_file pg_ls_dir pg_stat_file load_file lo_import readfile xp_dirtree " +
			"xp_fileexist xp_subdirs pg_file_read"},
	{interlock.ImpactRead, 1, "sql", "query_to_xml query_to_xmlschema query_to_json ts_stat crosstab"},
	{interlock.ImpactWrite, 0, "", "lo_from_bytea lo_put utl_file dbms_xslprocessor dbms_advisor sp_makewebtask"},
	{interlock.ImpactWrite, 1, "path", "lo_export writefile pg_file_write pg_file_rename"},
	{interlock.ImpactWrite, 2, "path", "spwritestringtofile"},
	{interlock.ImpactDelete, 0, "", "pg_drop_replication_slot sp_detach_db"},
	{interlock.ImpactDelete, 1, "path", "pg_file_unlink"},
	{interlock.ImpactExecute, 0, "", "sp_oacreate sp_oamethod dbms_xmlquery dbms_java dbms_java_test"},
	{interlock.ImpactExecute, 0, "none", "sp_start_job"},
	{interlock.ImpactExecute, 1, "path", "load_extension"},
	{interlock.ImpactExecute, 2, "python", "sp_execute_external_script"},
	{interlock.ImpactExecute, 1, "shell", "xp_cmdshell sys_exec sys_eval os_command"},
	{interlock.ImpactSpawn, 0, "", "pg_terminate_backend pg_cancel_backend xp_terminate_process"},
	{interlock.ImpactPersist, 0, "", "dbms_scheduler sp_add_job cron.alter_job dbms_job sp_add_jobstep sp_procoption"},
	{interlock.ImpactPersist, -1, "sql", "cron.schedule"},
	{interlock.ImpactPersist, 3, "sql", "cron.schedule_in_database"},
	{interlock.ImpactConfigure, 0, "",
		"sp_configure xp_regwrite xp_servicecontrol pg_reload_conf pg_switch_wal pg_rotate_logfile pg_promote " +
			"pg_create_restore_point pg_wal_replay_pause pg_create_logical_replication_slot " +
			"pg_create_physical_replication_slot pg_logical_slot_get_changes pg_replication_origin_drop pg_stat_reset " +
			"pg_logical_emit_message pg_extension_config_dump cron.unschedule sp_serveroption xp_regdeletekey"},
	{interlock.ImpactPrivilege, 0, "",
		"sp_addsrvrolemember sp_addlogin sp_password sp_addrolemember sp_grantlogin sp_adduser sp_grantdbaccess " +
			"sp_droprolemember sp_dropsrvrolemember sp_droplogin"},
	{interlock.ImpactNetwork, 0, "", "sp_addlinkedserver"},
	{interlock.ImpactNetwork, 0, "host",
		"dblink dblink_exec dblink_connect dblink_send_query openrowset opendatasource utl_http utl_inaddr " +
			"utl_tcp httpuritype dbms_ldap dbms_cloud"},
	{interlock.ImpactNetwork, 1, "host", "http_get http_post http_put"},
	{interlock.ImpactNetwork, -1, "sql", "openquery"},
	{interlock.ImpactMessage, 0, "host", "utl_smtp sp_send_dbmail"},
})

// sqlTableCalls are functions that stand where a table does and reach beyond the database. Elsewhere their names mean nothing.
var sqlTableCalls = sqlCallsOf([]sqlCallGroup{
	{interlock.ImpactRead, 1, "path", "file"},
	{interlock.ImpactExecute, 1, "shell", "executable"},
	{interlock.ImpactNetwork, 0, "host", "remote mysql postgresql jdbc"},
	{interlock.ImpactNetwork, 1, "host", "url s3 hdfs"},
})

// sqlWaits are functions that make the server wait or work.
var sqlWaits = lex.Set([]string{"sleep", "pg_sleep", "pg_sleep_for", "pg_sleep_until", "benchmark", "dbms_lock.sleep",
	"dbms_session.sleep", "dbms_pipe.receive_message", "randomblob"})

// sqlFunctions records calls that reach beyond the database, wherever in a statement they stand.
func (s sqlRun) sqlFunctions(st *sqlStatement) {
	choosing := 0
	for i, t := range st.tokens {
		switch t.upper {
		case "CASE", "WHEN", "IF", "IIF", "AND", "OR", "LIKE", "XOR":
			choosing++
		}
		name := calledName(st.tokens, i)
		if name == "" {
			continue
		}
		rest := st.tokens[i+1:]
		bracket := len(rest) > 0 && rest[0].is("(")
		if sqlWaits.Has(name) && bracket {
			s.sqlWait(st, name, rest, choosing > 0)
			continue
		}
		effect, known := effectOfCall(st.tokens, i, name)
		if !known {
			if name == "set_config" && (bracket || len(rest) > 0 && rest[0].is(".")) {
				s.sqlConfig(st, rest)
			}
			continue
		}
		procedure := sqlUpperIn(st.tokens, i-1, "EXEC", "EXECUTE", ".") || i == 0 && len(rest) > 0 && rest[0].kind == sqlString
		if len(rest) > 2 && rest[0].is(".") { // a package: utl_http.request(
			rest = rest[2:]
		}
		if procedure || len(rest) > 0 && rest[0].is("(") {
			s.sqlCallImpact(name, effect, sqlLiterals(rest[:min(len(rest), 48)]))
		}
	}
}

// calledName is the name of what the word at a place calls, in small letters, or nothing if it calls nothing: with its
// package where that tells it from others.
func calledName(tokens []sqlToken, i int) string {
	t := tokens[i]
	if t.kind != sqlWord || len(t.text) < 2 || len(t.text) > 32 {
		return ""
	}
	first := i == 0 || i == 1 && sqlHeads.Has(tokens[0].upper)
	if !first && !sqlUpperIn(tokens, i+1, "(", ".") && !sqlUpperIn(tokens, i-1, "EXEC", "EXECUTE", ".", "CALL") {
		return ""
	}
	name := strings.ToLower(t.text)
	if i > 1 && tokens[i-1].is(".") {
		if dotted := strings.ToLower(tokens[i-2].text) + "." + name; sqlCalls()[dotted].kind != "" || sqlWaits.Has(dotted) {
			return dotted
		}
	}
	return name
}

// effectOfCall is what a call does outside of the database. Some names mean a call only where a table is, or before a text.
func effectOfCall(tokens []sqlToken, i int, name string) (effect sqlCallEffect, known bool) {
	rest := tokens[i+1:]
	if name == "system" && i > 0 && len(rest) > 1 && (rest[0].is("(") || rest[0].is(".")) && rest[1].kind == sqlString {
		return sqlCallEffect{interlock.ImpactExecute, 1, "shell"}, true
	}
	effect, known = sqlCalls()[name]
	if !known && len(rest) > 0 && rest[0].is("(") && sqlUpperIn(tokens, i-1, "FROM", "JOIN", "FUNCTION", "INTO") {
		effect, known = sqlTableCalls()[name]
	}
	return effect, known
}

// sqlUpperIn reports whether the token at a place is one of some words or marks.
func sqlUpperIn(tokens []sqlToken, i int, words ...string) bool {
	if i < 0 || i >= len(tokens) {
		return false
	}
	for _, w := range words {
		if tokens[i].upper == w {
			return true
		}
	}
	return false
}

// sqlConfig handles set_config(name, value, local).
func (s sqlRun) sqlConfig(st *sqlStatement, rest []sqlToken) {
	end := closing(rest[:min(len(rest), 256)])
	if end < 0 {
		return
	}
	arguments := sqlArguments(rest[1:end])
	if len(arguments) < 2 {
		return
	}
	name, _ := s.sqlBuild(arguments[0], 0)
	value, _ := s.sqlBuild(arguments[1], 0)
	if unsafeSetting(name.Text, value.Text) {
		s.sqlAdd(st, interlock.ImpactConfigure, interlock.Reversible, "SET "+strings.ToLower(name.Text), "", fact.TraitDatabase,
			fact.TraitDefence)
	}
}

// sqlWait records that a server is made to wait. A wait that depends on a condition tells its caller how that turned out,
// which is what injected conditions are read by.
func (s sqlRun) sqlWait(st *sqlStatement, name string, rest []sqlToken, choosing bool) {
	end := closing(rest[:min(len(rest), 256)])
	if end < 2 {
		return
	}
	seconds := rest[1]
	if n, ok := sqlNumberOf(seconds.text); ok && end == 2 && n < 1 || name == "randomblob" && (!ok || n < 1e6) {
		return
	}
	if choosing {
		s.Add(interlock.Impact{Kind: interlock.ImpactExecute, Reach: interlock.ReachSystem, Via: "sql " + name,
			Reversibility: interlock.Irreversible,
			Confidence:    interlock.Inferred, Traits: []string{fact.TraitInjection, fact.TraitDatabase}})
		return
	}
	s.sqlAdd(st, interlock.ImpactConfigure, interlock.Window, name, "", fact.TraitDatabase, fact.TraitBreaking)
}

func sqlLiterals(tokens []sqlToken) (out []string) {
	for i, t := range tokens {
		if t.is(")") || t.is(";") {
			break
		}
		if t.kind == sqlString {
			if i > 1 && tokens[i-1].is("||") && len(out) > 0 {
				out[len(out)-1] += t.text
				continue
			}
			out = append(out, t.text)
		}
	}
	return out
}

// argument is the one of a call's arguments that says what it acts on.
func (e sqlCallEffect) argument(args []string) string {
	switch {
	case e.arg > 0 && e.arg <= len(args):
		return args[e.arg-1]
	case e.arg < 0 && len(args) > 0:
		return args[len(args)-1]
	}
	return ""
}

func (s sqlRun) sqlCallImpact(name string, effect sqlCallEffect, args []string) {
	i := interlock.Impact{Kind: effect.kind, Reach: interlock.ReachSystem, Via: "sql " + name,
		Traits:        []string{fact.TraitDatabase, fact.TraitRemote},
		Reversibility: interlock.Window}
	switch effect.kind {
	case interlock.ImpactRead:
		i.Reversibility = interlock.Readonly
	case interlock.ImpactSpawn:
		if name != "pg_cancel_backend" {
			i.Reversibility = interlock.Irreversible
		}
	}
	argument := effect.argument(args)
	switch effect.what {
	case "path":
		if argument != "" {
			s.Touch(argument, interlock.Impact{Kind: effect.kind, Reach: interlock.ReachSystem, Via: i.Via, Traits: i.Traits})
			return
		}
	case "file": // of this machine: the database runs in the client
		if strings.Contains(argument, "://") {
			reach, _ := s.Host(argument)
			s.Add(interlock.Impact{Kind: interlock.ImpactNetwork, Target: know.CleanURL(argument), Reach: reach, Via: i.Via,
				Reversibility: interlock.Reversible, Traits: []string{fact.TraitDatabase, fact.TraitDownload}})
		} else if argument != "" {
			s.Touch(argument, interlock.Impact{Kind: effect.kind, Via: i.Via, Traits: []string{fact.TraitDatabase}})
		}
		return
	case "shell":
		i.Reversibility = interlock.Irreversible
		if argument != "" {
			s.Add(i)
			s.Nested(interlock.KindShell, argument)
			return
		}
	case "python":
		i.Reversibility = interlock.Irreversible
		s.Add(i)
		s.nestedArgument(interlock.KindPython, argument)
		return
	case "sql":
		if s.nestedArgument(interlock.KindSQL, argument); effect.kind == interlock.ImpactRead {
			return
		}
		i.Reach = interlock.ReachExternal
		if effect.kind == interlock.ImpactPersist {
			i.Reach = interlock.ReachWorkspace
		}
	case "none":
		return
	case "host":
		i.Reach = interlock.ReachExternal
		if argument != "" && strings.Contains(argument, "://") {
			i.Target = know.CleanURL(argument)
			i.Reach, _ = s.Host(argument)
		}
	}
	s.Add(i)
}

func (s sqlRun) nestedArgument(kind interlock.Kind, argument string) {
	if argument != "" {
		s.Nested(kind, argument)
	}
}
