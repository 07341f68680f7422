package aql

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"interlock/internal/conform"
)

func introspectionChecks() []conform.Check {
	return []conform.Check{
		{IDs: []string{"AQL-3.3", "AQL-3.3-both"}, Drives: "interlock mcp in both modes", Do: modesServed},
		{IDs: []string{"AQL-6.2"}, Drives: "every operation through every tool", Do: endpoints},
		{IDs: []string{"AQL-7.2"}, Drives: "introspect", Do: queries},
		{IDs: []string{"AQL-7.3"}, Drives: "introspect in both modes", Do: operationsList},
		{IDs: []string{"AQL-D-7.1-5"}, Drives: "introspect", Do: dangerTold},
		{IDs: []string{"AQL-7.4"}, Drives: "introspect by name", Do: details},
		{IDs: []string{"AQL-8.5.4a"}, Drives: "introspect, MCP", Do: stepOnCreate},
		{IDs: []string{"AQL-8.5.4b"}, Drives: "introspect, MCP", Do: controlOnExecute},
		{IDs: []string{"AQL-8.6.3"}, Drives: "introspect, MCP", Do: stepParameters},
	}
}

// An operation is what the list says of one.
type operation struct {
	Name, Endpoint, Description string
	Category                    string `json:"semantic_category"`
}

// operations are those that introspection lists.
func operations(c caller) []operation {
	var list []operation
	_ = json.Unmarshal([]byte(do(c, "introspect", params{"query": "operations"}).Member("data.operations")),
		&list) // none is a fault of the check
	return list
}

// detail is an operation whole, as text.
func detail(c caller, name string) conform.Reply {
	return conform.Reply{Text: do(c, "introspect", params{"query": "operations", "name": name}).Member("data.operation")}
}

// toolsOf are the tools that a server lists, each with the operations that it takes.
func toolsOf(c client) map[string][]string {
	var listed struct {
		Result struct {
			Tools []struct {
				Name        string
				InputSchema struct {
					Properties struct{ Operation struct{ Enum []string } }
				}
			}
		}
	}
	_ = json.Unmarshal([]byte(c.Ask("tools/list").Text), &listed) // none is a fault of the check
	tools := map[string][]string{}
	for _, t := range listed.Result.Tools {
		tools[t.Name] = t.InputSchema.Properties.Operation.Enum
	}
	return tools
}

func modesServed(ctx context.Context, d *conform.Driver) (string, error) {
	h, err := plain(ctx, d)
	if err != nil {
		return "", err
	}
	semantic, single := connect(ctx, h, "modes", "--endpoints", "semantic"), connect(ctx, h, "modes", "--endpoints", "single")
	defer semantic.Close()
	defer single.Close()
	many, one := toolsOf(semantic), toolsOf(single)
	var w wrong
	w.unless(slices.Equal(slices.Sorted(maps.Keys(one)), []string{"mcp_aql"}), "single mode lists %v", slices.Sorted(maps.Keys(one)))
	by := map[string][]string{}
	for _, o := range operations(semantic) {
		by["mcp_aql_"+o.Endpoint] = append(by["mcp_aql_"+o.Endpoint], o.Name)
	}
	w.unless(len(by) >= 3 && slices.Equal(slices.Sorted(maps.Keys(by)), slices.Sorted(maps.Keys(many))),
		"semantic mode lists %v, and has operations for %v",
		slices.Sorted(maps.Keys(many)), slices.Sorted(maps.Keys(by)))
	var all []string
	for tool, names := range many {
		w.unless(len(names) > 0 && slices.Equal(slices.Sorted(slices.Values(names)), slices.Sorted(slices.Values(by[tool]))),
			"%s takes %v, and %v are on it",
			tool, names, by[tool])
		all = append(all, names...)
	}
	w.unless(len(all) > 0 && slices.Equal(slices.Sorted(slices.Values(all)), slices.Sorted(slices.Values(one["mcp_aql"]))),
		"the modes offer %v and %v",
		all, one["mcp_aql"])
	w.unless(begin(single, "task").Member("success") == "true" && begin(semantic, "task").Member("success") == "true",
		"an execution can't be begun in both modes")
	return fmt.Sprintf("by flag one tool, or %d tools, one for each kind that has operations, with the same %d operations",
		len(many), len(all)), w.err()
}

func endpoints(ctx context.Context, d *conform.Driver) (string, error) {
	h, err := plain(ctx, d)
	if err != nil {
		return "", err
	}
	c := connect(ctx, h, "endpoints")
	defer c.Close()
	var w wrong
	all, refused := operations(c), 0
	for _, o := range all {
		for _, tool := range []string{"mcp_aql_create", "mcp_aql_read", "mcp_aql_execute"} {
			if tool == "mcp_aql_"+o.Endpoint {
				continue
			}
			r := c.Tool(tool, params{"operation": o.Name, "params": params{"element_name": "task", "query": "types"}})
			w.unless(failsBy(r, "VALIDATION_ENDPOINT_MISMATCH"), "%s through %s: %s", o.Name, tool, r.Text)
			w.shaped("EndpointMismatchDetails", r.Member("error.details"))
			w.unless(strings.Contains(r.Member("error.message"), "mcp_aql_"+o.Endpoint), "%s is not told where it belongs: %s", o.Name,
				r.Member("error.message"))
			refused++
		}
		w.unless(o.Endpoint == strings.ToLower(o.Category), "%s is %s, and on %s", o.Name, o.Category, o.Endpoint)
	}
	w.unless(len(all) >= 7, "%d operations are listed", len(all))
	return fmt.Sprintf("%d operations with one category each; %d calls elsewhere are refused, with the tool it takes", len(all),
		refused), w.err()
}

func queries(ctx context.Context, d *conform.Driver) (string, error) {
	h, err := plain(ctx, d)
	if err != nil {
		return "", err
	}
	c := connect(ctx, h, "queries")
	defer c.Close()
	var w wrong
	asked := 0
	ask := func(with params) conform.Reply {
		r := do(c, "introspect", with)
		w.shaped("IntrospectionSuccess", r.Text)
		asked++
		return r
	}
	for _, o := range operations(c) {
		r := ask(params{"query": "operations", "name": o.Name})
		w.unless(r.Member("data.operation.name") == o.Name, "%s by its name: %s", o.Name, r.Text)
	}
	var types []struct{ Name string }
	w.error(json.Unmarshal([]byte(ask(params{"query": "types"}).Member("data.types")), &types))
	for _, t := range types {
		r := ask(params{"query": "types", "name": t.Name})
		w.unless(r.Member("data.type.name") == t.Name, "%s by its name: %s", t.Name, r.Text)
	}
	w.unless(len(types) >= 10, "%d types are listed", len(types))
	for query, member := range map[string]string{"operations": `"operation":null`, "types": `"type":null`} {
		r := do(c, "introspect", params{"query": query, "name": "no_such"})
		w.unless(r.Member("success") == "true" && strings.Contains(r.Text, member), "one that is not there: %s", r.Text)
	}
	return fmt.Sprintf("%d queries, each list and each operation and type by its name, are answered as published; what is not there is null", asked), w.err()
}

func operationsList(ctx context.Context, d *conform.Driver) (string, error) {
	h, err := plain(ctx, d)
	if err != nil {
		return "", err
	}
	var w wrong
	listed := 0
	for _, mode := range []string{"semantic", "single"} {
		c := connect(ctx, h, "listed", "--endpoints", mode)
		r := do(c, "introspect", params{"query": "operations"})
		c.Close()
		w.shaped("IntrospectionSuccess", r.Text)
		protocol := conform.Reply{Text: r.Member("data._protocol")}
		w.shaped("ProtocolMetadata", protocol.Text)
		w.unless(protocol.Member("mode") == mode && protocol.Member("version") == "1.0.0-draft" &&
			protocol.Member("conformance") == "level-2",
			"it says mode %s, version %s, conformance %s", protocol.Member("mode"), protocol.Member("version"),
			protocol.Member("conformance"))
		for _, flag := range []string{"batch", "field_selection", "confirmation", "dangerous_operations"} {
			w.unless(protocol.Member("capabilities."+flag) == "true", "capabilities say %s of %s", protocol.Member("capabilities."+flag),
				flag)
		}
		var limits map[string]int
		w.error(json.Unmarshal([]byte(protocol.Member("limits")), &limits))
		for _, limit := range limitNames {
			w.unless(limits[limit] > 0, "%s is %d", limit, limits[limit])
		}
		var all []operation
		w.error(json.Unmarshal([]byte(r.Member("data.operations")), &all))
		for _, o := range all {
			w.unless(o.Name != "" && o.Category != "" && o.Endpoint != "" && o.Description != "" &&
				protocol.Member("danger."+o.Name+".level") != "",
				"an operation is listed as %+v", o)
		}
		listed = len(all)
	}
	w.unless(listed >= 7, "%d operations are listed", listed)
	return fmt.Sprintf("version, conformance, mode, capabilities, limits and danger, and %d operations as published", listed),
		w.err()
}

func dangerTold(ctx context.Context, d *conform.Driver) (string, error) {
	h, err := plain(ctx, d)
	if err != nil {
		return "", err
	}
	c := connect(ctx, h, "danger-told")
	defer c.Close()
	var w wrong
	r := do(c, "introspect", params{"query": "operations"})
	var danger map[string]json.RawMessage
	w.error(json.Unmarshal([]byte(r.Member("data._protocol.danger")), &danger))
	all := operations(c)
	for _, o := range all {
		w.shaped("DangerMetadata", string(danger[o.Name]))
	}
	w.unless(len(all) > 0 && len(danger) == len(all), "%d operations, and the danger of %d", len(all), len(danger))
	w.unless(r.Member("data._protocol.danger.introspect.level") == "safe", "introspect is %s",
		r.Member("data._protocol.danger.introspect.level"))
	return fmt.Sprintf("level and reasons of %d operations", len(all)), w.err()
}

func details(ctx context.Context, d *conform.Driver) (string, error) {
	h, err := plain(ctx, d)
	if err != nil {
		return "", err
	}
	c := connect(ctx, h, "details")
	defer c.Close()
	var w wrong
	all := operations(c)
	for _, o := range all {
		r := detail(c, o.Name)
		w.shaped("OperationDetails", r.Text)
		w.unless(r.Member("returns.name") != "" && r.Member("examples.0.request.operation") == o.Name &&
			r.Member("mcpTool") == "mcp_aql_"+o.Endpoint,
			"%s returns %q, has the example %s and is on %s", o.Name, r.Member("returns.name"), r.Member("examples.0"),
			r.Member("mcpTool"))
		w.unless(r.Member("permissions.readOnly") == fmt.Sprint(o.Category == "READ"), "%s says readOnly %s", o.Name,
			r.Member("permissions.readOnly"))
		lifecycle := slices.Contains([]string{"execute_agent", "complete_execution", "abort_execution"}, o.Name)
		w.unless(!lifecycle || strings.Contains(r.Member("lifecycle.states"), "cancelled"), "%s has the lifecycle %s", o.Name,
			r.Member("lifecycle"))
	}
	w.unless(len(all) >= 7, "%d operations", len(all))
	return fmt.Sprintf("%d operations whole, with no member beside those published", len(all)), w.err()
}

// onEndpoint is a fault unless operations are on an endpoint by what is said of them, and by what their tools take.
func onEndpoint(ctx context.Context, d *conform.Driver, endpoint string, names ...string) (string, error) {
	h, err := plain(ctx, d)
	if err != nil {
		return "", err
	}
	c := connect(ctx, h, "on-"+endpoint)
	defer c.Close()
	var w wrong
	tools := toolsOf(c)
	for _, name := range names {
		r := detail(c, name)
		w.unless(r.Member("endpoint") == endpoint && r.Member("semantic_category") == strings.ToUpper(endpoint), "%s is on %s, as %s",
			name,
			r.Member("endpoint"), r.Member("semantic_category"))
		w.unless(slices.Contains(tools["mcp_aql_"+endpoint], name), "mcp_aql_%s takes %v", endpoint, tools["mcp_aql_"+endpoint])
		answered := c.Tool("mcp_aql_"+endpoint, params{"operation": name, "params": params{}})
		w.unless(failsBy(answered, "VALIDATION_MISSING_PARAM"), "%s without parameters is answered %s", name, answered.Text)
	}
	return strings.Join(names, ", ") + " on " + endpoint, w.err()
}

func stepOnCreate(ctx context.Context, d *conform.Driver) (string, error) {
	return onEndpoint(ctx, d, "create", "record_execution_step")
}

func controlOnExecute(ctx context.Context, d *conform.Driver) (string, error) {
	return onEndpoint(ctx, d, "execute", "execute_agent", "complete_execution", "abort_execution")
}

func stepParameters(ctx context.Context, d *conform.Driver) (string, error) {
	h, err := plain(ctx, d)
	if err != nil {
		return "", err
	}
	c := connect(ctx, h, "parameters")
	defer c.Close()
	var w wrong
	var documented []struct {
		Name     string
		Required bool
	}
	w.error(json.Unmarshal([]byte(detail(c, "record_execution_step").Member("parameters")), &documented))
	required := map[string]bool{}
	for _, p := range documented {
		required[p.Name] = p.Required
	}
	for name, want := range map[string]bool{"element_name": true, "next_action_hint": true, "step_description": false,
		"outcome": false, "findings": false} {
		got, known := required[name]
		w.unless(known && got == want, "%s is documented %t, as required %t", name, known, got)
	}
	begin(c, "task")
	whole := params{"element_name": "task", "next_action_hint": "reading README.md", "step_description": "to see what it says",
		"outcome":  "success",
		"findings": params{"files": []any{"README.md"}}}
	w.unless(goesOn(do(c, "record_execution_step", whole)), "a step with all of them does not go on")
	for _, name := range []string{"element_name", "next_action_hint"} {
		less := maps.Clone(whole)
		delete(less, name)
		r := do(c, "record_execution_step", less)
		w.unless(failsBy(r, "VALIDATION_MISSING_PARAM") && strings.Contains(r.Member("error.message"), name), "without %s: %s", name,
			r.Text)
	}
	return "element_name and next_action_hint are required, step_description, outcome and findings are taken", w.err()
}
