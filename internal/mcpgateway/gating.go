package mcpgateway

import (
	"encoding/json"

	"interlock"
	"interlock/internal/strictjson"
)

// resourceAction is what reading or subscribing to a resource is judged as; method is the MCP method.
func resourceAction(server, method, uri, dir string) (interlock.Action, error) {
	return otherAction(server, method, map[string]string{"uri": uri}, dir)
}

// promptAction is what getting a prompt is judged as.
func promptAction(server, name string, arguments json.RawMessage, dir string) (interlock.Action, error) {
	return otherAction(server, "prompts/get", map[string]any{"name": name, "arguments": arguments}, dir)
}

// completionAction is what asking a server to complete an argument is judged as.
func completionAction(server string, params json.RawMessage, dir string) (interlock.Action, error) {
	return otherAction(server, "completion/complete", params, dir)
}

// serverAction is what a request from a server (sampling, elicitation, roots) is judged as: an action of that server.
func serverAction(server, method string, params json.RawMessage) (interlock.Action, error) {
	return otherAction(server, method, params, "")
}

func otherAction(server, method string, arguments any, dir string) (interlock.Action, error) {
	canonical, err := strictjson.Marshal(arguments)
	return interlock.Action{Kind: interlock.KindTool, Tool: server + "." + method, Arguments: canonical, Dir: dir}, err
}
