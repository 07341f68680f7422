package mcpaql_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"interlock"
	"interlock/internal/mcpaql"
	"interlock/internal/memory"
)

// facts is a memory that says what it was asked.
type facts struct{ asked []string }

func (f *facts) note(by interlock.Requester, q any) (memory.Reply, error) {
	f.asked = append(f.asked, fmt.Sprintf("%s in %q: %+v", by.Agent, by.Run, q))
	return memory.Reply{Outcome: memory.OK, ID: "mem_1", Event: "e1"}, nil
}

func (f *facts) PutFact(_ context.Context, by interlock.Requester, q memory.Put) (memory.Reply, error) {
	return f.note(by, q)
}

func (f *facts) PromoteFact(_ context.Context, by interlock.Requester, q memory.Promotion) (memory.Reply, error) {
	return f.note(by, q)
}

func (f *facts) GetFact(_ context.Context, by interlock.Requester, key string) (memory.Reply, error) {
	return f.note(by, key)
}

func (f *facts) SearchFacts(_ context.Context, by interlock.Requester, q memory.Query) (memory.Reply, error) {
	return f.note(by, q)
}

// operationNames lists what introspection says there is.
func operationNames(f *fixture) (names []string) {
	for _, one := range f.data(mcpaql.Read, `{"operation":"introspect","params":{"query":"operations"}}`)["operations"].([]any) {
		names = append(names, one.(map[string]any)["name"].(string))
	}
	return names
}

// TestMemoryOverMCP: agents keep and read facts, each as whom its connection's credential names; where no facts are kept none of the
// operations is there.
func TestMemoryOverMCP(t *testing.T) {
	if names := operationNames(newFixture(t, nil)); slices.Contains(names, "memory_put") {
		t.Errorf("without a memory: %v", names)
	}
	kept := &facts{}
	f := newFixture(t, func(c *mcpaql.Config) { c.Memory = kept })
	names := operationNames(f)
	for _, want := range []string{"memory_put", "memory_get", "memory_search", "memory_promote"} {
		if !slices.Contains(names, want) {
			t.Errorf("%s is not among %v", want, names)
		}
		detail := f.data(mcpaql.Read, `{"operation":"introspect","params":{"query":"operations","name":"`+want+`"}}`)
		if detail["operation"] == nil {
			t.Errorf("%s is not described", want)
		}
	}
	if detail := f.data(mcpaql.Read, `{"operation":"introspect","params":{"query":"types","name":"MemoryReply"}}`); detail["type"] == nil {
		t.Error("what they return is not described")
	}
	put := f.data(mcpaql.Create, `{"operation":"memory_put","params":{"key":"a/b/c/d","value":"x","store":"semantic","source":"web:x",`+
		`"from":["mem_0"],"ttl_seconds":60,"because":"y","subject":"u-1","run":"run_1"}}`)
	if put["outcome"] != "OK" || put["id"] != "mem_1" {
		t.Errorf("put: %v", put)
	}
	f.data(mcpaql.Read, `{"operation":"memory_get","params":{"key":"a/b/c/d"}}`)
	f.data(mcpaql.Read, `{"operation":"memory_search","params":{"query":"x","limit":5}}`)
	f.data(mcpaql.Execute, `{"operation":"memory_promote","params":{"key":"a/b/c/d","because":"y"}}`)
	want := []string{`mcp in "run_1": {Key:a/b/c/d Value:x Store:semantic Source:web:x From:[mem_0] TTL:60 Subject:u-1 Because:y}`,
		`mcp in "": a/b/c/d`, `mcp in "": {Query:x Limit:5}`, `mcp in "": {Key:a/b/c/d Because:y Subject:}`}
	if !slices.Equal(kept.asked, want) {
		t.Errorf("asked\n%q, want\n%q", kept.asked, want)
	}
	f.failure(mcpaql.Create, `{"operation":"memory_put","key":"a/b/c/d"}`, mcpaql.CodeMissingParam)
	f.failure(mcpaql.Create, `{"operation":"memory_put","key":"a/b/c/d","value":"x","holder":"other"}`, mcpaql.CodeUnknownParam)
}
