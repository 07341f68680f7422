package mcpaql

import (
	"encoding/json"
	"errors"
	"fmt"
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
	return &Failure{Code: CodePayloadTooLarge,
		Message: fmt.Sprintf("The request is over the limit '%s' of %d; send less", limit, most),
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
	err := strictjson.DecodeLimited(raw, &value,
		strictjson.Limits{Bytes: len(raw) + 1, String: len(raw) + 1, Array: len(raw) + 1, Depth: scanDepth})
	if err != nil {
		return request{}, unreadable(err, limits)
	}
	object, ok := value.(map[string]any)
	if failure := measure(value, "", 1, limits); failure != nil {
		name, _ := object["operation"].(string)
		return request{operation: name}, failure
	}
	if !ok {
		return request{}, invalidType("arguments", "object", value, "")
	}
	return requestOf(object, limits)
}

// unreadable explains JSON that was refused. Only a place in it and what is there are repeated.
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

// requestOf tells the protocol's own members from parameters. Of metadata that is in both places, the one in params wins.
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
		return &Failure{Code: CodeUnknownParam,
			Message: "'operation' and 'operations' exclude each other; send one operation or a batch",
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

func badEncoding(what, name string) *Failure {
	failure := &Failure{Code: CodeInvalidEncoding,
		Message: what + " holds bytes or escapes that are not valid UTF-8, or a NUL character; send plain UTF-8 text"}
	if name != "" {
		failure.Message = fmt.Sprintf("Parameter '%s' holds a NUL character; send plain UTF-8 text", short(name))
		failure.Details = map[string]any{"param_name": short(name)}
	}
	return failure
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
