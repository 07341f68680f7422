package contract

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"interlock"
	"interlock/internal/strictjson"
)

// The bounds of a schema.
const (
	maxSchema  = 64 << 10 // bytes
	maxDepth   = 16       // of nested schemas, and so of what they let in
	maxNodes   = 1000
	maxPattern = 500 // bytes
	maxLong    = 1 << 20
)

// A Schema says how a JSON value is built. It is immutable and safe for concurrent use.
type Schema struct {
	root     *node
	resolved *jsonschema.Resolved
	digest   interlock.Digest
}

// Digest names the schema by what it says.
func (s *Schema) Digest() interlock.Digest { return s.digest }

// A node is one schema as it is written. What it does not know is refused by decoding it.
type node struct {
	Dialect     string            `json:"$schema,omitempty"`
	Comment     string            `json:"$comment,omitempty"`
	Title       string            `json:"title,omitempty"`
	Description string            `json:"description,omitempty"`
	Examples    []json.RawMessage `json:"examples,omitempty"`

	Type  json.RawMessage   `json:"type,omitempty"`
	Enum  []json.RawMessage `json:"enum,omitempty"`
	Const json.RawMessage   `json:"const,omitempty"`

	Properties map[string]*node `json:"properties,omitempty"`
	Required   []string         `json:"required,omitempty"`
	Additional json.RawMessage  `json:"additionalProperties,omitempty"` // false, or a schema; true is refused

	Items    *node `json:"items,omitempty"`
	MinItems *int  `json:"minItems,omitempty"`
	MaxItems *int  `json:"maxItems,omitempty"`

	MinLength *int   `json:"minLength,omitempty"` // characters
	MaxLength *int   `json:"maxLength,omitempty"`
	Pattern   string `json:"pattern,omitempty"` // RE2, found anywhere in the text
	Format    string `json:"format,omitempty"`  // one of [Formats]

	Minimum *float64 `json:"minimum,omitempty"`
	Maximum *float64 `json:"maximum,omitempty"`
	Above   *float64 `json:"exclusiveMinimum,omitempty"`
	Below   *float64 `json:"exclusiveMaximum,omitempty"`

	types   []string
	others  *node // what further members are, where they may be
	names   []string
	enum    []string // canonical
	pattern *regexp.Regexp
}

// dialects are the versions of JSON Schema that a schema may name.
var dialects = []string{"", "https://json-schema.org/draft/2020-12/schema", "http://json-schema.org/draft-07/schema#"}

const schemaDomain = "interlock/message-schema/v1"

// Compile reads a schema, or says what of it can't be used. The error's field is the place in the schema.
func Compile(text []byte) (*Schema, error) {
	if len(text) == 0 {
		return nil, interlock.Errorf(interlock.CodeInvalid, "", "the schema is missing")
	}
	if len(text) > maxSchema {
		return nil, interlock.Errorf(interlock.CodeInvalid, "", "the schema is larger than %d bytes", maxSchema)
	}
	canonical, err := strictjson.Canonical(text)
	if err != nil {
		return nil, err
	}
	root := new(node)
	if err := strictjson.Decode(canonical, root); err != nil {
		return nil, err
	}
	c := compiler{}
	if err := c.node(root, "", 1); err != nil {
		return nil, err
	}
	s := &Schema{root: root, digest: strictjson.DigestBytes(schemaDomain, canonical)}
	closed, err := json.Marshal(root.closed())
	if err != nil {
		return nil, interlock.Errorf(interlock.CodeInvalid, "", "the schema can't be written")
	}
	library := new(jsonschema.Schema)
	if err := json.Unmarshal(closed, library); err != nil {
		return nil, interlock.Errorf(interlock.CodeInvalid, "", "this is no JSON Schema")
	}
	if s.resolved, err = library.Resolve(nil); err != nil {
		return nil, interlock.Errorf(interlock.CodeInvalid, "", "this is no JSON Schema that can be used")
	}
	return s, nil
}

// A compiler checks a schema's parts.
type compiler struct{ nodes int }

func invalid(at, format string, args ...any) error {
	return interlock.Errorf(interlock.CodeInvalid, at, format, args...)
}

func (c *compiler) node(n *node, at string, depth int) error {
	switch c.nodes++; {
	case n == nil:
		return invalid(at, "the schema is empty; say at least its type")
	case depth > maxDepth:
		return invalid(at, "schemas are nested more than %d deep", maxDepth)
	case c.nodes > maxNodes:
		return invalid(at, "there are more than %d schemas in one", maxNodes)
	case !slices.Contains(dialects, n.Dialect):
		return invalid(at+"/$schema", "must be draft 2020-12 or draft-07, or be left out")
	}
	if err := n.readTypes(at); err != nil {
		return err
	}
	if err := n.readChoices(at); err != nil {
		return err
	}
	if err := n.readBounds(at); err != nil {
		return err
	}
	return c.members(n, at, depth)
}

// kinds are the types of JSON values.
var kinds = []string{"array", "boolean", "integer", "null", "number", "object", "string"}

func (n *node) readTypes(at string) error {
	switch {
	case len(n.Type) == 0:
		if len(n.Enum) == 0 && len(n.Const) == 0 {
			return invalid(at+"/type", "is missing; name one of %s", strings.Join(kinds, ", "))
		}
		return nil
	case n.Type[0] == '"':
		n.types = []string{""}
		if err := json.Unmarshal(n.Type, &n.types[0]); err != nil {
			return invalid(at+"/type", "can't be read")
		}
	default:
		if err := json.Unmarshal(n.Type, &n.types); err != nil || len(n.types) == 0 {
			return invalid(at+"/type", "is a type, or a list of types")
		}
	}
	for i, kind := range n.types {
		if !slices.Contains(kinds, kind) || slices.Contains(n.types[:i], kind) {
			return invalid(at+"/type", "name each type once, of %s", strings.Join(kinds, ", "))
		}
	}
	return nil
}

func (n *node) readChoices(at string) error {
	all := n.Enum
	if len(n.Const) > 0 {
		if len(n.Enum) > 0 {
			return invalid(at+"/const", "stands beside enum; say one of the two")
		}
		all = []json.RawMessage{n.Const}
	}
	for _, one := range all {
		text, err := strictjson.Canonical(one)
		if err != nil {
			return invalid(at+"/enum", "has a value that can't be read")
		}
		n.enum = append(n.enum, string(text))
	}
	return nil
}

func (n *node) readBounds(at string) (err error) {
	for _, b := range []struct {
		name      string
		low, high *int
	}{{"Items", n.MinItems, n.MaxItems}, {"Length", n.MinLength, n.MaxLength}} {
		for _, bound := range []*int{b.low, b.high} {
			if bound != nil && (*bound < 0 || *bound > maxLong) {
				return invalid(at+"/max"+b.name, "is from 0 to %d", maxLong)
			}
		}
		if b.low != nil && b.high != nil && *b.low > *b.high {
			return invalid(at+"/min"+b.name, "is greater than max%s, so that nothing fits", b.name)
		}
	}
	if n.Minimum != nil && n.Maximum != nil && *n.Minimum > *n.Maximum {
		return invalid(at+"/minimum", "is greater than maximum, so that nothing fits")
	}
	if n.Format != "" && !slices.Contains(Formats(), n.Format) {
		return invalid(at+"/format", "is none of %s", strings.Join(Formats(), ", "))
	}
	if len(n.Pattern) > maxPattern {
		return invalid(at+"/pattern", "is longer than %d bytes", maxPattern)
	}
	if n.Pattern != "" {
		if n.pattern, err = regexp.Compile(n.Pattern); err != nil {
			return invalid(at+"/pattern", "is no regular expression as RE2 has them")
		}
	}
	return nil
}

func (c *compiler) members(n *node, at string, depth int) error {
	for name := range n.Properties { // order-independent: sorted below
		n.names = append(n.names, name)
	}
	slices.Sort(n.names)
	for _, name := range n.names {
		if err := c.node(n.Properties[name], at+"/properties/"+escaped(name), depth+1); err != nil {
			return err
		}
	}
	switch text := string(n.Additional); {
	case text == "" || text == "false":
	case text[0] == '{':
		n.others = new(node)
		if err := strictjson.Decode(n.Additional, n.others); err != nil {
			return invalid(at+"/additionalProperties", "can't be read as a schema")
		}
		if err := c.node(n.others, at+"/additionalProperties", depth+1); err != nil {
			return err
		}
	default:
		return invalid(at+"/additionalProperties", "members that nobody named are refused: say false, or what they are")
	}
	for i, name := range n.Required {
		if n.Properties[name] == nil && n.others == nil {
			return invalid(at+"/required/"+strconv.Itoa(i), "names a member that properties does not have, so that nothing fits")
		}
	}
	if n.Items == nil {
		if slices.Contains(n.types, "array") {
			return invalid(at+"/items", "is missing; say what the array holds")
		}
		return nil
	}
	return c.node(n.Items, at+"/items", depth+1)
}

// escaped is a name as part of a JSON pointer.
func escaped(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}

// closed is the schema with what it leaves out said: members that nobody named are refused.
func (n *node) closed() map[string]any {
	out := map[string]any{}
	put := func(name string, value any, there bool) {
		if there {
			out[name] = value
		}
	}
	put("type", n.Type, len(n.Type) > 0)
	put("enum", n.Enum, len(n.Enum) > 0)
	put("const", n.Const, len(n.Const) > 0)
	put("required", n.Required, len(n.Required) > 0)
	put("minItems", n.MinItems, n.MinItems != nil)
	put("maxItems", n.MaxItems, n.MaxItems != nil)
	put("minLength", n.MinLength, n.MinLength != nil)
	put("maxLength", n.MaxLength, n.MaxLength != nil)
	put("pattern", n.Pattern, n.Pattern != "")
	put("minimum", n.Minimum, n.Minimum != nil)
	put("maximum", n.Maximum, n.Maximum != nil)
	put("exclusiveMinimum", n.Above, n.Above != nil)
	put("exclusiveMaximum", n.Below, n.Below != nil)
	if n.Items != nil {
		out["items"] = n.Items.closed()
	}
	properties := map[string]any{}
	for name, of := range n.Properties { // order-independent: fills a map
		properties[name] = of.closed()
	}
	put("properties", properties, len(properties) > 0)
	put("additionalProperties", false, len(n.types) > 0)
	if n.others != nil {
		out["additionalProperties"] = n.others.closed()
	}
	return out
}
