package mcpgateway

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"interlock"
)

// A form is what a tool says its arguments are: its inputSchema. It is read when first needed, and is safe for concurrent use.
type form struct {
	definition json.RawMessage
	read       sync.Once
	schema     *jsonschema.Resolved
}

// maxForm is how large a schema may be, in bytes, that arguments are held against.
const maxForm = 256 << 10

var errNoForm = errors.New("the tool's inputSchema is missing or can't be used, so that nothing can be held against it")

// check refuses arguments that are not what the tool says they are: the endpoint takes what its schema lets in, and nothing else (EC-ENV-1). A
// member that the schema does not name is not let in either, unless the schema says that further ones are. The error says where it is wrong
// and repeats no value.
func (f *form) check(arguments []byte) error {
	f.read.Do(func() { f.schema, _ = resolved(f.definition) })
	if f.schema == nil {
		return interlock.Errorf(interlock.CodeInvalid, "inputSchema", "%s; an operator can look at it with: interlock tools show", errNoForm)
	}
	var value any
	if err := json.Unmarshal(arguments, &value); err != nil {
		return interlock.Errorf(interlock.CodeInvalid, "", "can't be read")
	}
	if err := validate(f.schema, value); err != nil {
		return interlock.Errorf(interlock.CodeInvalid, "", "don't meet the tool's schema%s", whereOf(err))
	}
	return nil
}

// resolved reads a definition's schema. Nothing is fetched: a schema that refers to another document can't be used.
func resolved(definition json.RawMessage) (_ *jsonschema.Resolved, err error) {
	defer func() {
		if recover() != nil { // of a schema that nobody thought of
			err = errNoForm
		}
	}()
	var tool struct {
		Schema json.RawMessage `json:"inputSchema"`
	}
	if err := json.Unmarshal(definition, &tool); err != nil || tool.Schema == nil || tool.Schema[0] != '{' ||
		len(tool.Schema) > maxForm || !bounded(tool.Schema) {
		return nil, errNoForm
	}
	schema := new(jsonschema.Schema)
	if err := json.Unmarshal(tool.Schema, schema); err != nil {
		return nil, errNoForm
	}
	combines := len(schema.AllOf)+len(schema.AnyOf)+len(schema.OneOf)+len(schema.PatternProperties) > 0 || schema.Ref != "" || schema.If != nil
	if len(schema.Properties) > 0 && schema.AdditionalProperties == nil && schema.UnevaluatedProperties == nil && !combines {
		schema.AdditionalProperties = &jsonschema.Schema{Not: new(jsonschema.Schema)}
	}
	return schema.Resolve(nil)
}

func validate(schema *jsonschema.Resolved, value any) (err error) {
	defer func() {
		if recover() != nil {
			err = errNoForm
		}
	}()
	return schema.Validate(value)
}

// whereOf is the place in the schema that is not met, of what the validator says. It quotes values, which are not repeated.
func whereOf(err error) string {
	text := err.Error()
	if at := strings.LastIndex(text, "validating /"); at >= 0 {
		place, _, _ := strings.Cut(text[at+len("validating "):], ":")
		if len(place) < 200 {
			return " at " + place
		}
	}
	return ""
}

// maxFormCost is how many parts a schema has at most once what it refers to is put in the place of each reference: so much is
// looked at for each part of an argument.
const maxFormCost = 5000

// A formCost counts the parts of a schema that a server sent. A schema that refers to itself could be looked at without an end,
// and one that refers to the same twice, again and again, for longer than anybody waits.
type formCost struct {
	root any
	cost map[string]int // by where it is; 0: it is being counted
}

// bounded reports whether a schema can be held against arguments: it refers to parts of itself only, never to one that it is
// within, and stays small when those are written out.
func bounded(schema json.RawMessage) bool {
	c := formCost{cost: map[string]int{}}
	if err := json.Unmarshal(schema, &c.root); err != nil {
		return false
	}
	_, ok := c.at("#", c.root)
	return ok
}

// at is the cost of a part, and whether it has one.
func (c *formCost) at(place string, part any) (cost int, ok bool) {
	if known, seen := c.cost[place]; seen {
		return known, known > 0
	}
	c.cost[place] = 0
	cost, ok = 1, true
	add := func(place string, part any) {
		if more, has := c.at(place, part); ok && has {
			cost += more
			ok = cost <= maxFormCost
		} else {
			ok = false
		}
	}
	switch part := part.(type) {
	case []any:
		for i, one := range part {
			add(place+"/"+strconv.Itoa(i), one)
		}
	case map[string]any:
		for name, one := range part { // order-independent: a sum
			switch name {
			case "$dynamicRef", "$recursiveRef", "$id", "$anchor", "$dynamicAnchor":
				if place != "#" || name != "$id" {
					return 0, false
				}
			case "$ref":
				to, text := one.(string)
				target, there := c.find(to)
				if !text || !there {
					return 0, false
				}
				add(to, target)
			}
			add(place+"/"+escapePointer(name), one)
		}
	}
	if !ok {
		return 0, false
	}
	c.cost[place] = cost
	return cost, true
}

func escapePointer(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}

// find is the part of the schema that a reference names.
func (c *formCost) find(reference string) (part any, there bool) {
	rest, local := strings.CutPrefix(reference, "#")
	if !local || strings.Contains(rest, "%") {
		return nil, false
	}
	part = c.root
	if rest == "" {
		return part, true
	}
	for _, step := range strings.Split(strings.TrimPrefix(rest, "/"), "/") {
		members, object := part.(map[string]any)
		if part, there = members[strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~")]; !object || !there {
			return nil, false
		}
	}
	return part, true
}
