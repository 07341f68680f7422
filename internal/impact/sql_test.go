package impact_test

import (
	"strings"
	"testing"

	"interlock"
)

func TestSQL(t *testing.T) {
	sql := func(text string) interlock.Action { return source(interlock.KindSQL, text) }
	checkReadings(t, []reading{
		{"select", sql("SELECT a FROM t WHERE b = 1"), []string{"read workspace readonly t"}},
		{"keyword in a literal", sql("SELECT 'DROP TABLE x; --' FROM t"), []string{"read workspace readonly t"}},
		{"keyword in a comment", sql("SELECT 1 -- DROP TABLE t\nFROM t"), []string{"read workspace readonly t"}},
		{"keyword as a name", sql(`SELECT "delete" FROM "drop"`), []string{"read workspace readonly drop"}},
		{"insert", sql("INSERT INTO t (a) VALUES (1)"), []string{"write workspace reversible t +database"}},
		{"update", sql("UPDATE t SET a = 1 WHERE b = 2"), []string{"write workspace reversible t +database"}},
		{"update all", sql("UPDATE t SET a = 1"), []string{"write workspace irreversible t +bulk +database"}},
		{"delete", sql("DELETE FROM t WHERE id = 3"), []string{"delete workspace window t +database"}},
		{"delete all", sql("delete/**/from t"), []string{"delete workspace irreversible t +bulk +database"}},
		{"where that is always true", sql("DELETE FROM t WHERE 1=1"), []string{"delete workspace irreversible t +bulk +database"}},
		{"or that is always true", sql("DELETE FROM t WHERE a = 2 OR TRUE"), []string{"delete workspace irreversible t +bulk +database"}},
		{"where that only looks like it", sql("DELETE FROM t WHERE a = 1"), []string{"delete workspace window t +database"}},
		{"hidden in a cte", sql("WITH x AS (DELETE FROM t RETURNING *) SELECT * FROM x"), []string{
			"delete workspace irreversible t +bulk +database", "read workspace readonly t"}},
		{"hidden in explain analyze", sql("EXPLAIN ANALYZE DELETE FROM t"), []string{"delete workspace irreversible t +bulk +database"}},
		{"explain alone", sql("EXPLAIN DELETE FROM t"), []string{"read workspace readonly"}},
		{"second statement", sql("SELECT 1; DROP TABLE t"), []string{"read workspace readonly", "delete workspace irreversible t +database"}},
		{"mysql executes it", sql("/*!50000 DROP TABLE t */"), []string{"delete workspace irreversible t +database +obfuscated"}},
		{"split keyword", sql("DR/**/OP TABLE t"), []string{"delete workspace irreversible t +database +obfuscated"}},
		{"nested comment", sql("/* a /* b */ c */ DROP TABLE t"), []string{"delete workspace irreversible t +database"}},
		{"drop database cascade", sql("DROP SCHEMA s CASCADE"), []string{"delete workspace irreversible s +bulk +database +recursive"}},
		{"truncate", sql("TRUNCATE TABLE t"), []string{"delete workspace irreversible t +bulk +database"}},
		{"production by name", sql("DROP DATABASE app_prod"), []string{"delete production irreversible app_prod +bulk +database"}},
		{"drop column", sql("ALTER TABLE t DROP COLUMN c"), []string{"delete workspace irreversible t +database"}},
		{"add column", sql("ALTER TABLE t ADD COLUMN c int"), []string{"write workspace reversible t +database"}},
		{"grant everything", sql("GRANT ALL ON *.* TO 'a'@'%'"), []string{"privilege workspace window +account +bulk"}},
		{"create user", sql("CREATE USER a"), []string{"privilege workspace window a +account"}},
		{"read a file", sql("SELECT pg_read_file('/etc/hostname')"), []string{
			"read workspace readonly", "read system readonly /etc/hostname +database +remote"}},
		{"safety off", sql("SET FOREIGN_KEY_CHECKS=0"), []string{"configure workspace reversible +database +defence"}},
		{"session setting", sql("SET search_path = app"), []string{"read workspace readonly"}},
		{"dollar quotes", sql("DO $$ BEGIN DELETE FROM t; END $$"), []string{
			"delete workspace irreversible t +bulk +database", "read workspace readonly", "read workspace readonly"}},
		{"fragment", sql("1' OR '1'='1"), []string{"execute system irreversible +database +injection"}},
		{"union fragment", sql("-1 UNION/**/SELECT user,password FROM users--"), []string{"execute system irreversible +database +injection"}},
		{"no sql at all", sql("9-2-5 BLACK PUMPS"), []string{"execute workspace reversible +unparsable"}},
	})
}

// TestSQLRunsPrograms shows that what a statement hands to a shell is read as shell.
func TestSQLRunsPrograms(t *testing.T) {
	for _, text := range []string{"COPY t FROM PROGRAM 'rm -rf /srv/x'", "EXEC xp_cmdshell 'rm -rf /srv/x'", `\! rm -rf /srv/x`} {
		got := analyse(t, source(interlock.KindSQL, text))
		if !anyImpact(got, func(i interlock.Impact) bool { return i.Kind == interlock.ImpactDelete && i.Has("recursive") }) {
			t.Errorf("%s: the program was not read: %+v", text, got)
		}
	}
}

// TestSQLBothReadings covers a backslash before a quote, which dialects read differently: both readings count.
func TestSQLBothReadings(t *testing.T) {
	got := analyse(t, source(interlock.KindSQL, `SELECT '\'; DROP TABLE t; --'`))
	if !anyImpact(got, func(i interlock.Impact) bool { return i.Kind == interlock.ImpactDelete }) {
		t.Errorf("the statement behind the literal was not seen: %+v", got)
	}
}

// FuzzSQL: any statements are analysed to what [holds] demands: without panic, within bounds, twice alike.
func FuzzSQL(f *testing.F) {
	know := knowledge(f)
	for _, seed := range []string{"SELECT 1", "DELETE FROM t", "/* /* */", "$a$ $b$", "'", `"`, "[", "E'\\", "DR/**/OP TABLE x", "COPY t FROM PROGRAM 'ls'",
		"EXEC sp_executesql N'DELETE FROM t'", "DO $$DO $x$SELECT 1$x$$$", strings.Repeat("(", 200), strings.Repeat("DELETE FROM ", 50), "1' or 1=1--", "\x00;\xff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) { holds(t, know, source(interlock.KindSQL, text)) })
}
