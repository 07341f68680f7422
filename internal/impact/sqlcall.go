package impact

import (
	"strings"

	"interlock"
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
	"load_file": {interlock.ImpactRead, 1, "path"}, "lo_import": {interlock.ImpactRead, 1, "path"}, "readfile": {interlock.ImpactRead, 1, "path"},
	"lo_export": {interlock.ImpactWrite, 1, "path"}, "writefile": {interlock.ImpactWrite, 1, "path"}, "pg_file_write": {interlock.ImpactWrite, 1, "path"},
	"lo_from_bytea": {interlock.ImpactWrite, 0, ""}, "pg_file_unlink": {interlock.ImpactDelete, 1, "path"},
	"xp_cmdshell": {interlock.ImpactExecute, 1, "shell"}, "sys_exec": {interlock.ImpactExecute, 1, "shell"}, "sys_eval": {interlock.ImpactExecute, 1, "shell"},
	"sp_oacreate": {interlock.ImpactExecute, 0, ""}, "sp_oamethod": {interlock.ImpactExecute, 0, ""}, "load_extension": {interlock.ImpactExecute, 1, "path"},
	"dbms_scheduler": {interlock.ImpactPersist, 0, ""}, "dbms_xmlquery": {interlock.ImpactExecute, 0, ""}, "dbms_java": {interlock.ImpactExecute, 0, ""},
	"sp_add_job": {interlock.ImpactPersist, 0, ""}, "sp_configure": {interlock.ImpactConfigure, 0, ""}, "sp_addsrvrolemember": {interlock.ImpactPrivilege, 0, ""},
	"sp_addlogin": {interlock.ImpactPrivilege, 0, ""}, "sp_password": {interlock.ImpactPrivilege, 0, ""}, "sp_addrolemember": {interlock.ImpactPrivilege, 0, ""},
	"xp_dirtree": {interlock.ImpactRead, 1, "path"}, "xp_fileexist": {interlock.ImpactRead, 1, "path"}, "xp_subdirs": {interlock.ImpactRead, 1, "path"},
	"xp_regread": {interlock.ImpactRead, 0, ""}, "xp_regwrite": {interlock.ImpactConfigure, 0, ""}, "xp_servicecontrol": {interlock.ImpactConfigure, 0, ""},
	"dblink": {interlock.ImpactNetwork, 0, "host"}, "dblink_exec": {interlock.ImpactNetwork, 0, "host"}, "dblink_connect": {interlock.ImpactNetwork, 0, "host"},
	"dblink_send_query": {interlock.ImpactNetwork, 0, "host"}, "openrowset": {interlock.ImpactNetwork, 0, "host"}, "opendatasource": {interlock.ImpactNetwork, 0, "host"},
	"utl_http": {interlock.ImpactNetwork, 0, "host"}, "utl_inaddr": {interlock.ImpactNetwork, 0, "host"}, "utl_tcp": {interlock.ImpactNetwork, 0, "host"},
	"utl_smtp": {interlock.ImpactMessage, 0, "host"}, "sp_send_dbmail": {interlock.ImpactMessage, 0, "host"}, "httpuritype": {interlock.ImpactNetwork, 0, "host"},
	"http_get": {interlock.ImpactNetwork, 1, "host"}, "http_post": {interlock.ImpactNetwork, 1, "host"}, "http_put": {interlock.ImpactNetwork, 1, "host"},
	"pg_terminate_backend": {interlock.ImpactSpawn, 0, ""}, "pg_cancel_backend": {interlock.ImpactSpawn, 0, ""}, "pg_reload_conf": {interlock.ImpactConfigure, 0, ""},
	"pg_switch_wal": {interlock.ImpactConfigure, 0, ""}, "pg_drop_replication_slot": {interlock.ImpactDelete, 0, ""}, "pg_rotate_logfile": {interlock.ImpactConfigure, 0, ""},
	"spwritestringtofile": {interlock.ImpactWrite, 2, "path"},
}

// sqlFunctions records calls that reach beyond the database, wherever in a statement they stand.
func (s *scan) sqlFunctions(st *sqlStatement) {
	for i, t := range st.tokens {
		if t.kind != sqlWord || len(t.text) < 6 {
			continue
		}
		name := strings.ToLower(t.text)
		effect, known := sqlCalls[name]
		if !known {
			continue
		}
		procedure := i > 0 && (st.tokens[i-1].upper == "EXEC" || st.tokens[i-1].upper == "EXECUTE" || st.tokens[i-1].is("."))
		rest := st.tokens[i+1:]
		if len(rest) > 0 && rest[0].is(".") && len(rest) > 2 { // a package: utl_http.request(
			rest = rest[2:]
		}
		if !procedure && (len(rest) == 0 || !rest[0].is("(")) {
			continue
		}
		s.sqlCallImpact(name, effect, sqlLiterals(rest[:min(len(rest), 24)]))
	}
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

func (s *scan) sqlCallImpact(name string, effect sqlCallEffect, args []string) {
	i := interlock.Impact{Kind: effect.kind, Reach: interlock.ReachSystem, Via: "sql " + name, Traits: []string{TraitDatabase, TraitRemote},
		Reversibility: interlock.Window}
	if effect.kind == interlock.ImpactRead {
		i.Reversibility = interlock.Readonly
	}
	argument := ""
	if effect.arg > 0 && effect.arg <= len(args) {
		argument = args[effect.arg-1]
	}
	switch effect.what {
	case "path":
		if argument != "" {
			s.touch(argument, interlock.Impact{Kind: effect.kind, Reach: interlock.ReachSystem, Via: i.Via, Traits: i.Traits})
			return
		}
	case "shell":
		i.Reversibility = interlock.Irreversible
		if argument != "" {
			s.add(i)
			s.nested(interlock.KindShell, argument)
			return
		}
	case "host":
		i.Reach = interlock.ReachExternal
		if argument != "" && strings.Contains(argument, "://") {
			i.Target = cleanURL(argument)
			i.Reach, _ = s.host(argument)
		}
	}
	s.add(i)
}
