package sql_test

import (
	"strings"
	"testing"

	"interlock"
	"interlock/internal/impact/impacttest"
)

func TestSQL(t *testing.T) {
	sql := func(text string) interlock.Action { return impacttest.Source(interlock.KindSQL, text) }
	impacttest.CheckReadings(t, []impacttest.Reading{
		{Name: "select", Action: sql("SELECT a FROM t WHERE b = 1"), Want: []string{"read workspace readonly t"}},
		{Name: "keyword in a literal", Action: sql("SELECT 'DROP TABLE x; --' FROM t"), Want: []string{"read workspace readonly t"}},
		{Name: "keyword in a comment", Action: sql("SELECT 1 -- DROP TABLE t\nFROM t"), Want: []string{"read workspace readonly t"}},
		{Name: "keyword as a name", Action: sql(`SELECT "delete" FROM "drop"`), Want: []string{"read workspace readonly drop"}},
		{Name: "insert", Action: sql("INSERT INTO t (a) VALUES (1)"), Want: []string{"write workspace reversible t +database"}},
		{Name: "update", Action: sql("UPDATE t SET a = 1 WHERE b = 2"), Want: []string{"write workspace reversible t +database"}},
		{Name: "update all", Action: sql("UPDATE t SET a = 1"), Want: []string{"write workspace irreversible t +bulk +database"}},
		{Name: "delete", Action: sql("DELETE FROM t WHERE id = 3"), Want: []string{"delete workspace window t +database"}},
		{Name: "delete all", Action: sql("delete/**/from t"), Want: []string{"delete workspace irreversible t +bulk +database"}},
		{Name: "where that is always true", Action: sql("DELETE FROM t WHERE 1=1"), Want: []string{"delete workspace irreversible t +bulk +database"}},
		{Name: "or that is always true", Action: sql("DELETE FROM t WHERE a = 2 OR TRUE"), Want: []string{"delete workspace irreversible t +bulk +database"}},
		{Name: "where that only looks like it", Action: sql("DELETE FROM t WHERE a = 1"), Want: []string{"delete workspace window t +database"}},
		{Name: "hidden in a cte", Action: sql("WITH x AS (DELETE FROM t RETURNING *) SELECT * FROM x"), Want: []string{
			"delete workspace irreversible t +bulk +database", "read workspace readonly t"}},
		{Name: "hidden in explain analyze", Action: sql("EXPLAIN ANALYZE DELETE FROM t"), Want: []string{"delete workspace irreversible t +bulk +database"}},
		{Name: "explain alone", Action: sql("EXPLAIN DELETE FROM t"), Want: []string{"read workspace readonly"}},
		{Name: "second statement", Action: sql("SELECT 1; DROP TABLE t"),
			Want: []string{"read workspace readonly", "delete workspace irreversible t +database"}},
		{Name: "mysql executes it", Action: sql("/*!50000 DROP TABLE t */"), Want: []string{"delete workspace irreversible t +database +obfuscated"}},
		{Name: "split keyword", Action: sql("DR/**/OP TABLE t"), Want: []string{"delete workspace irreversible t +database +obfuscated"}},
		{Name: "nested comment", Action: sql("/* a /* b */ c */ DROP TABLE t"), Want: []string{"delete workspace irreversible t +database"}},
		{Name: "drop database cascade", Action: sql("DROP SCHEMA s CASCADE"), Want: []string{"delete workspace irreversible s +bulk +database +recursive"}},
		{Name: "truncate", Action: sql("TRUNCATE TABLE t"), Want: []string{"delete workspace irreversible t +bulk +database"}},
		{Name: "production by name", Action: sql("DROP DATABASE app_prod"), Want: []string{"delete production irreversible app_prod +bulk +database"}},
		{Name: "drop column", Action: sql("ALTER TABLE t DROP COLUMN c"), Want: []string{"delete workspace irreversible t +database"}},
		{Name: "add column", Action: sql("ALTER TABLE t ADD COLUMN c int"), Want: []string{"write workspace reversible t +database"}},
		{Name: "grant everything", Action: sql("GRANT ALL ON *.* TO 'a'@'%'"), Want: []string{"privilege workspace window +account +bulk"}},
		{Name: "create user", Action: sql("CREATE USER a"), Want: []string{"privilege workspace window a +account"}},
		{Name: "read a file", Action: sql("SELECT pg_read_file('/etc/hostname')"), Want: []string{
			"read workspace readonly", "read system readonly /etc/hostname +database +remote"}},
		{Name: "safety off", Action: sql("SET FOREIGN_KEY_CHECKS=0"), Want: []string{"configure workspace reversible +database +defence"}},
		{Name: "session setting", Action: sql("SET search_path = app"), Want: []string{"read workspace readonly"}},
		{Name: "dollar quotes", Action: sql("DO $$ BEGIN DELETE FROM t; END $$"), Want: []string{
			"delete workspace irreversible t +bulk +database", "read workspace readonly", "read workspace readonly"}},
		{Name: "fragment", Action: sql("1' OR '1'='1"), Want: []string{"execute system irreversible +database +injection"}},
		{Name: "union fragment", Action: sql("-1 UNION/**/SELECT user,password FROM users--"),
			Want: []string{"execute system irreversible +database +injection"}},
		{Name: "definition dropped", Action: sql("DROP VIEW v"), Want: []string{"delete workspace window v +breaking +database"}},
		{Name: "index dropped", Action: sql("DROP INDEX i"), Want: []string{"delete workspace window i +breaking +database"}},
		{Name: "index dropped while others work", Action: sql("DROP INDEX CONCURRENTLY i"), Want: []string{"delete workspace window i +database"}},
		{Name: "renamed column", Action: sql("ALTER TABLE t RENAME COLUMN a TO b"), Want: []string{"write workspace window t +breaking +database"}},
		{Name: "required column", Action: sql("ALTER TABLE t ADD COLUMN a int NOT NULL"), Want: []string{"write workspace window t +breaking +database"}},
		{Name: "required column with a default", Action: sql("ALTER TABLE t ADD COLUMN a int NOT NULL DEFAULT 3"),
			Want: []string{"write workspace reversible t +database"}},
		{Name: "stable default", Action: sql("ALTER TABLE t ADD COLUMN a timestamptz DEFAULT now()"), Want: []string{"write workspace reversible t +database"}},
		{Name: "volatile default", Action: sql("ALTER TABLE t ADD COLUMN a uuid DEFAULT gen_random_uuid()"),
			Want: []string{"write workspace window t +breaking +database"}},
		{Name: "new type", Action: sql("ALTER TABLE t ALTER COLUMN a TYPE smallint"), Want: []string{"write workspace window t +breaking +database"}},
		{Name: "check added", Action: sql("ALTER TABLE t ADD CONSTRAINT c CHECK (a IS NOT NULL) NOT VALID"),
			Want: []string{"write workspace reversible t +database"}},
		{Name: "table space", Action: sql("ALTER TABLESPACE x SET (random_page_cost = 1)"), Want: []string{"configure system window +database"}},
		{Name: "extension that reaches out", Action: sql("CREATE EXTENSION dblink"),
			Want: []string{"configure system window dblink +database", "write workspace reversible dblink +database"}},
		{Name: "extension", Action: sql("CREATE EXTENSION pg_trgm"), Want: []string{"write workspace reversible pg_trgm +database"}},
		{Name: "publication", Action: sql("ALTER PUBLICATION p ADD TABLE t"), Want: []string{"configure workspace window p +database +forward"}},
		{Name: "everybody out", Action: sql("VACUUM FULL t"), Want: []string{"configure workspace window +breaking +database"}},
		{Name: "ordinary upkeep", Action: sql("VACUUM t"), Want: []string{"configure workspace reversible +database"}},
		{Name: "list a directory", Action: sql("SELECT pg_ls_dir('/srv/x')"),
			Want: []string{"read workspace readonly", "read system readonly /srv/x +database +remote"}},
		{Name: "nested beyond reading", Action: sql("SELECT " + strings.Repeat("(", 65) + "1"), Want: []string{"execute system irreversible +nested ?"}},
		{Name: "no sql at all", Action: sql("9-2-5 BLACK PUMPS"), Want: []string{"execute workspace reversible +unparsable"}},
	})
}

// TestSQLRunsPrograms shows that what a statement hands to a shell is read as shell.
func TestSQLRunsPrograms(t *testing.T) {
	for _, text := range []string{"COPY t FROM PROGRAM 'rm -rf /srv/x'", "EXEC xp_cmdshell 'rm -rf /srv/x'", `\! rm -rf /srv/x`} {
		got := impacttest.Analyse(t, impacttest.Source(interlock.KindSQL, text))
		if !impacttest.AnyImpact(got, func(i interlock.Impact) bool { return i.Kind == interlock.ImpactDelete && i.Has("recursive") }) {
			t.Errorf("%s: the program was not read: %+v", text, got)
		}
	}
}

// TestSQLBothReadings covers a backslash before a quote, which dialects read differently: both readings count.
func TestSQLBothReadings(t *testing.T) {
	got := impacttest.Analyse(t, impacttest.Source(interlock.KindSQL, `SELECT '\'; DROP TABLE t; --'`))
	if !impacttest.AnyImpact(got, func(i interlock.Impact) bool { return i.Kind == interlock.ImpactDelete }) {
		t.Errorf("the statement behind the literal was not seen: %+v", got)
	}
}

// TestSQLFragments shows which values are taken for pieces of an injected statement, and which harmless ones beside them
// are not.
func TestSQLFragments(t *testing.T) {
	for text, want := range map[string]bool{
		"x' = 'x": true, "a' regexp '": true, "' or ''^'": true, "admin' and length(pass)>3": true, "1 order by 7": true,
		"ORDER BY 3--": true, "42 like 42": true, "1!=11": true,
		"or x=y#": true, "sleep(5)": true, "concat(": true, "1,sleep(5),3": true, "( 1 * @a ) --": true, "if(1,1,2) union select 3": true,
		`{"user": "x' OR '1'='1"}`: true, `<a b="1&#39; or 1=1 -- "/>`: true, "name=' or 1=1 -- ": true,
		"page=|| code == '": true, "x' and name glob 'a": true, "'1001'='10": true, "1-false": true, "1 - ORD('a')": true,
		"password::int": true, ") AS r FROM": true, "' alter t": true, "9 /*!32359 AND 0 */": true, "'--x": true, "or 88": true,
		"AND true": true, "xor 'b' >": true, "SELECT (CASE": true, "SELECT 1 FROM t WHERE": true, "(SELECT 1 FROM DUAL)": true,
		"a or 1 not between 2 and 3":             true,
		`{"name": "O'Brien", "note": "x and y"}`: false, "<b>Hello</b> & it's": false, "status=active and more": false,
		"std::string": false, "As seen on TV": false, "and 3 more": false, "AND THEN THERE WERE NONE": false,
		"the '60s or '70s": false, "OR-9-9WYT": false, "2-pack(s)": false, "\\prompt 'a' b": false, "(SELECT a FROM t) UNION (SELECT b FROM u)": false,
		"shabby+\"and white\"": false, "the union selected a few": false, "it's = fine": false, "Bob's and Jane's": false, "order by phone": false,
		"5 apples": false, "x (y)": false, "sleepy (cat)": false, "and so on": false, "IF (SELECT 1) > 0 PRINT 'a'": false, "SELECT a FROM t ORDER BY 1": false,
	} {
		got := impacttest.AnyImpact(impacttest.Analyse(t, impacttest.Source(interlock.KindSQL, text)),
			func(i interlock.Impact) bool { return i.Has("injection") })
		if got != want {
			t.Errorf("%q: fragment %v, want %v", text, got, want)
		}
	}
}

// FuzzSQL: any statements are analysed to what [holds] demands: without panic, within bounds, twice alike.
func FuzzSQL(f *testing.F) {
	know := impacttest.Knowledge(f)
	for _, seed := range []string{"SELECT 1", "DELETE FROM t", "/* /* */", "$a$ $b$", "'", `"`, "[", "E'\\", "DR/**/OP TABLE x", "COPY t FROM PROGRAM 'ls'",
		"EXEC sp_executesql N'DELETE FROM t'", "DO $$DO $x$SELECT 1$x$$$", strings.Repeat("(", 200),
		strings.Repeat("DELETE FROM ", 50), "1' or 1=1--", "\x00;\xff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) { impacttest.Holds(t, know, impacttest.Source(interlock.KindSQL, text)) })
}
