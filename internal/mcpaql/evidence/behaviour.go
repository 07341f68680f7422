package evidence

import (
	"context"
	"fmt"
	"sort"
	"strings"
)

// defaults shows for each documented default that leaving the parameter out is the same as giving it: in a member of the
// answer that is different for another value.
func (c *collector) defaults(ctx context.Context) error {
	for _, d := range c.details {
		for _, p := range d.Parameters {
			if p.Default == nil {
				continue
			}
			other := any(nil)
			for _, value := range p.Enum {
				if value != p.Default {
					other = value
				}
			}
			if other == nil {
				return fmt.Errorf("%s documents a default for %s, and no other value to tell it from", d.Name, p.Name)
			}
			if err := c.defaultOf(ctx, d, p, other); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *collector) defaultOf(ctx context.Context, d detail, p parameter, other any) error {
	omitted, err := c.with(ctx, d, p.Name, nil)
	if err != nil {
		return err
	}
	given, err := c.with(ctx, d, p.Name, p.Default)
	if err != nil {
		return err
	}
	different, err := c.with(ctx, d, p.Name, other)
	if err != nil {
		return err
	}
	for _, name := range sortedKeys(given.Data) {
		value := given.Data[name]
		switch value.(type) {
		case string, bool, float64:
		default:
			continue
		}
		if omitted.Data[name] != value || different.Data[name] == value || strings.HasSuffix(name, "_at") {
			continue // it does not follow the parameter, or it is a time
		}
		c.bundle.ParameterTests.OptionalDefaults = append(c.bundle.ParameterTests.OptionalDefaults,
			DefaultTest{d.Name, p.Name, omitted.raw, "data." + name, value})
		return nil
	}
	return fmt.Errorf("the default of %s in %s shows nowhere in the answer", p.Name, d.Name)
}

// with calls an operation with one parameter given, or left out where the value is nil. What acts on an execution gets a
// running one.
func (c *collector) with(ctx context.Context, d detail, name string, value any) (answer, error) {
	params := c.required(d)
	if _, acts := d.parameter("execution_id"); acts {
		submitted, started, err := c.running(ctx)
		if err != nil {
			return started, err
		}
		params["execution_id"] = started.Data["execution_id"]
		if _, named := params["element_name"]; named {
			params["element_name"] = submitted["element_name"]
		}
	}
	if value != nil {
		params[name] = value
	}
	return c.call(ctx, d.Name, params)
}

// constraints goes past each constraint that introspection tells of, and past the one on states.
func (c *collector) constraints(ctx context.Context) error {
	add := func(name string, documented bool, a answer) {
		c.bundle.ConstraintTests = append(c.bundle.ConstraintTests, ConstraintTest{name, a.raw, documented})
	}
	for _, d := range c.details {
		for _, p := range d.Parameters {
			if len(p.Enum) > 0 {
				a, err := c.with(ctx, d, p.Name, "evidence of no such value")
				if err != nil {
					return err
				}
				add(d.Name+"-"+p.Name+"-enum", true, a)
			}
			if p.MaxLength > 0 {
				a, err := c.with(ctx, d, p.Name, strings.Repeat("e", p.MaxLength+1))
				if err != nil {
					return err
				}
				add(d.Name+"-"+p.Name+"-maxLength", true, a)
			}
		}
	}
	for _, d := range c.details {
		if d.Name != "complete_execution" {
			continue
		}
		_, started, err := c.running(ctx)
		if err != nil {
			return err
		}
		handle := map[string]any{"execution_id": started.Data["execution_id"]}
		if _, err := c.must(ctx, d.Name, handle); err != nil {
			return err
		}
		again, err := c.call(ctx, d.Name, handle)
		if err != nil {
			return err
		}
		add(d.Name+"-final-state", d.Lifecycle != nil && len(d.Lifecycle.States) > 0, again)
	}
	return nil
}

// roundTrips submits an execution and reads it back by reporting a step and by ending it.
func (c *collector) roundTrips(ctx context.Context) error {
	submitted, started, err := c.running(ctx)
	if err != nil {
		return err
	}
	expected := map[string]any{}
	for name, value := range submitted {
		expected["data."+name] = value
	}
	for _, name := range []string{"execution_id", "started_at"} {
		expected["data."+name] = started.Data[name]
	}
	step, err := c.must(ctx, "record_execution_step", map[string]any{"element_name": submitted["element_name"],
		"execution_id": started.Data["execution_id"], "next_action_hint": "git status"})
	if err != nil {
		return err
	}
	ended, err := c.must(ctx, "complete_execution", map[string]any{"execution_id": started.Data["execution_id"]})
	if err != nil {
		return err
	}
	c.bundle.RoundTripTests = []RoundTripTest{{"execution-read-by-step", step.raw, expected},
		{"execution-read-at-end", ended.raw, expected}}
	return nil
}

// batch sends one operation that succeeds, one that fails and one that succeeds after it.
func (c *collector) batch(ctx context.Context) error {
	a, err := c.send(ctx, readTool, map[string]any{"operations": []any{
		map[string]any{"operation": "introspect", "params": map[string]any{"query": "types", "name": "OperationResult"}},
		map[string]any{"operation": "introspect", "params": map[string]any{}},
		map[string]any{"operation": "introspect",
			"params": map[string]any{"query": "operations", "fields": []string{"operations.name"}}},
	}})
	c.bundle.BatchExample = a.raw
	return err
}

// errors makes every mistake a client can make. The last one stops the agent, so nothing comes after it.
func (c *collector) errors(ctx context.Context) error {
	_, started, err := c.running(ctx)
	if err != nil {
		return err
	}
	handle := started.Data["execution_id"]
	step := func(more map[string]any) map[string]any {
		params := map[string]any{"element_name": "evidence", "next_action_hint": "git status"}
		for name, value := range more {
			params[name] = value
		}
		return map[string]any{"operation": "record_execution_step", "params": params}
	}
	create, execute := c.tools["record_execution_step"], c.tools["execute_agent"]
	for _, mistake := range []struct {
		name, tool string
		arguments  any
		mention    []string
	}{
		{"no-operation", readTool, map[string]any{}, []string{"operation"}},
		{"unknown-operation", readTool, map[string]any{"operation": "no_such_operation"},
			[]string{"no_such_operation", "introspect"}},
		{"wrong-endpoint", create, map[string]any{"operation": "introspect", "params": map[string]any{"query": "types"}},
			[]string{"introspect", readTool}},
		{"missing-parameter", create, map[string]any{"operation": "record_execution_step",
			"params": map[string]any{"element_name": "evidence"}}, []string{"next_action_hint", "string"}},
		{"unknown-parameter", create, step(map[string]any{"unheard_of": 1}), []string{"unheard_of", "next_action_hint"}},
		{"wrong-type", create, step(map[string]any{"next_action_hint": 7}), []string{"next_action_hint", "string", "number"}},
		{"outside-enum", create, step(map[string]any{"outcome": "perhaps"}),
			[]string{"outcome", "success", "failure", "skipped"}},
		{"parameters-no-object", create, map[string]any{"operation": "record_execution_step", "params": "all"},
			[]string{"params", "object"}},
		{"nul-character", create, step(map[string]any{"step_description": "a\x00b"}), []string{"step_description", "UTF-8"}},
		{"too-long", create, step(map[string]any{"element_name": strings.Repeat("e", 4096)}), []string{"element_name"}},
		{"too-deep", execute, map[string]any{"operation": "execute_agent",
			"params": map[string]any{"element_name": "evidence", "parameters": nested(40)}}, []string{"max_nesting_depth"}},
		{"no-execution", create, step(map[string]any{"element_name": "evidence of nothing"}), []string{"execute_agent"}},
		{"unknown-execution", execute, map[string]any{"operation": "complete_execution",
			"params": map[string]any{"execution_id": "exec_0"}}, []string{"exec_0"}},
		{"unknown-challenge", create, map[string]any{"operation": "verify_challenge",
			"params": map[string]any{"challenge_id": "00000000-0000-4000-8000-000000000000", "code": "evidence"}},
			[]string{"challenge"}},
		{"own-confirmation", execute, map[string]any{"operation": "confirm_operation",
			"params": map[string]any{"request_id": "apr_0"}}, []string{"request"}},
		{"empty-batch", readTool, map[string]any{"operations": []any{}}, []string{"operations"}},
		{"a step that stops the agent", create,
			step(map[string]any{"execution_id": handle, "element_name": fmt.Sprintf("evidence-%d", c.serial),
				"next_action_hint": "rm -rf /"}), nil},
		{"stopped-agent", execute, map[string]any{"operation": "execute_agent",
			"params": map[string]any{"element_name": "evidence"}}, []string{"verify_challenge"}},
	} {
		a, err := c.send(ctx, mistake.tool, mistake.arguments)
		switch {
		case err != nil:
			return err
		case mistake.mention == nil: // the directive is no error; what follows is
			continue
		case a.Success:
			return fmt.Errorf("the mistake %s was answered with success", mistake.name)
		}
		c.bundle.ErrorTests = append(c.bundle.ErrorTests, ErrorTest{mistake.name, a.raw, mistake.mention})
	}
	return nil
}

func nested(depth int) any {
	var value any = "evidence"
	for range depth {
		value = map[string]any{"e": value}
	}
	return value
}

func sortedKeys(object map[string]any) []string {
	var keys []string
	for key := range object {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	return keys
}
