package sqlite_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// schemaOf is what a store's file says of its tables and what belongs to them.
func schemaOf(t *testing.T, path string) (statements []string) {
	t.Helper()
	rows, err := raw(t, path).Query("SELECT sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY type DESC, name")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var statement string
		if err := rows.Scan(&statement); err != nil {
			t.Fatal(err)
		}
		statements = append(statements, statement)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return statements
}

// TestTables: the schema that stores are held against is that of a new store, and of one that was brought here from any version.
// INTERLOCK_UPDATE=1 writes it anew.
func TestTables(t *testing.T) {
	path := older(t, "1")()
	open(t, path).Close()
	now := strings.Join(schemaOf(t, path), ";\n\n") + ";\n"
	if os.Getenv("INTERLOCK_UPDATE") != "" {
		if err := os.WriteFile("tables.sql", []byte(now), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("tables.sql")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), now); diff != "" {
		t.Errorf("brought here from version 1 (-tables.sql +store):\n%s", diff)
	}
	for _, version := range []string{"none", "4", "7", "7-orders", "8", "9"} {
		path := newPath(t)
		if version != "none" {
			path = older(t, version)()
		}
		open(t, path).Close()
		if diff := cmp.Diff(now, strings.Join(schemaOf(t, path), ";\n\n")+";\n"); diff != "" {
			t.Errorf("brought here from version %s (-new +brought):\n%s", version, diff)
		}
	}
}
