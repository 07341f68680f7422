package evidence

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A parameter is what introspection documents of one.
type parameter struct {
	Name      string   `json:"name"`
	Type      string   `json:"type"`
	Required  bool     `json:"required"`
	Default   any      `json:"default"`
	Enum      []string `json:"enum"`
	MaxLength int      `json:"maxLength"`
	Format    string   `json:"format"`
}

// A detail is what introspection documents of one operation.
type detail struct {
	raw        json.RawMessage
	Name       string      `json:"name"`
	Endpoint   string      `json:"endpoint"`
	Tool       string      `json:"mcpTool"`
	Parameters []parameter `json:"parameters"`
	Lifecycle  *struct {
		States []string `json:"states"`
	} `json:"lifecycle"`
}

func (d detail) parameter(name string) (parameter, bool) {
	for _, p := range d.Parameters {
		if p.Name == name {
			return p, true
		}
	}
	return parameter{}, false
}

// A collector holds what was learned so far.
type collector struct {
	*client
	details []detail
	bundle  Bundle
	serial  int
}

// Collect asks a server in semantic mode and one in single mode for the evidence. It starts executions, guesses a code and
// lets an agent be stopped: point it at a server that nobody needs afterwards.
func Collect(ctx context.Context, semantic, single *mcp.ClientSession) (Bundle, error) {
	main, err := newClient(ctx, semantic)
	if err != nil {
		return Bundle{}, fmt.Errorf("semantic mode: %w", err)
	}
	other, err := newClient(ctx, single)
	if err != nil {
		return Bundle{}, fmt.Errorf("single mode: %w", err)
	}
	c := &collector{client: main}
	server := semantic.InitializeResult().ServerInfo
	c.bundle.Implementation, c.bundle.Version = server.Name, server.Version
	c.bundle.EndpointModes = slices.Concat(main.modes, other.modes)
	if slices.Contains(main.modes, "crude") {
		// Drafts of the specification call the tools for each kind of operation the mode crude, later ones the mode semantic
		// with the profile crude. It is one offer under both names.
		c.bundle.EndpointModes = append(c.bundle.EndpointModes, "semantic")
	}
	c.bundle.UpdateTests, c.bundle.SemanticTests = []json.RawMessage{}, []json.RawMessage{}
	c.bundle.Absent = map[string]string{
		"semantic_tests": "they hold what a model said when it was asked about the server; no model was asked, and none is part of it",
	}
	for _, ask := range []func(context.Context) error{c.introspect, c.parameters, c.defaults, c.constraints, c.roundTrips,
		c.batch, c.errors} {
		if err := ask(ctx); err != nil {
			return Bundle{}, err
		}
	}
	return c.bundle, c.agree(ctx, other)
}

// agree makes sure that both modes offer the same operations: a bundle speaks for both. The list it holds is that of single
// mode: that mode has the one name in every draft of the specification's schema, which closes the set of names.
func (c *collector) agree(ctx context.Context, other *client) error {
	var names [2][]string
	for n, one := range []*client{c.client, other} {
		a, err := one.must(ctx, "introspect", map[string]any{"query": "operations"})
		if err != nil {
			return err
		}
		names[n] = namesIn(a.Data["operations"])
		c.bundle.Introspection.OperationsList = a.raw
	}
	if !slices.Equal(names[0], names[1]) {
		return fmt.Errorf("the modes offer different operations: %s, and %s", strings.Join(names[0], " "),
			strings.Join(names[1], " "))
	}
	return nil
}

func namesIn(list any) []string {
	var names []string
	items, _ := list.([]any)
	for _, item := range items {
		object, _ := item.(map[string]any)
		name, _ := object["name"].(string)
		names = append(names, name)
	}
	return names
}

// introspect asks for the lists, for what they say of the whole, and for each operation.
func (c *collector) introspect(ctx context.Context) error {
	operations, err := c.must(ctx, "introspect", map[string]any{"query": "operations"})
	if err != nil {
		return err
	}
	types, err := c.must(ctx, "introspect", map[string]any{"query": "types"})
	if err != nil {
		return err
	}
	c.bundle.Introspection = Introspection{OperationsList: operations.raw, TypesList: types.raw}
	var list struct {
		Data struct {
			Protocol struct {
				Version      string
				Conformance  string
				Capabilities struct {
					Batch          bool
					FieldSelection bool `json:"field_selection"`
				}
			} `json:"_protocol"`
		}
	}
	if err := json.Unmarshal(operations.raw, &list); err != nil {
		return fmt.Errorf("reading the operations list: %w", err)
	}
	protocol := list.Data.Protocol
	c.bundle.SpecVersion = protocol.Version
	c.bundle.Capabilities = Capabilities{FieldSelection: protocol.Capabilities.FieldSelection,
		BatchOperations: protocol.Capabilities.Batch}
	level, _ := strings.CutPrefix(protocol.Conformance, "level-")
	if c.bundle.ExpectedLevel, err = strconv.Atoi(level); err != nil {
		return fmt.Errorf("the server claims the conformance %q", protocol.Conformance)
	}
	updates := false
	for _, name := range namesIn(operations.Data["operations"]) {
		if err := c.detail(ctx, name); err != nil {
			return err
		}
		updates = updates || c.details[len(c.details)-1].Endpoint == "update"
	}
	if !updates {
		c.bundle.Absent["update_preservation_tests"] = "no operation updates anything: no endpoint of that category is served"
	}
	return nil
}

func (c *collector) detail(ctx context.Context, name string) error {
	a, err := c.must(ctx, "introspect", map[string]any{"query": "operations", "name": name})
	if err != nil {
		return err
	}
	var read struct {
		Data struct{ Operation json.RawMessage }
	}
	if err := json.Unmarshal(a.raw, &read); err != nil {
		return fmt.Errorf("reading the details of %s: %w", name, err)
	}
	d := detail{raw: read.Data.Operation}
	if err := json.Unmarshal(d.raw, &d); err != nil {
		return fmt.Errorf("reading the details of %s: %w", name, err)
	}
	c.details = append(c.details, d)
	c.tools[d.Name] = d.Tool
	c.bundle.Introspection.OperationDetails = append(c.bundle.Introspection.OperationDetails, d.raw)
	return nil
}

// example is a value that introspection says a parameter takes.
func (c *collector) example(p parameter) any {
	kind, _, _ := strings.Cut(p.Type, "|")
	switch {
	case len(p.Enum) > 0:
		return p.Enum[0]
	case p.Format == "uuid":
		return "00000000-0000-4000-8000-000000000000"
	case kind == "array":
		return []any{}
	case kind == "object":
		return map[string]any{}
	case kind == "boolean":
		return true
	case kind == "integer", kind == "number":
		return 1
	default:
		return "evidence"
	}
}

// required is a call of an operation with what it can't do without.
func (c *collector) required(d detail) map[string]any {
	params := map[string]any{}
	for _, p := range d.Parameters {
		if p.Required {
			params[p.Name] = c.example(p)
		}
	}
	return params
}

// running starts an execution of a name that no other has, and returns what was answered.
func (c *collector) running(ctx context.Context) (map[string]any, answer, error) {
	c.serial++
	submitted := map[string]any{"element_name": fmt.Sprintf("evidence-%d", c.serial)}
	a, err := c.must(ctx, "execute_agent", submitted)
	return submitted, a, err
}

// crossCutting are the parameters the specification would have mean the same on every operation: an operation that takes
// one has to say so.
var crossCutting = []string{"fields", "preset", "limit", "offset", "page", "page_size", "sort", "order", "first", "after",
	"last", "before",
	"filter", "input", "dry_run"}

// parameters tries on every operation every parameter that any operation documents, what is common to all, one that nobody
// knows, and leaving out each one that is required.
func (c *collector) parameters(ctx context.Context) error {
	candidates := slices.Clone(crossCutting)
	for _, d := range c.details {
		for _, p := range d.Parameters {
			candidates = append(candidates, p.Name)
		}
	}
	sort.Strings(candidates)
	candidates = slices.Compact(candidates)
	c.bundle.AcceptedParameters = map[string][]string{}
	for _, d := range c.details {
		accepted := []string{}
		for _, name := range candidates {
			ok, err := c.accepts(ctx, d, name)
			if err != nil {
				return err
			}
			if ok {
				accepted = append(accepted, name)
			}
		}
		c.bundle.AcceptedParameters[d.Name] = accepted
		if err := c.leaveOut(ctx, d); err != nil {
			return err
		}
		const unknown = "unheard_of"
		params := c.required(d)
		params[unknown] = "evidence"
		a, err := c.call(ctx, d.Name, params)
		if err != nil {
			return err
		}
		c.bundle.ParameterTests.UnknownParameter = append(c.bundle.ParameterTests.UnknownParameter,
			ParameterTest{d.Name, unknown, a.raw})
	}
	return nil
}

// accepts reports whether an operation knows a parameter. What it says of the value or of the rest does not matter.
func (c *collector) accepts(ctx context.Context, d detail, name string) (bool, error) {
	params := c.required(d)
	params[name] = "evidence"
	if p, documented := d.parameter(name); documented {
		params[name] = c.example(p)
	}
	a, err := c.call(ctx, d.Name, params)
	if err != nil {
		return false, err
	}
	// Errors of introspection have no details: that the parameter is unknown is in the message of all of them.
	unknown := a.Error.Code == "VALIDATION_UNKNOWN_PARAM" && strings.Contains(a.Error.Message, "'"+name+"'")
	return a.Success || !unknown, nil
}

func (c *collector) leaveOut(ctx context.Context, d detail) error {
	for _, p := range d.Parameters {
		if !p.Required {
			continue
		}
		params := c.required(d)
		delete(params, p.Name)
		a, err := c.call(ctx, d.Name, params)
		if err != nil {
			return err
		}
		c.bundle.ParameterTests.MissingRequired = append(c.bundle.ParameterTests.MissingRequired,
			ParameterTest{d.Name, p.Name, a.raw})
	}
	return nil
}
