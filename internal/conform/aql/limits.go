package aql

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"interlock/internal/conform"
)

func limitChecks() []conform.Check {
	return []conform.Check{
		{IDs: []string{"AQL-4.7.5"}, Drives: "MCP at each limit and beyond it", Do: limits},
	}
}

// limitNames are the limits that clause 4.7.5 names.
var limitNames = []string{"max_request_size", "max_response_size", "max_string_length", "max_array_elements", "max_nesting_depth"}

// wordy is a home whose rules are long, and with them what introspection answers.
func wordy(ctx context.Context, d *conform.Driver) (*conform.House, error) {
	var rules strings.Builder
	rules.WriteString("policy:\n  deny:\n")
	for n := range 1000 {
		fmt.Fprintf(&rules, "    - \"heron %04d %s\"\n", n, strings.Repeat("a long way to go ", 8))
	}
	return d.House(ctx, conform.Plan{Name: "aql-wordy", Rules: rules.String()})
}

func limits(ctx context.Context, d *conform.Driver) (string, error) {
	h, err := wordy(ctx, d)
	if err != nil {
		return "", err
	}
	c := connect(ctx, h, "limits", "--endpoints", "single")
	defer c.Close()
	var w wrong
	list := do(c, "introspect", params{"query": "operations"})
	var bounds map[string]int
	w.error(json.Unmarshal([]byte(list.Member("data._protocol.limits")), &bounds))
	for _, name := range limitNames {
		w.unless(bounds[name] > 0, "%s is not advertised", name)
	}
	if err := w.err(); err != nil {
		return "", err
	}
	with := func(inputs any) params {
		return params{"operation": "execute_agent", "params": params{"element_name": "task", "parameters": inputs}}
	}
	sized := func(size int) params { // whose JSON is of that size
		text, err := json.Marshal(with(params{"text": ""}))
		w.error(err)
		return with(params{"text": strings.Repeat("x", size-len(text))})
	}
	batch := func(n int) params {
		var all []any
		for range n {
			all = append(all, params{"operation": "introspect", "params": params{"query": "operations"}})
		}
		return params{"operations": all}
	}
	answers := bounds["max_response_size"]/len(list.Text) + 2
	w.unless(answers <= bounds["max_batch_operations"], "no batch of these answers is over the limit")
	for _, tc := range []struct {
		limit  string
		at     params
		beyond params
	}{
		{"max_request_size", sized(bounds["max_request_size"]), sized(bounds["max_request_size"] + 1)},
		{"max_array_elements", with(params{"list": make([]int, bounds["max_array_elements"])}),
			with(params{"list": make([]int, bounds["max_array_elements"]+1)})},
		{"max_nesting_depth", with(nested(bounds["max_nesting_depth"] - 2)), with(nested(bounds["max_nesting_depth"] - 1))},
		{"max_response_size", batch(answers - 4), batch(answers)},
	} {
		at, beyond := c.Tool("mcp_aql", tc.at), c.Tool("mcp_aql", tc.beyond)
		w.unless(at.Member("success") == "true", "at %s: %s", tc.limit, short(at.Text))
		w.unless(failsBy(beyond, "VALIDATION_PAYLOAD_TOO_LARGE") && strings.Contains(beyond.Member("error.message"), tc.limit) &&
			beyond.Member("error.details.limit") == tc.limit, "beyond %s: %s", tc.limit, short(beyond.Text))
	}
	w.unless(bounds["max_string_length"] <= bounds["max_request_size"], "a string may be longer than a request")
	return fmt.Sprintf("%v: what is at a limit passes, what is one beyond is refused by its name; a string is within the request's",
		bounds), w.err()
}

// nested is so many objects in one another.
func nested(depth int) any {
	value := any("x")
	for range depth {
		value = params{"e": value}
	}
	return value
}
