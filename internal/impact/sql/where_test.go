package sql

import (
	"strings"
	"testing"

	"interlock/internal/impact/flow"
)

func rowsOf(statement string) (narrow, whole bool) {
	tokens, _ := sqlTokens(statement, false)
	s := sqlRun{&flow.Scan{}}
	return s.narrows(tokens, sqlNameAfter(tokens, map[bool]string{true: "FROM", false: "UPDATE"}[strings.HasPrefix(statement, "DELETE")]))
}

// TestWhere shows which conditions keep a statement to some rows. All of them must be understood whole: what is not is
// judged by a coarser look.
func TestWhere(t *testing.T) {
	all := []string{ // every row, or all that matter
		"", "1", "1=1", "1 = 1.0", "2>1", "1<>2", "'a'='a'", "'a' < 'b'", "true", "not false", "NOT NOT TRUE", "!0", "(((1=1)))",
		"1+1=2", "-1 < 0", "0x10 = 16",
		"id=id", "t.id = id", "(id) = id", "id + 0 = id", "id >= id", "id <=> id", "id IS NOT DISTINCT FROM id", "id IS id",
		"id IN (id)", "id IN (1, 2, id)", "id BETWEEN id AND id", "(a, b) IN ((a, b))",
		"id IS NOT NULL", "name IS NOT NULL", "NOT (name IS NULL)", "name NOTNULL", "id NOT IN (0)", "id <> 0", "id != -1",
		"user_id <> 7", "userId > 0", "id > -1", "id >= 1", "id < 99999999", "0 < id", "uuid <> ''", "NOT id IN (3)",
		"name LIKE '%'", "name ILIKE '%%'", "name LIKE name", "name GLOB '*'", "name REGEXP '.*'", "name ~ '^'", "name ~* '.*'",
		"name NOT LIKE '%' OR name LIKE '%'", "name SIMILAR TO '%'",
		"a = 1 OR 1=1", "a = 1 OR TRUE", "1=1 OR a = 1", "a = 1 OR (b = 2 OR 3 > 2)", "a = 1 OR NOT 1=2", "a = 1 || 1=1",
		"a = 1 || 1", "a = 1 OR a <> 1", "a <> 1 OR a = 1", "a > 5 OR a <= 5", "a <> 1 OR a <> 2", "a < 5 OR a > 5",
		"1=1 AND 2=2", "id = id AND name IS NOT NULL", "true AND (1=1)", "1=1 -- AND id = 3", "id /* = 3 */ = id",
		"now() > '2001-01-01'", "random() >= 0", "$1 = $1", "? = 1", ":x IS NULL", "1 IN (1, 2)", "5 BETWEEN 1 AND 9",
		"length(name) >= 0", "length(name) > -1", "created_at <= now()", "created_at < CURRENT_TIMESTAMP",
		"EXISTS (SELECT 1)", "EXISTS (SELECT 1 FROM u)", "NOT EXISTS (SELECT 1 WHERE 1=0 OR 1=1)",
		"EXISTS (SELECT 1 FROM u WHERE 1=1)", "id IN (SELECT id FROM t)", "id IN (SELECT DISTINCT id FROM t WHERE 1=1)", "id = ANY (SELECT id FROM t)",
		"CASE WHEN a = 1 THEN true ELSE true END", "CASE WHEN 1=1 THEN 1 ELSE 0 END", "id", "id + 1", "a | 1", "NULL IS NULL",
		"1 IS NOT NULL", "(1=1) IS TRUE", "(a = a) IS NOT FALSE", "1=1=1", "COALESCE(NULL, 1) = 1",
	}
	for _, condition := range all {
		for _, head := range []string{"DELETE FROM t", "UPDATE t SET a = 1"} {
			statement := head
			if condition != "" {
				statement += " WHERE " + condition
			}
			if narrow, whole := rowsOf(statement); narrow || !whole {
				t.Errorf("%s: narrow %v, whole %v; want every row, understood", statement, narrow, whole)
			}
		}
	}
	some := []string{
		"id = 3", "3 = id", "t.id = 3", "id = $1", "id = ?", "id = :id", "id = %s", "id = %(id)s", "id = @id", "id = {user}",
		"id = ${user}", "`id` = 3", `"id" = 3`, "[id] = 3", "id IN (1, 2)", "id IN ($1, $2)", "id IN :ids", "id = ANY($1)",
		"id IN (SELECT id FROM u)", "id IN (SELECT id FROM t WHERE a = 1)", "id NOT IN (SELECT MIN(id) FROM t GROUP BY email)",
		"id IN (SELECT id FROM t LIMIT 5)", "EXISTS (SELECT 1 FROM u WHERE u.id = t.id)", "NOT EXISTS (SELECT 1 FROM u WHERE u.id = t.id)",
		"name = 'x'", "name LIKE 'a%'", "name LIKE '%' || $1 || '%'", "name LIKE CONCAT('%', ?, '%')", "name ~ '^a'",
		"name REGEXP 'b$'", "first || ' ' || last = 'A B'", "name IS NULL", "a = 1 AND b = 2", "a = 1 OR b = 2", "1=1 AND id = 3", "id = 3 AND true", "(a = 1)",
		"created_at < now() - interval '30 days'", "created_at < '2020-01-01'", "created_at < DATE_SUB(NOW(), INTERVAL 30 DAY)",
		"expires_at < now()", "age > 18", "count <> 0", "price BETWEEN 1 AND 5", "year = 2010", "active", "NOT active", "deleted = true", "status <> 'done'",
		"1=0", "false", "NULL", "id = NULL", "id IS NULL", "id <> id", "NOT (1=1)", "data->>'k' = 'v'", "data @> '{\"a\":1}'",
		"tags && ARRAY['x']", "lower(name) = 'x'", "a::int = 4", "a COLLATE \"C\" = 'x'", "ts AT TIME ZONE 'UTC' < '2020-01-01'", "CURRENT OF c",
		"CASE WHEN a = 1 THEN b = 2 ELSE false END", "a = 1 OR a = 2", "a < 5 OR a > 9", "id % 2 = 0", "id > 500",
		"id BETWEEN 5 AND 9", "a IS DISTINCT FROM 3", "length(name) > 3", "date(ts) = CURRENT_DATE",
		"MATCH(body) AGAINST ('x' IN BOOLEAN MODE)", "(a, b) = (1, 2)", "NOT (a = 1 OR b = 2)",
	}
	for _, condition := range some {
		for _, head := range []string{"DELETE FROM t WHERE ", "UPDATE t SET a = 1 WHERE "} {
			if narrow, whole := rowsOf(head + condition); !narrow || !whole {
				t.Errorf("%s%s: narrow %v, whole %v; want some rows, understood", head, condition, narrow, whole)
			}
		}
	}
}

// TestWhereOfWholeStatements covers what lies around a condition: limits, joins, conditions of subqueries, what follows.
func TestWhereOfWholeStatements(t *testing.T) {
	for statement, want := range map[string]bool{
		"DELETE FROM t LIMIT 10": true, "DELETE FROM t LIMIT 99999999999": false, "DELETE TOP (5) FROM t": true,
		"DELETE TOP (100) PERCENT FROM t": false, "DELETE FROM t WHERE 1=1 LIMIT ?": true,
		"DELETE FROM t WHERE id = 3 RETURNING *": true, "DELETE FROM t WHERE id = id RETURNING *": false, "DELETE FROM t ORDER BY id": false,
		"DELETE FROM t USING u WHERE t.a = u.b": true, "DELETE t FROM t JOIN u ON u.a = t.a": true,
		"DELETE t FROM t JOIN u ON 1=1": false, "DELETE t FROM t LEFT JOIN u ON u.a = t.a": false,
		"DELETE t FROM t LEFT JOIN u ON u.a = t.a WHERE u.a IS NULL": true, "DELETE t FROM t JOIN u USING (a)": true, "DELETE t FROM t CROSS JOIN u": false,
		"UPDATE t SET a = (SELECT max(b) FROM u WHERE u.id = 3)": false, "UPDATE t SET a = u.b FROM u WHERE u.id = t.id": true,
		"UPDATE t JOIN u ON u.id = t.u SET t.a = 1":  true,
		"UPDATE t SET a = (SELECT b FROM u LIMIT 1)": false, "UPDATE t SET a = substring(b FROM 2 FOR 3)": false,
		"DELETE FROM t WHERE id = 3 DROP TABLE u": true,
		"DELETE FROM t WHERE x.limit = 3 OR 1=1":  false,
	} {
		if narrow, whole := rowsOf(statement); narrow != want || !whole {
			t.Errorf("%s: narrow %v, whole %v; want %v, understood", statement, narrow, whole, want)
		}
	}
}

// TestWhereNotUnderstood shows that what the grammar does not cover is said to be so, and that the coarser look then decides.
func TestWhereNotUnderstood(t *testing.T) {
	for statement, want := range map[string]bool{
		"DELETE FROM t WHERE a ?? b": true, "DELETE FROM t WHERE a ?? b OR 1=1": false, "DELETE FROM t WHERE": false,
		"DELETE FROM t WHERE (": false, "DELETE FROM t WHERE a = = b": true,
	} {
		tokens, _ := sqlTokens(statement, false)
		s := sqlRun{&flow.Scan{}}
		if _, whole := s.narrows(tokens, "t"); whole {
			t.Errorf("%s: claimed to be understood", statement)
		}
		if got := s.effectiveWhere(tokens, "t"); got != want {
			t.Errorf("%s: effective %v, want %v", statement, got, want)
		}
	}
}

// truthOf evaluates a condition; whole says that all of it was understood.
func truthOf(condition string) (truth sqlTruth, whole bool) {
	tokens, odd := sqlTokens(condition, false)
	if odd.open || sqlDeep(tokens) {
		return sqlSometimes, false
	}
	return (sqlRun{&flow.Scan{}}).truth(tokens, "t")
}

// FuzzWhere: of any condition that is understood whole, brackets and a double negation change nothing, an alternative that
// always holds makes it hold always, and one that never does besides makes it hold never.
func FuzzWhere(f *testing.F) {
	for _, seed := range []string{"id = 3", "1=1", "a = 1 OR b IS NULL", "id IN (SELECT id FROM t)",
		"CASE WHEN a THEN 1 ELSE 0 END", "NOT a BETWEEN 1 AND 2", "EXISTS (SELECT 1 WHERE 2 > 1)", "a LIKE '%' || b",
		"a::int = -1", "x IS NOT DISTINCT FROM y", "((", "1=1=1", "id = id + 0 XOR 1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, condition string) {
		if strings.ContainsAny(condition, "-#/;\\") { // a comment or an end would swallow what is added behind
			return
		}
		truth, whole := truthOf(condition)
		tokens, _ := sqlTokens(condition, false)
		if !whole || len(tokens) == 0 || len(tokens) > 40 {
			return
		}
		for _, last := range tokens {
			// another statement behind
			if last.kind == sqlWord && (sqlHeads.Has(last.upper) || sqlReads.Has(last.upper) || last.upper == "ELSE") {
				return
			}
		}
		for respelled, want := range map[string]sqlTruth{
			"(" + condition + ")": truth, "NOT NOT (" + condition + ")": truth, "(" + condition + ") OR 1=1": sqlAlways,
			"2 > 1 OR (" + condition + ")":           sqlAlways,
			"(" + condition + ") AND 1=0":            sqlNever,
			"(" + condition + ") AND 1=1 AND id = 3": map[bool]sqlTruth{true: sqlNever, false: sqlSometimes}[truth == sqlNever],
		} {
			if got, understood := truthOf(respelled); understood && got != want {
				t.Errorf("%s: %d, want %d, because %s is %d", respelled, got, want, condition, truth)
			}
		}
	})
}
