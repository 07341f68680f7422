package aql

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"interlock/internal/conform"
)

func requestChecks() []conform.Check {
	return []conform.Check{
		{IDs: []string{"AQL-2.3"}, Drives: "MCP over a connection that ends, log", Do: connectionEnds},
		{IDs: []string{"AQL-4.1"}, Drives: "MCP", Do: requestForm},
		{IDs: []string{"AQL-4.6"}, Drives: "every operation with a parameter that nobody knows", Do: unknownParameters},
		{IDs: []string{"AQL-7.5"}, Drives: "introspect with fields, batches", Do: fieldsAndBatches},
	}
}

func connectionEnds(ctx context.Context, d *conform.Driver) (string, error) {
	h, err := tokens(ctx, d)
	if err != nil {
		return "", err
	}
	c := connect(ctx, h, "leaving")
	token := asked(begin(c, "task"))
	begun := confirmed(c, "execute_agent", params{"element_name": "task"})
	first := c.Tool("mcp_aql_read", params{"operation": "introspect", "_meta": params{"agent": "somebody-else", "cached": true},
		"params": params{"query": "types", "_agent": "root"}})
	stepped := confirmed(c, "record_execution_step", params{"element_name": "task", "next_action_hint": "reading heron.md",
		"_meta": params{"agent": "root"}})
	c.Close()
	again := connect(ctx, h, "leaving")
	defer again.Close()
	late := do(again, "execute_agent", params{"element_name": "task", "_confirmation": token})
	gone := confirmed(again, "record_execution_step", params{"execution_id": begun.Member("data.execution_id"),
		"element_name":     "task",
		"next_action_hint": "reading README.md"})
	var w wrong
	w.unless(first.Member("success") == "true", "metadata: %s", first.Text)
	w.unless(goesOn(stepped), "a step with metadata: %s", stepped.Text)
	w.unless(strings.HasPrefix(token, "conf_") && failsBy(late, "TOKEN_INVALID"), "the token of the connection before: %s",
		late.Text)
	w.unless(failsBy(gone, "NOT_FOUND_RESOURCE"), "the execution of the connection before: %s", gone.Text)
	ended := h.Events(ctx, "EXECUTION")
	w.unless(strings.Contains(ended, `"state":"cancelled"`) && strings.Contains(ended, "the connection ended"),
		"the end of the execution is not recorded: %s", ended)
	revoked := h.Events(ctx, "TOKEN_REVOKED")
	w.unless(strings.Contains(revoked, "the connection ended"), "the end of the token is not recorded: %s", revoked)
	actor := h.Events(ctx, "AGENT_DECISION") + h.Events(ctx, "DECISION")
	w.unless(!strings.Contains(actor, `"actor_id":"root"`) && !strings.Contains(actor, "somebody-else"),
		"metadata was taken for an identity: %s", actor)
	return "an execution and a token end with their connection, which is recorded, and _meta is nobody's identity", w.err()
}

func requestForm(ctx context.Context, d *conform.Driver) (string, error) {
	h, err := plain(ctx, d)
	if err != nil {
		return "", err
	}
	c := connect(ctx, h, "form")
	defer c.Close()
	var w wrong
	types := func(r conform.Reply) bool {
		return r.Member("success") == "true" && r.Member("data.types.0.name") != ""
	}
	list := func(r conform.Reply) bool {
		return r.Member("success") == "true" && r.Member("data.operations.0.name") != ""
	}
	for name, tc := range map[string]struct {
		arguments params
		is        func(conform.Reply) bool
	}{
		"in params":        {params{"operation": "introspect", "params": params{"query": "types"}}, types},
		"beside operation": {params{"operation": "introspect", "query": "types"}, types},
		"params wins":      {params{"operation": "introspect", "query": "operations", "params": params{"query": "types"}}, types},
		"and the other":    {params{"operation": "introspect", "query": "types", "params": params{"query": "operations"}}, list},
	} {
		r := c.Tool("mcp_aql_read", tc.arguments)
		w.unless(tc.is(r), "%s: %s", name, r.Text)
	}
	begin(c, "task")
	r := c.Tool("mcp_aql_create", params{"operation": "record_execution_step", "next_action_hint": "rm -rf /",
		"params": params{"element_name": "task", "next_action_hint": "reading README.md"}})
	w.unless(goesOn(r), "a step whose hint in params is harmless: %s", r.Text)
	for name, arguments := range map[string]params{"no operation": {"params": params{}}, "a number": {"operation": 7},
		"params that are a list": {
			"operation": "introspect", "params": []any{}}} {
		r := c.Tool("mcp_aql_read", arguments)
		w.unless(r.Member("success") == "false" && strings.HasPrefix(r.Member("error.code"), "VALIDATION_"), "%s: %s", name, r.Text)
	}
	return "a parameter is taken in params or beside operation, and the one in params wins", w.err()
}

func unknownParameters(ctx context.Context, d *conform.Driver) (string, error) {
	h, err := plain(ctx, d)
	if err != nil {
		return "", err
	}
	c := connect(ctx, h, "unknown")
	defer c.Close()
	var w wrong
	all := operations(c)
	for _, o := range all {
		for place, arguments := range map[string]params{"in params": {"operation": o.Name, "params": params{"unheard_of": 1}},
			"beside them": {"operation": o.Name, "unheard_of": 1}} {
			r := c.Tool("mcp_aql_"+o.Endpoint, arguments)
			message := r.Member("error.message")
			w.unless(failsBy(r, "VALIDATION_UNKNOWN_PARAM") && strings.Contains(message, "unheard_of"), "%s %s: %s", o.Name, place, r.Text)
			if known := detail(c, o.Name).Member("parameters.0.name"); known != "" {
				w.unless(strings.Contains(message+r.Member("error.details.valid_params"), known), "%s does not say what it takes: %s",
					o.Name, r.Text)
			}
		}
	}
	exempt := c.Tool("mcp_aql_read", params{"operation": "introspect", "_trace": "t1", "params": params{"query": "types",
		"_request_id": 7}})
	w.unless(exempt.Member("success") == "true", "metadata: %s", exempt.Text)
	w.unless(len(all) >= 7, "%d operations", len(all))
	return fmt.Sprintf("%d operations refuse it by its name and say what they take; names with an underscore before them are metadata", len(all)), w.err()
}

func fieldsAndBatches(ctx context.Context, d *conform.Driver) (string, error) {
	h, err := tokens(ctx, d)
	if err != nil {
		return "", err
	}
	c := connect(ctx, h, "batches", "--endpoints", "single")
	defer c.Close()
	var w wrong
	some := do(c, "introspect", params{"query": "operations", "fields": []string{"operations.name"}})
	w.unless(some.Member("data._protocol") == "" && some.Member("data.operations.0.name") == "introspect" &&
		some.Member("data.operations.0") ==
			`{"name":"introspect"}`, "the names alone: %s", some.Text)
	minimal := do(c, "introspect", params{"query": "types", "fields": "minimal"})
	w.unless(minimal.Member("data.types.0") != "" && minimal.Member("data.types.0.kind") == "", "the minimum: %s", minimal.Text)
	one := func(query string) params {
		return params{"operation": "introspect", "params": params{"query": query, "fields": "minimal"}}
	}
	batch := c.Tool("mcp_aql", params{"operations": []any{one("types"), params{"operation": "introspect", "params": params{}},
		one("operations")}})
	w.shaped("BatchResult", batch.Text)
	w.unless(batch.Member("results.0.result.data.types") != "" &&
		batch.Member("results.1.result.error.code") == "VALIDATION_MISSING_PARAM" &&
		batch.Member("results.2.result.data.operations") != "" && batch.Member("summary.succeeded") == "2" &&
		batch.Member("summary.failed") == "1",
		"a batch with a failure in it: %s", batch.Text)
	for n := range 3 {
		w.unless(batch.Member(fmt.Sprintf("results.%d.index", n)) == fmt.Sprint(n), "result %d has the index %s", n,
			batch.Member(fmt.Sprintf("results.%d.index", n)))
	}
	halted := c.Tool("mcp_aql", params{"operations": []any{one("types"), params{"operation": "execute_agent",
		"params": params{"element_name": "task"}},
		one("operations"), params{"operation": "execute_agent", "params": params{"element_name": "other"}}}})
	last := halted.Member("results.1")
	w.unless(strings.Contains(last, "CONFIRMATION_REQUIRED") && halted.Member("results.1.status") == "pending_confirmation" &&
		halted.Member("results.2") == "",
		"a batch is not halted by what wants a confirmation: %s", halted.Text)
	pending := conform.Reply{Text: halted.Member("results.1.result.error.details.pending_operations")}
	w.unless(slices.Equal([]string{pending.Member("0.index"), pending.Member("0.operation"), pending.Member("1.index"),
		pending.Member("1.params.element_name"),
		pending.Member("2")}, []string{"2", "introspect", "3", "other", ""}), "what is pending: %s", pending.Text)
	return "fields are selected; a batch runs in order past a failure, and halts at a confirmation, with the two that were not tried", w.err()
}
