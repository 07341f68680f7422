package sql

import (
	"strings"

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

// sqlCalls are functions that reach beyond the database: files, programs, networks, processes.
var sqlCalls = map[string]sqlCallEffect{
	"pg_read_file": {interlock.ImpactRead, 1, "path"}, "pg_read_binary_file": {interlock.ImpactRead, 1, "path"},
	"pg_ls_dir": {interlock.ImpactRead, 1, "path"}, "pg_stat_file": {interlock.ImpactRead, 1, "path"},
	"load_file": {interlock.ImpactRead, 1, "path"}, "lo_import": {interlock.ImpactRead, 1, "path"},
	"readfile":  {interlock.ImpactRead, 1, "path"},
	"lo_export": {interlock.ImpactWrite, 1, "path"}, "writefile": {interlock.ImpactWrite, 1, "path"},
	"pg_file_write": {interlock.ImpactWrite, 1, "path"},
	"lo_from_bytea": {interlock.ImpactWrite, 0, ""}, "pg_file_unlink": {interlock.ImpactDelete, 1, "path"},
	"xp_cmdshell": {interlock.ImpactExecute, 1, "shell"}, "sys_exec": {interlock.ImpactExecute, 1, "shell"},
	"sys_eval":    {interlock.ImpactExecute, 1, "shell"},
	"sp_oacreate": {interlock.ImpactExecute, 0, ""}, "sp_oamethod": {interlock.ImpactExecute, 0, ""},
	"load_extension": {interlock.ImpactExecute, 1, "path"},
	"dbms_scheduler": {interlock.ImpactPersist, 0, ""}, "dbms_xmlquery": {interlock.ImpactExecute, 0, ""},
	"dbms_java":  {interlock.ImpactExecute, 0, ""},
	"sp_add_job": {interlock.ImpactPersist, 0, ""}, "sp_configure": {interlock.ImpactConfigure, 0, ""},
	"sp_addsrvrolemember": {interlock.ImpactPrivilege, 0, ""},
	"sp_addlogin":         {interlock.ImpactPrivilege, 0, ""}, "sp_password": {interlock.ImpactPrivilege, 0, ""},
	"sp_addrolemember": {interlock.ImpactPrivilege, 0, ""},
	"xp_dirtree":       {interlock.ImpactRead, 1, "path"}, "xp_fileexist": {interlock.ImpactRead, 1, "path"},
	"xp_subdirs": {interlock.ImpactRead, 1, "path"},
	"xp_regread": {interlock.ImpactRead, 0, ""}, "xp_regwrite": {interlock.ImpactConfigure, 0, ""},
	"xp_servicecontrol": {interlock.ImpactConfigure, 0, ""},
	"dblink":            {interlock.ImpactNetwork, 0, "host"}, "dblink_exec": {interlock.ImpactNetwork, 0, "host"},
	"dblink_connect":    {interlock.ImpactNetwork, 0, "host"},
	"dblink_send_query": {interlock.ImpactNetwork, 0, "host"}, "openrowset": {interlock.ImpactNetwork, 0, "host"},
	"opendatasource": {interlock.ImpactNetwork, 0, "host"},
	"utl_http":       {interlock.ImpactNetwork, 0, "host"}, "utl_inaddr": {interlock.ImpactNetwork, 0, "host"},
	"utl_tcp":  {interlock.ImpactNetwork, 0, "host"},
	"utl_smtp": {interlock.ImpactMessage, 0, "host"}, "sp_send_dbmail": {interlock.ImpactMessage, 0, "host"},
	"httpuritype": {interlock.ImpactNetwork, 0, "host"},
	"http_get":    {interlock.ImpactNetwork, 1, "host"}, "http_post": {interlock.ImpactNetwork, 1, "host"},
	"http_put":             {interlock.ImpactNetwork, 1, "host"},
	"pg_terminate_backend": {interlock.ImpactSpawn, 0, ""}, "pg_cancel_backend": {interlock.ImpactSpawn, 0, ""},
	"pg_reload_conf": {interlock.ImpactConfigure, 0, ""},
	"pg_switch_wal":  {interlock.ImpactConfigure, 0, ""}, "pg_drop_replication_slot": {interlock.ImpactDelete, 0, ""},
	"pg_rotate_logfile":   {interlock.ImpactConfigure, 0, ""},
	"spwritestringtofile": {interlock.ImpactWrite, 2, "path"},
	"pg_ls_logdir":        {interlock.ImpactRead, 0, ""}, "pg_ls_waldir": {interlock.ImpactRead, 0, ""},
	"pg_ls_tmpdir": {interlock.ImpactRead, 0, ""}, "pg_ls_archive_statusdir": {interlock.ImpactRead, 0, ""},
	"pg_file_read": {interlock.ImpactRead, 1, "path"}, "pg_file_rename": {interlock.ImpactWrite, 1, "path"},
	"pg_logdir_ls": {interlock.ImpactRead, 0, ""}, "lo_put": {interlock.ImpactWrite, 0, ""},
	"pg_promote": {interlock.ImpactConfigure, 0, ""}, "pg_create_restore_point": {interlock.ImpactConfigure, 0, ""},
	"pg_wal_replay_pause":                 {interlock.ImpactConfigure, 0, ""},
	"pg_create_logical_replication_slot":  {interlock.ImpactConfigure, 0, ""},
	"pg_create_physical_replication_slot": {interlock.ImpactConfigure, 0, ""},
	"pg_logical_slot_get_changes":         {interlock.ImpactConfigure, 0, ""},
	"pg_replication_origin_drop":          {interlock.ImpactConfigure, 0, ""},
	"pg_stat_reset":                       {interlock.ImpactConfigure, 0, ""},
	"pg_logical_emit_message":             {interlock.ImpactConfigure, 0, ""},
	"pg_extension_config_dump":            {interlock.ImpactConfigure, 0, ""},
	"query_to_xml":                        {interlock.ImpactRead, 1, "sql"},
	"query_to_xmlschema":                  {interlock.ImpactRead, 1, "sql"},
	"query_to_json":                       {interlock.ImpactRead, 1, "sql"}, "cursor_to_xml": {interlock.ImpactRead, 0, "none"},
	"ts_stat": {interlock.ImpactRead, 1, "sql"}, "crosstab": {interlock.ImpactRead, 1, "sql"},
	"connectby":     {interlock.ImpactRead, 0, "none"},
	"cron.schedule": {interlock.ImpactPersist, -1, "sql"}, "cron.schedule_in_database": {interlock.ImpactPersist, 3, "sql"},
	"cron.unschedule": {interlock.ImpactConfigure, 0, ""}, "cron.alter_job": {interlock.ImpactPersist, 0, ""},
	"openquery": {interlock.ImpactNetwork, -1, "sql"}, "utl_file": {interlock.ImpactWrite, 0, ""},
	"dbms_xslprocessor": {interlock.ImpactWrite, 0, ""}, "dbms_advisor": {interlock.ImpactWrite, 0, ""},
	"bfilename":      {interlock.ImpactRead, 0, ""},
	"dbms_java_test": {interlock.ImpactExecute, 0, ""}, "os_command": {interlock.ImpactExecute, 1, "shell"},
	"dbms_ldap": {interlock.ImpactNetwork, 0, "host"}, "dbms_cloud": {interlock.ImpactNetwork, 0, "host"},
	"dbms_job":                   {interlock.ImpactPersist, 0, ""},
	"sp_execute_external_script": {interlock.ImpactExecute, 2, "python"}, "sp_addlinkedserver": {interlock.ImpactNetwork, 0, ""},
	"sp_serveroption": {interlock.ImpactConfigure, 0, ""}, "sp_add_jobstep": {interlock.ImpactPersist, 0, ""},
	"sp_start_job": {interlock.ImpactExecute, 0, "none"}, "sp_grantlogin": {interlock.ImpactPrivilege, 0, ""},
	"sp_adduser": {interlock.ImpactPrivilege, 0, ""}, "sp_grantdbaccess": {interlock.ImpactPrivilege, 0, ""},
	"sp_droprolemember":    {interlock.ImpactPrivilege, 0, ""},
	"sp_dropsrvrolemember": {interlock.ImpactPrivilege, 0, ""}, "sp_droplogin": {interlock.ImpactPrivilege, 0, ""},
	"sp_detach_db": {interlock.ImpactDelete, 0, ""}, "sp_makewebtask": {interlock.ImpactWrite, 0, ""},
	"xp_regdeletekey": {interlock.ImpactConfigure, 0, ""},
	"sp_procoption":   {interlock.ImpactPersist, 0, ""}, "xp_loginconfig": {interlock.ImpactRead, 0, ""},
	"xp_availablemedia": {interlock.ImpactRead, 0, ""}, "xp_enumdsn": {interlock.ImpactRead, 0, ""},
	"xp_ntsec_enumdomains": {interlock.ImpactRead, 0, ""}, "xp_terminate_process": {interlock.ImpactSpawn, 0, ""},
	"read_csv": {interlock.ImpactRead, 1, "file"}, "read_csv_auto": {interlock.ImpactRead, 1, "file"},
	"read_text": {interlock.ImpactRead, 1, "file"}, "read_blob": {interlock.ImpactRead, 1, "file"},
	"read_json":      {interlock.ImpactRead, 1, "file"},
	"read_json_auto": {interlock.ImpactRead, 1, "file"}, "read_ndjson": {interlock.ImpactRead, 1, "file"},
	"read_parquet": {interlock.ImpactRead, 1, "file"}, "parquet_scan": {interlock.ImpactRead, 1, "file"},
	"sniff_csv": {interlock.ImpactRead, 1, "file"},
}

// sqlTableCalls are functions that stand where a table does and reach beyond the database. Elsewhere their names mean nothing.
var sqlTableCalls = map[string]sqlCallEffect{
	"url": {interlock.ImpactNetwork, 1, "host"}, "s3": {interlock.ImpactNetwork, 1, "host"},
	"remote": {interlock.ImpactNetwork, 0, "host"}, "file": {interlock.ImpactRead, 1, "path"},
	"executable": {interlock.ImpactExecute, 1, "shell"}, "mysql": {interlock.ImpactNetwork, 0, "host"},
	"postgresql": {interlock.ImpactNetwork, 0, "host"}, "hdfs": {interlock.ImpactNetwork, 1, "host"},
	"jdbc": {interlock.ImpactNetwork, 0, "host"},
}

// sqlWaits are functions that make the server wait or work.
var sqlWaits = lex.Set([]string{"sleep", "pg_sleep", "pg_sleep_for", "pg_sleep_until", "benchmark", "dbms_lock.sleep",
	"dbms_session.sleep", "dbms_pipe.receive_message", "randomblob"})

// sqlFunctions records calls that reach beyond the database, wherever in a statement they stand.
func (s sqlRun) sqlFunctions(st *sqlStatement) {
	choosing := 0
	for i, t := range st.tokens {
		if t.kind != sqlWord || len(t.text) < 2 {
			continue
		}
		switch t.upper {
		case "CASE", "WHEN", "IF", "IIF", "AND", "OR", "LIKE", "XOR":
			choosing++
		}
		calls := i+1 < len(st.tokens) && (st.tokens[i+1].is("(") || st.tokens[i+1].is("."))
		first := i == 0 || i == 1 && sqlHeads[st.tokens[0].upper]
		if !calls && !first && !sqlUpperIn(st.tokens, i-1, "EXEC", "EXECUTE", ".", "CALL") {
			continue
		}
		if len(t.text) > 32 {
			continue
		}
		name := strings.ToLower(t.text)
		if i > 1 && st.tokens[i-1].is(".") {
			if dotted := strings.ToLower(st.tokens[i-2].text) + "." + name; sqlCalls[dotted].kind != "" || sqlWaits[dotted] {
				name = dotted
			}
		}
		rest := st.tokens[i+1:]
		if sqlWaits[name] && len(rest) > 0 && rest[0].is("(") {
			s.sqlWait(st, name, rest, choosing > 0)
			continue
		}
		effect, known := sqlCalls[name]
		if !known && sqlUpperIn(st.tokens, i-1, "FROM", "JOIN", "FUNCTION", "INTO") && calls && st.tokens[i+1].is("(") {
			effect, known = sqlTableCalls[name]
		}
		if name == "system" && i > 0 && calls && len(rest) > 1 && rest[1].kind == sqlString {
			effect, known = sqlCallEffect{interlock.ImpactExecute, 1, "shell"}, true
		}
		if !known {
			if name == "set_config" && calls {
				s.sqlConfig(st, rest)
			}
			continue
		}
		procedure := i > 0 && (st.tokens[i-1].upper == "EXEC" || st.tokens[i-1].upper == "EXECUTE" || st.tokens[i-1].is(".")) ||
			i == 0 && len(rest) > 0 && rest[0].kind == sqlString
		if len(rest) > 2 && rest[0].is(".") { // a package: utl_http.request(
			rest = rest[2:]
		}
		if !procedure && (len(rest) == 0 || !rest[0].is("(")) {
			continue
		}
		s.sqlCallImpact(name, effect, sqlLiterals(rest[:min(len(rest), 48)]))
	}
}

// sqlUpperIn reports whether the token at a place is one of some words or marks.
func sqlUpperIn(tokens []sqlToken, i int, words ...string) bool {
	if i < 0 {
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
