package impact_test

import (
	"strings"
	"testing"

	"interlock"
)

// TestSQLDepth covers what stands behind a statement's verb: texts that are executed, bodies, settings, server files.
func TestSQLDepth(t *testing.T) {
	sql := func(text string) interlock.Action { return source(interlock.KindSQL, text) }
	dropped := "delete workspace irreversible t +database"
	checkReadings(t, []reading{
		{"joined text", sql("EXECUTE IMMEDIATE 'DROP ' || 'TABLE t'"), []string{dropped}},
		{"formatted text", sql("DO $$ BEGIN EXECUTE format('DROP TABLE %I', 't'); END $$"), []string{dropped, "read workspace readonly", "read workspace readonly"}},
		{"formatted with an unknown name", sql("DO $$ BEGIN EXECUTE format('TRUNCATE %I', name); END $$"), []string{"delete workspace irreversible x +bulk +database", "read workspace readonly", "read workspace readonly"}},
		{"text of a variable", sql("SET @q = CONCAT('DROP', ' TABLE t'); PREPARE s FROM @q"), []string{"read workspace readonly", dropped}},
		{"text declared in two", sql("DECLARE @a varchar(9) = 'DROP '; DECLARE @b varchar(9) = 'TABLE t'; EXEC(@a + @b)"), []string{"read workspace readonly", dropped}},
		{"text in hexadecimal digits", sql("EXEC(0x44524f50205441424c452074)"), []string{"delete workspace irreversible t +database +decoded"}},
		{"text nobody knows", sql("EXEC (@q)"), []string{"execute workspace window +database +dynamic ?"}},
		{"harmless text", sql("EXECUTE IMMEDIATE 'SELECT 1'"), []string{"read workspace readonly"}},
		{"body of a function", sql("CREATE FUNCTION f() RETURNS void AS $$ BEGIN DROP TABLE t; END $$ LANGUAGE plpgsql"), []string{dropped, "read workspace readonly", "read workspace readonly", "write workspace reversible f +database"}},
		{"body that stands there", sql("CREATE PROCEDURE p AS BEGIN DROP TABLE t END"), []string{dropped, "write workspace reversible p +database"}},
		{"harmless body", sql("CREATE FUNCTION f() RETURNS int AS $$ SELECT 1 $$ LANGUAGE sql"), []string{"read workspace readonly", "write workspace reversible f +database"}},
		{"clause of a table that only says DELETE", sql("CREATE TABLE t (a int REFERENCES u ON DELETE CASCADE ON UPDATE SET NULL)"), []string{"write workspace reversible t +database"}},
		{"statement without a semicolon before", sql("SELECT 1 DROP TABLE t"), []string{"read workspace readonly", dropped}},
		{"merge that deletes what the source lacks", sql("MERGE INTO t USING s ON t.a = s.a WHEN NOT MATCHED BY SOURCE THEN DELETE"), []string{"delete workspace irreversible t +bulk +database", "write workspace reversible t +database"}},
		{"merge on what always holds", sql("MERGE INTO t USING s ON 1=1 WHEN MATCHED THEN UPDATE SET a = 1"), []string{"write workspace irreversible t +bulk +database", "write workspace reversible t +database"}},
		{"ordinary merge", sql("MERGE INTO t USING s ON t.a = s.a WHEN MATCHED THEN UPDATE SET b = 1"), []string{"write workspace reversible t +database", "write workspace reversible t +database"}},
		{"setting in a list", sql("SET autocommit = 0, foreign_key_checks = 0"), []string{"configure workspace reversible +database +defence"}},
		{"setting by function", sql("SELECT set_config('row_security', 'off', true)"), []string{"read workspace readonly", "configure workspace reversible +database +defence"}},
		{"setting of a role", sql("ALTER ROLE a SET row_security = off"), []string{"privilege workspace window a +account", "configure workspace window +database +defence"}},
		{"setting back on", sql("SET row_security = on"), []string{"read workspace readonly"}},
		{"pragma of a schema", sql("PRAGMA main.writable_schema(1)"), []string{"configure workspace reversible +database +defence"}},
		{"server's file", sql("COPY t FROM '/etc/hostname'"), []string{"read system readonly /etc/hostname +database +remote", "write workspace reversible +database"}},
		{"file of the project", sql("COPY t FROM '/home/dev/project/a.csv'"), []string{"read workspace readonly /home/dev/project/a.csv +database +remote", "write workspace reversible +database"}},
		{"database that is a page", sql("ATTACH DATABASE '/srv/www/x.php' AS s"), []string{"write system irreversible /srv/www/x.php +database +overwrite +remote"}},
		{"second database", sql("ATTACH 'b.db' AS b"), []string{"write workspace reversible /home/dev/project/b.db +database"}},
		{"hashes behind a join", sql("SELECT * FROM t JOIN pg_authid ON true"), []string{"read workspace readonly t", "credential workspace readonly pg_authid +secret"}},
		{"account written by hand", sql("INSERT INTO mysql.user (User) VALUES ('x')"), []string{"write workspace reversible mysql.user +database", "privilege workspace window mysql.user +account"}},
		{"role given to a row", sql("UPDATE users SET role = 'admin' WHERE id = 3"), []string{"write workspace reversible users +database", "privilege workspace window users +account"}},
		{"role asked for", sql("UPDATE users SET a = 1 WHERE role = 'admin'"), []string{"write workspace reversible users +database"}},
		{"policy that lets all through", sql("CREATE POLICY p ON t USING (1 = 1)"), []string{"configure workspace window p +database +defence", "write workspace reversible p +database"}},
		{"job in the database", sql("SELECT cron.schedule('x', '* * * * *', 'DROP TABLE t')"), []string{"read workspace readonly", dropped, "persist workspace window +database +remote"}},
		{"wait by a condition", sql("SELECT CASE WHEN a = 1 THEN pg_sleep(5) END FROM t"), []string{"read workspace readonly t", "execute system irreversible +database +injection"}},
		{"short wait", sql("SELECT pg_sleep(0.2)"), []string{"read workspace readonly"}},
		{"constraint on a table others use", sql("ALTER TABLE t ADD CONSTRAINT c UNIQUE (a)"), []string{"write workspace window t +breaking +database"}},
		{"constraint on a table just made", sql("CREATE TABLE t (a int); ALTER TABLE t ADD CONSTRAINT c UNIQUE (a)"), []string{"write workspace reversible t +database", "write workspace reversible t +database"}},
		{"partition emptied", sql("ALTER TABLE t TRUNCATE PARTITION p"), []string{"delete workspace irreversible t +bulk +database", "write workspace reversible t +database"}},
		{"keyword in uneven case", sql("sElEcT 1"), []string{"read workspace readonly +obfuscated"}},
	})
}

// TestSQLClients shows which commands of clients run programs or touch files on this side.
func TestSQLClients(t *testing.T) {
	for text, want := range map[string]interlock.ImpactKind{
		`\! touch x`: interlock.ImpactExecute, `\copy t from program 'touch x'`: interlock.ImpactExecute, `\o |touch x`: interlock.ImpactExecute, `select 1 \g |touch x`: interlock.ImpactExecute, "\\set x `touch y`": interlock.ImpactExecute,
		".shell touch x": interlock.ImpactExecute, ".import '|touch x' t": interlock.ImpactExecute, ".once |touch x": interlock.ImpactExecute, "system touch x": interlock.ImpactExecute, "!!dir": interlock.ImpactExecute, ".load ./x": interlock.ImpactExecute,
		`\copy t to 'x.csv'`: interlock.ImpactWrite, `\o x.txt`: interlock.ImpactWrite, ".output x.txt": interlock.ImpactWrite, ".save x.db": interlock.ImpactWrite, "tee x.log": interlock.ImpactWrite, ".restore x.db": interlock.ImpactWrite,
		`\copy t from 'x.csv'`: interlock.ImpactRead, ".import x.csv t": interlock.ImpactRead, `\password`: interlock.ImpactCredential,
	} {
		got := analyse(t, source(interlock.KindSQL, text))
		if !anyImpact(got, func(i interlock.Impact) bool { return i.Kind == want && (strings.HasPrefix(i.Via, "sql client")) }) {
			t.Errorf("%s: no %s by the client: %+v", text, want, got)
		}
	}
	for _, text := range []string{`\d t`, `\timing on`, ".tables", ".headers on", ".output", "system of a down", "host is down", "! That was it"} {
		got := analyse(t, source(interlock.KindSQL, text))
		if anyImpact(got, func(i interlock.Impact) bool { return strings.HasPrefix(i.Via, "sql client") }) {
			t.Errorf("%s: taken for more than it is: %+v", text, got)
		}
	}
}

// TestSQLAlterOfWhatOthersUse covers changes of what other people's statements rest on, beside those that disturb nobody.
func TestSQLAlterOfWhatOthersUse(t *testing.T) {
	sql := func(text string) interlock.Action { return source(interlock.KindSQL, text) }
	checkReadings(t, []reading{
		{"rights of a function", sql("ALTER FUNCTION f() SECURITY DEFINER"), []string{"privilege workspace reversible f +account"}},
		{"a function", sql("ALTER FUNCTION f() IMMUTABLE"), []string{"write workspace reversible f +database"}},
		{"numbers given anew", sql("ALTER SEQUENCE s RESTART WITH 1"), []string{"write workspace window s +breaking +database"}},
		{"numbers", sql("ALTER SEQUENCE s INCREMENT BY 2"), []string{"write workspace reversible s +database"}},
		{"a partition goes", sql("ALTER TABLE t DETACH PARTITION p"), []string{"write workspace window t +breaking +database"}},
		{"a partition goes in its time", sql("ALTER TABLE t DETACH PARTITION p CONCURRENTLY"), []string{"write workspace reversible t +database"}},
		{"another schema", sql("ALTER TABLE t SET SCHEMA private"), []string{"write workspace window t +breaking +database", "write workspace reversible t +database"}},
		{"all that match", sql("MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN DELETE"), []string{"delete workspace irreversible t +bulk +database", "write workspace reversible t +database"}},
		{"some that match", sql("MERGE INTO t USING s ON t.id = s.id WHEN MATCHED AND s.gone THEN DELETE"), []string{"delete workspace window t +database", "write workspace reversible t +database"}},
	})
}
