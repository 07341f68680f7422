package httpapi

import (
	"encoding/json"
	"errors"
	"path/filepath"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/strictjson"
)

// evaluationHints are the members of an AuthZEN context that this door reads. The rest describes the request to others
// (time, address, client) and is left out of the action, or no action would ever be the same twice.
type evaluationHints struct {
	Arguments json.RawMessage `json:"arguments"`
	Dir       string          `json:"dir"`
	Hint      string          `json:"hint"`
	Run       string          `json:"run"`
	Call      string          `json:"call_id"`
}

// translate makes a proposal of an AuthZEN evaluation; docs/http-api.md has the table.
func (x *exchange) translate(body evaluationBody) (interlock.Proposal, error) {
	none := interlock.Proposal{}
	switch {
	case body.Subject == nil || body.Subject.Type == "" || body.Subject.ID == "":
		return none, missing("/subject", "with type and id")
	case body.Action == nil || body.Action.Name == "":
		return none, missing("/action", "with a name")
	case body.Resource == nil || body.Resource.Type == "" || body.Resource.ID == "":
		return none, missing("/resource", "with type and id")
	}
	var hints evaluationHints
	if len(body.Context) > 0 {
		if err := strictjson.DecodeLenient(body.Context, &hints); err != nil {
			return none, under("/context", err)
		}
	}
	if hints.Dir != "" && !filepath.IsAbs(hints.Dir) {
		return none, interlock.Errorf(interlock.CodeInvalid, "/context/dir", "must be an absolute path")
	}
	action, err := actionOf(body, hints)
	if err != nil {
		return none, err
	}
	action.Dir = hints.Dir
	if hints.Hint != "" {
		action.Hint = hints.Hint
	}
	claimed := interlock.Requester{Run: hints.Run, Call: hints.Call}
	if body.Subject.Type == "agent" {
		claimed.Agent = body.Subject.ID
	}
	requester, err := x.requester(claimed)
	if err != nil {
		return none, err
	}
	return interlock.Proposal{Action: action, Requester: requester, View: x.view(action.Dir),
		Door: "authzen"}, nil
}

func missing(field, what string) error {
	return interlock.Errorf(interlock.CodeInvalid, field, "is missing; an evaluation names it %s", what)
}

// under puts the place of an inner value before the pointer of an error about it.
func under(at string, err error) error {
	var refusal *interlock.Error
	if !errors.As(err, &refusal) {
		return err
	}
	return &interlock.Error{Code: refusal.Code, Field: at + refusal.Field, Message: refusal.Message}
}

// actionOf picks the kind from the resource's type. A type that is not Interlock's is a tool call named after the action,
// with everything that is known of it as arguments: judged by its name, and as a tool nobody declared.
func actionOf(body evaluationBody, hints evaluationHints) (interlock.Action, error) {
	kind := interlock.Kind(body.Resource.Type)
	switch {
	case kind == interlock.KindFile:
		return fileAction(body)
	case kind == interlock.KindHTTP:
		return httpAction(body)
	case kind == interlock.KindTool && callsTool(body.Action.Name):
		return toolAction(body, hints)
	case kind.Valid() && !kind.TakesObject():
		return textAction(body, kind)
	default:
		return foreignAction(body)
	}
}

// callsTool reports whether an action's name means calling the tool that the resource names.
func callsTool(name string) bool {
	switch name {
	case "tools/call", "call", "invoke", "execute":
		return true
	}
	return false
}

func textAction(body evaluationBody, kind interlock.Kind) (interlock.Action, error) {
	if len(body.Action.Properties) > 0 {
		return interlock.Action{}, interlock.Errorf(interlock.CodeInvalid, "/action/properties",
			"mean nothing for a resource of type %s", kind)
	}
	properties := struct {
		Input *string `json:"input"`
	}{}
	if len(body.Resource.Properties) > 0 {
		if err := strictjson.Decode(body.Resource.Properties, &properties); err != nil {
			return interlock.Action{}, under("/resource/properties", err)
		}
	}
	action := interlock.Action{Kind: kind, Input: body.Resource.ID}
	if properties.Input != nil {
		action.Input = *properties.Input
	}
	return action, nil
}

func fileAction(body evaluationBody) (interlock.Action, error) {
	if len(body.Action.Properties) > 0 {
		return interlock.Action{}, interlock.Errorf(interlock.CodeInvalid, "/action/properties",
			"mean nothing for a resource of type file")
	}
	arguments, err := object("/resource/properties", body.Resource.Properties)
	if err != nil {
		return interlock.Action{}, err
	}
	if _, taken := arguments["path"]; taken {
		return interlock.Action{}, interlock.Errorf(interlock.CodeInvalid, "/resource/properties/path",
			"the path is the resource's id")
	}
	arguments["path"] = body.Resource.ID
	return makeTool(interlock.KindFile, body.Action.Name, arguments, "/resource/properties")
}

func httpAction(body evaluationBody) (interlock.Action, error) {
	if len(body.Action.Properties) > 0 {
		return interlock.Action{}, interlock.Errorf(interlock.CodeInvalid, "/action/properties",
			"mean nothing for a resource of type http")
	}
	request, err := object("/resource/properties", body.Resource.Properties)
	if err != nil {
		return interlock.Action{}, err
	}
	for _, own := range []string{"method", "url"} {
		if _, taken := request[own]; taken {
			return interlock.Action{}, interlock.Errorf(interlock.CodeInvalid, "/resource/properties/"+own,
				"the method is the action's name and the url the resource's id")
		}
	}
	request["method"], request["url"] = body.Action.Name, body.Resource.ID
	input, err := strictjson.Marshal(request)
	if err != nil {
		return interlock.Action{}, under("/resource/properties", err)
	}
	action, err := admission.ParseAction(string(interlock.KindHTTP), input, "")
	return action, renamed(err, "/action/name", "/resource/properties")
}

// toolAction takes the arguments from the one place that has them: two would be two readings of one call.
func toolAction(body evaluationBody, hints evaluationHints) (interlock.Action, error) {
	var given []json.RawMessage
	if len(hints.Arguments) > 0 {
		given = append(given, hints.Arguments)
	}
	for _, place := range []struct {
		field string
		value json.RawMessage
	}{{"/resource/properties", body.Resource.Properties}, {"/action/properties", body.Action.Properties}} {
		if len(place.value) == 0 {
			continue
		}
		var properties struct {
			Arguments json.RawMessage `json:"arguments"`
		}
		if err := strictjson.DecodeLenient(place.value, &properties); err != nil {
			return interlock.Action{}, under(place.field, err)
		}
		if len(properties.Arguments) > 0 {
			given = append(given, properties.Arguments)
		}
	}
	if len(given) > 1 {
		return interlock.Action{}, interlock.Errorf(interlock.CodeInvalid, "/context/arguments",
			"the arguments stand in more than one place")
	}
	arguments := map[string]any{}
	if len(given) == 1 {
		var err error
		if arguments, err = object("/context/arguments", given[0]); err != nil {
			return interlock.Action{}, err
		}
	}
	return makeTool(interlock.KindTool, body.Resource.ID, arguments, "/context/arguments")
}

func foreignAction(body evaluationBody) (interlock.Action, error) {
	arguments := map[string]any{"resource_type": body.Resource.Type, "resource_id": body.Resource.ID}
	for name, value := range map[string]json.RawMessage{"resource": body.Resource.Properties, "action": body.Action.Properties} {
		if len(value) == 0 {
			continue
		}
		properties, err := object("/"+name+"/properties", value)
		if err != nil {
			return interlock.Action{}, err
		}
		arguments[name+"_properties"] = properties
	}
	return makeTool(interlock.KindTool, body.Action.Name, arguments, "/resource/properties")
}

func object(field string, value json.RawMessage) (map[string]any, error) {
	if len(value) == 0 || string(value) == "null" {
		return map[string]any{}, nil
	}
	if value[0] != '{' {
		return nil, interlock.Errorf(interlock.CodeInvalid, field, "must be an object")
	}
	members := map[string]any{}
	if err := strictjson.Decode(value, &members); err != nil {
		return nil, under(field, err)
	}
	return members, nil
}

// makeTool goes through the parser every door shares, so that a tool call is one thing whichever way it came. from is the
// place the arguments stand in, for errors.
func makeTool(kind interlock.Kind, tool string, arguments map[string]any, from string) (interlock.Action, error) {
	input, err := strictjson.Marshal(map[string]any{"tool": tool, "args": arguments})
	if err != nil {
		return interlock.Action{}, under(from, err)
	}
	action, err := admission.ParseAction(string(kind), input, "")
	return action, renamed(err, "/action/name", from)
}
