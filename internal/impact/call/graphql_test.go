package call_test

import (
	"encoding/json"
	"testing"

	"interlock"
	"interlock/internal/impact/impacttest"
)

// TestMutations: what a request in GraphQL deletes or hands out counts as the call of a tool of that name, wherever
// it stands in the document; what it reads, however it is called, does not.
func TestMutations(t *testing.T) {
	var readings []impacttest.Reading
	for _, harmless := range []string{"query { viewer { login } }", "{ repository(name:\"deleteAll\") { deletedAt } }",
		"query Deleted { deleteRepository { id } }", "subscription { onDelete { id } }",
		"mutation { addComment(body:\"mutation { deleteX }\"){id} }",
		"mutation { deleteNothing: addComment(body:\"x\"){ deleteRepository } }", "# mutation { deleteUser }\n{ me { id } }"} {
		readings = append(readings, reading(harmless, "execute workspace reversible"))
	}
	for _, harmful := range []string{"mutation { deleteRepository(input:{id:\"x\"}) { id } }", "mutation{x:deleteRepository{n}}",
		"query A{me{id}} mutation B($id: ID! = {a: 1}) @d {me deleteRepository(id:$id){id}}",
		"# hi\nmutation { deleteRepository }"} {
		readings = append(readings, reading(harmful, "delete external irreversible +infrastructure", "execute workspace reversible"))
	}
	impacttest.CheckReadings(t, readings)
}

func reading(document string, want ...string) impacttest.Reading {
	quoted, _ := json.Marshal(document)
	return impacttest.Reading{Name: document,
		Action: impacttest.Object(interlock.KindTool, "graphql", `{"query":`+string(quoted)+`}`), Want: want}
}
