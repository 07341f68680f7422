package harnesses

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// A responsesTool is a tool as OpenAI's Responses API offers it. One of type namespace holds others; one of type custom takes
// a text and no arguments.
type responsesTool struct {
	Type  string          `json:"type"`
	Name  string          `json:"name"`
	Tools []responsesTool `json:"tools"`
	space string          // the namespace it was found in
}

// serveResponses answers in the form of OpenAI's Responses API, streamed.
func (m *model) serveResponses(w http.ResponseWriter, r *http.Request) {
	var request struct {
		Tools []responsesTool `json:"tools"`
		Input []struct {
			Type   string          `json:"type"`
			Tools  []responsesTool `json:"tools"`   // of additional_tools
			Call   string          `json:"call_id"` // none where the harness puts in an output that nobody asked for
			Output json.RawMessage `json:"output"`
		} `json:"input"`
	}
	if !decodeRequest(w, r, &request) {
		return
	}
	tools := map[string]responsesTool{}
	addTools(tools, "", request.Tools)
	var offered, results []string
	for _, item := range request.Input {
		switch item.Type {
		case "additional_tools":
			addTools(tools, "", item.Tools)
		case "function_call_output", "custom_tool_call_output":
			if item.Call != "" {
				results = append(results, textIn(item.Output))
			}
		}
	}
	for name := range tools {
		offered = append(offered, name)
	}
	item := map[string]any{"type": "message", "id": "msg", "role": "assistant", "status": "completed",
		"content": []any{map[string]any{"type": "output_text", "text": lastWords, "annotations": []any{}}}}
	if call, number, more := m.next(offered, results); more {
		item = responsesCall(tools, call, number)
	}
	w.Header().Set("Content-Type", "text/event-stream")
	usage := map[string]any{"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
	for _, event := range []map[string]any{
		{"type": "response.created", "response": map[string]any{"id": "resp"}},
		{"type": "response.output_item.added", "output_index": 0, "item": item},
		{"type": "response.output_item.done", "output_index": 0, "item": item},
		{"type": "response.completed", "response": map[string]any{"id": "resp", "status": "completed", "output": []any{item}, "usage": usage}},
	} {
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", event["type"], compact(event))
	}
}

// addTools takes down the tools that are offered, those in namespaces included.
func addTools(tools map[string]responsesTool, space string, list []responsesTool) {
	for _, tool := range list {
		if tool.Type == "namespace" {
			addTools(tools, tool.Name, tool.Tools)
			continue
		}
		tool.space = space
		tools[tool.Name] = tool
	}
}

// responsesCall is a call as the model writes it. A harness in code mode offers one tool that runs JavaScript, in which the
// others are functions; then the call is a script that says what became of it.
func responsesCall(tools map[string]responsesTool, call toolCall, number int) map[string]any {
	tool, offered := tools[call.Tool]
	if _, coded := tools["exec"]; coded && !offered {
		tool = tools["exec"]
		call = toolCall{"exec", map[string]any{"input": fmt.Sprintf(
			"const name = ALL_TOOLS.map(t => t.name).find(n => n.endsWith(%s));\ntry { text(await tools[name](%s)) } catch (e) { text(String(e)) }",
			compact(call.Tool), compact(wholeInput(call)))}}
	}
	item := map[string]any{"id": fmt.Sprintf("item_%d", number), "call_id": fmt.Sprintf("call_%d", number), "status": "completed", "name": call.Tool}
	if tool.space != "" {
		item["namespace"] = tool.space
	}
	if tool.Type == "custom" {
		item["type"], item["input"] = "custom_tool_call", call.Arguments["input"]
	} else {
		item["type"], item["arguments"] = "function_call", compact(call.Arguments)
	}
	return item
}

// wholeInput is what a function of code mode takes: the arguments, or the text of a tool that takes nothing else.
func wholeInput(call toolCall) any {
	if text, only := call.Arguments["input"]; only && len(call.Arguments) == 1 {
		return text
	}
	return call.Arguments
}
