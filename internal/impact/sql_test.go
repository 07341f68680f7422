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
		{"definition dropped", sql("DROP VIEW v"), []string{"delete workspace window v +breaking +database"}},
		{"index dropped", sql("DROP INDEX i"), []string{"delete workspace window i +breaking +database"}},
		{"index dropped while others work", sql("DROP INDEX CONCURRENTLY i"), []string{"delete workspace window i +database"}},
		{"renamed column", sql("ALTER TABLE t RENAME COLUMN a TO b"), []string{"write workspace window t +breaking +database"}},
		{"required column", sql("ALTER TABLE t ADD COLUMN a int NOT NULL"), []string{"write workspace window t +breaking +database"}},
		{"required column with a default", sql("ALTER TABLE t ADD COLUMN a int NOT NULL DEFAULT 3"), []string{"write workspace reversible t +database"}},
		{"stable default", sql("ALTER TABLE t ADD COLUMN a timestamptz DEFAULT now()"), []string{"write workspace reversible t +database"}},
		{"volatile default", sql("ALTER TABLE t ADD COLUMN a uuid DEFAULT gen_random_uuid()"), []string{"write workspace window t +breaking +database"}},
		{"new type", sql("ALTER TABLE t ALTER COLUMN a TYPE smallint"), []string{"write workspace window t +breaking +database"}},
		{"check added", sql("ALTER TABLE t ADD CONSTRAINT c CHECK (a IS NOT NULL) NOT VALID"), []string{"write workspace reversible t +database"}},
		{"table space", sql("ALTER TABLESPACE x SET (random_page_cost = 1)"), []string{"configure system window +database"}},
		{"extension that reaches out", sql("CREATE EXTENSION dblink"), []string{"configure system window dblink +database", "write workspace reversible dblink +database"}},
		{"extension", sql("CREATE EXTENSION pg_trgm"), []string{"write workspace reversible pg_trgm +database"}},
		{"publication", sql("ALTER PUBLICATION p ADD TABLE t"), []string{"configure workspace window p +database +forward"}},
		{"everybody out", sql("VACUUM FULL t"), []string{"configure workspace window +breaking +database"}},
		{"ordinary upkeep", sql("VACUUM t"), []string{"configure workspace reversible +database"}},
		{"list a directory", sql("SELECT pg_ls_dir('/srv/x')"), []string{"read workspace readonly", "read system readonly /srv/x +database +remote"}},
		{"nested beyond reading", sql("SELECT " + strings.Repeat("(", 65) + "1"), []string{"execute system irreversible +nested ?"}},
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

// TestSQLFragments shows which values are taken for pieces of an injected statement, and which harmless ones beside them
// are not.
func TestSQLFragments(t *testing.T) {
	for text, want := range map[string]bool{
		"x' = 'x": true, "a' regexp '": true, "' or ''^'": true, "admin' and length(pass)>3": true, "1 order by 7": true, "ORDER BY 3--": true, "42 like 42": true, "1!=11": true,
		"or x=y#": true, "sleep(5)": true, "concat(": true, "1,sleep(5),3": true, "( 1 * @a ) --": true, "if(1,1,2) union select 3": true,
		`{"user": "x' OR '1'='1"}`: true, `<a b="1&#39; or 1=1 -- "/>`: true, "name=' or 1=1 -- ": true, "page=|| code == '": true, "x' and name glob 'a": true, "'1001'='10": true, "1-false": true, "1 - ORD('a')": true,
		"password::int": true, ") AS r FROM": true, "' alter t": true, "9 /*!32359 AND 0 */": true, "'--x": true, "or 88": true, "AND true": true, "xor 'b' >": true, "SELECT (CASE": true, "SELECT 1 FROM t WHERE": true, "(SELECT 1 FROM DUAL)": true, "a or 1 not between 2 and 3": true,
		`{"name": "O'Brien", "note": "x and y"}`: false, "<b>Hello</b> & it's": false, "status=active and more": false, "std::string": false, "As seen on TV": false, "and 3 more": false, "AND THEN THERE WERE NONE": false, "the '60s or '70s": false, "OR-9-9WYT": false, "2-pack(s)": false, "\\prompt 'a' b": false, "(SELECT a FROM t) UNION (SELECT b FROM u)": false,
		"shabby+\"and white\"": false, "the union selected a few": false, "it's = fine": false, "Bob's and Jane's": false, "order by phone": false,
		"5 apples": false, "x (y)": false, "sleepy (cat)": false, "and so on": false, "IF (SELECT 1) > 0 PRINT 'a'": false, "SELECT a FROM t ORDER BY 1": false,
	} {
		got := anyImpact(analyse(t, source(interlock.KindSQL, text)), func(i interlock.Impact) bool { return i.Has("injection") })
		if got != want {
			t.Errorf("%q: fragment %v, want %v", text, got, want)
		}
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
