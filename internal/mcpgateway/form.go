package mcpgateway

import (
	"encoding/json"
	"errors"
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
