// Package published holds the shapes that MCP-AQL publishes for its answers: which members there are, of what type, which are
// required, and whether others are allowed beside them. They were taken from the specification's own schemas and interfaces, member
// by member, and know nothing of what this program sends: an answer is held against them, so that no type of ours can repeat our
// own mistake. Each shape names the clause it is for.
package published

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"sort"
	"strings"
)

//go:embed shapes.json
var text []byte

// A shape is one of the published types: an object, an enumeration, a form of text, or one of several others.
type shape struct {
	Clause  string            `json:"clause"`
	Closed  bool              `json:"closed"` // no other member is allowed
	Fields  map[string]string `json:"fields"` // by name: a type, with ! where it is required
	Values  []string          `json:"values"`
	Pattern string            `json:"pattern"`
	AnyOf   []string          `json:"any_of"`
}

// Shapes are all published shapes, by name.
type Shapes struct{ byName map[string]shape }

// Load reads the shapes that are built in. It fails only where they name a type that does not exist.
func Load() (Shapes, error) {
	s := Shapes{}
	if err := json.Unmarshal(text, &s.byName); err != nil {
		return s, fmt.Errorf("reading the published shapes: %w", err)
	}
	for name, one := range s.byName {
		for field, kind := range one.Fields {
			for _, k := range strings.Split(strings.TrimSuffix(kind, "!"), "|") {
				if k = strings.Trim(k, "[]"); !s.known(k) {
					return s, fmt.Errorf("shape %s: %s has the unknown type %s", name, field, k)
				}
			}
		}
		if _, err := regexp.Compile(one.Pattern); err != nil {
			return s, fmt.Errorf("shape %s: %w", name, err)
		}
	}
	return s, nil
}

func (s Shapes) known(name string) bool {
	if _, is := s.byName[name]; is {
		return true
	}
	return slices.Contains([]string{"string", "boolean", "number", "integer", "object", "array", "any", "null", "true", "false"}, name)
}

// Values are those of an enumeration.
func (s Shapes) Values(name string) []string { return slices.Clone(s.byName[name].Values) }

// Check holds JSON against a shape and returns what does not fit, by place. Nothing is wrong with what fits.
func (s Shapes) Check(name string, raw []byte) []string {
	var value any
	if err := json.Unmarshal(raw, &value); err != nil {
		return []string{"it is no JSON"}
	}
	return s.CheckValue(name, value)
}

// CheckValue is Check for what has been read already.
func (s Shapes) CheckValue(name string, value any) []string {
	if !s.known(name) {
		return []string{"no shape is called " + name}
	}
	return s.check(name, value, name)
}

func (s Shapes) check(kind string, value any, at string) []string {
	if choices := strings.Split(kind, "|"); len(choices) > 1 {
		return s.either(choices, value, at)
	}
	if inner, isList := strings.CutPrefix(kind, "["); isList {
		list, is := value.([]any)
		if !is {
			return []string{at + " is no array"}
		}
		var faults []string
		for n, element := range list {
			faults = append(faults, s.check(strings.TrimSuffix(inner, "]"), element, fmt.Sprintf("%s[%d]", at, n))...)
		}
		return faults
	}
	one, named := s.byName[kind]
	if !named {
		if !plain(kind, value) {
			return []string{at + " is no " + kind}
		}
		return nil
	}
	switch {
	case one.AnyOf != nil:
		return s.either(one.AnyOf, value, at)
	case one.Values != nil:
		if word, is := value.(string); !is || !slices.Contains(one.Values, word) {
			return []string{fmt.Sprintf("%s is %v and none of %s", at, value, strings.Join(one.Values, ", "))}
		}
		return nil
	case one.Pattern != "":
		if word, is := value.(string); !is || !regexp.MustCompile(one.Pattern).MatchString(word) {
			return []string{fmt.Sprintf("%s is %v, which has another form", at, value)}
		}
		return nil
	}
	return s.object(one, value, at)
}

// either reports the faults of the choice that fits best, or none.
func (s Shapes) either(choices []string, value any, at string) []string {
	var best []string
	for n, choice := range choices {
		faults := s.check(choice, value, at)
		if len(faults) == 0 {
			return nil
		}
		if n == 0 || len(faults) < len(best) {
			best = faults
		}
	}
	return best
}

func (s Shapes) object(one shape, value any, at string) []string {
	object, is := value.(map[string]any)
	if !is {
		return []string{at + " is no object"}
	}
	var faults []string
	for field, kind := range one.Fields {
		kind, required := strings.CutSuffix(kind, "!")
		member, present := object[field]
		switch {
		case present:
			faults = append(faults, s.check(kind, member, at+"."+field)...)
		case required:
			faults = append(faults, at+"."+field+" is missing")
		}
	}
	for field := range object {
		if _, allowed := one.Fields[field]; one.Closed && !allowed {
			faults = append(faults, at+"."+field+" is not published")
		}
	}
	sort.Strings(faults)
	return faults
}

// plain reports whether a value has one of JSON's own types.
func plain(kind string, value any) bool {
	switch v := value.(type) {
	case nil:
		return kind == "null" || kind == "any"
	case bool:
		return kind == "boolean" || kind == "any" || kind == "true" && v || kind == "false" && !v
	case string:
		return kind == "string" || kind == "any"
	case float64:
		return kind == "number" || kind == "any" || kind == "integer" && v == math.Trunc(v)
	case []any:
		return kind == "array" || kind == "any"
	case map[string]any:
		return kind == "object" || kind == "any"
	default:
		return false
	}
}
