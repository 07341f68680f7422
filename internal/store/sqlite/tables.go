package sqlite

import (
	"context"
	_ "embed"
	"maps"
	"slices"
	"strings"

	"interlock/internal/ledger"
)

// tablesNow is the schema as the newest version leaves it, as SQLite has it: what a store is held against. A test makes it again.
//
//go:embed tables.sql
var tablesNow string

// A table without a name here is nobody's business: Interlock reads none but its own. What acts by itself is: a trigger, a view in a
// table's place, an index that refuses rows.

// tableSeparator is between the statements of tables.sql.
const tableSeparator = ";\n\n"

// Made holds the tables of the store, and what belongs to them, against what they should be.
func (c *conn) Made(ctx context.Context, visit func(*ledger.Tampered) error) error {
	missing := map[string]bool{}
	for _, statement := range strings.Split(strings.TrimSpace(tablesNow), tableSeparator) {
		missing[strings.TrimSuffix(strings.TrimSpace(statement), ";")] = true
	}
	var wrong []*ledger.Tampered
	name := func(kind, name, what string) *ledger.Tampered {
		return &ledger.Tampered{Table: "sqlite_schema", Kind: kind, Key: name, What: what}
	}
	err := c.each(ctx, "SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\' "+
		"ORDER BY type, name", nil, func(scan func(...any) error) error {
		var kind, key, table, statement string
		if err := scan(&kind, &key, &table, &statement); err != nil {
			return err
		}
		if missing[statement] {
			delete(missing, statement)
		} else if kind != "table" || ourTable(key) {
			wrong = append(wrong, name(kind, key, "is not as Interlock made it"))
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, statement := range slices.Sorted(maps.Keys(missing)) {
		words := append(strings.Fields(statement), "", "", "")
		kind, key := strings.ToLower(words[1]), words[2]
		if !slices.ContainsFunc(wrong, func(t *ledger.Tampered) bool { return t.Kind == kind && t.Key == key }) {
			wrong = append(wrong, name(kind, key, "is missing"))
		}
	}
	for _, t := range wrong {
		if err := visit(t); err != nil {
			return err
		}
	}
	return nil
}

// ourTable reports whether a table is one of Interlock's.
func ourTable(name string) bool { return strings.Contains(tablesNow, "TABLE "+name+" (") }
