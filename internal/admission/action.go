package admission

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"interlock"
	"interlock/internal/strictjson"
)

// ParseAction makes an action from the contract every door but the hook shares: a kind and an input that is a string, or
// for file, http and tool an object. Tool and file objects are {"tool","args"}, with "description", "context" and
// "annotations" allowed beside them; http objects are {"method","url","headers","body"}. Errors name the field.
func ParseAction(kind string, input json.RawMessage, dir string) (interlock.Action, error) {
	action := interlock.Action{Kind: interlock.Kind(kind), Dir: dir}
	switch {
	case kind == "":
		return action, interlock.Errorf(interlock.CodeInvalid, "/kind", "is missing; name one of %v", interlock.Kinds())
	case !action.Kind.Valid():
		return action, interlock.Errorf(interlock.CodeInvalid, "/kind", "%.40q is not known; name one of %v", kind,
			interlock.Kinds())
	case len(input) == 0:
		return action, interlock.Errorf(interlock.CodeInvalid, "/input", "is missing")
	}
	if !action.Kind.TakesObject() {
		if err := strictjson.Decode(input, &action.Input); err != nil {
			return action, interlock.Errorf(interlock.CodeInvalid, "/input", "must be a string for kind %s: %s", kind, plain(err))
		}
		return action, CheckText("/input", action.Input)
	}
	if input[0] != '{' {
		return action, interlock.Errorf(interlock.CodeInvalid, "/input", "must be an object for kind %s", kind)
	}
	if action.Kind == interlock.KindHTTP {
		return parseHTTP(action, input)
	}
	return parseTool(action, input)
}

// toolInput is the object form of file and tool inputs. Description, context and annotations are claims about the call
// and not part of it: they are accepted, the description is kept as the hint, and none of them can lower a verdict.
type toolInput struct {
	Tool        string          `json:"tool"`
	Args        json.RawMessage `json:"args"`
	Description string          `json:"description"`
	Context     json.RawMessage `json:"context"`
	Annotations json.RawMessage `json:"annotations"`
}

func parseTool(action interlock.Action, input json.RawMessage) (interlock.Action, error) {
	var in toolInput
	if err := strictjson.Decode(input, &in); err != nil {
		return action, prefixed("/input", err)
	}
	if in.Tool == "" {
		return action, interlock.Errorf(interlock.CodeInvalid, "/input/tool", "is missing; name the tool")
	}
	if len(in.Args) == 0 {
		in.Args = json.RawMessage("{}")
	}
	if in.Args[0] != '{' {
		return action, interlock.Errorf(interlock.CodeInvalid, "/input/args", "must be an object")
	}
	canonical, err := strictjson.Canonical(in.Args)
	if err != nil {
		return action, prefixed("/input/args", err)
	}
	action.Tool, action.Arguments, action.Hint = in.Tool, canonical, in.Description
	if err := CheckText("/input/tool", in.Tool); err != nil {
		return action, err
	}
	return action, checkNUL("/input/args", canonical)
}

// CheckText refuses what no shell, tool or file system could be given as it is: bytes that are not UTF-8, and NUL, at
// which one program ends a text and another goes on.
func CheckText(field, text string) error {
	switch {
	case !utf8.ValidString(text):
		return interlock.Errorf(interlock.CodeInvalid, field, "is not valid UTF-8")
	case strings.IndexByte(text, 0) >= 0:
		return interlock.Errorf(interlock.CodeInvalid, field, "holds a NUL character")
	}
	return nil
}

// checkNUL refuses canonical JSON with a NUL in any of its strings, where it is always written as an escape.
func checkNUL(field string, canonical []byte) error {
	for i := 0; i < len(canonical); i++ {
		if canonical[i] != '\\' {
			continue
		}
		if bytes.HasPrefix(canonical[i:], []byte(`\u0000`)) {
			return interlock.Errorf(interlock.CodeInvalid, field, "holds a NUL character")
		}
		i++ // what is escaped
	}
	return nil
}

func parseHTTP(action interlock.Action, input json.RawMessage) (interlock.Action, error) {
	var in struct {
		Method  string            `json:"method"`
		URL     string            `json:"url"`
		Headers map[string]string `json:"headers"`
		Body    json.RawMessage   `json:"body"`
	}
	if err := strictjson.Decode(input, &in); err != nil {
		return action, prefixed("/input", err)
	}
	if in.URL == "" {
		return action, interlock.Errorf(interlock.CodeInvalid, "/input/url", "is missing")
	}
	canonical, err := strictjson.Canonical(input)
	if err != nil {
		return action, prefixed("/input", err)
	}
	action.Arguments = canonical
	return action, checkNUL("/input", canonical)
}

// prefixed puts the place of an inner value before the pointer of an error about it.
func prefixed(at string, err error) error {
	if e, ok := err.(*interlock.Error); ok {
		return &interlock.Error{Code: e.Code, Field: at + e.Field, Message: e.Message}
	}
	return interlock.Errorf(interlock.CodeInvalid, at, "can't be read")
}

func plain(err error) string {
	if e, ok := err.(*interlock.Error); ok {
		return e.Message
	}
	return "can't be read"
}
