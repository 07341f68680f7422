package mcpaql

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"
)

// A Parameter is what introspection says of one parameter and what decoding holds it to. Its members are those the
// published schema knows.
type Parameter struct {
	Name        string     `json:"name"`
	Type        string     `json:"type"` // string, integer, number, boolean, array or object
	Required    bool       `json:"required"`
	Description string     `json:"description,omitempty"`
	Default     any        `json:"default,omitempty"`
	Enum        []string   `json:"enum,omitempty"`
	Minimum     *float64   `json:"minimum,omitempty"`
	Maximum     *float64   `json:"maximum,omitempty"`
	MinLength   int        `json:"minLength,omitempty"`
	MaxLength   int        `json:"maxLength,omitempty"`
	Pattern     string     `json:"pattern,omitempty"`
	Format      string     `json:"format,omitempty"`
	Items       *Parameter `json:"items,omitempty"`
	Sensitive   bool       `json:"sensitive,omitempty"`

	alias string // the camelCase spelling that is accepted too
}

// arguments are an operation's parameters, checked and with defaults filled in.
type arguments map[string]any

func (a arguments) text(name string) string {
	text, _ := a[name].(string)
	return text
}

func (a arguments) texts(name string) []string {
	switch v := a[name].(type) {
	case string:
		return []string{v}
	case []any:
		var out []string
		for _, element := range v {
			if text, ok := element.(string); ok {
				out = append(out, text)
			}
		}
		return out
	}
	return nil
}

// resolve finds each parameter by name or alias, in params before the top level (AQL-4.1), and refuses unknown ones
// (AQL-4.6) and two spellings of one.
func (r request) resolve(operation string, parameters []Parameter) (arguments, *Failure) {
	names := map[string]string{} // spelling -> name
	valid := make([]string, len(parameters))
	for n, p := range parameters {
		names[p.Name], valid[n] = p.Name, p.Name
		if p.alias != "" {
			names[p.alias] = p.Name
		}
	}
	var unknown []string
	for _, name := range sortedNames(r.params, r.top) {
		if _, known := names[name]; !known {
			unknown = append(unknown, name)
		}
	}
	if len(unknown) > 0 {
		return nil, unknownParams(operation, unknown, valid,
			fmt.Sprintf("Unknown parameter '%s' for operation '%s'. Valid parameters: %s",
				short(unknown[0]), operation, strings.Join(valid, ", ")))
	}
	found := arguments{}
	for _, level := range []map[string]any{r.top, r.params} {
		for _, p := range parameters {
			value, named := level[p.Name]
			if p.alias != "" {
				if other, aliased := level[p.alias]; aliased {
					if named {
						return nil, unknownParams(operation, []string{p.alias}, valid,
							fmt.Sprintf("Parameter '%s' is another spelling of '%s'; send one of them", p.alias, p.Name))
					}
					value, named = other, true
				}
			}
			if named {
				found[p.Name] = value
			}
		}
	}
	for _, p := range parameters {
		if failure := found.fill(p, operation); failure != nil {
			return nil, failure
		}
	}
	return found, nil
}

// fill checks one parameter and gives it its default.
func (a arguments) fill(p Parameter, operation string) *Failure {
	value, given := a[p.Name]
	if given && value == nil { // null is the absence of a value (core 4.7.6)
		delete(a, p.Name)
		given = false
	}
	if !given {
		if p.Required {
			return missing(p.Name, p.Type, operation)
		}
		if p.Default != nil {
			a[p.Name] = p.Default
		}
		return nil
	}
	if !p.accepts(value) {
		return invalidType(p.Name, p.expected(), value, operation)
	}
	text, isText := value.(string)
	switch {
	case isText && p.Required && strings.TrimSpace(text) == "":
		return missing(p.Name, p.Type, operation)
	case isText && p.MaxLength > 0 && utf8.RuneCountInString(text) > p.MaxLength:
		return &Failure{Code: CodePayloadTooLarge,
			Message: fmt.Sprintf("Parameter '%s' is longer than %d characters; shorten it", p.Name, p.MaxLength),
			Details: map[string]any{"param_name": p.Name, "operation": operation, "limit": "maxLength", "maximum": p.MaxLength}}
	case isText && len(p.Enum) > 0 && !contains(p.Enum, text):
		return &Failure{Code: CodeInvalidType,
			Message: fmt.Sprintf("Parameter '%s' expected one of '%s', got another string", p.Name, strings.Join(p.Enum, "', '")),
			Details: map[string]any{"param_name": p.Name, "operation": operation, "expected_type": p.Type,
				"actual_type": "string", "enum": p.Enum}}
	}
	return nil
}

// accepts reports whether a value has the parameter's type.
func (p Parameter) accepts(value any) bool {
	switch p.Type {
	case "string":
		_, ok := value.(string)
		return ok
	case "boolean":
		_, ok := value.(bool)
		return ok
	case "integer", "number":
		number, ok := value.(float64)
		if !ok || p.Type == "integer" && number != math.Trunc(number) {
			return false
		}
		return (p.Minimum == nil || number >= *p.Minimum) && (p.Maximum == nil || number <= *p.Maximum)
	case "object":
		_, ok := value.(map[string]any)
		return ok
	case "array":
		list, ok := value.([]any)
		if !ok {
			return false
		}
		for _, element := range list {
			if p.Items != nil && !p.Items.accepts(element) {
				return false
			}
		}
		return true
	default: // an alternative of types, such as string|array
		for _, one := range strings.Split(p.Type, "|") {
			if one != p.Type && (Parameter{Type: one, Items: p.Items, Minimum: p.Minimum, Maximum: p.Maximum}).accepts(value) {
				return true
			}
		}
		return false
	}
}

func (p Parameter) expected() string {
	if p.Items != nil {
		return p.Type + " of " + p.Items.Type
	}
	return p.Type
}

func missing(name, expected, operation string) *Failure {
	details := map[string]any{"param_name": name, "expected_type": expected}
	message := fmt.Sprintf("Missing required parameter '%s' (%s)", name, expected)
	if operation != "" {
		details["operation"] = operation
		message += fmt.Sprintf(" for operation '%s'", operation)
	}
	return &Failure{Code: CodeMissingParam, Message: message, Details: details}
}

func invalidType(name, expected string, value any, operation string) *Failure {
	details := map[string]any{"param_name": name, "expected_type": expected, "actual_type": typeName(value)}
	if operation != "" {
		details["operation"] = operation
	}
	return &Failure{Code: CodeInvalidType,
		Message: fmt.Sprintf("Parameter '%s' expected '%s', got '%s'", name, expected, typeName(value)), Details: details}
}

func unknownParams(operation string, unknown, valid []string, message string) *Failure {
	for n := range unknown {
		unknown[n] = short(unknown[n])
	}
	return &Failure{Code: CodeUnknownParam, Message: message,
		Details: map[string]any{"operation": operation, "unknown_params": unknown, "valid_params": valid}}
}

// typeName names a JSON type.
func typeName(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case string:
		return "string"
	case bool:
		return "boolean"
	case float64:
		return "number"
	case []any:
		return "array"
	default:
		return "object"
	}
}

// maxShown is how much of a name or text that a caller chose is repeated in an error, in runes.
const maxShown = 80

func short(text string) string {
	runes := []rune(text)
	if len(runes) > maxShown {
		runes = append(runes[:maxShown-1], '…')
	}
	return string(runes)
}

func contains(list []string, text string) bool {
	for _, one := range list {
		if one == text {
			return true
		}
	}
	return false
}
