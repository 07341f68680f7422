package harnesses

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// serveChat answers in the form of OpenAI's chat completions, streamed or in one piece, as is asked for.
func (m *model) serveChat(w http.ResponseWriter, r *http.Request) {
	var request struct {
		Model  string `json:"model"`
		Stream bool   `json:"stream"`
		Tools  []struct {
			Function struct {
				Name string `json:"name"`
			} `json:"function"`
		} `json:"tools"`
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
	}
	if !decodeRequest(w, r, &request) {
		return
	}
	var offered, results []string
	for _, tool := range request.Tools {
		offered = append(offered, tool.Function.Name)
	}
	for _, message := range request.Messages {
		if message.Role == "tool" {
			results = append(results, textIn(message.Content))
		}
	}
	answer, reason := map[string]any{"role": "assistant", "content": lastWords}, "stop"
	if call, number, more := m.next(offered, results); more {
		answer = map[string]any{"role": "assistant", "content": nil, "tool_calls": []any{map[string]any{"index": 0,
			"id": fmt.Sprintf("call_%d", number), "type": "function",
			"function": map[string]any{"name": call.Tool, "arguments": compact(call.Arguments)}}}}
		reason = "tool_calls"
	}
	usage := map[string]any{"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
	completion := func(object, part string, value map[string]any, reason any) map[string]any {
		return map[string]any{"id": "chat", "object": object, "created": 1, "model": request.Model,
			"choices": []any{map[string]any{"index": 0, part: value, "finish_reason": reason}}}
	}
	if !request.Stream {
		whole := completion("chat.completion", "message", answer, reason)
		whole["usage"] = usage
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, compact(whole))
		return
	}
	last := completion("chat.completion.chunk", "delta", map[string]any{}, reason)
	last["usage"] = usage
	w.Header().Set("Content-Type", "text/event-stream")
	for _, chunk := range []map[string]any{completion("chat.completion.chunk", "delta", answer, nil), last} {
		fmt.Fprintf(w, "data: %s\n\n", compact(chunk))
	}
	fmt.Fprint(w, "data: [DONE]\n\n")
}
