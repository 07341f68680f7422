package contract

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"interlock"
	"interlock/internal/strictjson"
)

// A Violation says where something is not as a schema says. It holds nothing of what is there but the names of members.
type Violation struct {
	At      string // JSON pointer of the value at fault; empty: the whole
	Keyword string // of the schema that is violated; "decode" where it is no JSON that reads in one way only
	Why     string // one clause, for an agent
}

// Decode is the keyword of what can't be read at all.
const Decode = "decode"

// maxPointer bounds the place that a violation names: members may be called anything.
const maxPointer = 120

// Check reads a value strictly and holds it against the schema in one go: nobody uses it in between, and nothing is made to fit.
// Without a violation canonical is the value in its one form.
func (s *Schema) Check(text []byte) (canonical []byte, wrong *Violation) {
	canonical, wrong = Read(text)
	if wrong != nil {
		return nil, wrong
	}
	var value any
	if err := json.Unmarshal(canonical, &value); err != nil {
		return nil, &Violation{Keyword: Decode, Why: "can't be read"}
	}
	if wrong := s.root.check(value, "", 0); wrong != nil {
		wrong.At = bounded(wrong.At)
		return nil, wrong
	}
	if s.resolved.Validate(value) != nil { // both have to agree
		return nil, &Violation{Keyword: "schema", Why: "is not as the schema says"}
	}
	return canonical, nil
}

// Read reads a value strictly, without a schema.
func Read(text []byte) (canonical []byte, wrong *Violation) {
	var into any
	if err := strictjson.Decode(text, &into); err != nil {
		return nil, unread(err)
	}
	canonical, err := strictjson.Canonical(text)
	if err != nil {
		return nil, unread(err)
	}
	return canonical, nil
}

func unread(err error) *Violation {
	refused := (*interlock.Error)(nil)
	if errors.As(err, &refused) {
		return &Violation{At: bounded(refused.Field), Keyword: Decode, Why: refused.Message}
	}
	return &Violation{Keyword: Decode, Why: "is no JSON that can be read in one way only"}
}

func bounded(pointer string) string {
	if len(pointer) > maxPointer {
		return strings.ToValidUTF8(pointer[:maxPointer], "") + "..."
	}
	return pointer
}

// kindOf is the type of a JSON value.
func kindOf(value any) string {
	switch v := value.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return "integer"
		}
		return "number"
	case string:
		return "string"
	case []any:
		return "array"
	}
	return "object"
}

func (n *node) check(value any, at string, depth int) *Violation {
	kind := kindOf(value)
	wrong := func(keyword, format string, args ...any) *Violation {
		return &Violation{At: at, Keyword: keyword, Why: fmt.Sprintf(format, args...)}
	}
	if len(n.types) > 0 && !slices.Contains(n.types, kind) && !(kind == "integer" && slices.Contains(n.types, "number")) {
		return wrong("type", "is of type %s and has to be %s", kind, strings.Join(n.types, " or "))
	}
	if len(n.enum) > 0 {
		text, err := strictjson.Marshal(value)
		if err != nil || !slices.Contains(n.enum, string(text)) {
			return wrong("enum", "is none of the %d values that it may be", len(n.enum))
		}
	}
	switch v := value.(type) {
	case string:
		return n.text(v, wrong)
	case float64:
		return n.number(v, wrong)
	case []any:
		if n.MinItems != nil && len(v) < *n.MinItems {
			return wrong("minItems", "has %d entries and needs %d", len(v), *n.MinItems)
		}
		if n.MaxItems != nil && len(v) > *n.MaxItems {
			return wrong("maxItems", "has %d entries and may have %d", len(v), *n.MaxItems)
		}
		if n.Items == nil {
			return nil
		}
		for i, item := range v {
			if found := n.Items.check(item, at+"/"+strconv.Itoa(i), depth+1); found != nil {
				return found
			}
		}
	case map[string]any:
		if len(n.types) > 0 { // otherwise it is one of the values that are listed
			return n.object(v, at, depth, wrong)
		}
	}
	return nil
}

func (n *node) text(v string, wrong func(string, string, ...any) *Violation) *Violation {
	long := utf8.RuneCountInString(v)
	switch {
	case n.MinLength != nil && long < *n.MinLength:
		return wrong("minLength", "has %d characters and needs %d", long, *n.MinLength)
	case n.MaxLength != nil && long > *n.MaxLength:
		return wrong("maxLength", "has %d characters and may have %d", long, *n.MaxLength)
	case n.pattern != nil && !n.pattern.MatchString(v):
		return wrong("pattern", "does not have the form that it has to have")
	case n.Format != "" && !fits(n.Format, v):
		return wrong("format", "is no %s", n.Format)
	}
	return nil
}

func (n *node) number(v float64, wrong func(string, string, ...any) *Violation) *Violation {
	switch {
	case n.Minimum != nil && v < *n.Minimum:
		return wrong("minimum", "is less than %v", *n.Minimum)
	case n.Maximum != nil && v > *n.Maximum:
		return wrong("maximum", "is more than %v", *n.Maximum)
	case n.Above != nil && v <= *n.Above:
		return wrong("exclusiveMinimum", "has to be more than %v", *n.Above)
	case n.Below != nil && v >= *n.Below:
		return wrong("exclusiveMaximum", "has to be less than %v", *n.Below)
	}
	return nil
}

// object holds members against the schema: those that are missing first, as they are listed, then what is there, by name.
func (n *node) object(v map[string]any, at string, depth int, wrong func(string, string, ...any) *Violation) *Violation {
	for _, name := range n.Required {
		if _, there := v[name]; !there {
			return &Violation{At: at + "/" + escaped(name), Keyword: "required", Why: "is missing"}
		}
	}
	names := make([]string, 0, len(v))
	for name := range v { // order-independent: sorted below
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		below, of := at+"/"+escaped(name), n.Properties[name]
		if of == nil {
			of = n.others
		}
		if of == nil {
			return &Violation{At: below, Keyword: "additionalProperties", Why: "is a member that nobody has named"}
		}
		if found := of.check(v[name], below, depth+1); found != nil {
			return found
		}
	}
	return nil
}
