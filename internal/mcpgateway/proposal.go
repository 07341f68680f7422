package mcpgateway

import (
	"bytes"
	"encoding/json"
	"net/url"
	"strings"
	"unicode/utf8"

	"interlock"
	"interlock/internal/rpc"
	"interlock/internal/strictjson"
)

// toolAction is what calling a tool is judged as. The arguments become canonical; they are what is forwarded.
func toolAction(server, tool string, arguments json.RawMessage, dir string) (interlock.Action, error) {
	if len(bytes.Trim(arguments, rpc.Space)) == 0 {
		arguments = json.RawMessage(`{}`)
	}
	canonical, err := canonicalArguments(arguments)
	return interlock.Action{Kind: interlock.KindTool, Tool: server + "." + tool, Arguments: canonical, Dir: dir}, err
}

// resourceAction is what reading or subscribing to a resource is judged as; method is the MCP method. What is read is what
// counts: a file is judged as a file that is read and an address of the web as one that is fetched, whatever server does it;
// and one that is told of each change of something reads it.
func resourceAction(server, method, uri, dir string) (interlock.Action, error) {
	subscribes := method == "resources/subscribe"
	scheme, _, _ := strings.Cut(uri, ":")
	switch strings.ToLower(scheme) {
	case "file":
		if path, ok := filePath(uri); ok {
			if !utf8.ValidString(path) { // no record could tell it from another such path
				return interlock.Action{}, interlock.Errorf(interlock.CodeInvalid, "uri", "names a path that is not valid UTF-8")
			}
			return actionOf(interlock.KindFile, "read", pathRead{Path: path}, dir)
		}
	case "http", "https":
		return actionOf(interlock.KindHTTP, "", webRead{Method: "GET", URL: uri}, dir)
	}
	return actionOf(interlock.KindTool, server+".resources/read", uriRead{URI: uri, Subscribe: subscribes}, dir)
}

type (
	pathRead struct {
		Path string `json:"path"`
	}
	webRead struct {
		Method string `json:"method"`
		URL    string `json:"url"`
	}
	uriRead struct {
		URI       string `json:"uri"`
		Subscribe bool   `json:"subscribe,omitempty"`
	}
)

// filePath is the path that a file URI names on the machine of the server (RFC 8089). One that names another machine names
// no path here.
func filePath(uri string) (string, bool) {
	u, err := url.Parse(uri)
	if err != nil || u.Host != "" && !strings.EqualFold(u.Host, "localhost") || u.Opaque != "" || u.Path == "" ||
		strings.ContainsRune(u.Path, 0) {
		return "", false
	}
	path := u.Path
	if len(path) > 2 && path[0] == '/' && path[2] == ':' { // file:///C:/x
		path = path[1:]
	}
	return path, true
}

// promptAction is what getting a prompt is judged as.
func promptAction(server, name string, arguments json.RawMessage, dir string) (interlock.Action, error) {
	if len(bytes.Trim(arguments, rpc.Space)) == 0 {
		arguments = json.RawMessage(`{}`)
	}
	return actionOf(interlock.KindTool, server+".prompts/get", struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}{name, arguments}, dir)
}

// completionAction is what asking a server to complete an argument is judged as: what was typed so far goes to it.
func completionAction(server string, params json.RawMessage, dir string) (interlock.Action, error) {
	canonical, err := objectOf(params)
	return interlock.Action{Kind: interlock.KindTool, Tool: server + ".completion/get", Arguments: canonical, Dir: dir}, err
}

// The names under which requests from servers are judged. What comes after the slash says what is asked of whom, so that
// rules can tell a form from an address, and an address that is opened safely from any other.
const (
	toolSampling = "sampling/createMessage" // the client's model is made to answer
	toolForm     = "elicitation/show-form"  // the client's user is shown a form
	toolOpen     = "elicitation/show-url-"  // the client's user is asked to open an address of the scheme behind it
	toolOther    = "elicitation/show-other" // in a mode nobody knows
	toolRoots    = "roots/list"             // the client tells where its user works
)

// serverAction is what a request from a server is judged as: an action of that server. The error is an *interlock.Error for a
// method that is not known, and for params that are no JSON object.
func serverAction(server, method string, params json.RawMessage) (interlock.Action, error) {
	canonical, err := objectOf(params)
	if err != nil {
		return interlock.Action{}, err
	}
	name := ""
	switch method {
	case "sampling/createMessage":
		name = toolSampling
	case "elicitation/create":
		if name, err = elicitationName(canonical); err != nil {
			return interlock.Action{}, err
		}
	case "roots/list":
		name = toolRoots
	default:
		return interlock.Action{}, interlock.Errorf(interlock.CodeInvalid, "method", "is none that a server may send")
	}
	return interlock.Action{Kind: interlock.KindTool, Tool: server + "." + name, Arguments: canonical}, nil
}

// elicitationName says what an elicitation shows.
func elicitationName(params json.RawMessage) (string, error) {
	var p struct {
		Mode *string `json:"mode"`
		URL  string  `json:"url"`
	}
	if err := strictjson.DecodeLenient(params, &p); err != nil {
		return "", err
	}
	switch {
	case p.Mode == nil, *p.Mode == "form": // the mode is younger than forms
		return toolForm, nil
	case *p.Mode != "url":
		return toolOther, nil
	}
	u, err := url.Parse(p.URL)
	if err != nil || u.Scheme == "" || u.Host == "" || u.User != nil { // a name before the host is there to deceive
		return toolOther, nil
	}
	return toolOpen + strings.ToLower(u.Scheme), nil
}

// serverRequester is who asks where a server asks: never the agent it serves.
func serverRequester(server string, client interlock.Requester) interlock.Requester {
	client.Agent = "server:" + server
	return client
}

// annotationsOf reads what a server's definition says of its tool. A hint that is no boolean says nothing.
func annotationsOf(definition json.RawMessage) *interlock.Annotations {
	var tool struct {
		Annotations map[string]json.RawMessage `json:"annotations"`
	}
	if strictjson.DecodeLenient(definition, &tool) != nil || len(tool.Annotations) == 0 {
		return nil
	}
	hint := func(name string) *bool {
		switch string(bytes.TrimSpace(tool.Annotations[name])) {
		case "true":
			yes := true
			return &yes
		case "false":
			return new(bool)
		}
		return nil
	}
	return &interlock.Annotations{ReadOnly: hint("readOnlyHint"), Destructive: hint("destructiveHint"),
		Idempotent: hint("idempotentHint"), OpenWorld: hint("openWorldHint")}
}

// declaresOutput reports whether a tool declares the form of its structured content.
func declaresOutput(definition json.RawMessage) bool {
	schema := rpc.Member(definition, "outputSchema")
	return schema != nil && string(schema) != "null"
}

// objectOf is a request's params in canonical form; none are an empty object.
func objectOf(params json.RawMessage) (json.RawMessage, error) {
	params = bytes.Trim(params, rpc.Space)
	if len(params) == 0 {
		return json.RawMessage(`{}`), nil
	}
	if params[0] != '{' {
		return nil, interlock.Errorf(interlock.CodeInvalid, "params", "must be an object")
	}
	return strictjson.Canonical(params)
}

func actionOf(kind interlock.Kind, tool string, arguments any, dir string) (interlock.Action, error) {
	canonical, err := strictjson.Marshal(arguments)
	return interlock.Action{Kind: kind, Tool: tool, Arguments: canonical, Dir: dir}, err
}
