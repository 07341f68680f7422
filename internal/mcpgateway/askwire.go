package mcpgateway

import (
	"encoding/json"

	"interlock"
	"interlock/internal/strictjson"
)

// asksByResult reports whether the result of a method may be that input is required (MCP 2026-07-28).
func asksByResult(method string) bool {
	return method == "tools/call" || method == "resources/read" || method == "prompts/get"
}

// inputKey names our one question among a result's inputRequests. An upstream server's questions never share a result with
// ours, because nothing has been forwarded yet.
func inputKey(request string) string { return "interlock:" + request }

// An elicitation asks the client's user to open an address. That they agree to open it says nothing about the answer they
// give there, and the address alone opens nothing: the page wants an operator to sign in.
type elicitation struct {
	Mode    string `json:"mode"`
	Message string `json:"message"`
	URL     string `json:"url"`
	ID      string `json:"elicitationId,omitempty"` // MCP 2025-11-25 only
}

func elicitationOf(r Refused) elicitation {
	general := interlock.GeneralReason(r.Reason) // what it is about stands on the page, for who signs in
	return elicitation{Mode: "url", URL: r.URL,
		Message: "A human has to approve this call: " + general + ". Request " + r.Request + " waits on the page."}
}

// An inputRequest is a question in a result or a task.
type inputRequest struct {
	Method string      `json:"method"`
	Params elicitation `json:"params"`
}

// inputRequired is the result that has a client of MCP 2026-07-28 ask its user and come back.
func inputRequired(r Refused, state string) json.RawMessage {
	return encode(struct {
		Type   string                  `json:"resultType"`
		Inputs map[string]inputRequest `json:"inputRequests"`
		State  string                  `json:"requestState"`
	}{"input_required", map[string]inputRequest{inputKey(r.Request): {"elicitation/create", elicitationOf(r)}}, state})
}

// said is what a client's user said to an elicitation: accept, decline or cancel; empty for anything else, which counts as
// nothing said.
func said(response json.RawMessage) string {
	var answer struct {
		Action string `json:"action"`
	}
	if len(response) == 0 || strictjson.DecodeLenient(response, &answer) != nil {
		return ""
	}
	switch answer.Action {
	case "accept", "decline", "cancel":
		return answer.Action
	}
	return ""
}
