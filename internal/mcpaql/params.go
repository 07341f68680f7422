package mcpaql

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"sort"
	"strings"
	"unicode/utf8"

	"interlock"
	"interlock/internal/strictjson"
)

// Limits bound what one request and one answer hold (AQL-4.7.5). A zero field means its default.
type Limits struct {
	Request  int `json:"max_request_size"`     // bytes of a request's arguments; default 1 MiB
	Response int `json:"max_response_size"`    // bytes of an answer; default 10 MiB
	String   int `json:"max_string_length"`    // bytes of one string; default 1 MiB
	Array    int `json:"max_array_elements"`   // elements of one array; default 10,000
	Depth    int `json:"max_nesting_depth"`    // levels of objects and arrays, the outermost being 1; default 32
	Batch    int `json:"max_batch_operations"` // operations in one batch; default 100
}

func (l Limits) withDefaults() Limits {
	fallback(&l.Request, 1<<20)
	fallback(&l.Response, 10<<20)
	fallback(&l.String, 1<<20)
	fallback(&l.Array, 10_000)
	fallback(&l.Depth, 32)
	fallback(&l.Batch, 100)
	return l
}

func fallback[T ~int | ~int64](value *T, standard T) {
	if *value <= 0 {
		*value = standard
	}
}

// tooLarge is the failure for anything over a limit; it names the limit.
func tooLarge(limit string, most int) *Failure {
	return &Failure{Code: CodePayloadTooLarge, Message: fmt.Sprintf("The request is over the limit '%s' of %d; send less", limit, most),
		Details: map[string]any{"limit": limit, "maximum": most}}
}

// A request is one call as it was sent: an operation with its parameters, or a batch of such.
type request struct {
	operation string
	params    map[string]any // as in params
	top       map[string]any // beside operation and params
	meta      map[string]any // names that begin with an underscore: labels, never identity (AQL-2.3)
	batch     []any
	isBatch   bool
}

// scanDepth keeps the reader's own recursion bounded; what is deeper than the limit but not than this is measured.
const scanDepth = 256

// decodeRequest reads a tool's arguments. What two readers could understand differently is refused, as everywhere.
func decodeRequest(raw json.RawMessage, limits Limits) (request, *Failure) {
	if len(raw) > limits.Request {
		return request{}, tooLarge("max_request_size", limits.Request)
	}
	if len(raw) == 0 {
		raw = json.RawMessage("{}")
	}
	if !utf8.Valid(raw) || loneSurrogate(raw) {
		return request{}, badEncoding("The request", "")
	}
	var value any
	err := strictjson.DecodeLimited(raw, &value, strictjson.Limits{Bytes: len(raw) + 1, String: len(raw) + 1, Array: len(raw) + 1, Depth: scanDepth})
	if err != nil {
		return request{}, unreadable(err, limits)
	}
	if failure := measure(value, "", 1, limits); failure != nil {
		return request{}, failure
	}
	object, ok := value.(map[string]any)
	if !ok {
		return request{}, invalidType("arguments", "object", value, "")
	}
	return requestOf(object, limits)
}

// unreadable explains JSON that was refused. Only a place in it and what stands there are repeated.
func unreadable(err error, limits Limits) *Failure {
	var refusal *interlock.Error
	if !errors.As(err, &refusal) {
		return &Failure{Code: CodeInvalidType, Message: "The arguments can't be read; send one JSON object"}
	}
	if refusal.Code == interlock.CodeLimited {
		return tooLarge("max_nesting_depth", limits.Depth)
	}
	return &Failure{Code: CodeInvalidType, Message: "The arguments can't be read: " + refusal.Error()}
}

// requestOf tells the protocol's own members from parameters. Of metadata that stands in both places, the one in params wins.
func requestOf(object map[string]any, limits Limits) (request, *Failure) {
	r := request{params: map[string]any{}, top: map[string]any{}, meta: map[string]any{}}
	for name, value := range object {
		var ok bool
		switch {
		case name == "params":
		case name == "operation":
			if r.operation, ok = value.(string); !ok {
				return r, invalidType("operation", "string", value, "")
			}
		case name == "operations":
			if r.batch, ok = value.([]any); !ok {
				return r, invalidType("operations", "array", value, "")
			}
			r.isBatch = true
		case strings.HasPrefix(name, "_"):
			r.meta[name] = value
		default:
			r.top[name] = value
		}
	}
	if object["params"] == nil {
		return r, r.check(limits)
	}
	params, ok := object["params"].(map[string]any)
	if !ok {
		return r, invalidType("params", "object", object["params"], "")
	}
	for name, value := range params {
		if strings.HasPrefix(name, "_") {
			r.meta[name] = value
		} else {
			r.params[name] = value
		}
	}
	return r, r.check(limits)
}

// check refuses a request that is neither an operation nor a batch, or both.
func (r request) check(limits Limits) *Failure {
	switch {
	case r.isBatch && r.operation != "":
		return &Failure{Code: CodeUnknownParam, Message: "'operation' and 'operations' exclude each other; send one operation or a batch",
			Details: map[string]any{"unknown_params": []string{"operations"}, "valid_params": []string{"operation", "params"}}}
	case r.isBatch && (len(r.params) > 0 || len(r.top) > 0):
		return &Failure{Code: CodeUnknownParam, Message: "A batch takes no parameters of its own; give each operation its params",
			Details: map[string]any{"unknown_params": sortedNames(r.params, r.top), "valid_params": []string{"operations"}}}
	case r.isBatch && len(r.batch) == 0:
		return missing("operations", "array", "")
	case len(r.batch) > limits.Batch:
		return tooLarge("max_batch_operations", limits.Batch)
	case !r.isBatch && r.operation == "":
		return missing("operation", "string", "")
	}
	return nil
}

// measure holds a decoded value against the limits and refuses NUL, at which one program ends a text and another goes on.
func measure(value any, name string, depth int, limits Limits) *Failure {
	switch v := value.(type) {
	case string:
		if len(v) > limits.String {
			return tooLarge("max_string_length", limits.String)
		}
		if strings.IndexByte(v, 0) >= 0 {
			return badEncoding("A string", name)
		}
	case []any:
		if depth > limits.Depth {
			return tooLarge("max_nesting_depth", limits.Depth)
		}
		if len(v) > limits.Array {
			return tooLarge("max_array_elements", limits.Array)
		}
		for _, element := range v {
			if failure := measure(element, name, depth+1, limits); failure != nil {
				return failure
			}
		}
	case map[string]any:
		if depth > limits.Depth {
			return tooLarge("max_nesting_depth", limits.Depth)
		}
		if len(v) > limits.Array {
			return tooLarge("max_array_elements", limits.Array)
		}
		for _, key := range sortedNames(v) {
			if failure := measure(v[key], key, depth+1, limits); failure != nil {
				return failure
			}
		}
	}
	return nil
}

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
		return nil, unknownParams(operation, unknown, valid, fmt.Sprintf("Unknown parameter '%s' for operation '%s'. Valid parameters: %s",
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
		return &Failure{Code: CodePayloadTooLarge, Message: fmt.Sprintf("Parameter '%s' is longer than %d characters; shorten it", p.Name, p.MaxLength),
			Details: map[string]any{"param_name": p.Name, "operation": operation, "limit": "maxLength", "maximum": p.MaxLength}}
	case isText && len(p.Enum) > 0 && !contains(p.Enum, text):
		return &Failure{Code: CodeInvalidType, Message: fmt.Sprintf("Parameter '%s' expected one of '%s', got another string", p.Name, strings.Join(p.Enum, "', '")),
			Details: map[string]any{"param_name": p.Name, "operation": operation, "expected_type": p.Type, "actual_type": "string", "enum": p.Enum}}
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
	return &Failure{Code: CodeInvalidType, Message: fmt.Sprintf("Parameter '%s' expected '%s', got '%s'", name, expected, typeName(value)), Details: details}
}

func unknownParams(operation string, unknown, valid []string, message string) *Failure {
	for n := range unknown {
		unknown[n] = short(unknown[n])
	}
	return &Failure{Code: CodeUnknownParam, Message: message,
		Details: map[string]any{"operation": operation, "unknown_params": unknown, "valid_params": valid}}
}

func badEncoding(what, name string) *Failure {
	failure := &Failure{Code: CodeInvalidEncoding, Message: what + " holds bytes or escapes that are not valid UTF-8, or a NUL character; send plain UTF-8 text"}
	if name != "" {
		failure.Message = fmt.Sprintf("Parameter '%s' holds a NUL character; send plain UTF-8 text", short(name))
		failure.Details = map[string]any{"param_name": short(name)}
	}
	return failure
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

// sortedNames are the names of objects, each once, in order.
func sortedNames(objects ...map[string]any) []string {
	seen := map[string]bool{}
	names := []string{}
	for _, object := range objects {
		for name := range object {
			if !seen[name] {
				seen[name] = true
				names = append(names, name)
			}
		}
	}
	sort.Strings(names)
	return names
}

func contains(list []string, text string) bool {
	for _, one := range list {
		if one == text {
			return true
		}
	}
	return false
}

// loneSurrogate reports whether JSON text has an escape for half a character, which is no text (core 4.7.1).
func loneSurrogate(raw []byte) bool {
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		unit, ok := escaped(raw, i)
		switch {
		case !ok || unit < 0xd800 || unit > 0xdfff:
			i++
			continue
		case unit >= 0xdc00:
			return true
		}
		if second, ok := escaped(raw, i+6); !ok || second < 0xdc00 || second > 0xdfff {
			return true
		}
		i += 11
	}
	return false
}

// escaped reads a \uXXXX escape at a place.
func escaped(raw []byte, at int) (unit int, ok bool) {
	if at+6 > len(raw) || raw[at] != '\\' || raw[at+1] != 'u' {
		return 0, false
	}
	for _, c := range raw[at+2 : at+6] {
		switch {
		case c >= '0' && c <= '9':
			unit = unit<<4 | int(c-'0')
		case c >= 'a' && c <= 'f':
			unit = unit<<4 | int(c-'a'+10)
		case c >= 'A' && c <= 'F':
			unit = unit<<4 | int(c-'A'+10)
		default:
			return 0, false
		}
	}
	return unit, true
}
