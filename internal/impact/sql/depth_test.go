package sql_test

import (
	"strings"
	"testing"

	"interlock"
	"interlock/internal/impact/impacttest"
)

// TestSQLDepth covers what stands behind a statement's verb: texts that are executed, bodies, settings, server files.
func TestSQLDepth(t *testing.T) {
	sql := func(text string) interlock.Action { return impacttest.Source(interlock.KindSQL, text) }
	dropped := "delete workspace irreversible t +database"
	impacttest.CheckReadings(t, []impacttest.Reading{
		{Name: "joined text", Action: sql("EXECUTE IMMEDIATE 'DROP ' || 'TABLE t'"), Want: []string{dropped}},
		{Name: "formatted text", Action: sql("DO $$ BEGIN EXECUTE format('DROP TABLE %I', 't'); END $$"),
			Want: []string{dropped, "read workspace readonly", "read workspace readonly"}},
		{Name: "formatted with an unknown name", Action: sql("DO $$ BEGIN EXECUTE format('TRUNCATE %I', name); END $$"),
			Want: []string{"delete workspace irreversible x +bulk +database", "read workspace readonly", "read workspace readonly"}},
		{Name: "text of a variable", Action: sql("SET @q = CONCAT('DROP', ' TABLE t'); PREPARE s FROM @q"), Want: []string{"read workspace readonly", dropped}},
		{Name: "text declared in two", Action: sql("DECLARE @a varchar(9) = 'DROP '; DECLARE @b varchar(9) = 'TABLE t'; EXEC(@a + @b)"), Want: []string{"read workspace readonly", dropped}},
		{Name: "text in hexadecimal digits", Action: sql("EXEC(0x44524f50205441424c452074)"),
			Want: []string{"delete workspace irreversible t +database +decoded"}},
		{Name: "text nobody knows", Action: sql("EXEC (@q)"), Want: []string{"execute workspace window +database +dynamic ?"}},
		{Name: "harmless text", Action: sql("EXECUTE IMMEDIATE 'SELECT 1'"), Want: []string{"read workspace readonly"}},
		{Name: "body of a function", Action: sql("CREATE FUNCTION f() RETURNS void AS $$ BEGIN DROP TABLE t; END $$ LANGUAGE plpgsql"), Want: []string{dropped, "read workspace readonly", "read workspace readonly", "write workspace reversible f +database"}},
		{Name: "body that stands there", Action: sql("CREATE PROCEDURE p AS BEGIN DROP TABLE t END"),
			Want: []string{dropped, "write workspace reversible p +database"}},
		{Name: "harmless body", Action: sql("CREATE FUNCTION f() RETURNS int AS $$ SELECT 1 $$ LANGUAGE sql"),
			Want: []string{"read workspace readonly", "write workspace reversible f +database"}},
		{Name: "clause of a table that only says DELETE",
			Action: sql("CREATE TABLE t (a int REFERENCES u ON DELETE CASCADE ON UPDATE SET NULL)"), Want: []string{"write workspace reversible t +database"}},
		{Name: "statement without a semicolon before", Action: sql("SELECT 1 DROP TABLE t"), Want: []string{"read workspace readonly", dropped}},
		{Name: "merge that deletes what the source lacks",
			Action: sql("MERGE INTO t USING s ON t.a = s.a WHEN NOT MATCHED BY SOURCE THEN DELETE"),
			Want:   []string{"delete workspace irreversible t +bulk +database", "write workspace reversible t +database"}},
		{Name: "merge on what always holds", Action: sql("MERGE INTO t USING s ON 1=1 WHEN MATCHED THEN UPDATE SET a = 1"),
			Want: []string{"write workspace irreversible t +bulk +database", "write workspace reversible t +database"}},
		{Name: "ordinary merge", Action: sql("MERGE INTO t USING s ON t.a = s.a WHEN MATCHED THEN UPDATE SET b = 1"),
			Want: []string{"write workspace reversible t +database", "write workspace reversible t +database"}},
		{Name: "setting in a list", Action: sql("SET autocommit = 0, foreign_key_checks = 0"),
			Want: []string{"configure workspace reversible +database +defence"}},
		{Name: "setting by function", Action: sql("SELECT set_config('row_security', 'off', true)"),
			Want: []string{"read workspace readonly", "configure workspace reversible +database +defence"}},
		{Name: "setting of a role", Action: sql("ALTER ROLE a SET row_security = off"),
			Want: []string{"privilege workspace window a +account", "configure workspace window +database +defence"}},
		{Name: "setting back on", Action: sql("SET row_security = on"), Want: []string{"read workspace readonly"}},
		{Name: "pragma of a schema", Action: sql("PRAGMA main.writable_schema(1)"), Want: []string{"configure workspace reversible +database +defence"}},
		{Name: "server's file", Action: sql("COPY t FROM '/etc/hostname'"),
			Want: []string{"read system readonly /etc/hostname +database +remote", "write workspace reversible +database"}},
		{Name: "file of the project", Action: sql("COPY t FROM '/home/dev/project/a.csv'"),
			Want: []string{"read workspace readonly /home/dev/project/a.csv +database +remote", "write workspace reversible +database"}},
		{Name: "database that is a page", Action: sql("ATTACH DATABASE '/srv/www/x.php' AS s"),
			Want: []string{"write system irreversible /srv/www/x.php +database +overwrite +remote"}},
		{Name: "second database", Action: sql("ATTACH 'b.db' AS b"), Want: []string{"write workspace reversible /home/dev/project/b.db +database"}},
		{Name: "hashes behind a join", Action: sql("SELECT * FROM t JOIN pg_authid ON true"),
			Want: []string{"read workspace readonly t", "credential workspace readonly pg_authid +secret"}},
		{Name: "account written by hand", Action: sql("INSERT INTO mysql.user (User) VALUES ('x')"),
			Want: []string{"write workspace reversible mysql.user +database", "privilege workspace window mysql.user +account"}},
		{Name: "role given to a row", Action: sql("UPDATE users SET role = 'admin' WHERE id = 3"),
			Want: []string{"write workspace reversible users +database", "privilege workspace window users +account"}},
		{Name: "role asked for", Action: sql("UPDATE users SET a = 1 WHERE role = 'admin'"), Want: []string{"write workspace reversible users +database"}},
		{Name: "policy that lets all through", Action: sql("CREATE POLICY p ON t USING (1 = 1)"),
			Want: []string{"configure workspace window p +database +defence", "write workspace reversible p +database"}},
		{Name: "job in the database", Action: sql("SELECT cron.schedule('x', '* * * * *', 'DROP TABLE t')"),
			Want: []string{"read workspace readonly", dropped, "persist workspace window +database +remote"}},
		{Name: "wait by a condition", Action: sql("SELECT CASE WHEN a = 1 THEN pg_sleep(5) END FROM t"),
			Want: []string{"read workspace readonly t", "execute system irreversible +database +injection"}},
		{Name: "short wait", Action: sql("SELECT pg_sleep(0.2)"), Want: []string{"read workspace readonly"}},
		{Name: "constraint on a table others use", Action: sql("ALTER TABLE t ADD CONSTRAINT c UNIQUE (a)"),
			Want: []string{"write workspace window t +breaking +database"}},
		{Name: "constraint on a table just made",
			Action: sql("CREATE TABLE t (a int); ALTER TABLE t ADD CONSTRAINT c UNIQUE (a)"),
			Want:   []string{"write workspace reversible t +database", "write workspace reversible t +database"}},
		{Name: "partition emptied", Action: sql("ALTER TABLE t TRUNCATE PARTITION p"),
			Want: []string{"delete workspace irreversible t +bulk +database", "write workspace reversible t +database"}},
		{Name: "keyword in uneven case", Action: sql("sElEcT 1"), Want: []string{"read workspace readonly +obfuscated"}},
	})
}

// TestSQLClients shows which commands of clients run programs or touch files on this side.
func TestSQLClients(t *testing.T) {
	for text, want := range map[string]interlock.ImpactKind{
		`\! touch x`: interlock.ImpactExecute, `\copy t from program 'touch x'`: interlock.ImpactExecute,
		`\o |touch x`: interlock.ImpactExecute, `select 1 \g |touch x`: interlock.ImpactExecute, "\\set x `touch y`": interlock.ImpactExecute,
		".shell touch x": interlock.ImpactExecute, ".import '|touch x' t": interlock.ImpactExecute,
		".once |touch x": interlock.ImpactExecute, "system touch x": interlock.ImpactExecute, "!!dir": interlock.ImpactExecute,
		".load ./x":          interlock.ImpactExecute,
		`\copy t to 'x.csv'`: interlock.ImpactWrite, `\o x.txt`: interlock.ImpactWrite, ".output x.txt": interlock.ImpactWrite,
		".save x.db": interlock.ImpactWrite, "tee x.log": interlock.ImpactWrite, ".restore x.db": interlock.ImpactWrite,
		`\copy t from 'x.csv'`: interlock.ImpactRead, ".import x.csv t": interlock.ImpactRead, `\password`: interlock.ImpactCredential,
	} {
		got := impacttest.Analyse(t, impacttest.Source(interlock.KindSQL, text))
		if !impacttest.AnyImpact(got, func(i interlock.Impact) bool { return i.Kind == want && (strings.HasPrefix(i.Via, "sql client")) }) {
			t.Errorf("%s: no %s by the client: %+v", text, want, got)
		}
	}
	for _, text := range []string{`\d t`, `\timing on`, ".tables", ".headers on", ".output", "system of a down", "host is down", "! That was it"} {
		got := impacttest.Analyse(t, impacttest.Source(interlock.KindSQL, text))
		if impacttest.AnyImpact(got, func(i interlock.Impact) bool { return strings.HasPrefix(i.Via, "sql client") }) {
			t.Errorf("%s: taken for more than it is: %+v", text, got)
		}
	}
}

// TestSQLAlterOfWhatOthersUse covers changes of what other people's statements rest on, beside those that disturb nobody.
func TestSQLAlterOfWhatOthersUse(t *testing.T) {
	sql := func(text string) interlock.Action { return impacttest.Source(interlock.KindSQL, text) }
	impacttest.CheckReadings(t, []impacttest.Reading{
		{Name: "rights of a function", Action: sql("ALTER FUNCTION f() SECURITY DEFINER"), Want: []string{"privilege workspace reversible f +account"}},
		{Name: "a function", Action: sql("ALTER FUNCTION f() IMMUTABLE"), Want: []string{"write workspace reversible f +database"}},
		{Name: "numbers given anew", Action: sql("ALTER SEQUENCE s RESTART WITH 1"), Want: []string{"write workspace window s +breaking +database"}},
		{Name: "numbers", Action: sql("ALTER SEQUENCE s INCREMENT BY 2"), Want: []string{"write workspace reversible s +database"}},
		{Name: "a partition goes", Action: sql("ALTER TABLE t DETACH PARTITION p"), Want: []string{"write workspace window t +breaking +database"}},
		{Name: "a partition goes in its time", Action: sql("ALTER TABLE t DETACH PARTITION p CONCURRENTLY"),
			Want: []string{"write workspace reversible t +database"}},
		{Name: "another schema", Action: sql("ALTER TABLE t SET SCHEMA private"),
			Want: []string{"write workspace window t +breaking +database", "write workspace reversible t +database"}},
		{Name: "all that match", Action: sql("MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN DELETE"),
			Want: []string{"delete workspace irreversible t +bulk +database", "write workspace reversible t +database"}},
		{Name: "some that match", Action: sql("MERGE INTO t USING s ON t.id = s.id WHEN MATCHED AND s.gone THEN DELETE"),
			Want: []string{"delete workspace window t +database", "write workspace reversible t +database"}},
	})
}
